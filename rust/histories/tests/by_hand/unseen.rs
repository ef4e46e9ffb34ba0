//! H8: while a record may be in hands that nobody sees, it does not wait.

use super::lines::{ack, checks, end, grant, line, polls, steadily, view};
use share_state_histories::Check;

#[test]
fn an_answer_may_have_been_on_its_way_for_long() {
    let story = |sent: i64| {
        let late = grant(sent, 90_000, "b", (0, 9), 1, 120_000);
        checks(&[&polls()[..], &[late]].concat())
    };
    assert_eq!(story(5000), []);
    assert_eq!(story(89_000), [Check::H8]);
    // Other records are in it: all that time they may have been locked.
    let other = |sent: i64| {
        let late = grant(sent, 90_000, "b", (30, 39), 1, 120_000);
        checks(&[&polls()[..], &[late]].concat())
    };
    assert_eq!(other(5000), []);
    assert_eq!(other(89_000), [Check::H8]);
}

#[test]
fn the_delivery_whose_answer_comes_last_may_be_the_first() {
    let story = |sent: i64| {
        let first = [
            grant(61_000, 61_100, "b", (30, 30), 1, 60_000),
            ack(61_110, 61_120, "b", "[[30,30,1]]", "ok"),
        ];
        let both = [
            grant(61_600, 62_900, "b", (0, 9), 2, 60_000),
            grant(sent, 63_000, "a", (0, 9), 1, 300),
        ];
        checks(&[&polls()[..], &first, &both].concat())
    };
    assert_eq!(story(60_900), []);
    assert_eq!(story(61_300), [Check::H8]);
}

#[test]
fn a_lock_holds_as_long_as_its_members_acknowledgements_are_taken() {
    let story = |outcome, kind: i64, next: i64| {
        checks(&[
            grant(1000, 1010, "a", (0, 9), 1, 1000),
            ack(50_000, 50_010, "a", &format!("[[0,9,{kind}]]"), outcome),
            grant(next, next + 10, "b", (0, 9), 2, 30_000),
        ])
    };
    assert_eq!(story("ok", 2, 100_000), []);
    assert_eq!(story("unknown", 2, 100_000), []);
    assert_eq!(story("refused", 2, 100_000), [Check::H8]);
    assert_eq!(story("ok", 2, 120_000), [Check::H8]);
    // What was given back already is not held.
    let twice = [
        grant(1000, 1010, "a", (0, 9), 1, 30_000),
        ack(1100, 1110, "a", "[[0,9,2]]", "ok"),
        ack(50_000, 50_010, "a", "[[0,9,2]]", "unknown"),
        grant(100_000, 100_010, "b", (0, 9), 2, 30_000),
    ];
    assert_eq!(checks(&twice), [Check::H8]);
}

#[test]
fn who_went_may_have_had_the_record_unless_the_count_tells_otherwise() {
    let story = |gone: i64, count: i64| {
        let gone = line(gone, "gone", r#""member":"c""#);
        let next = grant(100_000, 100_010, "b", (0, 9), count, 30_000);
        checks(&[&polls()[..], &[gone, next]].concat())
    };
    // The longest lock holds for 30 s.
    assert_eq!(story(50_000, 2), []);
    assert_eq!(story(50_000, 1), [Check::H8]);
    assert_eq!(story(3500, 2), [Check::H8]);
    // Another leader counts anew what was not written.
    let leader = |t: i64, epoch: i64| view(t, t + 10, &format!(r#""leader_epoch":{epoch}"#));
    let failover = |epoch: i64| {
        let lines = [
            leader(2040, 1),
            line(50_000, "gone", r#""member":"c""#),
            leader(60_000, epoch),
            grant(100_000, 100_010, "b", (0, 9), 1, 30_000),
        ];
        checks(&[&polls()[..], &lines].concat())
    };
    assert_eq!(failover(1), [Check::H8]);
    assert_eq!(failover(2), []);
    let never = |gone: i64| {
        let gone = line(gone, "gone", r#""member":"c""#);
        let locked = [
            grant(2040, 2050, "b", (21, 21), 1, 30_000),
            ack(2060, 2070, "b", "[[21,21,1]]", "ok"),
        ];
        let end = view(100_000, 100_000, r#""leader_epoch":0"#);
        checks(&[&polls()[..], &locked, &[gone, end]].concat())
    };
    assert_eq!(never(3000), [Check::H8]);
    assert_eq!(never(30_000), []);
    // It may have been given the record a second before it went.
    assert_eq!(never(62_500), []);
    assert_eq!(never(70_000), [Check::H8]);
}

#[test]
fn a_member_that_went_long_ago_has_no_record_that_is_passed_over() {
    let story = |gone: i64| {
        let produced = line(1, "produce", r#""first":10,"last":300"#);
        let mut story = vec![produced, grant(2, 3, "b", (1, 9), 1, 500)];
        story.push(ack(4, 5, "b", "[[1,9,1]]", "ok"));
        story.extend(steadily(10, 1..gone));
        story.push(line(gone * 1000, "gone", r#""member":"x""#));
        story.extend(steadily(10 + gone - 1, gone + 1..120));
        checks(&story)
    };
    assert_eq!(story(3), [Check::H8]);
    assert_eq!(story(60), []);
}

#[test]
fn a_member_reads_the_topics_that_it_is_seen_to_read() {
    let story = |topic: &str| {
        let of = |line: String| line.replace(r#""topic":"t""#, topic);
        let [granted, accepted] = polls();
        let later = grant(100_000, 100_010, "d", (0, 9), 1, 30_000);
        checks(&[of(granted), of(accepted), later])
    };
    assert_eq!(story(r#""topic":"u""#), []);
    assert_eq!(story(r#""topic":"t""#), [Check::H8]);
}

#[test]
fn the_log_start_may_have_moved_before_its_move_was_answered() {
    let story = |t: i64| {
        let retained = line(t, "retained", r#""from":10"#);
        checks(&[&polls()[..], &[retained, end()]].concat())
    };
    // The members are idle from 2,010 ms on.
    assert_eq!(story(62_900), []);
    assert_eq!(story(63_200), [Check::H8]);
}

#[test]
fn where_the_log_has_no_record_nobody_waits() {
    let story = |first: i64| {
        let produced = format!(r#""first":{first},"last":19"#);
        let lines = [
            line(1, "produce", &produced),
            // The server gives the range with its gap, once, and then what is left of it.
            grant(2000, 2010, "b", (0, 19), 1, 1000),
            ack(2020, 2030, "b", "[[0,9,1]]", "ok"),
            grant(5000, 5010, "b", (15, 19), 2, 1000),
            ack(5020, 5030, "b", "[[15,19,1]]", "ok"),
            view(90_000, 90_010, r#""start_offset":20"#),
            line(300_000, "drained", ""),
        ];
        checks(&lines)
    };
    assert_eq!(story(15), []);
    assert_eq!(story(10), [Check::H3, Check::H5, Check::H8]);
}
