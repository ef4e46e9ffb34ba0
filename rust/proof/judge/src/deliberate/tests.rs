//! Each predicate takes its own case, and not the one beside it.

use super::{RULES, classify};
use crate::compare::{Around, compare};
use crate::operation::{Answer, Limits, LogBatch, Operation, Queue, Range, Verb};
use crate::outcome::{Answered, Outcome, Run, State};

const LIMITS: Limits = Limits {
    max_locks: 10,
    delivery_limit: 5,
    lock_ms: 100,
    dead_letters: false,
};

fn run(first: i64, last: i64, state: u8, member: u8) -> Run {
    Run {
        first,
        last,
        state,
        delivery_count: 1,
        member,
        pending: false,
        deadline: -1,
    }
}

fn state(start: i64, runs: &[Run]) -> State {
    State {
        status: "ACTIVE".to_owned(),
        start,
        end: runs.last().map_or(start, |run| run.last.max(start)),
        looks: true,
        delivery_complete: runs
            .iter()
            .filter(|run| run.terminal() && run.last >= start)
            .map(|run| run.last - run.first.max(start) + 1)
            .sum(),
        runs: runs.to_vec(),
        ..State::default()
    }
}

fn answer(answered: Answered, exception: Option<&str>) -> Outcome {
    Outcome {
        answered,
        exception: exception.map(str::to_owned),
        writes: Vec::new(),
        letters: Vec::new(),
        state: None,
    }
}

/// The class of what differs between the outcomes, which must differ; the states are the same before and afterwards.
fn class(
    verb: Verb,
    states: (State, State),
    kafka: Outcome,
    ours: Outcome,
) -> Option<&'static str> {
    let around = Around {
        kafka_before: states.0.clone(),
        ours_before: states.1.clone(),
        kafka: states.0,
        ours: states.1,
    };
    let op = Operation {
        partition: 0,
        verb,
        limits: None,
        answer: Answer::OK,
        queue: Queue::OK,
    };
    let points = compare(&kafka, &ours, &around);
    assert!(!points.is_empty(), "nothing differs");
    classify(&op, &kafka, &ours, &around, &points, LIMITS).map(|(id, _)| id)
}

fn same(state: State) -> (State, State) {
    (state.clone(), state)
}

fn acknowledge(first: i64, last: i64) -> Verb {
    Verb::Acknowledge {
        member: 1,
        ranges: vec![Range {
            first,
            last,
            types: vec![1],
        }],
        renew: false,
    }
}

fn acquire(batch_size: i32, fetched: (i64, i64), aborted: bool) -> Verb {
    Verb::Acquire {
        member: 1,
        record_limit: false,
        batch_size,
        max_records: 500,
        fetch_offset: fetched.0,
        fetched: vec![LogBatch {
            base: fetched.0,
            last: fetched.1,
            producer: if aborted { 1 } else { -1 },
            transactional: aborted,
            control: false,
        }],
        aborted: aborted.then(|| vec![(1, 0)]),
    }
}

fn code(code: i16) -> Outcome {
    answer(Answered::Code(code), None)
}

fn acquired(ranges: &[(i64, i64, i16)]) -> Outcome {
    answer(Answered::Acquired(ranges.to_vec()), None)
}

#[test]
fn n1_needs_a_hole_at_the_start_offset() {
    let null = answer(Answered::Code(-1), Some("NullPointerException"));
    let hole = same(state(7, &[run(9, 9, 1, 1)]));
    let reaching = class(acknowledge(3, 8), hole.clone(), null.clone(), code(121));
    assert_eq!(reaching, Some("N1"));
    assert_eq!(
        class(acknowledge(9, 10), hole, null.clone(), code(121)),
        None
    );
    let cached = same(state(7, &[run(7, 9, 1, 2)]));
    assert_eq!(class(acknowledge(3, 8), cached, null, code(121)), None);
}

#[test]
fn h1_needs_a_batch_before_the_hole_that_the_member_does_not_hold() {
    for (holder, expected) in [(2, Some("H1")), (1, None)] {
        let states = same(state(0, &[run(0, 3, 1, holder), run(7, 9, 1, 1)]));
        assert_eq!(
            class(acknowledge(5, 9), states, code(121), code(0)),
            expected
        );
    }
    let in_the_batch = same(state(0, &[run(0, 3, 1, 2), run(7, 9, 1, 1)]));
    assert_eq!(
        class(acknowledge(7, 9), in_the_batch, code(121), code(0)),
        None
    );
}

#[test]
fn l1_needs_a_done_batch_below_our_start_offset() {
    for (done, expected) in [(2, Some("L1")), (0, None)] {
        let states = (state(28, &[run(14, 23, done, 0)]), state(28, &[]));
        let acknowledged = class(acknowledge(30, 38), states, code(42), code(121));
        assert_eq!(acknowledged, expected, "state {done}");
    }
}

#[test]
fn l1_needs_a_forgotten_batch_before_the_hole() {
    for (start, held, expected) in [(34, 1, Some("L1")), (32, 1, None), (34, 2, None)] {
        let next = [run(38, 38, 1, held)];
        let states = (
            state(32, &[run(32, 33, 4, 0), run(38, 38, 1, held)]),
            state(start, &next),
        );
        let acknowledged = class(acknowledge(34, 38), states, code(0), code(121));
        assert_eq!(acknowledged, expected, "{start} m{held}");
    }
}

#[test]
fn f1_needs_the_mark_and_the_gap() {
    for (looks, gap, expected) in [
        (false, Some(15), Some("F1")),
        (true, Some(15), None),
        (false, None, None),
    ] {
        let mut window = state(9, &[run(9, 14, 1, 1), run(28, 39, 1, 1)]);
        (window.looks, window.gap) = (looks, gap);
        let offset = |offset| answer(Answered::Offset(offset), None);
        let asked = class(Verb::NextFetchOffset, same(window), offset(40), offset(15));
        assert_eq!(asked, expected, "{looks} {gap:?}");
    }
}

#[test]
fn k7_needs_an_aborted_batch_that_begins_below_the_window() {
    let thrown = answer(Answered::Code(-1), Some("IllegalStateException"));
    let of = |verb| {
        let states = same(state(2, &[run(2, 6, 1, 1)]));
        class(verb, states, thrown.clone(), acquired(&[]))
    };
    assert_eq!(of(acquire(500, (0, 6), true)), Some("K7"));
    assert_eq!(of(acquire(500, (2, 6), true)), None);
    assert_eq!(of(acquire(500, (0, 6), false)), None);
}

#[test]
fn v4_needs_a_batch_size_below_one() {
    let empty = || same(state(0, &[]));
    let given = acquired(&[(0, -1, 1)]);
    let refused = class(acquire(0, (0, 9), false), empty(), given.clone(), code(42));
    assert_eq!(refused, Some("V4"));
    let refused = class(acquire(1, (0, 9), false), empty(), given, code(42));
    assert_eq!(refused, None);
}

#[test]
fn s7_needs_a_gap_that_goes_on_with_us() {
    let with_gap = |start, gap| State {
        gap,
        ..state(start, &[run(2, 5, 2, 0), run(6, 9, 0, 0)])
    };
    let asked = |ours| {
        let states = (with_gap(0, Some(0)), with_gap(0, ours));
        let offset = |offset| answer(Answered::Offset(offset), None);
        class(Verb::NextFetchOffset, states, offset(0), offset(6))
    };
    assert_eq!(asked(Some(6)), Some("S7"));
    assert_eq!(asked(None), Some("S7"));
    assert_eq!(asked(Some(0)), None);
    // The fetch that gave nothing moves the gap, and with it the start offset.
    let fetched = |given: &[(i64, i64, i16)], ours| {
        let around = Around {
            kafka_before: with_gap(0, Some(0)),
            ours_before: with_gap(0, Some(0)),
            kafka: with_gap(0, Some(0)),
            ours,
        };
        let op = Operation {
            partition: 0,
            verb: acquire(500, (2, 5), false),
            limits: None,
            answer: Answer::OK,
            queue: Queue::OK,
        };
        let outcome = acquired(given);
        let points = compare(&outcome, &outcome, &around);
        assert!(!points.is_empty(), "nothing differs");
        classify(&op, &outcome, &outcome, &around, &points, LIMITS).map(|(id, _)| id)
    };
    assert_eq!(fetched(&[], with_gap(6, Some(6))), Some("S7"));
    assert_eq!(fetched(&[(2, 5, 2)], with_gap(6, Some(6))), None);
    assert_eq!(fetched(&[], with_gap(6, Some(0))), None);
}

#[test]
fn s8_needs_two_start_offsets_and_answers_that_follow_from_them() {
    let kafka = state(0, &[run(0, 1, 4, 0), run(2, 3, 1, 1)]);
    let ours = state(2, &[run(2, 3, 1, 1)]);
    let fewer = acquired(&[(4, 9, 1)]);
    let more = acquired(&[(4, 11, 1)]);
    let verb = || acquire(500, (4, 20), false);
    let states = (kafka.clone(), ours.clone());
    assert_eq!(
        class(verb(), states.clone(), fewer.clone(), more.clone()),
        Some("S8")
    );
    assert_eq!(class(verb(), same(kafka), fewer, more), None);
    let other_count = acquired(&[(4, 9, 2)]);
    let third = acquired(&[(4, 11, 1)]);
    assert_eq!(class(verb(), states, other_count, third), None);
}

#[test]
fn what_no_rule_names_has_no_class() {
    let window = || same(state(0, &[run(0, 9, 1, 1)]));
    assert_eq!(class(acknowledge(0, 9), window(), code(0), code(121)), None);
    let release = Verb::Release { member: 1 };
    assert_eq!(class(release, window(), code(0), code(-1)), None);
}

#[test]
fn every_name_has_a_section_of_the_page() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../docs/deliberate-differences.md"
    );
    let page = std::fs::read_to_string(path).unwrap();
    for name in RULES.iter().map(|rule| rule.id) {
        assert!(page.contains(&format!("\n## {name}. ")), "{name}");
    }
    assert!(RULES.len() > 20);
}
