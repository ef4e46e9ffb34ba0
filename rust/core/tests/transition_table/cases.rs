//! Every state, phase, trigger and dead-letter setting there is.
#![expect(
    clippy::bool_assert_comparison,
    reason = "the expected value stands beside the fact"
)]

use share_state_core::record_state::{
    AcknowledgeType, LockRule, Phase, RecordState, TABLE, Transition, Trigger, When, transition,
};

/// Every state, phase, trigger and dead-letter setting there is.
fn cases() -> impl Iterator<Item = (RecordState, Phase, Trigger, bool)> {
    RecordState::ALL.into_iter().flat_map(|state| {
        Phase::ALL.into_iter().flat_map(move |phase| {
            Trigger::ALL.into_iter().flat_map(move |trigger| {
                [false, true].map(move |dead_letter| (state, phase, trigger, dead_letter))
            })
        })
    })
}

fn counts(when: When, dead_letter: bool) -> bool {
    match when {
        When::Always => true,
        When::DeadLetterOn => dead_letter,
        When::DeadLetterOff => !dead_letter,
    }
}

fn rows(case: (RecordState, Phase, Trigger, bool)) -> Vec<&'static Transition> {
    let (state, phase, trigger, dead_letter) = case;
    let is_case = |row: &&Transition| {
        (row.from, row.phase, row.trigger) == (state, phase, trigger)
            && counts(row.when, dead_letter)
    };
    TABLE.iter().filter(is_case).collect()
}

#[test]
fn every_case_has_at_most_one_row_and_the_look_up_finds_it() {
    let (mut all, mut legal) = (0, 0);
    for case in cases() {
        let rows = rows(case);
        assert!(rows.len() <= 1, "{case:?}: {rows:?}");
        let (state, phase, trigger, dead_letter) = case;
        let found = transition(state, phase, trigger, dead_letter);
        assert_eq!(found, rows.first().copied(), "{case:?}");
        all += 1;
        legal += rows.len();
    }
    assert_eq!((all, legal), (5 * 3 * 15 * 2, 52));
}

#[test]
fn every_row_is_reached_by_a_case() {
    let reached = |row: &Transition| {
        cases().any(|(s, p, t, dead_letter)| transition(s, p, t, dead_letter) == Some(row))
    };
    assert_eq!(TABLE.len(), 28);
    for row in TABLE {
        assert!(reached(row), "{row:?}");
    }
}

#[test]
fn every_trigger_has_a_row_and_every_state_is_entered_and_left_as_it_should() {
    for trigger in Trigger::ALL {
        assert!(
            TABLE.iter().any(|row| row.trigger == trigger),
            "{trigger:?}"
        );
    }
    for state in RecordState::ALL {
        let entered = |row: &&Transition| row.to == state && row.from != state;
        assert!(TABLE.iter().any(|row| entered(&row)), "{state:?}");
        let left = |row: &&Transition| row.from == state && row.phase == Phase::Settled;
        assert_eq!(
            TABLE.iter().any(|row| left(&row)),
            !state.is_terminal(),
            "{state:?}"
        );
    }
}

#[test]
fn a_settled_terminal_record_has_no_way_out() {
    let mut refused = 0;
    for (state, phase, trigger, dead_letter) in cases() {
        if state.is_terminal() && phase == Phase::Settled {
            assert_eq!(transition(state, phase, trigger, dead_letter), None);
            refused += 1;
        }
    }
    assert_eq!(refused, 2 * 15 * 2);
}

#[test]
fn a_pending_record_takes_no_order_but_only_its_answer_or_the_loss_of_the_record() {
    for row in TABLE.iter().filter(|row| row.phase != Phase::Settled) {
        let allowed = match row.phase {
            Phase::Pending => [
                Trigger::Written,
                Trigger::Refused,
                Trigger::LogStartMove,
                Trigger::Compaction,
            ]
            .as_slice(),
            _ => &[Trigger::Written, Trigger::Refused],
        };
        assert!(allowed.contains(&row.trigger), "{row:?}");
    }
    for row in TABLE {
        let answer = matches!(row.trigger, Trigger::Written | Trigger::Refused);
        assert_eq!(answer && row.phase == Phase::Settled, false, "{row:?}");
        if answer {
            assert_eq!(row.to_phase, Phase::Settled, "{row:?}");
        }
    }
}

#[test]
fn a_confirmed_write_leaves_the_state_and_a_refused_one_gives_the_record_back() {
    let mut pending = 0;
    for state in RecordState::ALL {
        let written = transition(state, Phase::Pending, Trigger::Written, false);
        let refused = transition(state, Phase::Pending, Trigger::Refused, false);
        if state == RecordState::Acquired {
            assert_eq!((written, refused), (None, None));
            continue;
        }
        pending += 1;
        assert!(written.is_some_and(|row| row.to == state && row.lock == LockRule::End));
        assert!(
            refused
                .is_some_and(|row| row.to == RecordState::Acquired && row.lock == LockRule::Keep)
        );
        for trigger in [Trigger::Written, Trigger::Refused] {
            let passed = transition(state, Phase::PendingFinal, trigger, false);
            let expected = (state == RecordState::Archived).then_some(RecordState::Archived);
            assert_eq!(passed.map(|row| row.to), expected);
        }
    }
    assert_eq!(pending, 4);
}

#[test]
fn only_acquire_and_renew_take_a_lock_and_only_a_holder_settles() {
    for row in TABLE {
        let takes = matches!(row.trigger, Trigger::Acquire | Trigger::Renew);
        assert_eq!(row.lock == LockRule::Take, takes, "{row:?}");
        assert_eq!(
            takes,
            row.to == RecordState::Acquired
                && row.to_phase == Phase::Settled
                && row.trigger != Trigger::Refused,
            "{row:?}"
        );
        // A record that is left acquired, or that a refusal gives back, needs its lock.
        let comes_back = row.to == RecordState::Acquired || row.to_phase == Phase::Pending;
        assert!(!(comes_back && row.lock == LockRule::End), "{row:?}");
    }
    for t in AcknowledgeType::ALL {
        for state in RecordState::ALL {
            for dead_letter in [false, true] {
                let row = transition(state, Phase::Settled, t.trigger(), dead_letter);
                assert_eq!(
                    row.is_some(),
                    state == RecordState::Acquired,
                    "{t:?} {state:?}"
                );
            }
        }
    }
}

#[test]
fn what_somebody_waits_for_is_pending_and_nothing_is_written_as_acquired() {
    for row in TABLE.iter().filter(|row| row.phase == Phase::Settled) {
        let waits = matches!(
            row.trigger,
            Trigger::Accept
                | Trigger::Release
                | Trigger::SessionRelease
                | Trigger::Reject
                | Trigger::Gap
                | Trigger::DeliveryLimit
        ) || (row.trigger, row.from) == (Trigger::LogStartMove, RecordState::Acquired);
        assert_eq!(row.to_phase == Phase::Pending, waits, "{row:?}");
        assert!(!(waits && row.to == RecordState::Acquired), "{row:?}");
    }
}

#[test]
fn only_a_reject_and_the_delivery_limit_lead_to_the_dead_letter_queue() {
    for row in TABLE {
        let enters = row.to == RecordState::Archiving && row.from != RecordState::Archiving;
        assert_eq!(enters, row.when == When::DeadLetterOn, "{row:?}");
        if enters {
            assert!(matches!(
                row.trigger,
                Trigger::Reject | Trigger::DeliveryLimit
            ));
            let off = transition(row.from, row.phase, row.trigger, false);
            assert_eq!(off.map(|row| row.to), Some(RecordState::Archived));
        }
    }
}

#[test]
fn a_trigger_counts_as_another_below_the_start_offset_and_at_the_delivery_limit() {
    let mut drawn = 0;
    for trigger in Trigger::ALL {
        for below in [false, true] {
            for at_limit in [false, true] {
                let gives_back = matches!(
                    trigger,
                    Trigger::Release | Trigger::SessionRelease | Trigger::LockTimeout
                );
                let expected = if below && gives_back && trigger != Trigger::Release {
                    Trigger::LogStartMove
                } else if at_limit && gives_back {
                    Trigger::DeliveryLimit
                } else {
                    trigger
                };
                assert_eq!(trigger.effective(below, at_limit), expected);
                drawn += usize::from(expected != trigger);
            }
        }
    }
    assert_eq!(drawn, 8);
    // Whatever an acquired record meets has a row, or the engine would silently leave it.
    for trigger in [
        Trigger::Release,
        Trigger::SessionRelease,
        Trigger::LockTimeout,
    ] {
        for (below, at_limit) in [(false, false), (false, true), (true, false), (true, true)] {
            let effective = trigger.effective(below, at_limit);
            for dead_letter in [false, true] {
                let row = transition(
                    RecordState::Acquired,
                    Phase::Settled,
                    effective,
                    dead_letter,
                );
                assert!(row.is_some_and(|row| row.to != RecordState::Acquired));
            }
        }
    }
}

#[test]
fn the_ids_are_kafkas() {
    let states: Vec<(i8, &str)> = RecordState::ALL.map(|s| (s.id(), s.name())).to_vec();
    let names = [
        "AVAILABLE",
        "ACQUIRED",
        "ACKNOWLEDGED",
        "ARCHIVING",
        "ARCHIVED",
    ];
    assert_eq!(states, (0..).zip(names).collect::<Vec<_>>());
    for id in i8::MIN..=i8::MAX {
        assert_eq!(
            RecordState::from_id(id).map(RecordState::id),
            (0..5).contains(&id).then_some(id)
        );
        let known = (0..5).contains(&id).then_some(id);
        assert_eq!(AcknowledgeType::from_id(id).map(|t| t as i8), known);
    }
}
