//! An excuse excuses what it is for, and nothing beside it: each history has one, and a break that it does not explain.

use super::lines::{ack, checks, drained, grant, in_order, line, reset, view};
use share_state_histories::Check;

/// The excuse, its events, the break's, and what is found of the break.
type Case = (&'static str, Vec<String>, Vec<String>, &'static [Check]);

fn gone(t: i64, member: &str) -> String {
    line(t, "gone", &format!(r#""member":"{member}""#))
}

/// Record 0 to 9 are given to a and accepted.
fn accepted() -> Vec<String> {
    vec![
        grant(100, 110, "a", (0, 9), 1, 30_000),
        ack(200, 210, "a", "[[0,9,1]]", "ok"),
    ]
}

/// They are given to a, which holds them for 30 s.
fn held() -> Vec<String> {
    vec![grant(100, 110, "a", (0, 9), 1, 30_000)]
}

fn to_b(t: i64, count: i64) -> Vec<String> {
    vec![grant(t, t + 10, "b", (0, 9), count, 30_000)]
}

fn cases() -> Vec<Case> {
    let two = &[Check::H2, Check::H7];
    let unknown = |t: i64, member, range| vec![ack(t, t + 100, member, range, "unknown")];
    let with = |parts: &[Vec<String>]| parts.concat();
    vec![
        // Whose connection was cut: everything else of others', and what came before.
        (
            "a cut",
            unknown(150, "b", "[[20,29,1]]"),
            with(&[held(), to_b(5000, 2)]),
            two,
        ),
        (
            "a cut",
            unknown(150, "a", "[[20,29,1]]"),
            with(&[held(), to_b(5000, 3)]),
            &[Check::H4],
        ),
        (
            "a cut",
            unknown(250, "a", "[[20,29,1]]"),
            with(&[accepted(), to_b(5000, 2)]),
            &[Check::H1],
        ),
        // A refusal tells of the records that it names.
        (
            "a refusal",
            vec![ack(150, 160, "a", "[[10,19,1]]", "refused")],
            with(&[held(), to_b(5000, 2)]),
            two,
        ),
        (
            "a refusal",
            vec![ack(150, 160, "a", "[[0,9,4]]", "refused")],
            with(&[held(), to_b(5000, 2)]),
            two,
        ),
        // An acknowledgement that lingers is of its member.
        (
            "what lingers",
            unknown(10, "b", "[[0,9,1]]"),
            with(&[held(), to_b(5000, 2)]),
            &[Check::H7],
        ),
        (
            "what lingers",
            unknown(1, "a", "[[0,9,4]]"),
            with(&[held(), to_b(5000, 2)]),
            two,
        ),
        (
            "what lingers",
            unknown(120, "a", "[[0,9,1]]"),
            with(&[held(), to_b(5000, 1)]),
            &[Check::H4],
        ),
        // Whoever went held what it was given itself, and was given one delivery unseen.
        (
            "who went",
            vec![gone(150, "c")],
            with(&[held(), to_b(5000, 2)]),
            two,
        ),
        (
            "who went",
            vec![gone(150, "c")],
            with(&[held(), to_b(40_000, 4)]),
            &[Check::H4],
        ),
        (
            "who went",
            vec![gone(150, "a")],
            with(&[held(), to_b(5000, 1)]),
            &[Check::H4],
        ),
        (
            "who went",
            vec![gone(250, "a")],
            with(&[accepted(), to_b(5000, 3)]),
            &[Check::H1],
        ),
        (
            "who went",
            vec![gone(6500, "c")],
            with(&[held(), to_b(40_000, 3)]),
            &[],
        ),
        (
            "who went",
            vec![gone(50_000, "c")],
            with(&[held(), to_b(40_000, 3)]),
            &[Check::H4],
        ),
        // The log starts later, and what was there was delivered once at a time.
        (
            "the log start",
            vec![line(60_000, "retained", r#""from":10"#)],
            with(&[held(), to_b(5000, 2)]),
            two,
        ),
        (
            "the log start",
            vec![line(60_000, "retained", r#""from":10"#)],
            with(&[accepted(), to_b(5000, 2)]),
            &[Check::H1],
        ),
        (
            "the log start",
            vec![line(250, "retained", r#""from":9"#)],
            vec![
                grant(100, 110, "a", (0, 9), 1, 1000),
                view(2000, 2010, r#""start_offset":10"#),
            ],
            &[Check::H5],
        ),
        // Nobody produced 10 to 14, and nobody has them twice.
        (
            "a gap",
            vec![line(50, "produce", r#""first":15,"last":19"#)],
            vec![
                grant(100, 110, "a", (10, 14), 1, 30_000),
                grant(5000, 5010, "b", (10, 14), 2, 30_000),
            ],
            two,
        ),
        (
            "a gap",
            vec![line(50, "produce", r#""first":15,"last":19"#)],
            vec![
                grant(100, 110, "a", (10, 14), 1, 1000),
                grant(5000, 5010, "b", (10, 14), 1, 1000),
            ],
            &[Check::H4],
        ),
        // A reset begins anew; it ends no delivery after it, and no count that follows.
        (
            "a reset",
            vec![reset(1, 0, 2)],
            with(&[
                to_b(2000, 1),
                vec![grant(5000, 5010, "c", (0, 9), 2, 30_000)],
            ]),
            two,
        ),
        (
            "a reset",
            vec![reset(1, 0, 2)],
            with(&[held(), to_b(5000, 2)]),
            &[Check::H4],
        ),
        (
            "a reset",
            vec![reset(10, 0, 2)],
            with(&[held(), to_b(5000, 2)]),
            two,
        ),
        (
            "a reset",
            vec![reset(10, 0, 2)],
            with(&[accepted(), to_b(5000, 2)]),
            &[Check::H1],
        ),
        (
            "a reset",
            vec![reset(10, 0, 2)],
            vec![drained(5000)],
            &[Check::H3],
        ),
        // Clocks are so far apart, and no farther.
        ("a skew", vec![], with(&[held(), to_b(30_040, 2)]), &[]),
        ("a skew", vec![], with(&[held(), to_b(30_039, 2)]), two),
        // A request that is on its way: its answer may be of any time since.
        (
            "a late answer",
            vec![grant(50, 29_000, "c", (0, 9), 1, 30_000)],
            with(&[held(), to_b(5000, 2)]),
            &[Check::H2, Check::H4, Check::H7],
        ),
        // A lock may end late, and then it does not end early.
        (
            "a late end",
            vec![ack(40_000, 40_010, "a", "[[0,9,4]]", "ok")],
            with(&[held(), to_b(50_000, 2)]),
            two,
        ),
        // The start offset passes what was accepted, and late acknowledgements are confirmed; they give nothing back.
        (
            "below the start",
            vec![ack(5000, 5010, "b", "[[0,9,2]]", "ok")],
            with(&[accepted(), to_b(8000, 2)]),
            &[Check::H1],
        ),
        // Who leads next forgets what was not written. Long before and after, everything counts.
        (
            "a fail-over",
            takeover(),
            with(&[held(), to_b(5000, 2)]),
            two,
        ),
        (
            "a fail-over",
            takeover(),
            with(&[accepted(), to_b(9900, 2)]),
            &[Check::H1],
        ),
        (
            "a fail-over",
            takeover(),
            with(&[held(), to_b(9900, 2)]),
            &[Check::H2],
        ),
        (
            "a fail-over",
            takeover(),
            with(&[held(), to_b(9900, 3)]),
            &[Check::H4],
        ),
        (
            "a fail-over",
            takeover(),
            vec![
                grant(12_000, 12_010, "a", (0, 9), 1, 30_000),
                grant(13_000, 13_010, "b", (0, 9), 2, 30_000),
            ],
            two,
        ),
        (
            "a fail-over",
            takeover(),
            vec![
                grant(12_000, 12_010, "a", (0, 9), 1, 100),
                grant(13_000, 13_010, "b", (0, 9), 1, 100),
            ],
            &[Check::H4],
        ),
        (
            "a fail-over",
            takeover(),
            vec![
                view(100, 110, r#""start_offset":5"#),
                view(9900, 9910, r#""start_offset":4"#),
            ],
            &[Check::H5],
        ),
    ]
}

/// Another leader takes over between 9.5 and 10 s.
fn takeover() -> Vec<String> {
    vec![
        view(9500, 9500, r#""leader_epoch":1"#),
        view(10_000, 10_000, r#""leader_epoch":2"#),
    ]
}

#[test]
fn an_excuse_explains_no_break_beside_it() {
    for (number, (excuse, beside, broken, expected)) in cases().into_iter().enumerate() {
        let lines = in_order([beside, broken].concat());
        assert_eq!(checks(&lines), expected, "{number}: {excuse}: {lines:#?}");
    }
}
