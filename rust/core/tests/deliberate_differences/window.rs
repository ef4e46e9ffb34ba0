//! K1 to K7: apparent defects of Kafka's share partition.

use share_state_core::in_flight::InFlightStore;

use crate::common::script::play;

fn k1_the_start_offset_never_goes_back<S: InFlightStore>() {
    let passed = "init 0 => active
        acquire m1 0-3 => 0-3:1
        logstart 6 => moved
        window => start 6 end 6 next 6 length 1 complete 0 | 0-3 acquired 1 m1\n";
    for ends in ["release m1 => 4", "time 30000 => 4"] {
        play::<S>(&format!(
            "{passed}{ends} + w0 start 6 complete 0 [0-3 archived 1]
            ok w0 => NONE
            window => start 6 end 6 next 6 length 0 complete 0"
        ));
    }
}

fn k2_a_gap_before_the_log_start_is_not_read_again<S: InFlightStore>() {
    play::<S>(
        "init 0 [15-17 archived 1] => active
        window => start 0 end 17 next 0 length 18 complete 3 | 15-17 archived 1
        logstart 2 => moved
        window => start 2 end 17 next 2 length 16 complete 3 | 15-17 archived 1
        logstart 9 => moved
        window => start 9 end 17 next 9 length 9 complete 3 | 15-17 archived 1
        acquire m1 9-17 => 9-14:1
        ack m1 9-14 accept => w0 + w0 start 9 complete 9 [9-14 acknowledged 1]
        ok w0 => NONE
        window => start 15 end 17 next 18 length 3 complete 3 | 15-17 archived 1",
    );
}

fn k3_a_split_carries_the_write_under_way<S: InFlightStore>() {
    let split = "config lock=100 => ok
        init 0 => active
        acquire m3 0-9 => 0-9:1
        release m3 => 10 + w0 start 0 complete 0 [0-9 available 1]
        logstart 3 => moved
        window => start 3 end 9 next 10 length 7 complete 0 | 0-2 archived~! 1 | 3-9 available~ 1
        acquire m1 0-9 at=3 => nothing\n";
    play::<S>(&format!(
        "{split}ok w0 => NONE
        time 150 => 0
        window => start 3 end 9 next 3 length 7 complete 0 | 0-2 archived 1 | 3-9 available 1
        acquire m1 0-9 at=3 => 3-9:2
        deadline => 250"
    ));
    // Refused: the records go back to the member that has held them, under its own lock.
    play::<S>(&format!(
        "{split}refuse w0 => COORDINATOR_NOT_AVAILABLE
        window => start 3 end 9 next 10 length 7 complete 0 | 0-2 archived 1 | 3-9 acquired 1 m3
        deadline => 100
        time 100 => 7 + w1 start 3 complete 0 [3-9 available 1]"
    ));
}

fn k4_a_full_window_gives_nothing_and_does_not_fail<S: InFlightStore>() {
    play::<S>(
        "config locks=10 => ok
        init 0 => active
        acquire m1 0-4 => 0-4:1
        acquire m2 5-9 => 5-9:1
        ack m2 5-9 release => w0 + w0 start 0 complete 0 [5-9 available 1]
        ok w0 => NONE
        acquire m2 10-14 at=5 => nothing
        window => start 0 end 9 next 10 length 10 complete 5 | 0-4 acquired 1 m1 | 5-9 archived 1
        ack m1 0-4 accept => w1 + w1 start 0 complete 10 [0-4 acknowledged 1]
        ok w1 => NONE
        acquire m2 10-14 => 10-14:1",
    );
}

fn k5_the_delivery_complete_count_is_the_number_of_terminal_records<S: InFlightStore>() {
    play::<S>(
        "init 2 [2 available 1] [3-6 acknowledged 1] [7 archived 1] [10-36 archived 1] => active
        window => start 2 end 36 next 2 length 35 complete 32 \
            | 2 available 1 | 3-6 acknowledged 1 | 7 archived 1 | 10-36 archived 1
        acquire m1 0-7 at=2 max=1 size=1 => 2:2
        logstart 7 => moved
        release m1 => 1 + w0 start 7 complete 28 [2 archived 2]
        ok w0 => NONE
        window => start 7 end 36 next 8 length 30 complete 28 | 7 archived 1 | 10-36 archived 1
        logstart 18 => moved
        window => start 18 end 36 next 37 length 19 complete 19 | 7 archived 1 | 10-36 archived 1
        acquire m3 37-38 max=1 => 37-38:1
        time 30000 => 2 + w1 start 18 complete 19 [37-38 available 1]
        ok w1 => NONE
        window => start 37 end 38 next 37 length 2 complete 0 | 37-38 available 1",
    );
}

fn k6_nothing_is_acquired_below_the_start_offset<S: InFlightStore>() {
    for mode in ["", " mode=record_limit"] {
        play::<S>(&format!(
            "init 0 => active
            acquire m1 0-4 => 0-4:1
            logstart 8 => moved
            acquire m2 6-12 at=8{mode} => 8-12:1
            window => start 8 end 12 next 13 length 5 complete 0 | 0-4 acquired 1 m1 | 8-12 acquired 1 m2"
        ));
    }
}

fn k7_an_aborted_batch_that_begins_below_the_window_is_left_out<S: InFlightStore>() {
    play::<S>(
        "init 2 => active
        acquire m1 0-6t1 at=2 aborted=1@0 => nothing
        window => start 7 end 7 next 7 length 0 complete 0
        acquire m1 7-9 => 7-9:1",
    );
    // Records that were read after it are given.
    play::<S>(
        "init 2 => active
        acquire m1 0-6t1,7-9 at=2 aborted=1@0 => 7-9:1",
    );
}

crate::differences!(both stores:
    K1 k1_the_start_offset_never_goes_back,
    K2 k2_a_gap_before_the_log_start_is_not_read_again,
    K3 k3_a_split_carries_the_write_under_way,
    K4 k4_a_full_window_gives_nothing_and_does_not_fail,
    K5 k5_the_delivery_complete_count_is_the_number_of_terminal_records,
    K6 k6_nothing_is_acquired_below_the_start_offset,
    K7 k7_an_aborted_batch_that_begins_below_the_window_is_left_out,
);
