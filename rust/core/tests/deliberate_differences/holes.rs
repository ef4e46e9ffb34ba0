//! N1, H1, L1 and F1: what Kafka finds, or fails to find, where nothing is cached.

use share_state_core::in_flight::InFlightStore;

use crate::common::script::play;

fn n1_a_hole_at_the_start_offset_is_passed<S: InFlightStore>() {
    // A range that reaches across the start offset, where nothing is in flight.
    play::<S>(
        "init 7 => active
        ack m1 3-9 accept => 121 NotFound at 3
        acquire m1 9-12 at=7 => 9-12:1
        ack m2 3-9 accept => 121 OtherMember at 9
        ack m1 3-12 accept => w0 + w0 start 9 complete 4 [9-12 acknowledged 1]",
    );
    // The answer of the persister comes when the log start has passed all that is in flight: the records that were rejected
    // go to the dead-letter queue all the same, and the window is empty.
    play::<S>(
        "config dlq=on => ok
        init 0 => active
        acquire m1 0-3 => 0-3:1
        ack m1 0-3 accept reject accept accept => w0 \
            + w0 start 0 complete 3 [0 acknowledged 1] [1 archiving 1] [2-3 acknowledged 1]
        logstart 12 => moved
        ok w0 => NONE + d0 1:1 ClientReject
        dlq d0 => done + w1 start 12 complete 0 [1 archived 1]
        ok w1 => NONE
        window => start 12 end 12 next 12 length 0 complete 0",
    );
}

fn h1_the_batch_before_a_hole_is_not_asked<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0 => 0:1
        acquire m1 3 at=1 => 3:1
        ack m1 3 reject => w0 + w0 start 0 complete 1 [3 archived 1]
        ok w0 => NONE
        acquire m1 7-11 at=4 => 7-11:1
        ack m1 4-9 accept => w1 + w1 start 0 complete 4 [7-9 acknowledged 1]
        ok w1 => NONE
        window => start 0 end 11 next 12 length 12 complete 4 \
            | 0 acquired 1 m1 | 3 archived 1 | 7-9 acknowledged 1 | 10-11 acquired 1 m1
        ack m1 2-10 accept => 121 NotAcquired at 3",
    );
}

fn l1_done_batches_below_the_start_offset_are_forgotten<S: InFlightStore>() {
    let passed = "config locks=10 => ok
        init 6 [14-23 acknowledged 2] => active
        acquire m1 13,14-15 at=11 max=2 => 13:1
        ack m1 13 reject => w0 + w0 start 13 complete 11 [13 archived 1]
        ok w0 => NONE
        logstart 28 => moved
        window => start 28 end 28 next 28 length 0 complete 0\n";
    play::<S>(&format!(
        "{passed}ack m1 30-38 accept => 121 NotFound at 30"
    ));
    // They take no room either.
    play::<S>(&format!("{passed}acquire m1 28-36,37 => 28-37:1"));
    // The log start passes done batches while a gap before them, or a record that is given back, holds the start offset.
    for held in [
        "init 0 [5-9 acknowledged 1] => active",
        "init 0 => active
        acquire m1 0-9 => 0-9:1
        ack m1 0-9 release => w0 + w0 start 0 complete 0 [0-9 available 1]
        ok w0 => NONE",
    ] {
        play::<S>(&format!(
            "config locks=10 => ok
            {held}
            logstart 28 => moved
            window => start 28 end 28 next 28 length 0 complete 0
            ack m1 30-38 accept => 121 NotFound at 30
            acquire m1 28-37 mode=record_limit => 28-37:1"
        ));
    }
    // Nothing is in flight where the range begins, whatever is further on.
    play::<S>(
        "init 29 [38-39 available 1] => active
        acquire m1 32-33 at=32 => 32-33:1
        ack m1 32-33 accept => w0 + w0 start 32 complete 2 [32-33 acknowledged 1]
        ok w0 => NONE
        acquire m2 38 at=34 max=2 => 38:2
        window => start 34 end 39 next 39 length 6 complete 0 | 38 acquired 2 m2 | 39 available 1
        ack m2 34-38 gap => 121 NotFound at 34",
    );
}

fn f1_a_gap_that_is_open_again_is_read<S: InFlightStore>() {
    play::<S>(
        "init 6 [15-24 archived 1] [29-36 available 1] [38-39 acknowledged 1] => active
        acquire m1 28-37 at=25 => 28:1 29-36:2 37:1
        window => start 6 end 39 next 40 length 34 complete 12 \
            | 15-24 archived 1 | 28 acquired 1 m1 | 29-36 acquired 2 m1 | 37 acquired 1 m1 | 38-39 acknowledged 1
        acquire m1 9-16,17-24 at=12 max=1 => 9-14:1
        window => start 9 end 39 next 25 length 31 complete 12 \
            | 9-14 acquired 1 m1 | 15-24 archived 1 | 28 acquired 1 m1 | 29-36 acquired 2 m1 | 37 acquired 1 m1 | 38-39 acknowledged 1
        acquire m1 25-27 at=25 => 25-27:1",
    );
}

crate::differences!(both stores:
    N1 n1_a_hole_at_the_start_offset_is_passed,
    H1 h1_the_batch_before_a_hole_is_not_asked,
    L1 l1_done_batches_below_the_start_offset_are_forgotten,
    F1 f1_a_gap_that_is_open_again_is_read,
);
