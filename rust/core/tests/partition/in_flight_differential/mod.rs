//! The store for use and the obvious twin are given the same changes and asked every question after each; the store also
//! with tiny leaves, so that small windows have many.

#![allow(
    clippy::unwrap_used,
    reason = "a batch that is missing is what the test looks for"
)]

#[cfg(test)]
mod sequences;
#[cfg(test)]
mod side;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use sequences::ops;
use share_state_core::in_flight::{
    AdaptiveStore, Holder, InFlightQuestions, InFlightRun, InFlightStore, IntervalStore,
    LockChange, MemberIndex, TwinStore,
};
use share_state_core::offset::OffsetRange;
use share_state_core::record_state::{Phase, RecordState};
use side::{MEMBERS, Noting, Op, Side, to};

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

/// Returns `true` if nothing can happen to the records any more.
fn is_done(run: &InFlightRun) -> bool {
    run.state.is_terminal() && run.phase == Phase::Stable
}

/// The runs as long as they can be: a store may show one in pieces, and may forget where batches begin among records that
/// are done.
fn joined(runs: &[InFlightRun]) -> Vec<InFlightRun> {
    let mut joined: Vec<InFlightRun> = Vec::new();
    for run in runs {
        let mut run = *run;
        run.batch_start &= !is_done(&run);
        match joined.last_mut() {
            Some(last)
                if last.range.is_followed_by(run.range.first)
                    && !run.batch_start
                    && InFlightRun {
                        range: run.range,
                        batch_start: false,
                        ..*last
                    } == run =>
            {
                last.range.last = run.range.last;
            }
            _ => joined.push(run),
        }
    }
    joined
}

fn batches<S: InFlightStore>(store: &S) -> Vec<OffsetRange> {
    let mut batches = Vec::new();
    let mut from = Some(i64::MIN);
    while let Some(batch) = from.and_then(|from| store.batch_ceiling(from)) {
        from = batch.last.checked_add(1);
        batches.push(batch);
    }
    batches
}

/// The tree's batches are the twin's, but neighbours whose records are all equal and done may count as one.
fn assert_batches(twin: &Side<TwinStore>, tree: &[OffsetRange]) {
    let mut exact = batches(&twin.store).into_iter();
    for batch in tree {
        let first = exact.next().unwrap();
        assert_eq!(first.first, batch.first, "{tree:?}");
        let mut end = first;
        let mut parts = vec![first];
        while end.last < batch.last {
            let next = exact.next().unwrap();
            assert!(end.is_followed_by(next.first), "{batch} over a hole");
            end = next;
            parts.push(next);
        }
        assert_eq!(end.last, batch.last, "{tree:?}");
        if parts.len() > 1 {
            let whole = twin.store.run_in(parts[0]).unwrap();
            for &part in &parts {
                let run = twin.store.run_in(part).unwrap();
                assert!(
                    is_done(&run) && run.range == part && run.batch_start,
                    "{part} is not done"
                );
                assert_eq!(
                    InFlightRun {
                        range: whole.range,
                        ..run
                    },
                    whole
                );
            }
        }
    }
    assert_eq!(exact.next(), None);
}

/// Looks at the records of `holder` that those of `state` would change: `true` if that was all, and the records.
fn look<S: InFlightStore>(
    store: &S,
    ranges: &[OffsetRange],
    holder: Holder,
    state: Option<RecordState>,
) -> (bool, Vec<InFlightRun>) {
    let mut shown = Vec::new();
    let decide = |run: &InFlightRun| {
        let change = to(run.state, run.phase, LockChange::Keep);
        state
            .is_none_or(|state| run.state == state)
            .then_some(change)
    };
    let mut change = Noting {
        decide,
        shown: &mut shown,
    };
    let all = store.look(ranges.iter().copied(), holder, &mut change);
    (all, joined(&shown))
}

fn compare<S: InFlightStore>(twin: &Side<TwinStore>, tree: &Side<S>, probes: &[i64]) {
    assert_eq!(twin.store.check(), Ok(()));
    assert_eq!(tree.store.check(), Ok(()));
    let (a, b) = (&twin.store, &tree.store);
    assert_eq!(a.is_empty(), b.is_empty());
    assert_eq!(a.bounds(), b.bounds());
    assert_eq!(a.counts(), b.counts());
    assert_eq!(a.next_deadline(), b.next_deadline());
    let runs = tree.runs();
    assert_eq!(joined(&twin.runs()), joined(&runs));
    let batches = batches(b);
    assert_batches(twin, &batches);
    for member in (0..MEMBERS).map(MemberIndex) {
        assert_covers(&b.held_by(member), &a.held_by(member));
        assert_eq!(a.held_by(member).is_empty(), b.held_by(member).is_empty());
    }
    let firsts: BTreeSet<i64> = probes.iter().copied().collect();
    let holders = (0..MEMBERS).map(|member| Holder::Member(MemberIndex(member)));
    let holders: Vec<Holder> = holders.chain([Holder::Anybody, Holder::RunOut]).collect();
    for (len, state) in [(1, None), (4, None), (1, Some(RecordState::Acquired))] {
        let mut ranges: Vec<OffsetRange> = Vec::new();
        for &first in &firsts {
            let last = first.saturating_add(len - 1);
            if ranges.last().is_none_or(|range| range.last < first) {
                ranges.push(OffsetRange { first, last });
            }
        }
        let held = |range: &&OffsetRange| a.held_in(**range) == range.len();
        let without_holes: Vec<OffsetRange> = ranges.iter().filter(held).copied().collect();
        let one = &without_holes[..without_holes.len().min(1)];
        for ranges in [&ranges[..], &without_holes, one] {
            for &holder in &holders {
                let (a, b) = (
                    look(a, ranges, holder, state),
                    look(b, ranges, holder, state),
                );
                assert_eq!(a, b, "{holder:?} {state:?} in {ranges:?}");
            }
        }
    }
    for &offset in probes {
        let clipped = |range| runs.iter().find_map(|run| run.clipped(range));
        for len in [0, 7, i64::MAX] {
            let last = offset.saturating_add(len);
            let range = OffsetRange {
                first: offset,
                last,
            };
            assert_eq!(b.run_in(range), clipped(range), "the run in {range}");
            assert_eq!(a.held_in(range), b.held_in(range), "held of {range}");
            let (a, b) = (a.available_in(range), b.available_in(range));
            assert_eq!(a, b, "available in {range}");
        }
        assert_eq!(
            a.first_available(offset),
            b.first_available(offset),
            "from {offset}"
        );
        assert_eq!(
            a.first_outstanding(offset),
            b.first_outstanding(offset),
            "from {offset}"
        );
        assert_eq!(
            a.first_hole(offset),
            b.first_hole(offset),
            "the hole from {offset}"
        );
        let floor = batches.iter().rfind(|batch| batch.first <= offset);
        assert_eq!(
            b.batch_floor(offset),
            floor.copied(),
            "the batch before {offset}"
        );
        let ceiling = batches.iter().find(|batch| batch.first >= offset);
        assert_eq!(
            b.batch_ceiling(offset),
            ceiling.copied(),
            "the batch from {offset}"
        );
    }
}

/// Makes both stores do the same, and returns how often each kind of change had an effect.
fn run<S: InFlightStore>(ops: &[Op], probes: &[i64]) -> BTreeMap<String, u32> {
    let (mut twin, mut tree) = (Side::<TwinStore>::new(), Side::<S>::new());
    let mut effects = BTreeMap::new();
    for op in ops {
        let op = &match op {
            // What has become one batch in the tree leaves as one.
            Op::RemoveThrough { last } => match tree.store.batch_floor(*last) {
                Some(batch) if batch.last > *last => match batch.first.checked_sub(1) {
                    Some(last) => Op::RemoveThrough { last },
                    // Before the first offset there is nothing that could leave.
                    None => continue,
                },
                _ => op.clone(),
            },
            _ => op.clone(),
        };
        let before = twin.runs();
        let exact = twin.apply(op);
        let wide = tree.apply(op);
        assert_covers(&wide, &exact);
        assert_eq!(joined(&twin.shown), joined(&tree.shown), "{op:?}");
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

type Tiny = AdaptiveStore<8>;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn both_stores_answer_every_question_the_same_after_every_change(ops in ops(100, 40, 80)) {
        run::<IntervalStore>(&ops, &probes(100, 40));
    }

    #[test]
    fn tiny_leaves_answer_every_question_the_same_after_every_change(ops in ops(100, 60, 80)) {
        run::<Tiny>(&ops, &probes(100, 60));
    }

    #[test]
    fn both_stores_agree_at_the_first_offsets_there_are(ops in ops(i64::MIN, 24, 40)) {
        run::<IntervalStore>(&ops, &probes(i64::MIN, 24));
        run::<Tiny>(&ops, &probes(i64::MIN, 24));
    }

    #[test]
    fn both_stores_agree_at_the_last_offsets_there_are(ops in ops(i64::MAX - 23, 24, 40)) {
        run::<IntervalStore>(&ops, &probes(i64::MAX - 23, 24));
        run::<Tiny>(&ops, &probes(i64::MAX - 23, 24));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn both_stores_agree_in_a_window_of_single_records(ops in ops(0, 300, 40)) {
        let every_seventh: Vec<i64> = probes(0, 300).into_iter().step_by(7).collect();
        run::<IntervalStore>(&shredded(0, 300, ops), &every_seventh);
    }

    #[test]
    fn tiny_leaves_agree_in_a_window_of_single_records(ops in ops(0, 300, 60)) {
        let every_seventh: Vec<i64> = probes(0, 300).into_iter().step_by(7).collect();
        run::<Tiny>(&shredded(0, 300, ops), &every_seventh);
    }
}

#[test]
fn every_kind_of_change_has_an_effect_in_the_sequences_that_are_tried() {
    let mut runner = TestRunner::deterministic();
    let mut effects: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..100 {
        let tree = ops(0, 40, 80).new_tree(&mut runner).unwrap();
        for (kind, count) in run::<IntervalStore>(&tree.current(), &[]) {
            *effects.entry(kind).or_insert(0) += count;
        }
    }
    assert_eq!(effects.len(), 14, "{effects:?}");
    assert!(effects.values().all(|count| *count >= 5), "{effects:?}");
}
