//! Questions whether anything is left to deliver or to settle, and the answers to writes for a caller who asks later.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

use crate::common::lab::Lab;
use crate::common::script::play;
use crate::on_both_stores;
use share_state_core::in_flight::InFlightStore;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::share_partition::Status;

fn every_record_counts_until_its_write_is_answered<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        settled => true
        settled 0 => true
        settled 10 => false
        acquire m1 0-9 => 0-9:1
        settled => false
        ack m1 0-4 accept, 5-9 release => w0 + w0 start 0 complete 5 [0-4 acknowledged 1] [5-9 available 1]
        settled 5 => false
        ok w0 => NONE
        settled 5 => true
        settled 6 => false
        settled => false
        acquire m2 5-9 => 5-9:2
        settled 10 => false
        ack m2 5-9 gap => w1 + w1 start 5 complete 5 [5-9 archived 2]
        refuse w1 => COORDINATOR_NOT_AVAILABLE
        settled 10 => false
        ack m2 5-9 gap => w2 + w2 start 5 complete 5 [5-9 archived 2]
        ok w2 => NONE
        settled 10 => true
        settled => true
        settled 11 => false",
    );
}

/// Nothing is written for them, so nothing moves the start offset.
fn records_archived_in_memory_do_not_count_though_the_start_offset_stays<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-4,5-9 size=5 => 0-4:1 5-9:1
        ack m1 0-4 release, 5-9 accept => w0 + w0 start 0 complete 5 [0-4 available 1] [5-9 acknowledged 1]
        ok w0 => NONE
        settled 10 => false
        # The topic was compacted meanwhile.
        acquire m2 5-9 at=0 => nothing
        window => start 0 end 9 next 10 length 10 complete 10 | 0-4 archived 1 | 5-9 acknowledged 1
        settled 10 => true
        settled => true",
    );
}

fn aborted_records_do_not_count<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-4t7,5a7 aborted=7@0 => 5:1
        settled 5 => true
        settled 6 => false
        ack m1 5 gap => w0 + w0 start 5 complete 1 [5 archived 1]
        ok w0 => NONE
        settled 6 => true
        acquire m1 6-9t8 aborted=8@6 => nothing
        settled 10 => true",
    );
}

fn a_gap_counts_until_it_was_read<S: InFlightStore>() {
    play::<S>(
        "init 0 [5-9 acknowledged 1] => active
        settled => false
        settled 10 => false
        acquire m1 5-9 at=0 => nothing
        settled 10 => true",
    );
}

fn only_an_active_share_partition_is_settled<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::empty(ShareGroupConfig::default());
    assert_eq!(lab.sp.status(), Status::Empty);
    assert!(!lab.sp.is_settled() && !lab.sp.settled_to(0));
    lab.initialize(&crate::common::lab::read_result(0, &[]));
    assert!(lab.sp.is_settled());
    lab.sp.fence();
    assert!(!lab.sp.is_settled());
}

fn an_answer_is_told_whoever_carried_the_write<S: InFlightStore>() {
    let lab = play::<S>(
        "init 0 => active
        answer w0 => nothing with token 0 is under way
        acquire m1 0-9 => 0-9:1
        ack m1 0 accept => w0 + w0 start 0 complete 1 [0 acknowledged 1]
        ack m1 1 accept => w1 + w1 start 0 complete 2 [1 acknowledged 1]
        ack m1 2 accept => w2 + w2 start 0 complete 3 [2 acknowledged 1]
        answer w1 => under way
        refuse w1 => COORDINATOR_NOT_AVAILABLE
        answer w0 => under way
        answer w1 => COORDINATOR_NOT_AVAILABLE
        ok w2 => NONE
        ok w0 => NONE
        answer w0 => NONE
        answer w1 => COORDINATOR_NOT_AVAILABLE
        answer w2 => NONE
        answer w3 => nothing with token 3 is under way
        ack m1 3 accept => w3 + w3 start 1 complete 2 [3 acknowledged 1]
        refuse w3 FENCED_STATE_EPOCH => NOT_LEADER_OR_FOLLOWER fences
        answer w3 => NOT_LEADER_OR_FOLLOWER",
    );
    assert_eq!(lab.sp.tokens_to_poll(), 4..4);
}

on_both_stores!(
    every_record_counts_until_its_write_is_answered,
    records_archived_in_memory_do_not_count_though_the_start_offset_stays,
    aborted_records_do_not_count,
    a_gap_counts_until_it_was_read,
    only_an_active_share_partition_is_settled,
    an_answer_is_told_whoever_carried_the_write,
);
