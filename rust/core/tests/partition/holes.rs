//! Holes between in-flight batches: offsets that a member speaks of and that hold nothing. The first three sequences were found
//! by random comparison with Kafka's own class.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

use crate::common::lab::{Fetch, Lab, batch, read_result};
use crate::common::script::play;
use crate::on_both_stores;
use share_state_core::in_flight::InFlightStore;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::offset::OffsetRange;

/// `Lab` checks after every step that each lock has a record; a lock of a hole would never end.
fn a_renewal_of_a_hole_locks_nothing<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::empty(ShareGroupConfig::default());
    lab.initialize(&read_result(11, &[batch(13, 13, 0, 1)]));
    let mut fetch = Fetch::of(&[(34, 36), (37, 37), (39, 41)]);
    fetch.fetch_offset = 30;
    let acquired = lab.acquire("m1", &fetch).unwrap();
    assert_eq!(acquired.len(), 1);
    let types = [3, 1, 3, 1, 3, 2, 1, 4, 1, 1];
    let token = lab.acknowledge("m1", &[(25, 34, &types)]).unwrap();
    assert!(token.is_some(), "34 is accepted");
    assert_eq!(lab.sp.counters().renewed, 0);
}

fn a_renewal_of_a_hole_is_not_refused_when_renewal_is_off<S: InFlightStore>() {
    let config = ShareGroupConfig {
        renew_acknowledge_enable: false,
        ..ShareGroupConfig::default()
    };
    let mut lab: Lab<S> = Lab::with(config);
    lab.acquire("m2", &Fetch::of(&[(2, 5)])).unwrap();
    lab.acquire("m2", &Fetch::of(&[(14, 14), (15, 15)]))
        .unwrap();
    let types = [1, 4, 4, 0, 4, 0, 0, 4, 3, 1];
    let token = lab.acknowledge("m2", &[(6, 15, &types)]).unwrap().unwrap();
    let written: Vec<_> = lab.writes[&token]
        .state_batches
        .iter()
        .map(|b| (b.first_offset, b.last_offset, b.delivery_state))
        .collect();
    assert_eq!(written, [(14, 14, 4), (15, 15, 2)]);
    assert!(
        lab.acknowledge("m2", &[(2, 5, &[1, 1, 4, 1])]).is_err(),
        "a record is there"
    );
}

/// A full window that is otherwise done gives what lies in its hole, in any order of filling, and is emptied only when nothing
/// lies there (deliberate difference S6).
fn a_full_window_that_is_done_gives_what_lies_in_its_hole<S: InFlightStore>() {
    let config = ShareGroupConfig {
        partition_max_record_locks: 10,
        delivery_count_limit: 5,
        ..ShareGroupConfig::default()
    };
    let mut lab: Lab<S> = Lab::with(config);
    lab.acquire("m1", &Fetch::of(&[(0, 3)])).unwrap();
    lab.acquire("m2", &Fetch::of(&[(9, 9)])).unwrap();
    let token = lab.acknowledge("m2", &[(9, 9, &[1])]).unwrap().unwrap();
    lab.answer(token, share_state_core::kafka_code::KafkaCode::None)
        .unwrap();
    lab.release("m1");
    for token in lab.writes.keys().copied().collect::<Vec<_>>() {
        lab.answer(token, share_state_core::kafka_code::KafkaCode::None)
            .unwrap();
    }
    let mut fetch = Fetch::of(&[(4, 4), (7, 7)]);
    fetch.fetch_offset = 0;
    let acquired = lab.acquire("m1", &fetch).unwrap();
    let ranges: Vec<_> = acquired.iter().map(|a| a.range).collect();
    assert_eq!(ranges, [OffsetRange { first: 4, last: 7 }]);
}

/// A part of the hole before the first record in flight, once given, is the first outstanding record from then on.
fn the_start_offset_waits_for_what_is_given_of_a_hole_before_it<S: InFlightStore>() {
    play::<S>(
        "init 0 [5-9 available 1] => active
        acquire m1 5-9 => 5-9:2
        ack m1 9 release => w0 + w0 start 0 complete 0 [9 available 2]
        ok w0 => NONE
        acquire m2 0-4 => 0-4:1
        ack m2 0-4 accept => w1 + w1 start 0 complete 5 [0-4 acknowledged 1]
        ok w1 => NONE
        window => start 5 end 9 next 9 length 5 complete 0 | 5-8 acquired 2 m1 | 9 available 2",
    );
}

on_both_stores!(
    a_renewal_of_a_hole_locks_nothing,
    a_renewal_of_a_hole_is_not_refused_when_renewal_is_off,
    a_full_window_that_is_done_gives_what_lies_in_its_hole,
    the_start_offset_waits_for_what_is_given_of_a_hole_before_it,
);
