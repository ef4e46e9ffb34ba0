//! Times from the deadline of a lock to the next delivery: only of locks that nothing but their deadline ended.

use super::lines::{ack, grant, in_order, line, report, view};
use share_state_histories::Settings;

/// Number, longest and shortest, in ms.
fn late(rest: &[String]) -> (u64, i64, i64) {
    // The deadline is 1100 at the earliest.
    let given = vec![
        grant(100, 110, "a", (0, 9), 1, 1000),
        grant(1300, 1310, "b", (0, 9), 2, 1000),
    ];
    let lateness = report(&Settings::default(), &in_order([&given, rest].concat())).lateness;
    let ms = |time| time / 1_000_000;
    (lateness.locks, ms(lateness.longest), ms(lateness.shortest))
}

#[test]
fn a_lock_that_ran_out_is_late() {
    let gone = |t| line(t, "gone", r#""member":"a""#);
    let cut = |t| ack(t, t + 10, "a", "[[20,29,1]]", "unknown");
    let says = |kind, outcome| ack(500, 510, "a", &format!("[[0,9,{kind}]]"), outcome);
    for rest in [
        vec![],
        vec![says(2, "refused")],
        vec![gone(1101)],
        vec![cut(1101)],
    ] {
        assert_eq!(late(&rest), (1, 210, 210), "{rest:?}");
    }
    for rest in [
        vec![says(2, "ok")],
        vec![says(2, "unknown")],
        vec![
            says(2, "unknown"),
            ack(600, 610, "a", "[[0,9,2]]", "refused"),
        ],
        vec![gone(500)],
        vec![gone(1100)],
        vec![cut(500)],
        vec![cut(1100)],
        vec![gone(500), cut(1101)],
        vec![cut(500), gone(1101)],
        vec![line(1200, "reset", r#""start_offset":0,"state_epoch":2"#)],
        vec![
            view(500, 500, r#""leader_epoch":1"#),
            view(1200, 1200, r#""leader_epoch":2"#),
        ],
    ] {
        assert_eq!(late(&rest), (0, 0, 0), "{rest:?}");
    }
    // A renewal moves the deadline.
    assert_eq!(late(&[says(4, "ok")]), (0, 0, 0));
    let again = [says(2, "unknown"), grant(3000, 3010, "a", (0, 9), 3, 1000)];
    assert_eq!(late(&again), (1, 710, 710));
    let again = grant(3000, 3010, "a", (0, 9), 3, 1000);
    assert_eq!(late(&[again]), (2, 710, 210));
    // A share partition without such a lock adds nothing.
    let beside =
        view(500, 500, r#""leader_epoch":0"#).replace(r#""partition":0"#, r#""partition":1"#);
    assert_eq!(late(&[beside]), (1, 210, 210));
}
