//! Offsets, counts, times and settings at their ends (28 to 32).

use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::{MAX_STATE_BATCHES_PER_WRITE, NoOpStatePersister};
use share_state_core::record_state::RecordState;
use share_state_core::share_partition::{
    AcknowledgeBatch, AcknowledgeError, FetchedBatch, SharePartition,
};
use share_state_core::time::LockTime;

use super::support::{ACCEPT, window};
use crate::common::lab::{Fetch, Lab, batch, key, read_result};
use crate::common::view::everything;
use crate::on_both_stores;

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
    let stored = [batch(0, 0, 0, i16::MAX)];
    lab.initialize(&read_result(0, &stored));
    let acquired = lab.acquire("m1", &Fetch::of(&[(0, 0)])).unwrap();
    assert_eq!(acquired[0].delivery_count, i16::MAX);
    lab.release("m1");
    assert_eq!(lab.writes[&0].state_batches, [batch(0, 0, 4, i16::MAX)]);
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

fn d3_30_a_limit_below_the_delivery_count_gives_up_at_the_next_return<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::empty(ShareGroupConfig {
        delivery_count_limit: 2,
        ..ShareGroupConfig::default()
    });
    lab.initialize(&read_result(0, &[batch(0, 4, 0, 9)]));
    let acquired = lab.acquire("m1", &Fetch::of(&[(0, 4)])).unwrap();
    assert!(acquired.iter().all(|a| a.delivery_count == 10));
    let held = acquired.iter().map(|a| a.range.len()).sum::<u64>();
    assert_eq!(lab.release("m1"), held);
    assert!(
        lab.writes[&0]
            .state_batches
            .iter()
            .all(|b| b.delivery_state == 4)
    );
}

fn d3_31_two_locks_with_one_deadline_run_out_in_one_write<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::new();
    lab.acquire("m1", &Fetch::of(&[(0, 4)])).unwrap();
    lab.acquire("m2", &Fetch::of(&[(5, 9)])).unwrap();
    assert_eq!(lab.time(29_999), 0);
    assert_eq!(lab.time(30_000), 10);
    assert_eq!(lab.time(30_000), 0);
    assert_eq!(lab.writes.len(), 1);
    assert_eq!(lab.writes[&0].state_batches, [batch(0, 9, 0, 1)]);
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
        assert!(SharePartition::<S>::new(key(), 1, config).err() == Some(error));
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

/// Range of records that were delivered once and twice in turn.
fn a_range_of_more_state_batches_than_a_write_carries_is_refused_inline_too<S: InFlightStore>() {
    let records = MAX_STATE_BATCHES_PER_WRITE as i64 + 1;
    let (last, types) = (records - 1, ACCEPT);
    let batches: Vec<_> = (0..records)
        .map(|offset| batch(offset, offset, 0, 1 + (offset % 2) as i16))
        .collect();
    let mut lab: Lab<S> = Lab::empty(ShareGroupConfig::default());
    lab.initialize(&read_result(0, &batches));
    let fetch = Fetch {
        max_records: i32::MAX,
        ..Fetch::of(&[(0, last)])
    };
    assert_eq!(lab.acquire("m1", &fetch).unwrap().len() as i64, records);
    let all = AcknowledgeBatch {
        first: 0,
        last,
        types,
    };
    let now = LockTime(lab.now);
    let mut persister = NoOpStatePersister;
    let refused = lab
        .sp
        .acknowledge_and_settle("m1", &[all], now, &mut persister);
    let expected = AcknowledgeError::TooManyStateBatches {
        asked: MAX_STATE_BATCHES_PER_WRITE + 1,
        allowed: MAX_STATE_BATCHES_PER_WRITE,
    };
    assert_eq!(refused, Err(expected));
    assert_eq!(lab.sp.counters().writes, 0);
    assert_eq!(lab.sp.state_counts(), [0, records as u64, 0, 0, 0]);
}

on_both_stores!(
    d3_28_the_end_of_the_offset_space_is_an_offset_like_others,
    d3_29_a_log_start_that_goes_back_is_ignored_and_the_furthest_is_taken,
    d3_30_a_delivery_count_at_the_end_of_its_type_stays_there,
    d3_31_time_may_stand_still_go_back_or_end,
    d3_30_a_limit_below_the_delivery_count_gives_up_at_the_next_return,
    d3_31_two_locks_with_one_deadline_run_out_in_one_write,
    d3_30_to_32_a_configuration_that_cannot_be_used_is_refused_by_name,
    what_was_never_handed_out_cannot_be_answered,
    a_range_of_more_state_batches_than_a_write_carries_is_refused_inline_too,
);
