//! Two leaders after one another, and two clients with two clocks: what counts and times do not tell then.

use super::lines::{ack, checks, drained, found, grant, line, view};
use share_state_histories::Check;

/// The times in ms: the one leader was last seen at the first, the next one at the second.
fn takeover(from: i64, to: i64) -> [String; 2] {
    [
        view(from, from, r#""leader_epoch":1"#),
        view(to, to, r#""leader_epoch":2"#),
    ]
}

/// The lines in the order of their times.
fn in_order(mut lines: Vec<String>) -> Vec<String> {
    let time = |line: &String| {
        let from = line.find(r#""t":"#).unwrap() + 4;
        let digits = line[from..].split(',').next().unwrap();
        digits.parse::<i64>().unwrap()
    };
    lines.sort_by_key(time);
    lines
}

#[test]
fn h1_a_late_accept_may_find_the_end_of_a_delivery_that_another_clock_shows_later() {
    // b's clock is 30 ms ahead of a's: it was given the record, and accepted it, before a's accept arrived.
    let late = |given: i64| {
        vec![
            grant(10, 20, "a", (0, 9), 1, 1000),
            ack(1100, 1110, "a", "[[0,9,1]]", "ok"),
            grant(given, given + 2, "b", (0, 9), 2, 1000),
            ack(given + 3, given + 5, "b", "[[0,9,1]]", "ok"),
        ]
    };
    assert_eq!(checks(&late(1120)), []);
    // No clock is that far ahead.
    assert_eq!(checks(&late(1161)), [Check::H1]);
    // Without an end of the second delivery the accept was a's.
    assert_eq!(checks(&late(1120)[..3]), [Check::H1]);
}

#[test]
fn h1_and_h7_the_leader_before_may_have_given_what_is_answered_late() {
    // The first leader gave b the records, for a second time, and its answer is on its way; the next one gives them to a, for
    // the first time as far as it knows.
    let crossing = |sent: i64| {
        let [old, new] = takeover(100, 200);
        in_order(vec![
            old,
            new,
            grant(1300, 1310, "a", (0, 9), 1, 5000),
            ack(1400, 1410, "a", "[[0,9,1]]", "ok"),
            grant(sent, 2480, "b", (0, 9), 2, 5000),
        ])
    };
    assert_eq!(checks(&crossing(50)), []);
    // It asked the next leader, and can only have been given them after a.
    assert_eq!(checks(&crossing(1500)), [Check::H1]);
    let held = |sent: i64| {
        let mut lines = crossing(sent);
        lines.retain(|line| !line.contains(r#""ack""#));
        lines
    };
    assert_eq!(checks(&held(50)), []);
    // It may serve on until it hears of the next one, for a second.
    assert_eq!(checks(&held(280)), []);
    assert!(checks(&held(1500)).contains(&Check::H7));
}

#[test]
fn h3_h5_and_h6_a_write_that_one_leader_gave_up_may_be_found_by_the_next() {
    // The first leader gives up the write of a's accept and delivers 5 to 9 again; the next one finds them accepted.
    let given_up = |takes_over: bool, again: i64| {
        let mut lines = vec![
            grant(100, 110, "a", (0, 9), 1, 5000),
            ack(200, 1200, "a", "[[0,9,1]]", "unknown"),
            grant(again, again + 10, "b", (5, 9), 2, 5000),
            line(again + 50, "gone", r#""member":"b""#),
            view(8000, 8010, r#""start_offset":10"#),
            drained(30_000),
        ];
        if takes_over {
            lines.extend(takeover(6200, 6300));
        }
        in_order(lines)
    };
    assert_eq!(checks(&given_up(true, 6000)), []);
    // One leader agrees with itself.
    assert!(checks(&given_up(false, 6000)).contains(&Check::H6));
    // So does the next one: what it delivers was not written, and no part of it is found.
    assert!(checks(&given_up(true, 7500)).contains(&Check::H6));
    let excerpt = found(&given_up(false, 6000));
    assert!(excerpt.contains(&(Check::H6, vec![2, 3, 5])), "{excerpt:?}");
}

#[test]
fn h1_an_accept_after_the_last_lock_may_be_confirmed_for_a_record_that_was_archived_unwritten() {
    let story = |count: i64, sent: i64, to: i64| {
        let [old, new] = takeover(5, to);
        in_order(vec![
            old,
            new,
            grant(10, 20, "a", (0, 9), count, 1000),
            ack(sent, sent + 10, "a", "[[0,9,1]]", "ok"),
            grant(1400, 1410, "b", (0, 9), count - 1, 1000),
        ])
    };
    // The lock ran out at the limit. The next leader does not know that the record was archived.
    assert!(!checks(&story(5, 1100, 1300)).contains(&Check::H1));
    // It was accepted while the lock held; it had a delivery left; the same leader knows.
    assert!(checks(&story(5, 500, 1300)).contains(&Check::H1));
    assert!(checks(&story(4, 1100, 1300)).contains(&Check::H1));
    let [old, _] = takeover(5, 6);
    let same = story(5, 1100, 1300);
    let same: Vec<String> = same
        .into_iter()
        .filter(|line| !line.contains("leader_epoch"))
        .chain([old])
        .collect();
    assert!(checks(&in_order(same)).contains(&Check::H1));
}

#[test]
fn h1_an_accept_may_be_confirmed_for_a_record_that_was_archived_unwritten_and_that_nobody_ever_saw()
{
    // Whoever was given the record went. The last lock ran out, and the write of that failed: the next leader knows nothing of it.
    let story = |went: i64, first: &[String]| {
        let [old, new] = takeover(370, 500);
        let mut lines: Vec<_> = (0..went)
            .map(|n| line(200 + n, "gone", &format!(r#""member":"m{n}""#)))
            .collect();
        lines.extend([
            old,
            new,
            ack(300, 310, "a", "[[0,9,1]]", "ok"),
            grant(600, 610, "b", (0, 9), 5, 1000),
        ]);
        lines.extend_from_slice(first);
        checks(&in_order(lines)).contains(&Check::H1)
    };
    assert!(!story(5, &[]));
    assert!(story(4, &[]));
    // Who holds a record is not late for it.
    assert!(story(5, &[grant(250, 260, "a", (0, 9), 1, 1000)]));
}

#[test]
fn h4_the_first_delivery_may_be_answered_after_those_of_another_leader() {
    let story = |sent| {
        vec![
            view(10, 20, r#""leader_epoch":1"#),
            line(1000, "produce", r#""first":10,"last":10"#),
            grant(900, 3000, "b", (10, 10), 2, 500),
            view(4000, 4010, r#""leader_epoch":2"#),
            grant(4020, 4030, "c", (10, 10), 1, 500),
            grant(sent, 4040, "a", (10, 10), 1, 500),
        ]
    };
    // Member a was given it by leader 1, before b.
    assert_eq!(checks(&story(950)), []);
    assert_eq!(checks(&story(4035)), [Check::H4]);
}
