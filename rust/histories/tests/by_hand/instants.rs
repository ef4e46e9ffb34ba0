//! Clocks that stand still: what comes first at one instant is said by the order of the lines.

use super::lines::{ack, checks, drained, found, grant, line};
use share_state_histories::Check;

#[test]
fn at_one_instant_the_lines_are_in_order() {
    let first = grant(1000, 1000, "a", (0, 9), 1, 30_000);
    let accepted = ack(1000, 1000, "a", "[[0,9,1]]", "ok");
    assert_eq!(checks(&[first.clone(), accepted.clone()]), []);
    let released = ack(1000, 1000, "a", "[[0,9,2]]", "ok");
    let second = grant(1000, 1000, "a", (0, 9), 2, 30_000);
    let twice = [first.clone(), released, second.clone(), accepted.clone()];
    assert_eq!(checks(&twice), []);
    // An acknowledgement that stands before its delivery, of which nothing else tells.
    assert_eq!(checks(&[accepted.clone(), first.clone()]), []);
    let again = [first, accepted, second];
    assert_eq!(found(&again)[0], (Check::H1, vec![2, 3]));
}

#[test]
fn drains_at_the_end_of_time_are_looked_at_once() {
    let last = drained(0).replace(r#""t":0"#, &format!(r#""t":{}"#, i64::MAX));
    let accepted = [
        grant(1000, 1000, "a", (0, 9), 1, 30_000),
        ack(1000, 1000, "a", "[[0,9,1]]", "ok"),
        last.clone(),
        last.clone(),
    ];
    assert_eq!(checks(&accepted), []);
    assert_eq!(found(&[last.clone(), last])[0], (Check::H3, vec![0, 1]));
}

#[test]
fn h7_a_release_and_the_next_delivery_may_be_of_one_instant() {
    let story = |released: (i64, i64), again: (i64, i64)| {
        let mut story = vec![
            ack(released.0, released.1, "a", "[[0,9,2]]", "ok"),
            grant(again.0, again.1, "a", (0, 9), 2, 30_000),
        ];
        if again.1 < released.1 {
            story.reverse();
        }
        story.insert(0, grant(100, 110, "a", (0, 9), 1, 30_000));
        checks(&story)
    };
    assert_eq!(story((1000, 1000), (1000, 1000)), []);
    assert_eq!(story((1000, 1000), (999, 1000)), []);
    // It was asked for later.
    assert_eq!(story((990, 1000), (900, 980)), [Check::H7]);
}

#[test]
fn h3_what_follows_a_drain_at_one_instant_is_not_of_it() {
    let produced = line(1000, "produce", r#""first":10,"last":19"#);
    let before = [
        grant(100, 110, "a", (0, 9), 1, 30_000),
        ack(200, 210, "a", "[[0,9,1]]", "ok"),
    ];
    let story = |after: &[String]| checks(&[&before[..], after].concat());
    assert_eq!(story(&[drained(1000), produced.clone()]), []);
    assert_eq!(story(&[produced.clone(), drained(1000)]), [Check::H3]);
    // The next drain is, at the same instant too.
    assert_eq!(
        story(&[drained(1000), produced.clone(), drained(1000)]),
        [Check::H3]
    );
    assert_eq!(
        story(&[drained(1000), produced, drained(2000)]),
        [Check::H3]
    );
}
