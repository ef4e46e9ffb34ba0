//! Events that nobody saw, or that come too late to matter, break no promise.

use super::lines::{ack, checks, drained, found, grant, in_order, line, view};
use share_state_histories::Check;

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

#[test]
fn h1_an_accept_shortly_before_its_deadline_may_be_late_by_the_clock_of_the_server() {
    // The clock of the server made a step. Member b, whose clock is 20 ms ahead, was given the record and accepted it before a did.
    let story = |lock| {
        checks(&[
            grant(10, 180, "a", (0, 9), 1, lock),
            ack(182, 190, "a", "[[0,9,1]]", "ok"),
            grant(195, 198, "b", (0, 9), 2, 1000),
            ack(199, 204, "b", "[[0,9,1]]", "ok"),
        ])
    };
    assert_eq!(story(200), []);
    assert_eq!(story(300), [Check::H1]);
}

#[test]
fn h6_a_late_acknowledgement_of_records_that_ended_may_have_happened_to_the_others() {
    let story = |outcome| {
        vec![
            grant(100, 110, "a", (5, 9), 1, 1000),
            grant(1100, 1110, "a", (0, 4), 1, 1000),
            grant(1200, 1210, "b", (5, 9), 2, 1000),
            ack(1220, 1500, "b", "[[5,9,1]]", outcome),
            ack(1300, 1600, "a", "[[0,4,1],[5,9,1]]", "unknown"),
            view(1700, 1710, r#""start_offset":5"#),
        ]
    };
    // Once b has accepted 5 to 9, the start offset passes them with 0 to 4, and a is late for them alone.
    assert_eq!(found(&story("unknown")), []);
    assert_eq!(found(&story("refused")), [(Check::H6, vec![3, 5, 6])]);
}

#[test]
fn h7_an_acknowledgement_that_nobody_waits_for_may_come_to_a_later_delivery() {
    // The release of a is slow: its first delivery has run out, and it meets the second one.
    let story = |outcome, again: i64| {
        checks(&[
            grant(100, 110, "a", (0, 9), 1, 1000),
            ack(200, 300, "a", "[[0,9,2]]", outcome),
            grant(again, again + 10, "a", (0, 9), 2, 1000),
            grant(again + 20, again + 30, "b", (0, 9), 3, 1000),
        ])
    };
    assert_eq!(story("unknown", 1200), []);
    assert_eq!(story("ok", 1200), [Check::H2, Check::H7]);
    // A connection that stood still may deliver it much later.
    assert_eq!(story("unknown", 30_000), []);
    assert_eq!(story("ok", 30_000), [Check::H2, Check::H7]);
}

#[test]
fn h7_an_acknowledgement_may_be_of_a_delivery_whose_answer_is_on_its_way() {
    // The fetch of a second process of member a waited: it was given what the first one gave back, and gave it back unseen.
    let story = |end: String| {
        vec![
            grant(100, 110, "a", (0, 9), 1, 30_000),
            end,
            grant(190, 325, "a", (0, 9), 2, 30_000),
            ack(320, 330, "a", "[[0,9,2]]", "ok"),
            grant(340, 350, "b", (0, 9), 3, 30_000),
        ]
    };
    let released = ack(200, 210, "a", "[[0,9,2]]", "ok");
    assert_eq!(found(&story(released.clone())), []);
    assert_eq!(found(&story(line(150, "gone", r#""member":"a""#))), []);
    let mut once = story(released);
    once.remove(3);
    let both = [(Check::H2, vec![3, 4]), (Check::H7, vec![3, 4])];
    assert_eq!(found(&once), both);
    // Its lock may have run out just before.
    let mut short = story(ack(200, 210, "a", "[[0,9,1]]", "refused"));
    short[0] = grant(100, 110, "a", (0, 9), 1, 260);
    assert_eq!(found(&short), []);
}

#[test]
fn h7_an_answer_that_comes_later_may_be_of_an_earlier_delivery() {
    // Two processes of member a: the first one's answer is slow, and what it releases is what the second one was given since.
    let lines = [
        grant(250, 368, "a", (0, 9), 2, 1000),
        grant(20, 370, "a", (0, 9), 1, 1000),
        ack(371, 373, "a", "[[0,9,2]]", "ok"),
        grant(266, 375, "b", (0, 9), 3, 1000),
    ];
    assert_eq!(checks(&lines), []);
    // Nobody gave it back.
    assert_eq!(
        checks(&[&lines[..2], &lines[3..]].concat()),
        [Check::H2, Check::H7]
    );
}

#[test]
fn h4_a_delivery_counts() {
    assert_eq!(
        found(&[grant(10, 20, "a", (20, 20), 0, 1000)]),
        [(Check::H4, vec![1])]
    );
}

#[test]
fn deliveries_that_cross_a_reset_stand_between_others() {
    let story = |crossing: &[String]| {
        let mut story = vec![
            line(1, "produce", r#""first":0,"last":9"#),
            line(1000, "reset", r#""start_offset":0,"state_epoch":1"#),
        ];
        story.extend(crossing.iter().cloned());
        story.extend([
            grant(1100, 1110, "b", (0, 9), 1, 10),
            grant(1180, 1190, "a", (0, 9), 3, 10),
        ]);
        story
    };
    // By the clock of its member it may have left before the reset.
    let second = grant(1040, 1100, "c", (0, 9), 2, 10);
    assert_eq!(checks(&story(&[second])), []);
    assert_eq!(checks(&story(&[])), [Check::H4]);
}

/// The records that every history of these tests begins with are accepted.
fn others_end() -> [String; 2] {
    [
        grant(1, 2, "z", (0, 9), 1, 1000),
        ack(3, 4, "z", "[[0,9,1]]", "ok"),
    ]
}

#[test]
fn h3_a_delivery_just_after_a_drain_may_have_been_before_it_by_another_clock() {
    let story = |sent: i64| {
        let lines = [
            grant(5, 6, "a", (20, 29), 4, 1000),
            ack(20, 30, "a", "[[20,29,2]]", "ok"),
            drained(100),
            grant(sent, sent + 5, "b", (20, 29), 5, 1000),
            ack(sent + 6, sent + 8, "b", "[[20,29,2]]", "ok"),
        ];
        checks(&[&others_end()[..], &lines].concat())
    };
    assert_eq!(story(140), []);
    assert_eq!(story(160), [Check::H3]);
}

#[test]
fn h3_an_accept_that_comes_late_may_end_a_delivery_before_its_answer_comes() {
    let story = |outcome| {
        let lines = [
            grant(5, 6, "b", (20, 29), 3, 10),
            ack(10, 15, "a", "[[20,29,1]]", outcome),
            drained(100),
            grant(20, 200, "a", (20, 29), 4, 1000),
        ];
        checks(&[&others_end()[..], &lines].concat())
    };
    assert_eq!(story("unknown"), []);
    assert_eq!(story("refused"), [Check::H3]);
}

#[test]
fn h7_a_renewal_that_was_on_its_way_may_be_of_the_next_delivery() {
    let story = |next: i64| {
        checks(&[
            grant(100, 110, "a", (0, 9), 1, 1000),
            grant(1200, 1210, "b", (0, 9), 2, 1000),
            ack(2240, 2380, "a", "[[0,9,4]]", "ok"),
            grant(next, 2400, "a", (0, 9), 3, 1000),
        ])
    };
    assert_eq!(story(2250), []);
    // The answer to the renewal came before that delivery: the first lock never ran out.
    assert_eq!(story(2390), [Check::H2, Check::H7]);
}

#[test]
fn h1_a_release_that_comes_late_may_end_the_lock_before_the_accept() {
    let story = |outcome| {
        checks(&[
            grant(100, 110, "a", (0, 9), 1, 1000),
            ack(200, 300, "a", "[[0,9,2]]", outcome),
            grant(20_000, 20_010, "a", (0, 9), 2, 30_000),
            grant(20_100, 20_200, "b", (0, 9), 3, 30_000),
            ack(20_210, 20_230, "b", "[[0,9,1]]", "ok"),
            ack(20_012, 20_400, "a", "[[0,9,1]]", "ok"),
        ])
    };
    assert_eq!(story("unknown"), []);
    assert_eq!(story("refused"), [Check::H1]);
}

#[test]
fn h7_a_renewal_while_the_lock_holds_is_of_that_lock() {
    // What c sent may have ended the records; but they were held when the renewal came, so it had not.
    let story = |sent: i64| {
        checks(&[
            grant(100, 110, "a", (0, 9), 1, 1000),
            ack(150, 180, "c", "[[0,9,1]]", "unknown"),
            ack(sent, sent + 10, "a", "[[0,9,4]]", "ok"),
            grant(1300, 1310, "b", (0, 9), 2, 1000),
        ])
    };
    assert_eq!(story(500), [Check::H2, Check::H7]);
    // A later one may have found them below the start offset.
    assert_eq!(story(1200), []);
}

#[test]
fn h1_who_no_longer_held_the_record_may_find_its_end_by_a_clock_ahead() {
    // b's clock may be 50 ms ahead: it was given the record, and accepted it, before a's accept was answered.
    let story = |lock: i64, beside: &[String]| {
        let lines = vec![
            grant(100, 110, "a", (0, 9), 1, lock),
            ack(500, 510, "a", "[[0,9,1]]", "ok"),
            grant(555, 556, "b", (0, 9), 2, 1000),
            ack(557, 558, "b", "[[0,9,1]]", "ok"),
        ];
        checks(&in_order([&lines, beside].concat())).contains(&Check::H1)
    };
    // The lock of a has run out, a has released the record, or has gone.
    let says = |kind| [ack(200, 210, "a", &format!("[[0,9,{kind}]]"), "ok")];
    let gone = |t| [line(t, "gone", r#""member":"a""#)];
    assert!(!story(460, &[]));
    assert!(!story(30_000, &says(2)));
    assert!(!story(30_000, &gone(510)));
    // It held the record.
    assert!(story(461, &[]));
    assert!(story(30_000, &says(4)));
    assert!(story(30_000, &gone(511)));
}

#[test]
fn h1_and_h7_an_equal_count_does_not_tell_that_a_delivery_came_later() {
    let story = |sent: i64| {
        checks(&[
            grant(100, 110, "a", (0, 9), 1, 30_000),
            ack(200, 210, "a", "[[0,9,1]]", "ok"),
            grant(sent, sent + 10, "b", (0, 9), 1, 30_000),
        ])
    };
    // b's clock may be 50 ms ahead. The counts break another promise.
    assert_eq!(story(240), [Check::H4]);
    assert_eq!(story(261), [Check::H1, Check::H4]);
    let held = |sent: i64| {
        checks(&[
            grant(100, 110, "a", (0, 9), 1, 30_000),
            grant(sent, 5000, "a", (0, 9), 1, 30_000),
        ])
    };
    assert_eq!(held(160), [Check::H4]);
    assert_eq!(held(161), [Check::H4, Check::H7]);
}
