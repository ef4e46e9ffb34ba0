//! Start of a share partition: `share.auto.offset.reset`, resets, and answers on either side of one.

use share_state_histories::Check;

use crate::lines::{ack, checks, drained, found, grant, line, view};

#[test]
fn a_share_partition_may_start_after_records_that_nobody_is_given() {
    let first = view(100, 110, r#""start_offset":5"#);
    let rest = grant(200, 210, "a", (5, 9), 1, 30_000);
    let accepted = ack(300, 310, "a", "[[5,9,1]]", "ok");
    assert_eq!(checks(&[first, rest, accepted, drained(90_000)]), []);
}

#[test]
fn what_is_delivered_was_not_before_the_start() {
    let first = view(100, 110, r#""start_offset":5"#);
    let after = grant(200, 210, "a", (0, 9), 1, 30_000);
    assert_eq!(
        found(&[first.clone(), after.clone()]),
        [(Check::H5, vec![1, 2])]
    );
    // Which of the two came first cannot be known, and either is wrong.
    let crossing = grant(105, 210, "a", (0, 9), 1, 30_000);
    assert_eq!(found(&[first, crossing]), [(Check::H5, vec![1, 2])]);
    // All of it was done before.
    let done = [
        grant(10, 20, "a", (0, 9), 1, 30_000),
        ack(30, 40, "a", "[[0,9,1]]", "ok"),
        view(100, 110, r#""start_offset":10"#),
    ];
    assert_eq!(checks(&done), []);
}

#[test]
fn an_answer_that_crosses_a_reset_may_show_either_state() {
    let reset = line(1000, "reset", r#""start_offset":0,"state_epoch":2"#);
    let old = [
        grant(100, 110, "a", (0, 9), 1, 30_000),
        ack(200, 210, "a", "[[0,9,1]]", "ok"),
        view(300, 310, r#""start_offset":10"#),
        line(400, "gone", r#""member":"a""#),
    ];
    let again = grant(2000, 2010, "b", (0, 9), 1, 30_000);
    for crossing in [
        view(990, 1010, r#""start_offset":10"#),
        view(1010, 1020, r#""start_offset":10"#),
    ] {
        let lines = [&old[..], &[reset.clone(), crossing, again.clone()]].concat();
        assert_eq!(checks(&lines), [], "{lines:?}");
    }
    // The new start may be seen before the answer to the reset is.
    let early = view(970, 990, r#""start_offset":0"#);
    let lines = [&old[..], &[early, reset.clone(), again.clone()]].concat();
    assert_eq!(checks(&lines), []);
    // Well after it, or with the epoch of the new state, there is no doubt.
    for broken in [
        view(1100, 1110, r#""start_offset":10"#),
        view(990, 1010, r#""start_offset":10,"state_epoch":2"#),
    ] {
        let lines = [&old[..], &[reset.clone(), broken, again.clone()]].concat();
        assert_eq!(checks(&lines), [Check::H5], "{lines:?}");
    }
}

#[test]
fn a_delivery_that_crosses_a_reset_may_be_of_either_state() {
    // It was given of the old state, and its answer came after the reset.
    let story = |crossing: i64, start: i64| {
        vec![
            view(10, 20, r#""start_offset":0,"state_epoch":1"#),
            line(
                1000,
                "reset",
                &format!(r#""start_offset":{start},"state_epoch":2"#),
            ),
            grant(crossing, 1200, "a", (0, 9), 1, 30_000),
            line(1210, "gone", r#""member":"a""#),
            view(
                2000,
                2010,
                &format!(r#""start_offset":{start},"state_epoch":2"#),
            ),
        ]
    };
    // The start offset of the new state passes nothing.
    assert_eq!(checks(&story(900, 10)), []);
    assert_eq!(checks(&story(1100, 10)), [Check::H5]);
    // The first delivery of the new state is the first.
    let again = |crossing: i64| {
        let mut lines = story(crossing, 0);
        lines.push(grant(3000, 3010, "b", (0, 9), 1, 30_000));
        checks(&lines)
    };
    assert_eq!(again(900), []);
    assert_eq!(again(1100), [Check::H4]);
}

#[test]
fn which_of_two_answers_came_first_may_not_be_known() {
    let seen = |by: i64| {
        checks(&[
            view(100, 110, r#""start_offset":0,"leader_epoch":2"#),
            view(by, by.max(110), r#""start_offset":0,"leader_epoch":1"#),
        ])
    };
    // At one time, and at two that the clocks of two observers do not tell apart.
    assert_eq!(seen(110), []);
    assert_eq!(seen(160), []);
    assert_eq!(seen(161), [Check::H5]);
}

#[test]
fn h5_an_answer_without_an_epoch_is_of_the_epoch_that_others_show() {
    let with = r#""start_offset":10,"state_epoch":0"#;
    let without = r#""start_offset":7"#;
    let broken = [view(1000, 1000, with), view(3000, 3000, without)];
    assert_eq!(found(&broken), [(Check::H5, vec![1, 2])]);
    let again = r#""start_offset":7,"state_epoch":0"#;
    let broken = [
        view(1000, 1000, r#""start_offset":10"#),
        view(3000, 3000, again),
    ];
    assert_eq!(found(&broken), [(Check::H5, vec![1, 2])]);
    // There may have been a reset that nobody wrote down.
    let other = view(2000, 2000, r#""start_offset":5,"state_epoch":1"#);
    let sound = [view(1000, 1000, with), other, view(3000, 3000, without)];
    assert_eq!(checks(&sound), []);
    let reset = line(2000, "reset", r#""start_offset":7,"state_epoch":1"#);
    let sound = [view(1000, 1000, with), reset, view(3000, 3000, without)];
    assert_eq!(checks(&sound), []);
}

#[test]
fn h6_a_reset_says_nothing_of_an_acknowledgement() {
    let story = |start| {
        vec![
            grant(1000, 1000, "a", (0, 1), 1, 30_000),
            line(
                2000,
                "reset",
                &format!(r#""start_offset":{start},"state_epoch":1"#),
            ),
            grant(2200, 2200, "b", (1, 1), 1, 1000),
            ack(2500, 3000, "a", "[[0,1,1]]", "unknown"),
            view(4000, 4000, r#""start_offset":1"#),
            grant(5000, 5000, "b", (1, 1), 2, 1000),
        ]
    };
    assert_eq!(checks(&story(1)), []);
    assert_eq!(checks(&story(0)), [Check::H6]);
}

/// The state begins anew at record 0.
fn anew(t: i64) -> String {
    line(t, "reset", r#""start_offset":0,"state_epoch":1"#)
}

#[test]
fn an_acknowledgement_that_left_before_a_reset_may_meet_a_delivery_after_it() {
    let story = |outcome, member| {
        checks(&[
            grant(100, 110, "a", (0, 9), 1, 1000),
            ack(200, 300, "a", "[[0,9,1]]", outcome),
            anew(5000),
            grant(6000, 6010, member, (0, 9), 1, 1000),
            view(8000, 8010, r#""start_offset":10,"state_epoch":1"#),
            drained(9000),
        ])
    };
    assert_eq!(story("unknown", "a"), []);
    assert_eq!(story("unknown", "b"), [Check::H3, Check::H5]);
    assert_eq!(story("refused", "a"), [Check::H3, Check::H5]);
    let answered = [
        anew(5000),
        grant(6000, 6010, "a", (0, 9), 1, 1000),
        ack(4900, 6020, "a", "[[0,9,1]]", "ok"),
        drained(9000),
    ];
    assert_eq!(checks(&answered), []);
    // Its member goes, and may have been given the records unseen.
    let unseen = |member| {
        checks(&[
            grant(100, 110, "a", (0, 9), 1, 1000),
            ack(200, 300, "a", "[[0,9,1]]", "unknown"),
            anew(5000),
            grant(5500, 5510, "b", (0, 9), 1, 1000),
            ack(5520, 5530, "b", "[[0,9,2]]", "ok"),
            line(6500, "gone", &format!(r#""member":"{member}""#)),
            view(8000, 8010, r#""start_offset":10,"state_epoch":1"#),
            drained(9000),
        ])
    };
    assert_eq!(unseen("a"), []);
    assert_eq!(unseen("c"), [Check::H3, Check::H5]);
}

/// Nothing is found where the fourth event gives the records back; without it two members hold them.
fn is_sound_by_its_fourth(mut story: Vec<String>) {
    assert_eq!(checks(&story), []);
    story.remove(3);
    assert_eq!(checks(&story), [Check::H2, Check::H7]);
}

#[test]
fn what_was_held_before_a_reset_is_not_held_after_it() {
    // The release left before the answer with the second delivery came, and is of that one all the same.
    is_sound_by_its_fourth(vec![
        grant(4500, 4700, "a", (0, 9), 1, 6000),
        anew(5000),
        grant(5200, 5210, "a", (0, 9), 1, 6000),
        ack(5150, 5230, "a", "[[0,9,2]]", "ok"),
        grant(5220, 5300, "b", (0, 9), 2, 6000),
    ]);
}

#[test]
fn an_answer_from_before_a_reset_may_come_late_and_is_no_later_delivery() {
    is_sound_by_its_fourth(vec![
        anew(5000),
        grant(5500, 5510, "a", (0, 9), 1, 8000),
        grant(4800, 5600, "a", (0, 9), 3, 8000),
        ack(5900, 5950, "a", "[[0,9,2]]", "ok"),
        grant(6000, 6010, "b", (0, 9), 2, 8000),
    ]);
}

#[test]
fn h3_a_drain_beside_a_reset_may_be_of_either_state() {
    let story = |start: i64, t: i64| {
        let rest = format!(r#""start_offset":{start},"state_epoch":1"#);
        checks(&[
            grant(1000, 1010, "a", (0, 9), 1, 1000),
            ack(1020, 1030, "a", "[[0,9,2]]", "ok"),
            line(5000, "reset", &rest),
            drained(t),
        ])
    };
    assert_eq!(story(10, 5000), []);
    assert_eq!(story(10, 6000), []);
    assert_eq!(story(0, 5000), [Check::H3]);
    assert_eq!(story(0, 6000), [Check::H3]);
    // The first state was drained, and the second one was not.
    let drains = |second| {
        checks(&[
            grant(1000, 1010, "a", (0, 9), 1, 1000),
            ack(1020, 1030, "a", "[[0,9,1]]", "ok"),
            anew(5000),
            drained(5020),
            drained(second),
        ])
    };
    assert_eq!(drains(5040), []);
    assert_eq!(drains(5060), [Check::H3]);
}

#[test]
fn h6_a_drain_beside_a_reset_may_say_nothing_of_the_state_before() {
    let story = |t| {
        let mut lines = vec![
            grant(100, 110, "a", (0, 9), 1, 1000),
            ack(200, 300, "a", "[[0,9,1]]", "unknown"),
            grant(2000, 2010, "b", (5, 9), 2, 1000),
            ack(2020, 2030, "b", "[[5,9,1]]", "ok"),
        ];
        let reset = line(5000, "reset", r#""start_offset":10,"state_epoch":1"#);
        lines.extend(if t < 5000 {
            [drained(t), reset]
        } else {
            [reset, drained(t)]
        });
        checks(&lines)
    };
    assert_eq!(story(5000), []);
    assert_eq!(story(4000), [Check::H6]);
}

#[test]
fn h6_what_left_before_a_reset_may_explain_what_is_seen_after_it() {
    let story = |outcome| {
        checks(&[
            grant(100, 110, "a", (0, 4), 1, 1000),
            ack(200, 300, "a", "[[0,4,1]]", outcome),
            grant(1200, 1210, "b", (0, 4), 2, 1000),
            anew(3000),
            grant(2900, 3100, "a", (0, 9), 1, 1000),
            ack(3110, 3200, "a", "[[0,9,1]]", "unknown"),
            grant(5000, 5010, "b", (5, 9), 2, 1000),
            ack(5020, 5030, "b", "[[5,9,1]]", "ok"),
            view(6000, 6010, r#""start_offset":10,"state_epoch":1"#),
        ])
    };
    assert_eq!(story("unknown"), []);
    assert_eq!(story("refused"), [Check::H6]);
}
