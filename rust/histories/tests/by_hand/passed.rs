//! H5: nobody is given what lies below a start offset that was shown or set.

use super::lines::{ack, checks, found, grant, reset, view};
use share_state_histories::Check;

fn start(t: i64, start: i64) -> String {
    view(t, t + 10, &format!(r#""start_offset":{start}"#))
}

#[test]
fn h5_nobody_is_given_what_the_start_offset_has_passed() {
    // Two acknowledgements, so H6 does not know which of them happened.
    let story = |sent: i64, shown: i64| {
        found(&[
            grant(100, 110, "a", (0, 9), 1, 30_000),
            ack(200, 210, "a", "[[0,9,1]]", "unknown"),
            ack(300, 310, "a", "[[0,9,1]]", "unknown"),
            start(1000, shown),
            grant(sent, 50_000, "b", (3, 3), 2, 30_000),
        ])
    };
    assert_eq!(story(40_000, 10), [(Check::H5, vec![4, 5])]);
    assert_eq!(story(40_000, 4), [(Check::H5, vec![4, 5])]);
    assert_eq!(story(40_000, 3), []);
    // The delivery may have come before the answer.
    assert_eq!(story(1050, 10), []);
}

#[test]
fn h5_a_leader_that_has_a_successor_may_not_know_what_is_passed() {
    let story = |epoch: i64| {
        checks(&[
            view(50, 60, r#""start_offset":0,"leader_epoch":1"#),
            grant(100, 110, "a", (0, 9), 1, 30_000),
            ack(200, 210, "a", "[[0,9,1]]", "unknown"),
            ack(300, 310, "a", "[[0,9,1]]", "unknown"),
            start(1000, 10),
            grant(40_000, 40_010, "b", (3, 3), 2, 30_000),
            view(41_000, 41_010, &format!(r#""leader_epoch":{epoch}"#)),
        ])
    };
    assert_eq!(story(1), [Check::H5]);
    assert_eq!(story(2), []);
}

#[test]
fn h5_the_next_leader_knows_what_is_passed_but_for_what_was_used_up() {
    // The first leader was asked when it had shown the start offset.
    let story = |count: i64| {
        let lines = [
            view(50, 60, r#""leader_epoch":1"#),
            grant(100, 110, "a", (0, 9), count, 500),
            ack(200, 210, "a", "[[0,9,1]]", "unknown"),
            start(1000, 10),
            view(5000, 5010, r#""leader_epoch":1"#),
            view(6000, 6010, r#""leader_epoch":2"#),
            grant(8000, 8010, "b", (3, 3), count, 30_000),
        ];
        checks(&lines).contains(&Check::H5)
    };
    assert!(story(4));
    assert!(!story(5));
}

#[test]
fn h5_what_a_reset_leaves_out_is_not_delivered_and_not_shown() {
    let story = |shown: i64, sent: i64| {
        let epoch = format!(r#""start_offset":{shown},"state_epoch":2"#);
        checks(&[
            reset(1, 5, 2),
            view(sent, sent + 10, &epoch),
            grant(sent, sent + 10, "a", (shown, shown), 1, 30_000),
        ])
    };
    assert_eq!(story(5, 1200), []);
    assert_eq!(story(4, 1200), [Check::H5]);
    // The reset took place before it was answered.
    let late = [
        view(900, 910, r#""start_offset":15,"state_epoch":2"#),
        reset(2, 12, 2),
    ];
    assert_eq!(checks(&late), []);
    // They may have been asked for before the reset, by another clock.
    let beside = [
        reset(1, 5, 2),
        view(1020, 1030, r#""start_offset":4,"state_epoch":2"#),
        grant(1020, 1030, "a", (4, 4), 1, 30_000),
    ];
    assert_eq!(checks(&beside), []);
}
