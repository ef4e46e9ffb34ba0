//! Every state, phase, trigger and circumstance there is.
#![expect(
    clippy::bool_assert_comparison,
    reason = "the expected value stands beside the fact"
)]

use share_state_core::record_state::{
    AcknowledgeType, Circumstance, LockRule, Phase, RecordState, TABLE, Transition, Trigger, When,
    decide,
};

type Case = (RecordState, Phase, Trigger, Circumstance);

/// Every state, phase, trigger and circumstance there is.
fn cases() -> impl Iterator<Item = Case> {
    RecordState::ALL.into_iter().flat_map(|state| {
        Phase::ALL.into_iter().flat_map(move |phase| {
            Trigger::ALL.into_iter().flat_map(move |trigger| {
                Circumstance::ALL.map(move |circumstance| (state, phase, trigger, circumstance))
            })
        })
    })
}

fn is_for(when: When, holds: bool) -> bool {
    match when {
        When::Any => true,
        When::Yes => holds,
        When::No => !holds,
    }
}

fn rows((state, phase, trigger, circumstance): Case) -> Vec<&'static Transition> {
    let is_case = |row: &&Transition| {
        (row.from, row.phase, row.trigger) == (state, phase, trigger)
            && is_for(row.below_start_offset, circumstance.below_start_offset)
            && is_for(row.attempts_over, circumstance.attempts_over)
            && is_for(row.dead_letter_queue, circumstance.dead_letter_queue)
    };
    TABLE.iter().filter(is_case).collect()
}

/// The row in the circumstance of a new record in a group without a dead-letter queue.
fn usually(state: RecordState, phase: Phase, trigger: Trigger) -> Option<&'static Transition> {
    decide(state, phase, trigger, Circumstance::default())
}

#[test]
fn every_circumstance_is_listed_once() {
    let mut listed: Vec<[bool; 3]> = Circumstance::ALL
        .map(|c| [c.below_start_offset, c.attempts_over, c.dead_letter_queue])
        .to_vec();
    listed.sort_unstable();
    listed.dedup();
    assert_eq!(listed.len(), 8);
}

#[test]
fn every_case_has_at_most_one_row_and_the_look_up_finds_it() {
    let (mut all, mut legal) = (0, 0);
    for case in cases() {
        let rows = rows(case);
        assert!(rows.len() <= 1, "{case:?}: {rows:?}");
        let (state, phase, trigger, circumstance) = case;
        let found = decide(state, phase, trigger, circumstance);
        assert_eq!(found, rows.first().copied(), "{case:?}");
        all += 1;
        legal += rows.len();
    }
    assert_eq!((all, legal), (5 * 3 * 14 * 8, 8 * 24));
}

#[test]
fn every_row_is_reached_by_a_case() {
    let reached = |row: &Transition| {
        cases().any(|(state, phase, trigger, c)| decide(state, phase, trigger, c) == Some(row))
    };
    assert_eq!(TABLE.len(), 33);
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
        let left = |row: &&Transition| row.from == state && row.phase == Phase::Stable;
        assert_eq!(
            TABLE.iter().any(|row| left(&row)),
            !state.is_terminal(),
            "{state:?}"
        );
    }
}

#[test]
fn a_stable_terminal_record_has_no_way_out() {
    let mut refused = 0;
    for (state, phase, trigger, circumstance) in cases() {
        if state.is_terminal() && phase == Phase::Stable {
            assert_eq!(decide(state, phase, trigger, circumstance), None);
            refused += 1;
        }
    }
    assert_eq!(refused, 2 * 14 * 8);
}

#[test]
fn a_pending_record_takes_no_order_but_only_its_answer_or_the_loss_of_the_record() {
    for row in TABLE.iter().filter(|row| row.phase != Phase::Stable) {
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
        assert_eq!(answer && row.phase == Phase::Stable, false, "{row:?}");
        if answer {
            assert_eq!(row.to_phase, Phase::Stable, "{row:?}");
        }
    }
}

#[test]
fn a_confirmed_write_leaves_the_state_and_a_refused_one_gives_the_record_back() {
    let mut pending = 0;
    for state in RecordState::ALL {
        let written = usually(state, Phase::Pending, Trigger::Written);
        let refused = usually(state, Phase::Pending, Trigger::Refused);
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
            let passed = usually(state, Phase::PendingFinal, trigger);
            let expected = (state == RecordState::Archived).then_some(RecordState::Archived);
            assert_eq!(passed.map(|row| row.to), expected);
        }
    }
    assert_eq!(pending, 4);
    // So a row names the state that its write is for.
    let written = TABLE.iter().filter(|row| row.to_phase == Phase::Pending);
    let settled = written.map(|row| (row, usually(row.to, row.to_phase, Trigger::Written)));
    let settled = settled.map(|(row, written)| assert_eq!(written.map(|w| w.to), Some(row.to)));
    assert_eq!(settled.count(), 11);
}

#[test]
fn only_acquire_and_renew_take_a_lock_and_only_a_holder_acknowledges() {
    for row in TABLE {
        let takes = matches!(row.trigger, Trigger::Acquire | Trigger::Renew);
        assert_eq!(row.lock == LockRule::Take, takes, "{row:?}");
        assert_eq!(
            takes,
            row.to == RecordState::Acquired
                && row.to_phase == Phase::Stable
                && row.trigger != Trigger::Refused,
            "{row:?}"
        );
        // A record that is left acquired, or that a refusal gives back, needs its lock.
        let comes_back = row.to == RecordState::Acquired || row.to_phase == Phase::Pending;
        assert!(!(comes_back && row.lock == LockRule::End), "{row:?}");
    }
    for t in AcknowledgeType::ALL {
        for state in RecordState::ALL {
            for circumstance in Circumstance::ALL {
                let row = decide(state, Phase::Stable, t.trigger(), circumstance);
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
    for row in TABLE.iter().filter(|row| row.phase == Phase::Stable) {
        let waits = matches!(
            row.trigger,
            Trigger::Accept
                | Trigger::Release
                | Trigger::SessionRelease
                | Trigger::Reject
                | Trigger::Gap
        );
        assert_eq!(row.to_phase == Phase::Pending, waits, "{row:?}");
        assert!(!(waits && row.to == RecordState::Acquired), "{row:?}");
    }
}

#[test]
fn only_a_reject_and_the_delivery_limit_lead_to_the_dead_letter_queue() {
    for row in TABLE {
        let enters = row.to == RecordState::Archiving && row.from != RecordState::Archiving;
        assert_eq!(enters, row.dead_letter_queue == When::Yes, "{row:?}");
        if enters {
            assert!(row.trigger == Trigger::Reject || row.reaches_delivery_limit());
        }
    }
    for (state, phase, trigger, circumstance) in cases() {
        let with = |dead_letter_queue| Circumstance {
            dead_letter_queue,
            ..circumstance
        };
        let [off, on] =
            [false, true].map(|queue| decide(state, phase, trigger, with(queue)).map(|row| row.to));
        let waits = on == Some(RecordState::Archiving) && phase == Phase::Stable;
        assert_eq!(
            off,
            if waits {
                Some(RecordState::Archived)
            } else {
                on
            }
        );
    }
}

/// `SharePartition.releaseAcquiredRecords`, `InFlightState.tryUpdateState`: whatever gives an acquired record back archives it
/// below the start offset, and gives it up when it was delivered as often as allowed.
#[test]
fn a_record_that_is_given_back_is_archived_below_the_start_offset_and_at_the_delivery_limit() {
    let mut given_back = 0;
    for (state, phase, trigger, circumstance) in cases() {
        let gives_back = matches!(
            trigger,
            Trigger::Release | Trigger::SessionRelease | Trigger::LockTimeout
        );
        let row = decide(state, phase, trigger, circumstance);
        if !gives_back || (state, phase) != (RecordState::Acquired, Phase::Stable) {
            assert!(row.is_none_or(|row| !row.reaches_delivery_limit()));
            continue;
        }
        // A release below the start offset is ignored before it comes to the table.
        let below = circumstance.below_start_offset && trigger != Trigger::Release;
        let expected = match (below, circumstance.attempts_over) {
            (true, _) => RecordState::Archived,
            (false, false) => RecordState::Available,
            (false, true) if circumstance.dead_letter_queue => RecordState::Archiving,
            (false, true) => RecordState::Archived,
        };
        let row = row.expect("an acquired record is silently left");
        assert_eq!(row.to, expected, "{trigger:?} {circumstance:?}");
        let at_limit = !below && circumstance.attempts_over;
        assert_eq!(row.reaches_delivery_limit(), at_limit);
        given_back += 1;
    }
    assert_eq!(given_back, 3 * 8);
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
