//! A change that somebody waits for is pending until its write is answered: every acknowledge type, with every answer,
//! with and without the lock running out or the log start moving in between.

use crate::common::script::play;
use crate::on_both_stores;
use share_state_core::in_flight::InFlightStore;

/// Acknowledge type, and the state that is written.
const TYPES: [(&str, &str); 4] = [
    ("accept", "acknowledged"),
    ("release", "available"),
    ("reject", "archived"),
    ("gap", "archived"),
];

/// Number of `n` records in this state that count as complete.
fn complete(state: &str, n: u64) -> u64 {
    match state {
        "acknowledged" | "archived" => n,
        _ => 0,
    }
}

/// The runs of a window as it shows them: equal neighbours are joined.
fn runs(parts: &[(i64, i64, &str)]) -> String {
    let mut joined: Vec<(i64, i64, &str)> = Vec::new();
    for (first, last, text) in parts {
        match joined.last_mut() {
            Some(before) if before.2 == *text => before.1 = *last,
            _ => joined.push((*first, *last, text)),
        }
    }
    let texts: Vec<String> = joined
        .iter()
        .map(|(first, last, text)| format!(" | {first}-{last} {text}"))
        .collect();
    texts.concat()
}

/// 0-9 held by m1, 3-6 acknowledged with the type, its write not answered.
fn begun(word: &str, state: &str) -> String {
    let done = complete(state, 4);
    format!(
        "config lock=100 => ok
        init 0 => active
        acquire m1 0-9 => 0-9:1
        ack m1 3-6 {word} => w0 + w0 start 0 complete {done} [3-6 {state} 1]
        window => start 0 end 9 next 10 length 10 complete {done} \
            | 0-2 acquired 1 m1 | 3-6 {state}~ 1 | 7-9 acquired 1 m1
        ack m1 3 accept => 121 WriteUnderWay at 3
        ack m1 0-9 accept => 121 WriteUnderWay at 3
        acquire m2 0-9 => nothing\n"
    )
}

fn a_confirmed_write_settles_the_records<S: InFlightStore>() {
    for (word, state) in TYPES {
        let next = if state == "available" { 3 } else { 10 };
        let lab = play::<S>(&format!(
            "{}ok w0 => NONE
            window => start 0 end 9 next {next} length 10 complete {} \
                | 0-2 acquired 1 m1 | 3-6 {state} 1 | 7-9 acquired 1 m1
            deadline => 100
            ok w0 => nothing with token 0 is under way",
            begun(word, state),
            complete(state, 4),
        ));
        assert_eq!(lab.sp.writes_under_way(), 0);
    }
}

fn a_refused_write_gives_the_records_back_with_their_lock<S: InFlightStore>() {
    for (word, state) in TYPES {
        play::<S>(&format!(
            "{}time 50 => 0
            refuse w0 => COORDINATOR_NOT_AVAILABLE
            window => start 0 end 9 next 10 length 10 complete 0 | 0-9 acquired 1 m1
            deadline => 100
            ack m1 3-6 accept => w1 + w1 start 0 complete 4 [3-6 acknowledged 1]
            ok w1 => NONE
            time 100 => 6 + w2 start 0 complete 4 [0-2 available 1] [7-9 available 1]",
            begun(word, state)
        ));
    }
}

fn a_lock_that_runs_out_meanwhile_changes_nothing_when_the_write_is_confirmed<S: InFlightStore>() {
    for (word, state) in TYPES {
        let done = complete(state, 4);
        let left = [
            (0, 2, "available 1"),
            (3, 6, &*format!("{state} 1")),
            (7, 9, "available 1"),
        ];
        play::<S>(&format!(
            "{}time 100 => 6 + w1 start 0 complete {done} [0-2 available 1] [7-9 available 1]
            ok w0 => NONE
            window => start 0 end 9 next 0 length 10 complete {done}{}
            deadline => none",
            begun(word, state),
            runs(&left)
        ));
    }
}

fn a_refusal_after_the_lock_ran_out_is_a_lock_time_out<S: InFlightStore>() {
    for (word, state) in TYPES {
        let done = complete(state, 4);
        // No write follows from a refused one (KAFKA-19476): the persister has the records as they were before.
        play::<S>(&format!(
            "{}time 100 => 6 + w1 start 0 complete {done} [0-2 available 1] [7-9 available 1]
            refuse w0 => COORDINATOR_NOT_AVAILABLE
            window => start 0 end 9 next 0 length 10 complete 0 | 0-9 available 1
            deadline => none
            acquire m2 0-9 => 0-9:2",
            begun(word, state)
        ));
    }
}

fn a_refusal_at_the_limit_of_the_time_of_the_change_archives_without_a_dead_letter<S>()
where
    S: InFlightStore,
{
    for dead_letter in ["off", "on"] {
        play::<S>(&format!(
            "config lock=100 limit=1 dlq={dead_letter} => ok
            init 0 => active
            acquire m1 0-9 => 0-9:1
            ack m1 3-9 accept => w0 + w0 start 0 complete 7 [3-9 acknowledged 1]
            ack m1 0-2 gap => w1 + w1 start 0 complete 10 [0-2 archived 1]
            config limit=5 => ok
            time 100 => 0
            refuse w0 => COORDINATOR_NOT_AVAILABLE
            window => start 0 end 9 next 10 length 10 complete 10 | 0-2 archived~ 1 | 3-9 archived 1
            ok w1 => NONE
            window => start 10 end 10 next 10 length 0 complete 0"
        ));
    }
}

/// [`begun`], then the log start moves to 5.
fn log_start_moved(word: &str, state: &str) -> String {
    let passed = match state {
        "available" => "archived~! 1",
        _ => &*format!("{state}~ 1"),
    };
    let pending = format!("{state}~ 1");
    let window = runs(&[
        (0, 2, "acquired 1 m1"),
        (3, 4, passed),
        (5, 6, &pending),
        (7, 9, "acquired 1 m1"),
    ]);
    format!(
        "{}logstart 5 => moved
        window => start 5 end 9 next 10 length 5 complete {}{window}\n",
        begun(word, state),
        complete(state, 2)
    )
}

fn what_the_log_start_passed_is_confirmed_as_what_it_is<S: InFlightStore>() {
    for (word, state) in TYPES {
        let passed = if state == "available" {
            "archived"
        } else {
            state
        };
        let next = if state == "available" { 5 } else { 10 };
        let left = runs(&[
            (0, 2, "acquired 1 m1"),
            (3, 4, &format!("{passed} 1")),
            (5, 6, &format!("{state} 1")),
            (7, 9, "acquired 1 m1"),
        ]);
        play::<S>(&format!(
            "{}ok w0 => NONE
            window => start 5 end 9 next {next} length 5 complete {}{left}",
            log_start_moved(word, state),
            complete(state, 2)
        ));
    }
}

fn what_the_log_start_passed_comes_back_to_its_member_unless_it_was_available<S: InFlightStore>() {
    for (word, state) in TYPES {
        let passed = if state == "available" {
            "archived 1"
        } else {
            "acquired 1 m1"
        };
        let left = runs(&[
            (0, 2, "acquired 1 m1"),
            (3, 4, passed),
            (5, 9, "acquired 1 m1"),
        ]);
        play::<S>(&format!(
            "{}refuse w0 => COORDINATOR_NOT_AVAILABLE
            window => start 5 end 9 next 10 length 5 complete 0{left}",
            log_start_moved(word, state)
        ));
    }
}

fn lock_and_log_start_both_overtake_the_write<S: InFlightStore>() {
    for (word, state) in TYPES {
        let done = complete(state, 2);
        let expiry = format!(
            "{}time 100 => 6 + w1 start 5 complete {done} [0-2 archived 1] [7-9 available 1]\n",
            log_start_moved(word, state)
        );
        play::<S>(&format!(
            "{expiry}refuse w0 => COORDINATOR_NOT_AVAILABLE
            window => start 5 end 9 next 5 length 5 complete 0 | 0-4 archived 1 | 5-9 available 1
            ok w1 => NONE
            window => start 5 end 9 next 5 length 5 complete 0 | 0-4 archived 1 | 5-9 available 1
            acquire m2 5-9 => 5-9:2"
        ));
        let passed = if state == "available" {
            "archived 1"
        } else {
            &*format!("{state} 1")
        };
        let left = runs(&[
            (0, 2, "archived 1"),
            (3, 4, passed),
            (5, 6, &format!("{state} 1")),
            (7, 9, "available 1"),
        ]);
        let next = if state == "available" { 5 } else { 7 };
        let start = if state == "available" { 5 } else { 7 };
        let length = 10 - start;
        play::<S>(&format!(
            "{expiry}ok w0 => NONE
            window => start {start} end 9 next {next} length {length} complete 0{left}"
        ));
    }
}

fn two_writes_answered_in_reverse_order<S: InFlightStore>() {
    for (word, state) in TYPES {
        let (four, ten) = (complete(state, 4), complete(state, 10));
        let both = format!(
            "init 0 => active
            acquire m1 0-9 => 0-9:1
            ack m1 0-3 {word} => w0 + w0 start 0 complete {four} [0-3 {state} 1]
            ack m1 4-9 {word} => w1 + w1 start 0 complete {ten} [4-9 {state} 1]\n"
        );
        let later = runs(&[
            (0, 3, &format!("{state}~ 1")),
            (4, 9, &format!("{state} 1")),
        ]);
        let next = if state == "available" { 4 } else { 10 };
        let first = format!(
            "{both}ok w1 => NONE
            window => start 0 end 9 next {next} length 10 complete {ten}{later}\n"
        );
        let end = if state == "available" {
            "start 0 end 9 next 0 length 10 complete 0 | 0-9 available 1"
        } else {
            "start 10 end 10 next 10 length 0 complete 0"
        };
        play::<S>(&format!("{first}ok w0 => NONE\nwindow => {end}"));
        let six = complete(state, 6);
        play::<S>(&format!(
            "{first}refuse w0 => COORDINATOR_NOT_AVAILABLE
            window => start 0 end 9 next {next} length 10 complete {six} \
                | 0-3 acquired 1 m1 | 4-9 {state} 1"
        ));
    }
}

fn a_release_leaves_pending_acknowledgements_alone<S: InFlightStore>() {
    for (word, state) in TYPES {
        let done = complete(state, 4);
        play::<S>(&format!(
            "{}release m1 => 6 + w1 start 0 complete {done} [0-2 available 1] [7-9 available 1]
            release m1 => 0
            refuse w0 => COORDINATOR_NOT_AVAILABLE
            window => start 0 end 9 next 10 length 10 complete 0 \
                | 0-2 available~ 1 | 3-6 acquired 1 m1 | 7-9 available~ 1
            release m1 => 4 + w2 start 0 complete 0 [3-6 available 1]
            ok w2 => NONE
            ok w1 => NONE
            window => start 0 end 9 next 0 length 10 complete 0 | 0-9 available 1
            deadline => none",
            begun(word, state)
        ));
    }
}

on_both_stores!(
    a_confirmed_write_settles_the_records,
    a_refused_write_gives_the_records_back_with_their_lock,
    a_lock_that_runs_out_meanwhile_changes_nothing_when_the_write_is_confirmed,
    a_refusal_after_the_lock_ran_out_is_a_lock_time_out,
    a_refusal_at_the_limit_of_the_time_of_the_change_archives_without_a_dead_letter,
    what_the_log_start_passed_is_confirmed_as_what_it_is,
    what_the_log_start_passed_comes_back_to_its_member_unless_it_was_available,
    lock_and_log_start_both_overtake_the_write,
    two_writes_answered_in_reverse_order,
    a_release_leaves_pending_acknowledgements_alone,
);
