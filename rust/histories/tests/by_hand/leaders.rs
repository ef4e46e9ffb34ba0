//! Two leaders after one another, and two clients with two clocks: what counts and times do not tell then.

use super::lines::{ack, checks, drained, found, grant, in_order, line, view};
use share_state_histories::Check;

/// The times in ms: the one leader was last seen at the first, the next one at the second.
pub fn takeover(from: i64, to: i64) -> [String; 2] {
    [
        view(from, from, r#""leader_epoch":1"#),
        view(to, to, r#""leader_epoch":2"#),
    ]
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
    // The first leader gave the records to c and then to b, whose answer is on its way; the next one gives them to a, for the first
    // time as far as it knows.
    let crossing = |sent: i64| {
        let [old, new] = takeover(100, 200);
        in_order(vec![
            old,
            new,
            grant(5, 20, "c", (0, 9), 1, 10),
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
        let [old, new] = takeover(80, to);
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
fn h1_an_accept_below_the_log_start_is_confirmed_by_a_leader_that_never_gave_the_record() {
    // The log start passes the records, so the next leader confirms whatever a says of them. The first one gives them to b.
    let story = |log_start: i64, [from, to]: [i64; 2], sent: i64| {
        let [old, new] = takeover(from, to);
        checks(&in_order(vec![
            old,
            new,
            grant(100, 110, "a", (0, 9), 1, 1000),
            line(2050, "retained", &format!(r#""from":{log_start}"#)),
            ack(2300, 2310, "a", "[[0,9,1]]", "ok"),
            grant(sent, sent + 10, "b", (0, 9), 2, 30_000),
        ]))
    };
    assert_eq!(story(10, [2000, 2200], 2500), []);
    // Without that the next leader refuses; it has no successor that would confirm; it serves no longer.
    assert_eq!(story(0, [2000, 2200], 2500), [Check::H1]);
    assert_eq!(story(10, [2400, 2450], 2500), [Check::H1]);
    assert_eq!(story(10, [2000, 2200], 4000), [Check::H1]);
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

/// A record of two deliveries and more, given in this order, each a second after the one before; the next leader is seen within it.
pub fn in_a_row(deliveries: &[(&str, i64)], lock: i64, rest: &[String]) -> Vec<Check> {
    let given = (1_i64..).zip(deliveries).map(|(at, &(member, count))| {
        let t = at * 1000;
        grant(t, t + 10, member, (0, 9), count, lock)
    });
    let lines = [&takeover(500, 5100)[..], rest].concat();
    checks(&in_order(given.chain(lines).collect()))
}

#[test]
fn h4_no_leader_gives_a_count_that_nobody_was_given_before() {
    // Each lock has run out. The next leader counts on from what was written: all, or nothing, or what lies between.
    for counts in [
        &[1, 2, 3][..],
        &[1, 1],
        &[1, 2, 1, 2],
        &[1, 2, 2, 3],
        &[1, 2, 3, 2, 4, 3],
    ] {
        let deliveries: Vec<_> = counts.iter().map(|&count| ("a", count)).collect();
        assert_eq!(in_a_row(&deliveries, 500, &[]), [], "{counts:?}");
    }
    // A count that jumps, that nobody counts on from, or that more leaders gave than there were; in the last one the leader before
    // has given 3, and the next one 2.
    for counts in [
        &[1, 2, 5][..],
        &[1, 3],
        &[2],
        &[2, 1],
        &[1, 1, 3],
        &[1, 1, 1],
        &[1, 2, 1, 1],
        &[1, 2, 3, 2, 1],
    ] {
        let deliveries: Vec<_> = counts.iter().map(|&count| ("a", count)).collect();
        assert_eq!(in_a_row(&deliveries, 500, &[]), [Check::H4], "{counts:?}");
    }
    // Whoever went may have been given what is missing.
    let gone = [line(1500, "gone", r#""member":"c""#)];
    assert_eq!(in_a_row(&[("a", 1), ("a", 3)], 500, &gone), []);
    assert_eq!(in_a_row(&[("a", 1), ("a", 4)], 500, &gone), [Check::H4]);
}

#[test]
fn h2_and_h7_two_leaders_give_a_record_to_two_members_and_one_does_not() {
    let held = |deliveries: &[(&str, i64)]| in_a_row(deliveries, 30_000, &[]);
    assert_eq!(held(&[("a", 1), ("b", 1)]), []);
    // The count tells that the leader which gave it knew of the delivery before.
    assert_eq!(held(&[("a", 1), ("b", 2)]), [Check::H2]);
    assert_eq!(held(&[("a", 1), ("a", 2)]), [Check::H7]);
    // Of one of the two, but both are held.
    assert_eq!(held(&[("a", 1), ("b", 1), ("c", 2)]), [Check::H2]);
    let released = |t| [ack(t, t + 10, "b", "[[0,9,2]]", "ok")];
    let three = [("a", 1), ("b", 1), ("c", 2)];
    assert_eq!(in_a_row(&three, 30_000, &released(2500)), []);
    assert_eq!(in_a_row(&three, 30_000, &released(3500)), [Check::H2]);
    // Whoever went may have been given it by the other leader.
    let gone = [line(900, "gone", r#""member":"c""#)];
    assert_eq!(in_a_row(&[("a", 1), ("b", 2)], 30_000, &gone), []);
}

#[test]
fn h4_what_was_released_was_written() {
    let story = |outcome, asked: i64| {
        let [old, new] = takeover(asked, 5100);
        checks(&in_order(vec![
            old,
            new,
            grant(1000, 1010, "a", (0, 9), 1, 500),
            grant(2000, 2010, "a", (0, 9), 2, 500),
            ack(2100, 2110, "a", "[[0,9,2]]", outcome),
            grant(3000, 3010, "b", (0, 9), 2, 500),
        ]))
    };
    // The first leader has given both; the next one finds no less than what it confirmed.
    assert_eq!(story("ok", 2500), [Check::H4]);
    assert_eq!(story("refused", 2500), []);
    assert_eq!(story("unknown", 2500), []);
    // The next one may have given the second one, and the first one the third.
    assert_eq!(story("ok", 500), []);
}

#[test]
fn h1_a_leader_before_may_give_what_the_next_one_has_seen_accepted() {
    let accepted = |t: i64| ack(t, t + 10, "b", "[[0,9,1]]", "ok");
    // Both give it for the first time.
    assert_eq!(
        in_a_row(&[("b", 1), ("a", 1)], 30_000, &[accepted(1100)]),
        []
    );
    // It counts on from the delivery that was accepted, or from one before it that it gave itself.
    let again = [("b", 1), ("a", 2)];
    assert_eq!(in_a_row(&again, 30_000, &[accepted(1100)]), [Check::H1]);
    let both = [("a", 1), ("b", 1), ("a", 2)];
    assert_eq!(in_a_row(&both, 500, &[accepted(2100)]), []);
    assert_eq!(in_a_row(&both, 30_000, &[accepted(2100)]), [Check::H1]);
}

#[test]
fn h1_what_a_member_was_given_before_a_reset_says_nothing_of_who_leads_after_it() {
    let story = |asked: i64| {
        let [old, new] = takeover(asked, 5100);
        checks(&in_order(vec![
            old,
            new,
            grant(100, 110, "b", (0, 9), 2, 100),
            line(1000, "reset", r#""start_offset":0,"state_epoch":2"#),
            grant(2000, 2010, "c", (0, 9), 1, 100),
            grant(4000, 4010, "b", (0, 9), 1, 100),
            ack(4020, 4030, "b", "[[0,9,1]]", "ok"),
            grant(5000, 5010, "a", (0, 9), 2, 30_000),
        ]))
    };
    assert!(!story(3900).contains(&Check::H1));
    assert!(story(4500).contains(&Check::H1));
}

#[test]
fn h8_what_ended_at_the_next_leader_waits_for_nobody() {
    let story = |asked: i64| {
        let [old, new] = takeover(asked, 5100);
        let lines = vec![
            old,
            new,
            grant(1000, 1010, "c", (0, 9), 1, 100),
            grant(4000, 4010, "b", (0, 9), 1, 30_000),
            ack(4020, 4030, "b", "[[0,9,1]]", "ok"),
            grant(5000, 5010, "a", (0, 9), 2, 100),
            ack(5020, 5030, "a", "[[0,9,2]]", "refused"),
            view(200_000, 200_000, r#""state_epoch":0"#),
        ];
        checks(&in_order(lines))
    };
    assert_eq!(story(3900), []);
    assert!(story(4500).contains(&Check::H1));
}

#[test]
fn h1_a_late_accept_may_find_that_the_record_has_ended_with_a_leader() {
    let late = |t: i64| ack(t, t + 10, "a", "[[0,9,1]]", "ok");
    // b has accepted what a accepts late.
    let accepted = ack(2100, 2110, "b", "[[0,9,1]]", "ok");
    let both = [("a", 1), ("b", 2)];
    assert_eq!(in_a_row(&both, 500, &[accepted.clone(), late(2200)]), []);
    assert_eq!(in_a_row(&both, 500, &[late(2200)]), [Check::H1]);
    assert_eq!(in_a_row(&both, 500, &[accepted, late(1600)]), [Check::H1]);
    // The last lock has run out, and the next leader knows of four deliveries.
    let five = [("a", 1), ("a", 2), ("a", 3), ("a", 4), ("a", 5)];
    let again = grant(5900, 5910, "b", (0, 9), 5, 500);
    assert_eq!(in_a_row(&five, 500, &[late(5600), again.clone()]), []);
    assert_eq!(in_a_row(&five, 30_000, &[late(5600), again]), [Check::H2]);
}
