//! H8 where other records are delivered meanwhile, after a reset, and where a record does not wait.

use super::lines::{ack, checks, end, found, grant, in_order, line, reset, steadily, view};
use share_state_histories::Check;

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
    // Each leader has the bound for itself, and nobody knows which one gave the records before.
    let taken_over = |at: usize, asked: i64| {
        let mut story = story(1..100);
        let seen = at as i64 * 1000 + 500;
        story.insert(3 + 2 * at, view(seen, seen, r#""leader_epoch":2"#));
        story.insert(0, view(asked, asked, r#""leader_epoch":1"#));
        checks(&in_order(story))
    };
    assert_eq!(taken_over(80, 80_000), [Check::H8]);
    assert_eq!(taken_over(20, 20_000), [Check::H8]);
    assert_eq!(taken_over(50, 50_000), []);
    assert_eq!(taken_over(80, 1), []);
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
fn what_was_left_out_or_is_gone_did_not_wait_until_its_next_delivery() {
    let produced = line(1, "produce", r#""first":0,"last":9"#);
    let again = |count| grant(200_010, 200_020, "b", (0, 9), count, 30_000);
    let released = [
        produced,
        grant(1000, 1010, "b", (0, 9), 1, 30_000),
        ack(1020, 1030, "b", "[[0,9,2]]", "ok"),
    ];
    assert_eq!(
        checks(&[&released[..], &[again(2)]].concat()),
        [Check::H8],
        "nothing happens to them"
    );
    // Left out at first, and brought back just before they are delivered.
    let back = [reset(20, 30, 1), reset(200, 0, 2), again(1)];
    assert_eq!(checks(&[&released[..], &back].concat()), []);
    // Gone, and left out by a reset long afterwards.
    let gone = [
        line(20_000, "retained", r#""from":10"#),
        reset(200, 30, 1),
        end(),
    ];
    assert_eq!(checks(&[&released[..], &gone].concat()), []);
    // A server may see the move of the log start late.
    let retained = line(20_000, "retained", r#""from":10"#);
    let late = [retained.clone(), again(2)];
    assert_eq!(checks(&[&released[..], &late].concat()), []);
    let polls = grant(15_000, 15_010, "b", (20, 20), 1, 1000);
    let accepted = ack(15_020, 15_030, "b", "[[20,20,1]]", "ok");
    let first = [released[0].clone(), polls, accepted, retained, again(1)];
    assert_eq!(checks(&first), []);
    // A delivery that crosses the reset that leaves it out.
    let crossing = [
        reset(20, 30, 1),
        grant(19_000, 25_000, "b", (0, 9), 2, 1000),
        end(),
    ];
    assert_eq!(checks(&[&released[..], &crossing].concat()), []);
}

#[test]
fn counts_that_begin_anew_are_of_the_last_delivery() {
    let story = |reset: &[String], kind: i64| {
        let before = [
            grant(1000, 1010, "b", (0, 9), 1, 30_000),
            ack(1020, 1030, "b", "[[0,9,2]]", "ok"),
            grant(2000, 2010, "b", (0, 9), 2, 30_000),
            ack(2020, 2030, "b", "[[0,9,2]]", "ok"),
        ];
        let after = [
            grant(25_000, 25_010, "b", (0, 9), 1, 30_000),
            ack(25_020, 25_030, "b", &format!("[[0,9,{kind}]]"), "ok"),
            end(),
        ];
        checks(&[&before[..], reset, &after].concat())
    };
    let reset = [reset(20, 0, 1)];
    assert_eq!(story(&reset, 2), [Check::H8]);
    assert_eq!(story(&reset, 1), []);
    // Without a reset the last count is wrong, and tells nothing of a wait.
    assert_eq!(story(&[], 2), [Check::H4]);
}

#[test]
fn an_acknowledgement_that_comes_late_may_meet_the_next_lock() {
    let story = |outcome, again: i64| {
        vec![
            grant(1000, 1000, "a", (0, 9), 1, 1000),
            ack(1500, 1500, "a", "[[0,9,1]]", outcome),
            grant(again, again, "a", (0, 9), 2, 1000),
            ack(again + 500, again + 500, "a", "[[0,9,1]]", "refused"),
            view(200_000, 200_000, r#""leader_epoch":0"#),
        ]
    };
    assert_eq!(checks(&story("unknown", 3000)), []);
    assert_eq!(checks(&story("unknown", 30_000)), []);
    assert_eq!(found(&story("refused", 3000)), [(Check::H8, vec![4])]);
}

#[test]
fn a_renewal_that_comes_late_may_meet_any_lock() {
    let story = |outcome, again: i64, end: i64| {
        checks(&[
            grant(1000, 1000, "a", (0, 9), 1, 50_000),
            ack(1500, 1500, "a", "[[0,9,4]]", outcome),
            grant(again, again, "a", (0, 9), 2, 50_000),
            view(end, end, r#""leader_epoch":0"#),
        ])
    };
    // The second lock ends at 150 s, or at 200 s if the renewal meets it.
    assert_eq!(story("unknown", 100_000, 255_000), []);
    assert_eq!(story("unknown", 100_000, 265_000), [Check::H8]);
    assert_eq!(story("refused", 100_000, 205_000), []);
    assert_eq!(story("refused", 100_000, 215_000), [Check::H8]);
    assert_eq!(story("ok", 100_000, 215_000), [Check::H8]);
    let only = |end: i64| {
        checks(&[
            grant(1000, 1000, "a", (0, 9), 1, 50_000),
            ack(1500, 1500, "a", "[[0,9,4]]", "unknown"),
            view(end, end, r#""leader_epoch":0"#),
        ])
    };
    // The first lock ends at 51 s, or at 101 s.
    assert_eq!(only(155_000), []);
    assert_eq!(only(165_000), [Check::H8]);
}

#[test]
fn an_acknowledgement_may_be_on_its_way_when_the_state_begins_anew() {
    let story = |second| {
        checks(&[
            grant(1000, 1010, "b", (0, 9), 1, 100),
            ack(1020, 1500, "b", "[[0,9,1]]", "unknown"),
            reset(second, 0, 1),
            end(),
        ])
    };
    assert_eq!(story(5), []);
    assert_eq!(story(12), [Check::H8]);
}
