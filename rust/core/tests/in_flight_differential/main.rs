//! The interval tree and the obvious twin are given the same changes and asked every question after each.

#[cfg(test)]
mod sequences;
#[cfg(test)]
mod side;

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use sequences::ops;
use share_state_core::in_flight::{InFlightStore, IntervalStore, MemberIndex, TwinStore};
use share_state_core::offset::OffsetRange;
use share_state_core::record_state::RecordState;
use side::{MEMBERS, Op, Side};

fn assert_covers(wide: &[OffsetRange], exact: &[OffsetRange]) {
    for pair in wide.windows(2) {
        assert!(
            pair[0].last < pair[1].first,
            "{wide:?} is not ascending and disjoint"
        );
    }
    for range in exact {
        assert!(
            wide.iter().any(|cover| cover.covers(*range)),
            "{wide:?} misses {range}"
        );
    }
}

fn compare(twin: &Side<TwinStore>, tree: &Side<IntervalStore>, probes: &[i64]) {
    assert_eq!(twin.store.check(), Ok(()));
    assert_eq!(tree.store.check(), Ok(()));
    let (a, b) = (&twin.store, &tree.store);
    assert_eq!(a.is_empty(), b.is_empty());
    assert_eq!(a.bounds(), b.bounds());
    assert_eq!(a.counts(), b.counts());
    assert_eq!(a.next_deadline(), b.next_deadline());
    assert_eq!(twin.runs(), tree.runs());
    for member in (0..MEMBERS).map(MemberIndex) {
        assert_covers(&b.held_by(member), &a.held_by(member));
        assert_eq!(a.held_by(member).is_empty(), b.held_by(member).is_empty());
    }
    for &offset in probes {
        assert_eq!(a.run_at(offset), b.run_at(offset), "the run at {offset}");
        assert_eq!(
            a.run_from(offset),
            b.run_from(offset),
            "the run from {offset}"
        );
        assert_eq!(
            a.first_available(offset),
            b.first_available(offset),
            "from {offset}"
        );
        assert_eq!(
            a.first_unsettled(offset),
            b.first_unsettled(offset),
            "from {offset}"
        );
        assert_eq!(
            a.first_hole(offset),
            b.first_hole(offset),
            "the hole from {offset}"
        );
        assert_eq!(
            a.batch_floor(offset),
            b.batch_floor(offset),
            "the batch before {offset}"
        );
        assert_eq!(
            a.batch_ceiling(offset),
            b.batch_ceiling(offset),
            "the batch from {offset}"
        );
    }
}

/// Makes both stores do the same, and returns how often each kind of change had an effect.
fn run(ops: &[Op], probes: &[i64]) -> BTreeMap<String, u32> {
    let (mut twin, mut tree) = (Side::<TwinStore>::new(), Side::<IntervalStore>::new());
    let mut effects = BTreeMap::new();
    for op in ops {
        let before = twin.runs();
        let exact = twin.apply(op);
        let wide = tree.apply(op);
        assert_covers(&wide, &exact);
        assert_eq!(twin.shown, tree.shown, "{op:?}");
        twin.shown.clear();
        tree.shown.clear();
        compare(&twin, &tree, probes);
        if twin.runs() != before {
            let name = format!("{op:?}");
            let kind = name.split(' ').next().unwrap_or_default().to_owned();
            *effects.entry(kind).or_insert(0) += 1;
        }
    }
    effects
}

fn probes(base: i64, width: i64) -> Vec<i64> {
    let mut probes: Vec<i64> = (0..width).map(|i| base + i).collect();
    probes.extend([
        i64::MIN,
        base.saturating_sub(1),
        base.saturating_add(width),
        i64::MAX,
    ]);
    probes
}

/// Single records, each a batch of its own under a lock of its own, so that the tree is deep from the beginning.
fn shredded(base: i64, width: i64, ops: Vec<Op>) -> Vec<Op> {
    let range = OffsetRange {
        first: base,
        last: base + width - 1,
    };
    let state = RecordState::Available;
    let fill = Op::Insert {
        range,
        length: 0,
        state,
        locked_by: 0,
    };
    let acquire = Op::AcquireEach {
        range,
        member: 1,
        duration: 0,
    };
    [fill, acquire].into_iter().chain(ops).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn both_stores_answer_every_question_the_same_after_every_change(ops in ops(100, 40, 80)) {
        run(&ops, &probes(100, 40));
    }

    #[test]
    fn both_stores_agree_at_the_first_offsets_there_are(ops in ops(i64::MIN, 24, 40)) {
        run(&ops, &probes(i64::MIN, 24));
    }

    #[test]
    fn both_stores_agree_at_the_last_offsets_there_are(ops in ops(i64::MAX - 23, 24, 40)) {
        run(&ops, &probes(i64::MAX - 23, 24));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn both_stores_agree_in_a_window_of_single_records(ops in ops(0, 300, 40)) {
        let every_seventh: Vec<i64> = probes(0, 300).into_iter().step_by(7).collect();
        run(&shredded(0, 300, ops), &every_seventh);
    }
}

#[test]
fn every_kind_of_change_has_an_effect_in_the_sequences_that_are_tried() {
    let mut runner = TestRunner::deterministic();
    let mut effects: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..40 {
        let tree = ops(0, 40, 80).new_tree(&mut runner).unwrap();
        for (kind, count) in run(&tree.current(), &[]) {
            *effects.entry(kind).or_insert(0) += count;
        }
    }
    assert_eq!(effects.len(), 12, "{effects:?}");
    assert!(effects.values().all(|count| *count >= 5), "{effects:?}");
}
