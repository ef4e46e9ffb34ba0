//! Input that must be refused: the error is typed, and nothing has changed. The numbers are those of the list of bad input
//! in the reference notes: D2 acknowledgements, D3 acquire. What concerns persisted state is in
//! `share_partition_corrupt_state.rs`.

#[cfg(test)]
mod common;

use common::lab::{Fetch, Lab};
use common::view::everything;
use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::record_state::RecordState;
use share_state_core::share_partition::{
    AcknowledgeError, AcquireError, AcquireMode, FetchedBatch, RecordStateReason,
};
use share_state_core::time::LockTime;

const ACCEPT: &[i8] = &[1];

/// m1 holds 0-9, m2 holds 20-29, 10-19 is a hole, 30-34 is accepted but not confirmed, and 35-39 waits to be acquired.
fn window<S: InFlightStore>() -> Lab<S> {
    let mut lab = Lab::new();
    lab.acquire("m1", &Fetch::of(&[(0, 9)])).unwrap();
    lab.acquire("m2", &Fetch::of(&[(20, 29)])).unwrap();
    lab.acquire("m1", &Fetch::of(&[(30, 39)])).unwrap();
    let token = lab.acknowledge("m1", &[(35, 39, &[2])]).unwrap().unwrap();
    lab.answer(token, KafkaCode::None).unwrap();
    lab.acknowledge("m1", &[(30, 34, ACCEPT)]).unwrap().unwrap();
    lab
}

fn refused<S: InFlightStore>(
    lab: &mut Lab<S>,
    member: &str,
    batches: &[(i64, i64, &[i8])],
) -> AcknowledgeError {
    let before = everything(&lab.sp);
    let handed_out = lab.handed_out.clone();
    let error = lab.acknowledge(member, batches).unwrap_err();
    assert_eq!(everything(&lab.sp), before, "{error}");
    assert_eq!(lab.handed_out, handed_out, "{error}");
    assert!(!error.to_string().is_empty() && !error.field().is_empty());
    error
}

fn d2_12_to_19_a_malformed_acknowledgement_is_refused_by_its_form<S: InFlightStore>() {
    use AcknowledgeError as E;
    const MAX: i64 = i64::MAX;
    let mut lab = window::<S>();
    let many = vec![1; 4_096];
    let cases: &[(&[(i64, i64, &[i8])], AcknowledgeError)] = &[
        (
            &[(5, 4, ACCEPT)],
            E::Inverted {
                index: 0,
                first: 5,
                last: 4,
            },
        ),
        (
            &[(0, 1, ACCEPT), (MAX, i64::MIN, ACCEPT)],
            E::Inverted {
                index: 1,
                first: MAX,
                last: i64::MIN,
            },
        ),
        (
            &[(5, 9, ACCEPT), (0, 4, ACCEPT)],
            E::NotAscending {
                index: 1,
                first: 0,
                previous_last: 9,
            },
        ),
        (
            &[(0, 5, ACCEPT), (5, 9, ACCEPT)],
            E::NotAscending {
                index: 1,
                first: 5,
                previous_last: 5,
            },
        ),
        (
            &[(0, 9, &[])],
            E::TypeCount {
                index: 0,
                types: 0,
                offsets: 10,
            },
        ),
        (
            &[(0, 9, &[1, 1, 1])],
            E::TypeCount {
                index: 0,
                types: 3,
                offsets: 10,
            },
        ),
        (
            &[(0, 9, &many)],
            E::TypeCount {
                index: 0,
                types: 4_096,
                offsets: 10,
            },
        ),
        (
            &[(0, MAX - 1, &[1, 1])],
            E::TypeCount {
                index: 0,
                types: 2,
                offsets: MAX as u64,
            },
        ),
        (
            &[(-1, MAX, &[1, 1])],
            E::OutOfRange {
                index: 0,
                first: -1,
                last: MAX,
            },
        ),
        (
            &[(i64::MIN, MAX, ACCEPT)],
            E::OutOfRange {
                index: 0,
                first: i64::MIN,
                last: MAX,
            },
        ),
        (&[(0, 4, &[-1])], E::UnknownType { index: 0, id: -1 }),
        (&[(0, 1, &[1, 7])], E::UnknownType { index: 0, id: 7 }),
        (
            &[(0, 1, ACCEPT), (2, 3, &[i8::MIN])],
            E::UnknownType {
                index: 1,
                id: i8::MIN,
            },
        ),
        (
            &[(-5, -2, ACCEPT)],
            E::OutOfRange {
                index: 0,
                first: -5,
                last: -2,
            },
        ),
        (
            &[(-1, 4, ACCEPT)],
            E::OutOfRange {
                index: 0,
                first: -1,
                last: 4,
            },
        ),
        (
            &[(0, MAX, ACCEPT)],
            E::OutOfRange {
                index: 0,
                first: 0,
                last: MAX,
            },
        ),
        (
            &[(0, MAX - 1, ACCEPT)],
            E::NotInFlight {
                index: 0,
                first: 0,
                last: MAX - 1,
            },
        ),
        (
            &[(12, 14, ACCEPT)],
            E::NotInFlight {
                index: 0,
                first: 12,
                last: 14,
            },
        ),
        (
            &[(25, 40, ACCEPT)],
            E::NotInFlight {
                index: 0,
                first: 25,
                last: 40,
            },
        ),
    ];
    for (batches, error) in cases {
        assert_eq!(&refused(&mut lab, "m1", batches), error);
        assert_eq!(error.kafka_code(), KafkaCode::InvalidRequest);
        assert!(error.index().is_some());
    }
    assert_eq!(cases.len(), 19);
}

fn d2_17_a_million_types_are_weighed_against_the_window_and_not_spread_out<S: InFlightStore>() {
    let mut lab = window::<S>();
    let types = vec![1; 1_000_000];
    let error = refused(&mut lab, "m1", &[(0, 999_999, &types)]);
    assert_eq!(
        error,
        AcknowledgeError::NotInFlight {
            index: 0,
            first: 0,
            last: 999_999
        }
    );
    let error = refused(&mut lab, "m1", &[(0, 9, &types)]);
    assert_eq!(
        error,
        AcknowledgeError::TypeCount {
            index: 0,
            types: 1_000_000,
            offsets: 10
        }
    );
}

fn d2_20_what_the_member_does_not_hold_is_refused_by_the_records_state<S: InFlightStore>() {
    use RecordStateReason as R;
    let mut lab = window::<S>();
    let cases: &[(&str, &[(i64, i64, &[i8])], usize, i64, RecordStateReason)] = &[
        ("m2", &[(0, 4, ACCEPT)], 0, 0, R::OtherMember),
        ("m1", &[(0, 29, ACCEPT)], 0, 20, R::OtherMember),
        ("nobody", &[(0, 4, ACCEPT)], 0, 0, R::OtherMember),
        ("m1", &[(32, 33, ACCEPT)], 0, 32, R::WriteUnderWay),
        ("m1", &[(36, 39, ACCEPT)], 0, 36, R::NotAcquired),
        (
            "m1",
            &[(0, 4, ACCEPT), (3, 9, ACCEPT)],
            1,
            3,
            R::AcknowledgedTwice,
        ),
    ];
    for (member, batches, index, offset, reason) in cases {
        let error = refused(&mut lab, member, batches);
        let expected = AcknowledgeError::InvalidRecordState {
            index: *index,
            offset: *offset,
            reason: *reason,
        };
        assert_eq!(error, expected);
        assert_eq!(error.kafka_code(), KafkaCode::InvalidRecordState);
        assert!(error.to_string().contains(reason.text()));
    }
    // Nothing is in flight at or before the range.
    let mut lab: Lab<S> = Lab::new();
    let error = refused(&mut lab, "m1", &[(3, 4, ACCEPT)]);
    assert!(matches!(
        error,
        AcknowledgeError::InvalidRecordState {
            reason: R::NotFound,
            ..
        }
    ));
}

fn d2_20_the_same_acknowledgement_again_is_refused_before_and_after_its_write<S: InFlightStore>() {
    for (types, after) in [(ACCEPT, None), (&[2], Some(RecordStateReason::NotAcquired))] {
        let mut lab: Lab<S> = Lab::new();
        lab.acquire("m1", &Fetch::of(&[(0, 9), (10, 19)])).unwrap();
        let token = lab.acknowledge("m1", &[(0, 9, types)]).unwrap().unwrap();
        let reason = |error| match error {
            AcknowledgeError::InvalidRecordState { reason, .. } => Some(reason),
            _ => None,
        };
        let error = refused(&mut lab, "m1", &[(0, 9, types)]);
        assert_eq!(reason(error), Some(RecordStateReason::WriteUnderWay));
        lab.answer(token, KafkaCode::None).unwrap();
        match after {
            // Accepted: the start offset has passed the records, so the repetition is ignored.
            None => assert_eq!(lab.acknowledge("m1", &[(0, 9, types)]), Ok(None)),
            Some(_) => assert_eq!(reason(refused(&mut lab, "m1", &[(0, 9, types)])), after),
        }
    }
}

fn d2_21_one_bad_batch_of_a_thousand_refuses_them_all<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::new();
    lab.acquire("m1", &Fetch::of(&[(0, 1_997)])).unwrap();
    let mut batches: Vec<(i64, i64, &[i8])> = (0..999).map(|i| (2 * i, 2 * i, ACCEPT)).collect();
    batches.push((1_998, 1_998, ACCEPT));
    let error = refused(&mut lab, "m1", &batches);
    assert_eq!(error.index(), Some(999));
    batches.pop();
    assert_eq!(lab.acknowledge("m1", &batches), Ok(Some(0)));
}

fn d2_22_below_the_start_offset_is_ignored_whoever_says_it<S: InFlightStore>() {
    let mut lab = window::<S>();
    assert!(lab.move_log_start(25));
    let before = everything(&lab.sp);
    for member in ["m1", "m2", "nobody"] {
        assert_eq!(
            lab.acknowledge(member, &[(0, 9, ACCEPT), (12, 24, &[3])]),
            Ok(None)
        );
    }
    assert_eq!(everything(&lab.sp), before);
}

fn d2_23_a_lock_that_is_due_has_run_out_before_the_acknowledgement_comes<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::new();
    lab.acquire("m1", &Fetch::of(&[(0, 9)])).unwrap();
    lab.now = 29_999;
    lab.acknowledge("m1", &[(0, 0, ACCEPT)]).unwrap().unwrap();
    lab.now = 30_000;
    let error = lab.acknowledge("m1", &[(1, 9, ACCEPT)]).unwrap_err();
    assert_eq!(
        error,
        AcknowledgeError::InvalidRecordState {
            index: 0,
            offset: 1,
            reason: RecordStateReason::NotAcquired
        }
    );
    let mut lab: Lab<S> = Lab::new();
    lab.acquire("m1", &Fetch::of(&[(0, 9)])).unwrap();
    assert_eq!(lab.release("m1"), 10);
    let error = refused(&mut lab, "m1", &[(0, 9, ACCEPT)]);
    assert_eq!(error.kafka_code(), KafkaCode::InvalidRecordState);
}

fn d2_24_nobody_is_no_member<S: InFlightStore>() {
    let mut lab = window::<S>();
    assert_eq!(
        refused(&mut lab, "", &[(35, 39, ACCEPT)]),
        AcknowledgeError::EmptyMemberId
    );
    let before = everything(&lab.sp);
    assert_eq!(lab.release(""), 0);
    assert_eq!(lab.release("nobody"), 0);
    let error = lab.acquire("", &Fetch::of(&[(35, 39)])).unwrap_err();
    assert_eq!(
        (error.kafka_code(), error.field()),
        (KafkaCode::InvalidRequest, "member")
    );
    assert_eq!(everything(&lab.sp), before);
}

fn acquire_refused<S: InFlightStore>(lab: &mut Lab<S>, fetch: &Fetch) -> AcquireError {
    let before = everything(&lab.sp);
    let error = lab.acquire("m3", fetch).unwrap_err();
    assert_eq!(everything(&lab.sp), before, "{error}");
    assert_eq!(error.kafka_code(), KafkaCode::InvalidRequest);
    assert!(!error.to_string().is_empty());
    error
}

fn d3_25_to_27_a_malformed_fetch_is_refused<S: InFlightStore>() {
    const MAX: i64 = i64::MAX;
    let mut lab = window::<S>();
    let good = Fetch::of(&[(35, 39), (40, 49)]);
    for batch_size in [0, -1, i32::MIN] {
        let fetch = Fetch {
            batch_size,
            ..good.clone()
        };
        assert_eq!(
            acquire_refused(&mut lab, &fetch),
            AcquireError::BatchSize { batch_size }
        );
    }
    for fetch_offset in [-1, i64::MIN] {
        let fetch = Fetch {
            fetch_offset,
            ..good.clone()
        };
        assert_eq!(
            acquire_refused(&mut lab, &fetch),
            AcquireError::FetchOffset { fetch_offset }
        );
    }
    let logs: [(&[(i64, i64)], usize); 6] = [
        (&[(45, 40)], 0),
        (&[(40, 49), (45, 50)], 1),
        (&[(40, 49), (49, 50)], 1),
        (&[(50, 59), (40, 49)], 1),
        (&[(-1, 49)], 0),
        (&[(40, 49), (50, MAX)], 1),
    ];
    for (log, bad) in logs {
        let fetch = Fetch {
            fetch_offset: 40,
            ..Fetch::of(log)
        };
        let (base_offset, last_offset) = log[bad];
        let expected = AcquireError::FetchedBatch {
            index: bad,
            base_offset,
            last_offset,
        };
        assert_eq!(acquire_refused(&mut lab, &fetch), expected);
    }
    // Not wrong, but nothing to give.
    let before = everything(&lab.sp);
    for max_records in [0, -1, i32::MIN] {
        let fetch = Fetch {
            max_records,
            ..good.clone()
        };
        assert_eq!(lab.acquire("m3", &fetch), Ok(Vec::new()));
    }
    for mode in [AcquireMode::BatchOptimized, AcquireMode::RecordLimit] {
        let none = Fetch {
            mode,
            log: Vec::new(),
            ..good.clone()
        };
        assert_eq!(lab.acquire("m3", &none), Ok(Vec::new()));
    }
    assert_eq!(everything(&lab.sp), before);
    // The fetch offset may lie behind what was read: nothing was compacted away then.
    let behind = Fetch {
        fetch_offset: MAX,
        ..good
    };
    let acquired = lab.acquire("m3", &behind).unwrap();
    assert_eq!(
        acquired.iter().map(|a| a.range.first).collect::<Vec<_>>(),
        [35, 40]
    );
}

fn d3_26_what_lies_below_the_start_offset_is_not_given<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::new();
    lab.move_log_start(5);
    assert_eq!(lab.acquire("m1", &Fetch::of(&[(0, 4)])), Ok(Vec::new()));
    let acquired = lab.acquire("m1", &Fetch::of(&[(0, 9)])).unwrap();
    assert_eq!(acquired[0].range.first, 5);
}

fn d3_28_the_end_of_the_offset_space_is_an_offset_like_others<S: InFlightStore>() {
    const MAX: i64 = i64::MAX;
    let mut lab: Lab<S> = Lab::new();
    assert!(lab.move_log_start(MAX - 20));
    let acquired = lab
        .acquire("m1", &Fetch::of(&[(MAX - 20, MAX - 1)]))
        .unwrap();
    assert_eq!(acquired[0].range.len(), 20);
    assert_eq!(lab.sp.next_fetch_offset(), MAX);
    let token = lab
        .acknowledge("m1", &[(MAX - 20, MAX - 1, ACCEPT)])
        .unwrap()
        .unwrap();
    lab.answer(token, KafkaCode::None).unwrap();
    assert_eq!(
        (lab.sp.start_offset(), lab.sp.next_fetch_offset()),
        (MAX, MAX)
    );
    let plain = FetchedBatch::plain(MAX - 1, MAX - 1);
    let again = Fetch {
        log: vec![plain],
        fetch_offset: MAX,
        ..Fetch::of(&[])
    };
    assert_eq!(lab.acquire("m1", &again), Ok(Vec::new()));
}

fn d3_29_a_log_start_that_goes_back_is_ignored_and_the_furthest_is_taken<S: InFlightStore>() {
    let mut lab = window::<S>();
    lab.move_log_start(5);
    let before = everything(&lab.sp);
    for offset in [i64::MIN, -1, 0, 4, 5] {
        assert!(!lab.move_log_start(offset));
    }
    assert_eq!(everything(&lab.sp), before);
    assert!(lab.move_log_start(i64::MAX));
    assert_eq!(
        (lab.sp.start_offset(), lab.sp.next_fetch_offset()),
        (i64::MAX, i64::MAX)
    );
    lab.time(i64::MAX);
    assert_eq!(lab.sp.state_counts()[RecordState::Acquired as usize], 0);
}

fn d3_30_a_delivery_count_at_the_end_of_its_type_stays_there<S: InFlightStore>() {
    let most = ShareGroupConfig {
        delivery_count_limit: i16::MAX,
        ..ShareGroupConfig::default()
    };
    let mut lab: Lab<S> = Lab::empty(most);
    let stored = [common::lab::batch(0, 0, 0, i16::MAX)];
    lab.initialize(&common::lab::read_result(0, &stored));
    let acquired = lab.acquire("m1", &Fetch::of(&[(0, 0)])).unwrap();
    assert_eq!(acquired[0].delivery_count, i16::MAX);
    lab.release("m1");
    assert_eq!(
        lab.writes[&0].state_batches,
        [common::lab::batch(0, 0, 4, i16::MAX)]
    );
}

fn d3_31_time_may_stand_still_go_back_or_end<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::new();
    lab.now = i64::MAX - 1;
    lab.acquire("m1", &Fetch::of(&[(0, 4), (5, 9)])).unwrap();
    assert_eq!(lab.sp.poll_timeout(), Some(LockTime(i64::MAX)));
    // The clock does not go back for the locks.
    lab.now = i64::MIN;
    lab.acquire("m2", &Fetch::of(&[(10, 14)])).unwrap();
    assert_eq!(lab.sp.poll_timeout(), Some(LockTime(i64::MAX)));
    assert_eq!(lab.time(0), 0);
    assert_eq!(lab.time(i64::MAX), 15);
    assert_eq!(lab.sp.poll_timeout(), None);
    assert_eq!(lab.writes.len(), 1);
}

fn d3_30_to_32_a_configuration_that_cannot_be_used_is_refused_by_name<S: InFlightStore>() {
    let mut lab = window::<S>();
    let before = everything(&lab.sp);
    let good = *lab.sp.config();
    let bad = [
        ShareGroupConfig {
            delivery_count_limit: 0,
            ..good
        },
        ShareGroupConfig {
            delivery_count_limit: -1,
            ..good
        },
        ShareGroupConfig {
            record_lock_duration_ms: 0,
            ..good
        },
        ShareGroupConfig {
            record_lock_duration_ms: i64::MIN,
            ..good
        },
        ShareGroupConfig {
            record_lock_duration_ms: i64::MAX,
            ..good
        },
        ShareGroupConfig {
            partition_max_record_locks: 0,
            ..good
        },
    ];
    for config in bad {
        let error = lab.sp.configure(config).unwrap_err();
        assert!(error.name.starts_with("share.") && error.to_string().contains(error.name));
        assert!(
            share_state_core::share_partition::SharePartition::<S>::new(
                common::lab::key(),
                1,
                config
            )
            .is_err()
        );
    }
    assert_eq!(everything(&lab.sp), before);
    // A window that has become too long is emptied, and nothing is taken from those who hold it.
    lab.configure(|config| config.partition_max_record_locks = 1);
    assert_eq!(lab.acquire("m3", &Fetch::of(&[(40, 49)])), Ok(Vec::new()));
    assert_eq!(
        lab.acquire("m3", &Fetch::of(&[(35, 39)])).unwrap()[0]
            .range
            .len(),
        5
    );
}

fn what_was_never_handed_out_cannot_be_answered<S: InFlightStore>() {
    let mut lab = window::<S>();
    let before = everything(&lab.sp);
    for token in [7, u64::MAX] {
        assert!(lab.answer(token, KafkaCode::None).is_err());
        assert!(lab.dead_letter_done(token).is_err());
    }
    assert_eq!(everything(&lab.sp), before);
}

on_both_stores!(
    d2_12_to_19_a_malformed_acknowledgement_is_refused_by_its_form,
    d2_17_a_million_types_are_weighed_against_the_window_and_not_spread_out,
    d2_20_what_the_member_does_not_hold_is_refused_by_the_records_state,
    d2_20_the_same_acknowledgement_again_is_refused_before_and_after_its_write,
    d2_21_one_bad_batch_of_a_thousand_refuses_them_all,
    d2_22_below_the_start_offset_is_ignored_whoever_says_it,
    d2_23_a_lock_that_is_due_has_run_out_before_the_acknowledgement_comes,
    d2_24_nobody_is_no_member,
    d3_25_to_27_a_malformed_fetch_is_refused,
    d3_26_what_lies_below_the_start_offset_is_not_given,
    d3_28_the_end_of_the_offset_space_is_an_offset_like_others,
    d3_29_a_log_start_that_goes_back_is_ignored_and_the_furthest_is_taken,
    d3_30_a_delivery_count_at_the_end_of_its_type_stays_there,
    d3_31_time_may_stand_still_go_back_or_end,
    d3_30_to_32_a_configuration_that_cannot_be_used_is_refused_by_name,
    what_was_never_handed_out_cannot_be_answered,
);
