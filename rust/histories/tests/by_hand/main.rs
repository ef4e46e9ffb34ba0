//! Histories made by hand: those that break a promise, and their neighbours that do not.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

mod beside;
mod cut;
mod edges;
mod excerpts;
mod going;
mod instants;
mod late;
mod lateness;
mod leaders;
mod lines;
mod not_a_history;
mod passed;
mod reloads;
mod starts;
mod undelivered;
mod unseen;
mod waiting;

use lines::{ack, checks, drained, found, grant, line, view};
use share_state_histories::Check;

#[test]
fn h1_what_was_accepted_is_not_delivered_again() {
    let first = grant(100, 110, "a", (0, 9), 1, 30_000);
    let accepted = ack(200, 210, "a", "[[0,9,1]]", "ok");
    let again = grant(300, 310, "b", (3, 3), 2, 30_000);
    let broken = [first.clone(), accepted.clone(), again.clone()];
    assert_eq!(found(&broken), [(Check::H1, vec![2, 3])]);
    let refused = ack(200, 210, "a", "[[0,9,1]]", "refused");
    assert!(!checks(&[first.clone(), refused, again.clone()]).contains(&Check::H1));
    let unknown = ack(200, 210, "a", "[[0,9,1]]", "unknown");
    assert!(!checks(&[first.clone(), unknown, again]).contains(&Check::H1));
    // A request that was on its way already: the counts tell that the delivery came later.
    let on_its_way = grant(150, 310, "b", (3, 3), 2, 30_000);
    let broken = [first.clone(), accepted.clone(), on_its_way];
    assert_eq!(found(&broken), [(Check::H1, vec![1, 2, 3])]);
    // It was delivered before, and its answer came late.
    let late = grant(10, 15_000, "b", (3, 3), 1, 5000);
    let sound = [
        grant(6000, 6010, "a", (3, 3), 2, 5000),
        ack(6100, 6110, "a", "[[3,3,1]]", "ok"),
        late,
    ];
    assert_eq!(checks(&sound), []);
}

#[test]
fn h2_and_h7_a_lock_holds_until_its_deadline() {
    let first = grant(100, 110, "a", (0, 9), 1, 30_000);
    let both = grant(10_000, 10_010, "b", (0, 9), 2, 30_000);
    let expected = [(Check::H2, vec![1, 2]), (Check::H7, vec![1, 2])];
    assert_eq!(found(&[first.clone(), both.clone()]), expected);
    let same = grant(10_000, 10_010, "a", (0, 9), 2, 30_000);
    assert_eq!(found(&[first.clone(), same]), [(Check::H7, vec![1, 2])]);
    let after = grant(30_200, 30_210, "b", (0, 9), 2, 30_000);
    assert_eq!(checks(&[first.clone(), after.clone()]), []);
    // Whoever released it, or went, holds it no longer.
    let released = ack(9000, 9010, "a", "[[0,9,2]]", "ok");
    assert_eq!(checks(&[first.clone(), released, both.clone()]), []);
    let gone = line(9000, "gone", r#""member":"a""#);
    assert_eq!(checks(&[first.clone(), gone, both]), []);
    // A renewal lets it hold anew.
    let renewed = ack(20_000, 20_010, "a", "[[0,9,4]]", "ok");
    let expected = [(Check::H2, vec![1, 2, 3]), (Check::H7, vec![1, 2, 3])];
    assert_eq!(found(&[first, renewed, after]), expected);
}

#[test]
fn h3_a_drain_leaves_nothing() {
    let first = grant(100, 110, "a", (0, 8), 1, 30_000);
    let accepted = ack(200, 210, "a", "[[0,8,1]]", "ok");
    let sound = [first.clone(), accepted.clone()];
    let end = |lines: &[String]| [lines, &[drained(90_000)]].concat();
    assert_eq!(
        found(&end(&sound)),
        [(Check::H3, vec![0, 3]), (Check::H8, vec![0])]
    );
    let rest = grant(300, 310, "a", (9, 9), 1, 30_000);
    let released = ack(400, 410, "a", "[[9,9,2]]", "ok");
    let lost = [&sound[..], &[rest.clone(), released]].concat();
    let report = found(&[&lost[..], &[drained(1000)]].concat());
    assert_eq!(report, [(Check::H3, vec![3, 4, 5])]);
    let whole = [&sound[..], &[rest, ack(400, 410, "a", "[[9,9,3]]", "ok")]].concat();
    assert_eq!(checks(&end(&whole)), []);
    // What the log does not keep any more need not be delivered.
    let retained = line(500, "retained", r#""from":10"#);
    assert_eq!(checks(&end(&[&sound[..], &[retained]].concat())), []);
    // Nor what lies before a reset.
    let reset = line(500, "reset", r#""start_offset":10,"state_epoch":2"#);
    assert_eq!(checks(&end(&[&sound[..], &[reset]].concat())), []);
}

#[test]
fn h4_counts_rise_by_one_up_to_the_limit() {
    let deliveries = |counts: &[i64]| -> Vec<String> {
        let each = counts.iter().enumerate().flat_map(|(at, &count)| {
            let t = 1000 * (at as i64 + 1);
            [
                grant(t, t + 10, "a", (0, 9), count, 30_000),
                ack(t + 20, t + 30, "a", "[[0,9,2]]", "ok"),
            ]
        });
        each.collect()
    };
    assert_eq!(checks(&deliveries(&[1, 2, 3, 4, 5])), []);
    for counts in [
        &[1, 3][..],
        &[1, 1],
        &[1, 2, 1],
        &[2],
        &[0],
        &[1, 2, 3, 4, 5, 6],
    ] {
        assert_eq!(checks(&deliveries(counts)), [Check::H4], "{counts:?}");
    }
    // Who crashed may have been given it.
    let mut lines = deliveries(&[1]);
    lines.push(line(1500, "gone", r#""member":"b""#));
    lines.push(grant(5000, 5010, "a", (0, 9), 3, 30_000));
    assert_eq!(checks(&lines), []);
}

#[test]
fn h5_nothing_goes_back_and_nothing_outstanding_is_passed() {
    for (first, then) in [
        (r#""start_offset":5"#, r#""start_offset":4"#),
        (r#""leader_epoch":5"#, r#""leader_epoch":4"#),
        (r#""state_epoch":5"#, r#""state_epoch":4"#),
    ] {
        let broken = [view(100, 110, first), view(200, 210, then)];
        assert_eq!(found(&broken), [(Check::H5, vec![1, 2])], "{first}");
        let crossed = [view(100, 110, first), view(50, 210, then)];
        assert_eq!(checks(&crossed), [], "{first}");
        let forward = [view(100, 110, then), view(200, 210, first)];
        let passes = first.contains("start_offset");
        assert_eq!(checks(&forward).is_empty(), !passes, "{first}");
    }
    let first = grant(100, 110, "a", (0, 9), 1, 30_000);
    let half = ack(200, 210, "a", "[[0,4,1]]", "ok");
    let passed = view(300, 310, r#""start_offset":10"#);
    let broken = [first.clone(), half.clone(), passed.clone()];
    assert_eq!(found(&broken), [(Check::H5, vec![1, 3])]);
    let rest = ack(220, 230, "a", "[[5,9,3]]", "unknown");
    assert_eq!(checks(&[first, half, rest, passed]), []);
}

#[test]
fn h6_an_unknown_acknowledgement_happened_or_did_not() {
    let first = grant(100, 110, "a", (0, 9), 1, 5000);
    let unknown = ack(200, 1200, "a", "[[0,9,1]]", "unknown");
    let some = grant(6000, 6010, "b", (5, 9), 2, 5000);
    let accepted = ack(6020, 6030, "b", "[[5,9,1]]", "ok");
    let start = view(6100, 6110, r#""start_offset":5"#);
    let broken = [first.clone(), unknown.clone(), some, accepted, start];
    assert_eq!(found(&broken), [(Check::H6, vec![2, 3, 5])]);
    let all = grant(6000, 6010, "b", (0, 9), 2, 5000);
    let accepted = ack(6020, 6030, "b", "[[0,9,1]]", "ok");
    let start = view(6100, 6110, r#""start_offset":10"#);
    assert_eq!(
        checks(&[first.clone(), unknown.clone(), all, accepted, start.clone()]),
        []
    );
    assert_eq!(checks(&[first.clone(), unknown.clone(), start.clone()]), []);
    // The start offset passed it, so nobody is given it again, not even the same member.
    let again = grant(6500, 6510, "a", (0, 9), 2, 5000);
    let broken = [first.clone(), unknown.clone(), start, again];
    let expected = [(Check::H5, vec![3, 4]), (Check::H6, vec![2, 3, 4])];
    assert_eq!(found(&broken), expected);
    // It was delivered to another member, so it did not happen, and explains nothing.
    let other = grant(6000, 6010, "b", (0, 9), 2, 5000);
    let released = ack(6020, 6030, "b", "[[0,9,2]]", "ok");
    let lines = [first, unknown, other, released, drained(9000)];
    assert_eq!(found(&lines), [(Check::H3, vec![3, 4, 5])]);
}

#[test]
fn h8_what_is_available_is_delivered() {
    let first = grant(100, 110, "a", (0, 4), 1, 30_000);
    let accepted = ack(200, 210, "a", "[[0,4,1]]", "ok");
    let late = grant(70_000, 70_010, "a", (5, 9), 1, 30_000);
    let broken = [first.clone(), accepted.clone(), late.clone()];
    assert_eq!(found(&broken), [(Check::H8, vec![0, 3])]);
    // Nobody was there to be given it.
    let gone = line(300, "gone", r#""member":"a""#);
    let back = grant(69_000, 70_010, "a", (5, 9), 1, 30_000);
    assert_eq!(checks(&[first.clone(), accepted, gone, back]), []);
    // Something was locked all the while.
    let renewals = (1..7).map(|at| ack(at * 10_000, at * 10_000 + 5, "a", "[[0,4,4]]", "ok"));
    let locked: Vec<String> = [first].into_iter().chain(renewals).chain([late]).collect();
    assert_eq!(checks(&locked), []);
}
