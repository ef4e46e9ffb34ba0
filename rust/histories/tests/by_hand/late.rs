//! What nobody saw, and what comes too late to matter, breaks no promise.

use super::lines::{ack, checks, drained, grant, line, view};
use share_state_histories::Check;

#[test]
fn h3_and_h5_members_that_went_may_have_had_every_delivery() {
    let went: Vec<String> = (0..5)
        .map(|n| line(100 + n, "gone", &format!(r#""member":"m{n}""#)))
        .collect();
    let passed = [
        view(50, 60, r#""start_offset":0"#),
        view(300, 310, r#""start_offset":10"#),
    ];
    let all = [
        vec![passed[0].clone()],
        went.clone(),
        vec![passed[1].clone(), drained(400)],
    ];
    assert_eq!(checks(&all.concat()), []);
    // With one less there was a delivery left.
    let fewer = [
        vec![passed[0].clone()],
        went[1..].to_vec(),
        vec![passed[1].clone(), drained(400)],
    ];
    assert_eq!(checks(&fewer.concat()), [Check::H3, Check::H5]);
}

#[test]
fn what_comes_after_the_start_offset_is_confirmed_whoever_sends_it() {
    // Member a is late: b had the records and accepted them, and the start offset has passed them.
    let late = |kind| {
        vec![
            grant(10, 20, "a", (0, 9), 1, 1000),
            grant(1100, 1110, "b", (0, 9), 2, 1000),
            ack(1120, 1130, "b", "[[0,9,1]]", "ok"),
            ack(1125, 1400, "a", &format!("[[0,9,{kind}]]"), "ok"),
        ]
    };
    assert_eq!(checks(&late(1)), []);
    assert_eq!(checks(&late(4)), []);
    // Nobody had accepted them.
    let mut nobody = late(1);
    nobody.remove(2);
    nobody[1] = grant(1130, 1300, "b", (0, 9), 2, 1000);
    assert_eq!(checks(&nobody), [Check::H1]);
}

#[test]
fn h3_a_member_that_went_may_come_back_and_end_what_it_was_given_unseen() {
    // The answer to a was lost, which is all the same as if a had gone; then it accepts what it holds.
    let story = |gone: i64, outcome| {
        let mut lines = vec![
            line(gone, "gone", r#""member":"a""#),
            ack(300, 310, "a", "[[0,9,1]]", outcome),
            drained(400),
        ];
        if gone > 310 {
            lines.swap(0, 1);
        }
        checks(&lines)
    };
    assert_eq!(story(200, "ok"), []);
    assert_eq!(story(200, "unknown"), []);
    assert_eq!(story(200, "refused"), [Check::H3]);
    // It went only after its accept, and nobody else did.
    assert_eq!(story(350, "ok"), [Check::H3]);
}

#[test]
fn h1_an_accept_within_its_lock_was_not_late() {
    // Another member is given the record at once, and accepts it within the distance of two clocks.
    let lines = [
        grant(10, 20, "a", (0, 9), 1, 1000),
        ack(30, 34, "a", "[[0,9,1]]", "ok"),
        grant(36, 38, "b", (0, 9), 2, 1000),
        ack(40, 44, "b", "[[0,9,1]]", "ok"),
    ];
    assert_eq!(checks(&lines), [Check::H1]);
}
