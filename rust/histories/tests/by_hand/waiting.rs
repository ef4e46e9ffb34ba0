//! H8 where other records are delivered meanwhile, after a reset, and where a record does not wait.

use super::lines::{ack, checks, found, grant, line, view};
use share_state_histories::Check;

/// A member is given one record each second from `first` on, and accepts it.
fn steadily(first: i64, seconds: core::ops::Range<i64>) -> Vec<String> {
    let story = seconds.enumerate().flat_map(|(at, second)| {
        let offset = first + at as i64;
        let t = second * 1000;
        [
            grant(t, t + 5, "b", (offset, offset), 1, 30_000),
            ack(
                t + 10,
                t + 15,
                "b",
                &format!("[[{offset},{offset},1]]"),
                "ok",
            ),
        ]
    });
    story.collect()
}

#[test]
fn a_record_that_later_ones_pass_over_waits_too_long() {
    let produced = line(1, "produce", r#""first":10,"last":300"#);
    let story = |seconds| {
        let first = grant(2, 3, "b", (1, 9), 1, 500);
        let accepted = ack(4, 5, "b", "[[1,9,1]]", "ok");
        let before = vec![produced.clone(), first, accepted];
        [before, steadily(10, seconds)].concat()
    };
    // Record 0 is never delivered.
    assert_eq!(checks(&story(1..100)), [Check::H8]);
    assert_eq!(checks(&story(1..55)), []);
    // Until it is.
    let mut delivered = story(1..55);
    delivered.push(grant(55_000, 55_010, "b", (0, 0), 1, 30_000));
    delivered.extend(steadily(64, 56..100));
    assert_eq!(checks(&delivered), []);
}

#[test]
fn a_record_waits_while_those_before_it_are_delivered() {
    let produced = line(1, "produce", r#""first":10,"last":300"#);
    let mut story = vec![produced];
    story.extend(steadily(0, 1..200));
    assert_eq!(checks(&story), []);
}

#[test]
fn a_member_that_went_may_have_the_record_that_was_passed_over() {
    let produced = line(1, "produce", r#""first":10,"last":300"#);
    let mut story = vec![produced, grant(2, 3, "b", (1, 9), 1, 500)];
    story.push(ack(4, 5, "b", "[[1,9,1]]", "ok"));
    story.extend(steadily(10, 1..30));
    story.push(line(30_000, "gone", r#""member":"x""#));
    story.extend(steadily(39, 31..80));
    assert_eq!(checks(&story), []);
}

#[test]
fn what_a_reset_leaves_out_does_not_wait() {
    let story = |rest: &str| {
        vec![
            grant(1000, 1000, "a", (0, 9), 1, 1000),
            line(3000, "reset", rest),
            ack(3500, 3500, "a", "[[0,9,2]]", "refused"),
            view(200_000, 200_000, r#""leader_epoch":0"#),
        ]
    };
    assert_eq!(checks(&story(r#""start_offset":20,"state_epoch":1"#)), []);
    // The state began anew, and nobody was given them.
    assert_eq!(
        checks(&story(r#""start_offset":0,"state_epoch":1"#)),
        [Check::H8]
    );
}

#[test]
fn what_a_reset_begins_with_waits() {
    let reset = |start: i64| {
        let rest = format!(r#""start_offset":{start},"state_epoch":1"#);
        line(3000, "reset", &rest)
    };
    let accepted = [
        line(1, "produce", r#""first":0,"last":9"#),
        grant(1000, 1000, "a", (0, 9), 1, 1000),
        ack(1100, 1100, "a", "[[0,9,1]]", "ok"),
        line(2000, "gone", r#""member":"a""#),
    ];
    let story = |start, after: &[String]| {
        let end = view(200_000, 200_000, r#""leader_epoch":0"#);
        [&accepted[..], &[reset(start)], after, &[end]].concat()
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
fn an_acknowledgement_that_comes_late_may_meet_the_next_lock() {
    let story = |outcome| {
        vec![
            grant(1000, 1000, "a", (0, 9), 1, 1000),
            ack(1500, 1500, "a", "[[0,9,1]]", outcome),
            grant(3000, 3000, "a", (0, 9), 2, 1000),
            ack(3500, 3500, "a", "[[0,9,1]]", "refused"),
            view(200_000, 200_000, r#""leader_epoch":0"#),
        ]
    };
    assert_eq!(checks(&story("unknown")), []);
    assert_eq!(found(&story("refused")), [(Check::H8, vec![4])]);
}
