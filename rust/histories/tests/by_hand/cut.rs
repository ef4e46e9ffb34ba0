//! A connection that was cut: the server releases all that its member held.

use super::lines::{ack, checks, grant};
use share_state_histories::Check;

#[test]
fn h2_and_h7_a_cut_connection_releases_what_else_its_member_held() {
    let story = |range: &str, outcome, t: i64| {
        let mut story = vec![
            grant(100, 110, "a", (0, 9), 1, 30_000),
            ack(5000, 5100, "a", range, outcome),
        ];
        let at = if t < 5000 { 1 } else { 2 };
        story.insert(at, grant(t, t + 10, "b", (5, 9), 2, 30_000));
        checks(&story)
    };
    let both = [Check::H2, Check::H7];
    // An accept of other records, and a renewal.
    for range in ["[[0,4,1]]", "[[0,9,4]]"] {
        assert_eq!(story(range, "unknown", 6000), []);
        // Before the request left, nothing was cut.
        assert_eq!(story(range, "unknown", 4800), both);
        assert_eq!(story(range, "ok", 6000), both);
    }
    assert_eq!(story("[[0,4,1]]", "refused", 6000), both);
}

#[test]
fn h2_and_h7_the_request_that_waited_for_long_may_be_the_one_that_was_cut() {
    let story = |sent: i64| {
        checks(&[
            grant(100, 110, "a", (0, 9), 1, 30_000),
            grant(3000, 3010, "b", (0, 9), 2, 30_000),
            ack(5000, 5100, "a", "[[20,29,1]]", "unknown"),
            ack(sent, 9000, "a", "[[30,39,1]]", "unknown"),
        ])
    };
    assert_eq!(story(200), []);
    assert_eq!(story(4000), [Check::H2, Check::H7]);
}

#[test]
fn h2_and_h7_a_cut_connection_is_of_one_member_and_of_its_time() {
    let story = |member, at: i64| {
        let mut story = vec![
            grant(at, at + 10, "a", (0, 9), 1, 30_000),
            grant(9000, 9010, "b", (0, 9), 2, 30_000),
        ];
        let cut = ack(5000, 5100, member, "[[20,29,1]]", "unknown");
        story.insert(usize::from(at < 5000), cut);
        checks(&story)
    };
    assert_eq!(story("a", 100), []);
    assert_eq!(story("b", 100), [Check::H2, Check::H7]);
    // The member was given the records by another connection afterwards.
    assert_eq!(story("a", 6000), [Check::H2, Check::H7]);
}

#[test]
fn h2_and_h7_what_is_renewed_after_a_cut_was_not_released_by_it() {
    let story = |renewed: i64| {
        let mut story = vec![
            grant(100, 110, "a", (0, 9), 1, 30_000),
            ack(5000, 5100, "a", "[[20,29,1]]", "unknown"),
            grant(31_000, 31_010, "b", (0, 9), 2, 30_000),
        ];
        let renewal = ack(renewed, renewed + 10, "a", "[[0,9,4]]", "ok");
        story.insert(if renewed < 5000 { 1 } else { 2 }, renewal);
        checks(&story)
    };
    assert_eq!(story(6000), [Check::H2, Check::H7]);
    assert_eq!(story(4000), []);
}
