//! The last share session of a group ends: its leader reads the state again, which may not have the last delivery yet.

use super::lines::{checks, grant, in_order, line};
use share_state_histories::Check;

fn gone(t: i64, member: &str) -> String {
    line(t, "gone", &format!(r#""member":"{member}""#))
}

/// Records 0 to 9 are delivered twice to a, which goes at the time between, with these counts; others do what they do.
fn again(went: i64, sent: i64, counts: (i64, i64), others: &[String]) -> Vec<Check> {
    let mut lines = vec![
        grant(100, 110, "a", (0, 9), counts.0, 30_000),
        gone(went, "a"),
        grant(sent, sent + 10, "a", (0, 9), counts.1, 30_000),
    ];
    lines.extend_from_slice(others);
    checks(&in_order(lines))
}

#[test]
fn h4_a_delivery_is_counted_again_where_the_last_session_has_ended() {
    assert_eq!(again(200, 210, (2, 2), &[]), []);
    assert_eq!(again(200, 210, (2, 3), &[]), []);
    // What was written before is known.
    assert_eq!(again(200, 210, (2, 1), &[]), [Check::H4]);
    // Nobody fetched while the release was being written.
    assert_eq!(again(200, 1250, (2, 2), &[]), []);
    assert_eq!(again(200, 1350, (2, 2), &[]), [Check::H4]);
    // The member went only later.
    assert_eq!(again(9000, 210, (2, 2), &[]), [Check::H4, Check::H7]);
}

#[test]
fn h4_each_delivery_that_is_counted_again_has_a_last_session_after_it() {
    let story = |between: bool| {
        let mut lines = vec![
            grant(100, 110, "a", (0, 9), 1, 30_000),
            gone(200, "a"),
            grant(300, 310, "a", (0, 9), 2, 30_000),
            gone(400, "a"),
            grant(500, 510, "a", (0, 9), 1, 30_000),
        ];
        if !between {
            // Another member had a session until the first delivery was over.
            lines.push(grant(50, 60, "b", (20, 29), 1, 30_000));
            lines.push(gone(390, "b"));
        }
        checks(&in_order(lines))
    };
    assert_eq!(story(true), []);
    assert_eq!(story(false), [Check::H4]);
}

#[test]
fn h4_a_session_of_another_member_keeps_the_state() {
    let other = |from: i64, t: i64| {
        [
            grant(from, from + 10, "b", (20, 29), 1, 30_000),
            gone(t, "b"),
        ]
    };
    // It began after the last one had ended, or ended before.
    assert_eq!(again(5000, 5010, (1, 1), &other(4000, 4500)), []);
    assert_eq!(again(5000, 5010, (1, 1), &other(5005, 9000)), []);
    assert_eq!(again(5000, 5010, (1, 1), &other(4000, 9000)), [Check::H4]);
    // Its connection of before may have ended the session that it had just begun.
    let mut back = other(4000, 4500).to_vec();
    back.push(grant(4510, 4520, "b", (30, 39), 1, 30_000));
    assert_eq!(again(5000, 5010, (1, 1), &back), []);
    assert_eq!(again(5800, 5810, (1, 1), &back), [Check::H4]);
}

#[test]
fn h7_the_end_of_an_old_connection_ends_the_new_session_of_its_member() {
    let story = |went: i64| {
        checks(&[
            gone(went, "a"),
            grant(5000, 5010, "a", (0, 9), 1, 30_000),
            grant(5200, 5210, "b", (0, 9), 2, 30_000),
        ])
    };
    assert_eq!(story(4900), []);
    assert_eq!(story(3900), [Check::H2, Check::H7]);
}
