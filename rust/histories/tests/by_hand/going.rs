//! Members that go: what they may have taken with them, and what their going does not hide.

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
fn h4_a_member_that_went_before_a_record_was_made_was_not_given_it() {
    let story = |gone| {
        vec![
            line(gone, "gone", r#""member":"c""#),
            line(5000, "produce", r#""first":10,"last":10"#),
            grant(8000, 8010, "b", (10, 10), 2, 30_000),
        ]
    };
    assert_eq!(checks(&story(1000)), [Check::H4]);
    // Its last request may have waited.
    assert_eq!(checks(&story(4500)), []);
    let mut slow = story(1000);
    slow.insert(0, ack(1, 900, "c", "[[0,0,2]]", "refused"));
    assert_eq!(checks(&slow), [Check::H4]);
    let long = grant(8000, 14_000, "b", (10, 10), 2, 30_000);
    slow[3] = long;
    assert_eq!(checks(&slow), []);
}

#[test]
fn h3_and_h6_a_member_that_goes_may_be_given_unseen_what_its_late_acknowledgement_ends() {
    let story = |rest: &str| {
        checks(&[
            grant(100, 110, "a", (0, 9), 1, 1000),
            ack(200, 300, "a", "[[0,9,1]]", "unknown"),
            grant(5000, 5010, "b", (0, 9), 2, 1000),
            ack(5020, 5030, "b", "[[0,9,2]]", "ok"),
            line(5100, "gone", rest),
            view(5200, 5210, r#""start_offset":10"#),
            drained(6500),
        ])
    };
    assert_eq!(story(r#""member":"a""#), []);
    let all = [Check::H3, Check::H5, Check::H6];
    assert_eq!(story(r#""member":"c""#), all);
}

#[test]
fn h4_the_answer_of_a_member_that_goes_a_little_later_may_have_been_on_its_way() {
    let story = |gone| {
        checks(&[
            grant(100, 110, "a", (0, 9), 1, 1000),
            grant(3000, 3010, "b", (0, 9), 3, 1000),
            line(gone, "gone", r#""member":"c""#),
        ])
    };
    assert_eq!(story(4050), []);
    assert_eq!(story(4100), [Check::H4]);
    let first = |gone| {
        checks(&[
            line(90, "produce", r#""first":10,"last":19"#),
            grant(100, 110, "a", (10, 19), 2, 1000),
            line(gone, "gone", r#""member":"c""#),
        ])
    };
    assert_eq!(first(1150), []);
    assert_eq!(first(1200), [Check::H4]);
    // A producer may hear later that its records are there.
    let unheard = |count: i64| {
        checks(&[
            grant(100, 110, "a", (10, 19), count, 1000),
            line(120, "produce", r#""first":10,"last":19"#),
        ])
    };
    assert_eq!(unheard(1), []);
    assert_eq!(unheard(2), [Check::H4]);
    // Who went before it took one delivery, whatever became of the name a day later.
    let gone = |t| line(t, "gone", r#""member":"c""#);
    let twice = [
        grant(100, 110, "a", (0, 9), 1, 1000),
        gone(2900),
        grant(3000, 3010, "b", (0, 9), 4, 1000),
        gone(86_400_000),
    ];
    assert_eq!(checks(&twice), [Check::H4]);
}

#[test]
fn members_that_go_at_the_end_hide_nothing() {
    let story = |count: i64| {
        let members = ["a", "b", "c", "d", "e", "f"];
        let went = members.map(|name| line(60_000, "gone", &format!(r#""member":"{name}""#)));
        let mut lines = vec![
            grant(100, 110, "a", (0, 9), 1, 1000),
            ack(200, 300, "a", "[[0,9,1]]", "unknown"),
            grant(5000, 5010, "b", (5, 9), count, 1000),
            ack(5020, 5030, "b", "[[5,9,1]]", "ok"),
            grant(5100, 5110, "c", (20, 29), 3, 1000),
            ack(5120, 5130, "c", "[[20,29,2]]", "ok"),
            view(5200, 5210, r#""start_offset":10"#),
            drained(59_900),
        ];
        lines.extend(went);
        checks(&lines)
    };
    // Records 20 to 29 have deliveries left, and one acknowledgement happened to 0 to 4 and not to the others.
    assert_eq!(story(2), [Check::H3, Check::H6]);
    assert_eq!(story(3), [Check::H3, Check::H4, Check::H6]);
}
