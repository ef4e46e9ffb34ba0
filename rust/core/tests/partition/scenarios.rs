//! The worked scenarios of the rules, with exact results: the log has batches 0-9, 10-19, 20-29 and the share partition
//! starts at 0.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

use crate::common::lab::{Fetch, Lab};
use crate::common::script::play;
use crate::common::view;
use crate::on_both_stores;
use share_state_core::in_flight::{InFlightQuestions, InFlightStore};
use share_state_core::kafka_code::KafkaCode;

fn a_one_in_flight_batch_takes_all_that_was_fetched<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-9,10-19,20-29 => 0-29:1
        window => start 0 end 29 next 30 length 30 complete 0 | 0-29 acquired 1 m1",
    );
}

fn b_the_batch_size_cuts_where_log_batches_begin<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-9,10-19,20-29 size=10 => 0-9:1 10-19:1 20-29:1
        window => start 0 end 29 next 30 length 30 complete 0 | 0-29 acquired 1 m1",
    );
}

fn c_a_batch_holds_at_least_the_batch_size_except_the_last<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-9,10-19,20-29 size=15 => 0-19:1 20-29:1",
    );
}

fn d_the_number_of_records_is_a_soft_limit_in_batch_optimized_mode<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-9,10-19,20-29 max=15 => 0-19:1
        window => start 0 end 19 next 20 length 20 complete 0 | 0-19 acquired 1 m1",
    );
}

fn e_the_number_of_records_is_a_hard_limit_in_record_limit_mode<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-9,10-19,20-29 max=15 mode=record_limit => 0-14:1
        window => start 0 end 19 next 15 length 20 complete 0 | 0-14 acquired 1 m1 | 15-19 available 0
        acquire m2 10-19,20-29 at=15 max=3 mode=record_limit => 15-17:1
        window => start 0 end 19 next 18 length 20 complete 0 \
            | 0-14 acquired 1 m1 | 15-17 acquired 1 m2 | 18-19 available 0",
    );
}

fn f_everything_accepted_leaves_an_empty_window<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-9,10-19,20-29 => 0-29:1
        ack m1 0-29 accept => w0 + w0 start 0 complete 30 [0-29 acknowledged 1]
        window => start 0 end 29 next 30 length 30 complete 30 | 0-29 acknowledged~ 1
        ok w0 => NONE
        window => start 30 end 30 next 30 length 0 complete 0
        deadline => none",
    );
}

fn g_released_records_are_delivered_again_with_a_higher_count<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-9,10-19,20-29 => 0-29:1
        ack m1 10-19 release => w0 + w0 start 0 complete 0 [10-19 available 1]
        window => start 0 end 29 next 30 length 30 complete 0 \
            | 0-9 acquired 1 m1 | 10-19 available~ 1 | 20-29 acquired 1 m1
        acquire m2 10-19,20-29 => nothing
        ok w0 => NONE
        window => start 0 end 29 next 10 length 30 complete 0 \
            | 0-9 acquired 1 m1 | 10-19 available 1 | 20-29 acquired 1 m1
        acquire m2 10-19,20-29 => 10-19:2",
    );
}

fn h_a_range_behind_the_window_refuses_the_whole_request<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-9,10-19,20-29 => 0-29:1
        ack m1 0-9 accept, 25-31 accept => 42 NotInFlight
        window => start 0 end 29 next 30 length 30 complete 0 | 0-29 acquired 1 m1",
    );
}

fn i_only_the_holder_may_acknowledge<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-9,10-19,20-29 => 0-29:1
        ack m2 10-19 accept => 121 OtherMember at 10
        window => start 0 end 29 next 30 length 30 complete 0 | 0-29 acquired 1 m1",
    );
}

fn j_a_new_leader_reads_again_what_was_never_written<S: InFlightStore>() {
    let lab = play::<S>(
        "init 0 [10-29 acknowledged 1] => active
        window => start 0 end 29 next 0 length 30 complete 20 | 10-29 acknowledged 1
        acquire m1 0-9,10-19,20-29 => 0-9:1
        window => start 0 end 29 next 30 length 30 complete 20 | 0-9 acquired 1 m1 | 10-29 acknowledged 1
        ack m1 0-9 accept => w0 + w0 start 0 complete 30 [0-9 acknowledged 1]
        ok w0 => NONE
        window => start 10 end 29 next 30 length 20 complete 20 | 10-29 acknowledged 1
        acquire m1 30-34 => 30-34:1
        ack m1 30-34 accept => w1 + w1 start 10 complete 25 [30-34 acknowledged 1]
        ok w1 => NONE
        window => start 35 end 35 next 35 length 0 complete 0",
    );
    assert_eq!(lab.sp.gap_window(), None);
}

fn k_a_record_that_always_fails_is_isolated_and_given_up<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::new();
    let log = [(0, 9), (10, 19), (20, 29)];
    let mut deliveries = Vec::new();
    for round in 1..200 {
        let next = lab.sp.next_fetch_offset();
        let at = log.partition_point(|batch| batch.1 < next);
        let fetch = Fetch {
            fetch_offset: next,
            ..Fetch::of(&log[at..])
        };
        let acquired = lab.acquire("m1", &fetch).unwrap();
        if acquired.is_empty() {
            lab.time(lab.now + 30_000);
            let tokens: Vec<u64> = lab.writes.keys().copied().collect();
            for token in tokens {
                lab.answer(token, KafkaCode::None).unwrap();
            }
        } else {
            deliveries.push(view::acquired(&acquired));
        }
        if lab.sp.start_offset() == 30 {
            assert_eq!(
                round, 40,
                "35 deliveries, and every lock ran out five times"
            );
            break;
        }
    }
    let mut expected = vec!["0-29:1", "0-29:2", "0-29:3", "0-14:4", "15-29:4"]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    expected.extend((0..30).map(|offset| format!("{offset}:5")));
    assert_eq!(deliveries, expected);
    assert_eq!(lab.sp.counters().archived, 30);
    assert!(lab.sp.store().is_empty());
}

fn l_offsets_below_the_log_start_are_ignored_and_given_up_with_their_lock<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-9,10-19,20-29 => 0-29:1
        logstart 15 => moved
        ack m1 0-29 accept => w0 + w0 start 15 complete 15 [15-29 acknowledged 1]
        ok w0 => NONE
        window => start 15 end 29 next 30 length 15 complete 15 | 0-14 acquired 1 m1 | 15-29 acknowledged 1
        time 30000 => 15 + w1 start 15 complete 15 [0-14 archived 1]
        window => start 15 end 29 next 30 length 15 complete 15 | 0-14 archived 1 | 15-29 acknowledged 1
        ok w1 => NONE
        window => start 30 end 30 next 30 length 0 complete 0",
    );
}

fn m_a_type_for_every_offset<S: InFlightStore>() {
    let types = ["accept"; 30]
        .iter()
        .enumerate()
        .map(|(i, t)| if i == 5 { "reject" } else { *t })
        .collect::<Vec<_>>()
        .join(" ");
    play::<S>(&format!(
        "init 0 => active
        acquire m1 0-9,10-19,20-29 => 0-29:1
        ack m1 0-29 {types} => w0 + w0 start 0 complete 30 \
            [0-4 acknowledged 1] [5 archived 1] [6-29 acknowledged 1]
        ok w0 => NONE
        window => start 30 end 30 next 30 length 0 complete 0"
    ));
}

fn what_the_start_offset_has_passed_is_told_apart<S: InFlightStore>() {
    let lab = play::<S>(
        "init 0 => active
        acquire m1 0-9 => 0-9:1
        acquire m2 10-14 => 10-14:1
        ack m1 0-1 accept => w0 + w0 start 0 complete 2 [0-1 acknowledged 1]
        logstart 6 => moved",
    );
    let runs: Vec<_> = lab
        .sp
        .in_flight()
        .map(|run| (run.range.first, run.range.last))
        .collect();
    assert_eq!(runs, [(0, 1), (2, 5), (6, 9), (10, 14)]);
    // By id: available, acquired, acknowledged, archiving, archived.
    assert_eq!(lab.sp.state_counts(), [0, 9, 0, 0, 0]);
    let passed = lab.sp.state_counts_below_start_offset();
    assert_eq!(passed, [0, 4, 2, 0, 0]);
}

fn records_are_joined_only_if_they_are_neighbours_with_one_delivery_count<S: InFlightStore>() {
    play::<S>(
        "config limit=10 => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1
        ack m1 0-4 release => w0 + w0 start 0 complete 0 [0-4 available 1]
        ok w0 => NONE
        acquire m2 0-9 => 0-4:2
        release m2 => 5 + w1 start 0 complete 0 [0-4 available 2]
        ok w1 => NONE
        ack m1 5-6 release, 8-9 release => w2 + w2 start 0 complete 0 [5-6 available 1] [8-9 available 1]
        ok w2 => NONE
        acquire m3 0-9 => 0-4:3 5-6:2 8-9:2",
    );
}

fn records_that_fail_often_come_alone<S: InFlightStore>() {
    play::<S>(
        "init 0 [0-9 available 3] [10-19 available 1] [20-29 available 3] => active
        acquire m1 0-9,10-19,20-29 => 0-4:4
        acquire m2 0-9,10-19,20-29 => 5-9:4
        acquire m3 0-9,10-19,20-29 => 10-19:2
        acquire m4 0-9,10-19,20-29 => 20-24:4",
    );
}

fn as_many_as_asked_for_end_with_their_log_batch<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-9,10-19 max=10 => 0-9:1
        acquire m1 10-19,20-29 max=9 => 10-19:1
        acquire m1 20-29,30-39 size=5 mode=record_limit => 20-39:1",
    );
}

fn only_what_is_aborted_is_taken_out<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-4,5-9t7,10a7,11-14,15-19t7,20a7 size=1 aborted=7@5 aborted=7@15 => 0-4:1 10:1 11-14:1 20:1
        window => start 0 end 20 next 21 length 21 complete 10 | 0-4 acquired 1 m1 | 5-9 archived 1 \
            | 10-14 acquired 1 m1 | 15-19 archived 1 | 20 acquired 1 m1",
    );
    play::<S>(
        "init 0 => active
        acquire m1 0-4t7,5a7 max=4 mode=record_limit => 0-3:1
        acquire m2 0-4t7,5a7 at=4 aborted=7@0 => 5:1",
    );
    play::<S>(
        "init 0 => active
        acquire m1 0-4,5-9t7,10a7 aborted=7@5 => 0-4:1 10:1",
    );
}

fn a_full_window_waits_for_the_write_of_what_ran_out<S: InFlightStore>() {
    play::<S>(
        "config locks=10 limit=1 lock=100 => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1
        time 100 => 10 + w0 start 0 complete 10 [0-9 archived 1]
        config limit=2 => ok
        window => start 0 end 9 next 10 length 10 complete 10 | 0-9 archived 1
        ok w0 => NONE
        window => start 10 end 10 next 10 length 0 complete 0",
    );
}

fn a_dead_letter_whose_write_is_refused_after_its_lock_is_archived<S: InFlightStore>() {
    play::<S>(
        "config dlq=on limit=1 lock=100 => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1
        ack m1 0-4 reject => w0 + w0 start 0 complete 0 [0-4 archiving 1]
        time 100 => 5 + w1 start 0 complete 0 [5-9 archiving 1]
        refuse w0 => COORDINATOR_NOT_AVAILABLE
        window => start 0 end 9 next 10 length 10 complete 5 | 0-4 archived 1 | 5-9 archiving 1",
    );
}

fn a_record_may_not_be_acknowledged_twice_in_a_request<S: InFlightStore>() {
    play::<S>(
        "init 0 => active
        acquire m1 0-9 => 0-9:1
        ack m1 0-4 accept, 0-5 accept => 121 AcknowledgedTwice at 0",
    );
}

on_both_stores!(
    what_the_start_offset_has_passed_is_told_apart,
    a_one_in_flight_batch_takes_all_that_was_fetched,
    b_the_batch_size_cuts_where_log_batches_begin,
    c_a_batch_holds_at_least_the_batch_size_except_the_last,
    d_the_number_of_records_is_a_soft_limit_in_batch_optimized_mode,
    e_the_number_of_records_is_a_hard_limit_in_record_limit_mode,
    f_everything_accepted_leaves_an_empty_window,
    g_released_records_are_delivered_again_with_a_higher_count,
    h_a_range_behind_the_window_refuses_the_whole_request,
    i_only_the_holder_may_acknowledge,
    j_a_new_leader_reads_again_what_was_never_written,
    k_a_record_that_always_fails_is_isolated_and_given_up,
    l_offsets_below_the_log_start_are_ignored_and_given_up_with_their_lock,
    m_a_type_for_every_offset,
    records_are_joined_only_if_they_are_neighbours_with_one_delivery_count,
    records_that_fail_often_come_alone,
    as_many_as_asked_for_end_with_their_log_batch,
    only_what_is_aborted_is_taken_out,
    a_full_window_waits_for_the_write_of_what_ran_out,
    a_dead_letter_whose_write_is_refused_after_its_lock_is_archived,
    a_record_may_not_be_acknowledged_twice_in_a_request,
);
