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
