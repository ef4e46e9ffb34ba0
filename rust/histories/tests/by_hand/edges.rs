//! Edges of the rules beside a fail-over: the last history that an excuse explains, and the first one that it does not.

use super::leaders::{in_a_row, takeover};
use super::lines::{ack, checks, checks_with, grant, in_order, line, reset, view};
use share_state_histories::{Check, Settings};

/// The first leader gives so many deliveries, and the next one counts anew: it gives another one. Then comes the one that only the
/// first leader can count, so long after that.
fn counted_on(before: i64, wait: i64) -> Vec<Check> {
    let to_a = |t: i64, count| grant(t, t + 10, "a", (0, 9), count, 500);
    let next = (before + 1) * 1000;
    let mut lines: Vec<String> = (1..=before).map(|at| to_a(at * 1000, at)).collect();
    lines.extend(takeover(next - 500, next - 400));
    lines.push(to_a(next, 1));
    lines.push(to_a(next + wait, before + 1));
    let delivery_limit = 100;
    let settings = Settings {
        delivery_limit,
        ..Settings::default()
    };
    checks_with(&settings, &in_order(lines))
}

#[test]
fn a_leader_serves_on_for_a_second_once_the_next_one_is_seen() {
    // The clocks may be 50 ms apart.
    assert_eq!(counted_on(4, 650), []);
    assert_eq!(counted_on(4, 651), [Check::H4]);
    // It may give a second delivery, and the next leader the first one.
    let anew = |sent| {
        let given = [(1000, 1), (sent, 2), (8000, 1)];
        let given = given.map(|(t, count)| grant(t, t + 10, "a", (0, 9), count, 500));
        checks(&in_order(
            given.into_iter().chain(takeover(4500, 4600)).collect(),
        ))
    };
    assert_eq!(anew(5650), []);
    assert_eq!(anew(5651), [Check::H4]);
}

#[test]
fn a_record_of_many_events_may_be_explained() {
    assert_eq!(counted_on(30, 651), [Check::H4]);
    assert_eq!(counted_on(31, 651), []);
    let released = |number| vec![ack(1500, 1510, "c", "[[0,9,2]]", "ok"); number];
    let held = [("a", 1), ("b", 2)];
    assert_eq!(in_a_row(&held, 30_000, &released(32)), [Check::H2]);
    assert_eq!(in_a_row(&held, 30_000, &released(33)), []);
}

#[test]
fn a_record_that_may_be_of_many_leaders_may_be_explained() {
    // Each of forty leaders may have given each of the deliveries: those are more ways than are tried.
    let held = |members: &str, acks| {
        let given = (1_i64..).zip(members.split(' '));
        let given = given.map(|(at, to)| grant(at * 1000, at * 1000 + 10, to, (0, 9), at, 30_000));
        let [old, _] = takeover(500, 600);
        let rest = vec![ack(1500, 1510, "e", "[[0,9,2]]", "ok"); acks];
        let views = [old, view(5100, 5100, r#""leader_epoch":40"#)];
        checks(&in_order(given.chain(views).chain(rest).collect()))
    };
    for acks in [0, 1] {
        assert_eq!(held("a b", acks), [Check::H2]);
        assert_eq!(held("a b c d", acks), []);
    }
}

#[test]
fn h4_a_leader_gives_a_count_once_though_the_answers_cross() {
    let story = |members: &[&str]| {
        let given = (1000_i64..).zip(members);
        let given = given.map(|(sent, member)| grant(sent, 3000, member, (0, 9), 1, 10));
        checks(&in_order(given.chain(takeover(500, 5100)).collect()))
    };
    assert_eq!(story(&["a", "b"]), []);
    assert_eq!(story(&["a", "b", "c"]), [Check::H4]);
}

#[test]
fn h4_a_delivery_that_crosses_a_reset_may_be_counted_on_by_a_leader() {
    let story = |sent: i64, t: i64| {
        let [old, new] = takeover(1500, 5100);
        checks(&in_order(vec![
            old,
            new,
            grant(sent, t, "a", (0, 9), 1, 100),
            reset(1, 0, 2),
            grant(2000, 2010, "b", (0, 9), 2, 100),
        ]))
    };
    assert_eq!(story(990, 1010), []);
    assert_eq!(story(900, 910), [Check::H4]);
}

/// A delivery a second for each member, with these locks, from the first leader; another one takes over between these times.
fn first_leader(given: &[(&str, i64)], until: (i64, i64), rest: &[String]) -> Vec<Check> {
    let given = (1_i64..).zip(given);
    let given = given
        .map(|(at, &(member, lock))| grant(at * 1000, at * 1000 + 10, member, (0, 9), at, lock));
    let lines = given.chain(takeover(until.0, until.1));
    checks(&in_order(lines.chain(rest.to_vec()).collect()))
}

/// An accept, a release or another acknowledgement of all records.
fn says(t: i64, member: &str, kind: i64, outcome: &str) -> String {
    ack(t, t + 10, member, &format!("[[0,9,{kind}]]"), outcome)
}

#[test]
fn h1_a_late_accept_may_find_that_the_last_delivery_is_over() {
    let accept = || says(5600, "a", 1, "ok");
    // The last lock has run out. Nobody wrote that, and the next leader knows of four deliveries.
    let all = [("a", 500); 5];
    let again = grant(5900, 5910, "b", (0, 9), 5, 500);
    assert_eq!(first_leader(&all, (5700, 5800), &[accept(), again]), []);
    // Another member has released the last delivery, or holds it.
    let mut all = all;
    all[4] = ("b", 30_000);
    let released = says(5100, "b", 2, "ok");
    assert_eq!(first_leader(&all, (5700, 5800), &[released, accept()]), []);
    assert_eq!(first_leader(&all, (5700, 5800), &[accept()]), [Check::H1]);
    // Four are over, and who went may have had the fifth. The next leader gives the fourth again, which is held: c's was the first
    // leader's, so that nobody else had it.
    let given = [("a", 500); 4];
    let gone = line(4500, "gone", r#""member":"d""#);
    let rest = [
        gone,
        says(4600, "a", 1, "ok"),
        grant(4900, 4910, "b", (0, 9), 4, 30_000),
        grant(5000, 5010, "c", (0, 9), 5, 30_000),
    ];
    assert_eq!(first_leader(&given, (4700, 4750), &rest[..3]), []);
    assert_eq!(first_leader(&given, (4700, 4750), &rest), [Check::H1]);
}

#[test]
fn h1_a_late_accept_may_find_that_the_log_start_has_passed() {
    let retained = line(2500, "retained", r#""from":10"#);
    let accept = says(3000, "a", 1, "ok");
    let held = [("a", 500), ("b", 30_000)];
    let found = |rest: &[String]| first_leader(&held, (4000, 4100), rest);
    assert_eq!(found(&[retained.clone(), accept.clone()]), []);
    assert_eq!(found(&[accept]), [Check::H1]);
    // The leader before has given three, and may not know where the log starts; the next one, which gave them anew, knows it.
    let goes_on = |count| {
        let rest = [
            retained.clone(),
            grant(4000, 4010, "a", (0, 9), 1, 500),
            grant(5000, 5010, "b", (0, 9), 2, 500),
            says(5500, "a", 1, "ok"),
            grant(6000, 6010, "c", (0, 9), count, 500),
        ];
        first_leader(&[("b", 500); 3], (3500, 5900), &rest)
    };
    assert_eq!(goes_on(4), []);
    assert_eq!(goes_on(3), [Check::H1]);
}

#[test]
fn h1_a_late_accept_may_find_what_another_member_has_ended_last() {
    let accept = |t| says(t, "a", 1, "ok");
    let both = [("a", 500), ("b", 500)];
    let found = |rest: &[String]| first_leader(&both, (4000, 4100), rest);
    let ended = |t| says(t, "b", 1, "ok");
    assert_eq!(found(&[ended(2100), accept(2200)]), []);
    // It was held, and accepted later than any clock shows.
    assert_eq!(found(&[accept(2200), ended(2261)]), [Check::H1]);
    // c has ended nothing: the record was given to b afterwards, by the same leader or by the next one.
    let of_c = || says(2100, "c", 1, "unknown");
    let three = [("a", 500), ("c", 500), ("b", 30_000)];
    let late = [of_c(), accept(3500)];
    assert_eq!(first_leader(&three, (4000, 4100), &late), [Check::H1]);
    assert_eq!(first_leader(&three, (2500, 2600), &late), [Check::H1]);
    assert_eq!(first_leader(&three, (1100, 1200), &late), [Check::H1]);
}
