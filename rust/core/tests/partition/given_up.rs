//! Records that are given up: at the delivery limit, which may change at any time, and to the dead-letter queue.

use crate::common::script::play;
use crate::on_both_stores;
use share_state_core::in_flight::InFlightStore;

fn a_limit_that_is_lowered_meanwhile_counts_for_the_next_change<S: InFlightStore>() {
    play::<S>(
        "config lock=100 => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1
        ack m1 0-4 release => w0 + w0 start 0 complete 0 [0-4 available 1]
        config limit=1 => ok
        ok w0 => NONE
        window => start 0 end 9 next 0 length 10 complete 0 | 0-4 available 1 | 5-9 acquired 1 m1
        ack m1 5-9 release => w1 + w1 start 0 complete 5 [5-9 archived 1]
        acquire m2 0-4 => 0-4:2
        ack m2 0-4 accept => w2 + w2 start 0 complete 10 [0-4 acknowledged 2]
        refuse w1 => COORDINATOR_NOT_AVAILABLE
        window => start 0 end 9 next 10 length 10 complete 5 | 0-4 acknowledged~ 2 | 5-9 acquired 1 m1
        time 100 => 5 + w3 start 0 complete 10 [5-9 archived 1]",
    );
    // Refused with the lock run out: the limit when the change was made decides, as when it is rolled back in Kafka.
    play::<S>(
        "config lock=100 => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1
        ack m1 0-9 release => w0 + w0 start 0 complete 0 [0-9 available 1]
        config limit=1 => ok
        time 100 => 0
        refuse w0 => COORDINATOR_NOT_AVAILABLE
        window => start 0 end 9 next 0 length 10 complete 0 | 0-9 available 1",
    );
}

fn a_dead_letter_leaves_after_its_write_and_is_archived_when_the_queue_is_done<S: InFlightStore>() {
    play::<S>(
        "config dlq=on limit=1 => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1
        ack m1 0-1 reject, 2-3 release, 4 gap => w0 + w0 start 0 complete 1 \
            [0-3 archiving 1] [4 archived 1]
        release m1 => 5 + w1 start 0 complete 1 [5-9 archiving 1]
        refuse w1 => COORDINATOR_NOT_AVAILABLE
        ok w0 => NONE + d0 0-1:1 ClientReject + d1 2-3:1 DeliveryCountExceeded
        window => start 0 end 9 next 10 length 10 complete 1 \
            | 0-3 archiving 1 | 4 archived 1 | 5-9 acquired 1 m1
        dlq d1 => done + w2 start 0 complete 3 [2-3 archived 1]
        dlq d1 => nothing with token 1 is under way
        dlq d0 => done + w3 start 0 complete 5 [0-1 archived 1]
        refuse w3 => COORDINATOR_NOT_AVAILABLE
        window => start 5 end 9 next 10 length 5 complete 0 | 0-4 archived 1 | 5-9 acquired 1 m1
        time 30000 => 5 + w4 start 5 complete 0 [5-9 archiving 1]
        refuse w4 => COORDINATOR_NOT_AVAILABLE + d2 5-9:1 DeliveryCountExceeded
        ok w2 => NONE
        dlq d2 => done + w5 start 5 complete 5 [5-9 archived 1]
        ok w5 => NONE
        window => start 10 end 10 next 10 length 0 complete 0",
    );
}

fn a_new_leader_finishes_with_the_dead_letters_of_the_old_one<S: InFlightStore>() {
    play::<S>(
        "init 0 [0-4 archiving 1] [5-9 archiving 5] => active \
            + d0 0-4:1 ClientReject + d1 5-9:5 DeliveryCountExceeded
        logstart 2 => moved
        dlq d0 => done + w0 start 2 complete 3 [0-4 archived 1]
        dlq d1 => done + w1 start 2 complete 8 [5-9 archived 5]
        ok w1 => NONE
        window => start 10 end 10 next 10 length 0 complete 0",
    );
}

/// Nobody is left to be given the records, and they were delivered as often as allowed.
fn a_refused_rejection_whose_lock_ran_out_is_archived<S: InFlightStore>() {
    play::<S>(
        "config limit=1 lock=100 dlq=on => ok
        init 0 => active
        acquire m1 0-3 => 0-3:1
        ack m1 0-3 reject => w0 + w0 start 0 complete 0 [0-3 archiving 1]
        time 100 => 0
        refuse w0 COORDINATOR_NOT_AVAILABLE => COORDINATOR_NOT_AVAILABLE
        window => start 0 end 3 next 4 length 4 complete 4 | 0-3 archived 1",
    );
}

on_both_stores!(
    a_limit_that_is_lowered_meanwhile_counts_for_the_next_change,
    a_dead_letter_leaves_after_its_write_and_is_archived_when_the_queue_is_done,
    a_new_leader_finishes_with_the_dead_letters_of_the_old_one,
    a_refused_rejection_whose_lock_ran_out_is_archived,
);
