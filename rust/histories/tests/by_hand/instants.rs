//! Clocks that stand still: what comes first at one instant is said by the order of the lines.

use super::lines::{ack, checks, drained, found, grant};
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
