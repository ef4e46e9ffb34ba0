//! H8 before the first delivery of a state: what was there when it began, or was made afterwards.

use super::lines::{ack, checks, checks_with, end, grant, line, polls, reset, steadily, view};
use share_state_histories::{Check, Settings};

#[test]
fn what_a_reset_begins_with_waits() {
    let accepted = [
        line(1, "produce", r#""first":0,"last":9"#),
        grant(1000, 1000, "a", (0, 9), 1, 1000),
        ack(1100, 1100, "a", "[[0,9,1]]", "ok"),
        line(2000, "gone", r#""member":"a""#),
    ];
    let story = |start, after: &[String]| {
        let end = view(200_000, 200_000, r#""leader_epoch":0"#);
        [&accepted[..], &[reset(3, start, 1)], after, &[end]].concat()
    };
    let polls = [
        grant(4000, 4010, "b", (20, 20), 1, 1000),
        ack(4020, 4030, "b", "[[20,20,1]]", "ok"),
    ];
    // A member is there, nothing is locked, and nobody is given what was accepted in the state before.
    assert_eq!(checks(&story(0, &polls)), [Check::H8]);
    assert_eq!(checks(&story(10, &polls)), []);
    assert_eq!(checks(&story(-1, &polls)), []);
    // Nobody polls.
    assert_eq!(checks(&story(0, &[])), []);
    let again = [
        grant(4100, 4110, "b", (0, 9), 1, 1000),
        ack(4120, 4130, "b", "[[0,9,1]]", "ok"),
    ];
    assert_eq!(checks(&story(0, &[&polls[..], &again].concat())), []);
    // By the clock of its member it was delivered and accepted before the reset; the server may have done both afterwards.
    let crossing = [
        grant(2940, 2990, "b", (0, 9), 1, 1000),
        ack(2992, 2996, "b", "[[0,9,1]]", "ok"),
    ];
    let mut crossed = story(0, &polls);
    crossed.splice(accepted.len()..accepted.len(), crossing);
    assert_eq!(checks(&crossed), []);
}

#[test]
fn what_is_made_after_a_reset_waits() {
    let story = |rest: &str| {
        vec![
            line(3000, "reset", rest),
            line(5000, "produce", r#""first":0,"last":9"#),
            grant(6000, 6010, "b", (20, 20), 1, 1000),
            ack(6020, 6030, "b", "[[20,20,1]]", "ok"),
            view(200_000, 200_000, r#""leader_epoch":0"#),
        ]
    };
    let begins = story(r#""start_offset":0,"state_epoch":1"#);
    assert_eq!(checks(&begins), [Check::H8]);
    assert_eq!(checks(&story(r#""start_offset":10,"state_epoch":1"#)), []);
}

#[test]
fn what_any_reset_begins_with_waits_until_the_next() {
    // Members are there, nothing is locked, and the records are not delivered.
    let polls = |second: i64| {
        let t = second * 1000;
        let granted = grant(t, t + 10, "b", (20, 20), 1, 1000);
        [granted, ack(t + 20, t + 30, "b", "[[20,20,1]]", "ok")]
    };
    let story = |first: i64, until: i64, second: i64| {
        let before = [
            line(1, "produce", r#""first":0,"last":9"#),
            reset(3, first, 1),
        ];
        let after = [
            reset(until, second, 2),
            line(until * 1000 + 1, "gone", r#""member":"b""#),
            end(),
        ];
        checks(&[&before[..], &polls(4), &after].concat())
    };
    assert_eq!(story(0, 100, 30), [Check::H8]);
    assert_eq!(story(0, 100, 0), [Check::H8]);
    // The next reset came within the bound, or the first left the records out.
    assert_eq!(story(0, 50, 30), []);
    assert_eq!(story(10, 100, 30), []);
    // What the second reset leaves out does not wait, whoever polls.
    let left_out = |at: i64| {
        let before = [line(1, "produce", r#""first":0,"last":9"#), reset(3, 0, 1)];
        let after = [reset(at, 30, 2), end()];
        checks(&[&before[..], &polls(4), &after].concat())
    };
    assert_eq!(left_out(100), [Check::H8]);
    assert_eq!(left_out(50), []);
    // A reset brings back what the one before left out, until the log start passes it.
    let back = |gone: i64| {
        let story = [
            line(1, "produce", r#""first":0,"last":9"#),
            reset(3, 10, 1),
            reset(5, 0, 2),
        ];
        let retained = line(gone * 1000, "retained", r#""from":10"#);
        checks(&[&story[..], &polls(6), &[retained, end()]].concat())
    };
    assert_eq!(back(100), [Check::H8]);
    assert_eq!(back(50), []);
}

#[test]
fn what_a_reset_begins_with_may_be_locked_or_not_there() {
    // A delivery crosses the reset: its lock may be of the new state.
    let story = |at: i64| {
        let mut story = vec![
            grant(at - 10, at, "b", (0, 9), 1, 90_000),
            reset(3, 0, 1),
            line(3001, "produce", r#""first":10,"last":99"#),
        ];
        story.extend(steadily(10, 4..80));
        checks(&story)
    };
    assert_eq!(story(2990), []);
    assert_eq!(story(2900), [Check::H8]);
    // Nobody says when the record was made.
    let unknown = [
        reset(3, 10, 1),
        grant(4000, 4010, "b", (20, 20), 1, 1000),
        ack(4020, 4030, "b", "[[20,20,1]]", "ok"),
        grant(100_000, 100_010, "b", (10, 10), 1, 1000),
    ];
    assert_eq!(checks(&unknown), []);
}

#[test]
fn what_is_made_before_the_first_reset_waits() {
    // Members are there, nothing is locked, and the records are not delivered.
    let story = |until: i64, rest: &[String]| {
        let gone = line(until * 1000, "gone", r#""member":"b""#);
        checks(&[&polls()[..], rest, &[gone, reset(until + 1, 30, 1), end()]].concat())
    };
    assert_eq!(story(100, &[]), [Check::H8]);
    assert_eq!(story(50, &[]), []);
    // The share partition started after them.
    let start = |start: i64| view(2040, 2050, &format!(r#""start_offset":{start}"#));
    assert_eq!(story(100, &[start(10)]), []);
    assert_eq!(story(100, &[start(0)]), [Check::H8]);
    // Somebody may have had them, and ended them.
    let ended = |outcome| ack(2060, 2070, "c", "[[0,9,1]]", outcome);
    assert_eq!(story(100, &[ended("refused")]), [Check::H8]);
    assert_eq!(story(100, &[ended("unknown")]), []);
}

#[test]
fn what_was_passed_after_its_delivery_waited_before() {
    let story = |passed: i64| {
        let delivered = [
            grant(100_000, 100_010, "b", (0, 9), 1, 1000),
            ack(100_020, 100_030, "b", "[[0,9,1]]", "ok"),
        ];
        let mut story = [&polls()[..], &delivered].concat();
        story.insert(0, view(1990, 1995, r#""start_offset":0"#));
        let at = if passed < 100_000 { 3 } else { story.len() };
        story.insert(at, view(passed, passed, r#""start_offset":10"#));
        checks(&story)
    };
    assert_eq!(story(110_000), [Check::H8]);
    // The start offset itself is wrong: what it has passed does not wait.
    assert_eq!(story(90_000), [Check::H5]);
}

#[test]
fn members_that_went_may_have_used_up_what_nobody_saw() {
    let story = |members: usize, delivery_limit: i64| {
        let went = vec![line(3000, "gone", r#""member":"x""#); members];
        let settings = Settings {
            delivery_limit,
            ..Settings::default()
        };
        let lines = [&polls()[..], &went, &[end()]].concat();
        checks_with(&settings, &lines)
    };
    assert_eq!(story(1, 1), []);
    assert_eq!(story(1, 2), [Check::H8]);
    assert_eq!(story(2, 2), []);
    assert_eq!(story(0, 1), [Check::H8]);
}
