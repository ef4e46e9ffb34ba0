//! The tree against one entry an offset, under random changes.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::tests::{Colour, range};
use super::*;
use crate::offset::{OffsetRange, after, before};

/// Model of the tree: an entry for each offset.
type Model = BTreeMap<i64, Colour>;

fn model_runs(model: &Model) -> Vec<Run<Colour>> {
    let mut runs: Vec<Run<Colour>> = Vec::new();
    for (&offset, &value) in model {
        let single = Run {
            range: OffsetRange::single(offset),
            value,
        };
        match runs.last_mut() {
            Some(run) if run.joins(single) => run.range.last = offset,
            _ => runs.push(single),
        }
    }
    runs
}

#[derive(Clone, Debug)]
enum Op {
    Set(OffsetRange, Colour),
    Raise(OffsetRange, Colour),
    Remove(OffsetRange),
    RemoveBefore(i64),
}

fn apply<const N: usize>(tree: &mut IntervalTree<Colour, N>, model: &mut Model, op: &Op) {
    let whole = model_runs(model);
    let parts = |range: OffsetRange| {
        let parts = whole.iter().filter_map(move |run| run.clipped(range));
        parts.collect::<Vec<_>>()
    };
    match *op {
        Op::Set(range, value) => {
            tree.set(range, value);
            for offset in range.first..=range.last {
                model.insert(offset, value);
            }
        }
        Op::Raise(range, value) => {
            let mut raised = false;
            for offset in range.first..=range.last {
                if model.get(&offset).is_none_or(|old| *old < value) {
                    model.insert(offset, value);
                    raised = true;
                }
            }
            assert_eq!(tree.raise(range, value), raised);
        }
        Op::Remove(range) => {
            let mut shown = Vec::new();
            tree.drain(range, |run| shown.push(run));
            assert_eq!(shown, parts(range));
            model.retain(|offset, _| !range.contains(*offset));
        }
        Op::RemoveBefore(start) => {
            let left = model.split_off(&start);
            assert_eq!(tree.remove_before(start), !model.is_empty());
            *model = left;
        }
    }
}

fn compare<const N: usize>(tree: &IntervalTree<Colour, N>, model: &Model, probes: &[i64]) {
    tree.check().unwrap();
    let runs = model_runs(model);
    assert_eq!(tree.iter().collect::<Vec<_>>(), runs);
    assert_eq!(tree.len(), runs.len());
    let ends = runs.first().zip(runs.last());
    assert_eq!(
        tree.bounds(),
        ends.map(|(first, last)| range(first.range.first, last.range.last))
    );
    for &offset in probes {
        let holds = |run: &&Run<Colour>| run.range.contains(offset);
        let reaches = |run: &&Run<Colour>| run.range.last >= offset;
        assert_eq!(tree.at(offset), runs.iter().find(holds).copied());
        assert_eq!(tree.at_or_after(offset), runs.iter().find(reaches).copied());
        assert!(
            tree.iter_from(offset)
                .eq(runs.iter().filter(reaches).copied())
        );
        for classes in [1, 2, 4, 2 | 8] {
            let is = |run: &&Run<Colour>| run.value.classes() & classes != 0;
            let next = runs.iter().filter(reaches).find(is).copied();
            assert_eq!(tree.next_with(offset, classes), next);
        }
        let mut hole = Some(offset);
        while let Some(held) = hole.filter(|hole| model.contains_key(hole)) {
            hole = after(held);
        }
        assert_eq!(tree.first_hole(offset), hole.unwrap_or(i64::MAX));
        let held = model.contains_key(&offset);
        let end = if held {
            hole.map_or(Some(i64::MAX), before)
        } else {
            None
        };
        assert_eq!(tree.contiguous_end(offset), end);
    }
}

fn value() -> impl Strategy<Value = Colour> {
    (0u8..6).prop_map(Colour)
}

fn ranges(base: i64, width: i64) -> impl Strategy<Value = OffsetRange> {
    let short = (0..width, 0..4i64);
    let long = (0..width, 0..width);
    prop_oneof![4 => short, 1 => long].prop_map(move |(first, extra)| OffsetRange {
        first: base + first,
        last: base + (first + extra).min(width - 1),
    })
}

fn ops(base: i64, width: i64) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        16 => (ranges(base, width), value()).prop_map(|(range, value)| Op::Set(range, value)),
        10 => (ranges(base, width), value()).prop_map(|(range, value)| Op::Raise(range, value)),
        4 => ranges(base, width).prop_map(Op::Remove),
        2 => (0..width / 8).prop_map(move |i| Op::RemoveBefore(base + i)),
        // Nearly all, and mostly all.
        1 => Just(Op::RemoveBefore(base + width - 1)),
    ];
    prop::collection::vec(op, 1..120)
}

/// Fills the tree with single offsets, so that small fan-outs make it deep, and then lets the operations at it.
fn run<const N: usize>(base: i64, width: i64, fill: i64, ops: &[Op]) {
    let mut tree = IntervalTree::<Colour, N>::default();
    let mut model = Model::new();
    for offset in (0..fill).map(|i| base + (i * 7) % width) {
        let op = Op::Set(OffsetRange::single(offset), Colour((offset & 3) as u8));
        apply(&mut tree, &mut model, &op);
    }
    let mut probes: Vec<i64> = (0..width).map(|i| base + i).collect();
    probes.extend([i64::MIN, -1, 0, i64::MAX]);
    compare(&tree, &model, &probes);
    for (i, op) in ops.iter().enumerate() {
        apply(&mut tree, &mut model, op);
        let probed = if i % 8 == 0 { &probes[..] } else { &[] };
        compare(&tree, &model, probed);
    }
    compare(&tree, &model, &probes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_deep_tree_with_fan_out_four_agrees_with_one_entry_an_offset(ops in ops(0, 100), fill in 0i64..100) {
        run::<4>(0, 100, fill, &ops);
    }

    #[test]
    fn a_tree_with_fan_out_seven_agrees_with_one_entry_an_offset(ops in ops(-60, 120), fill in 0i64..120) {
        run::<7>(-60, 120, fill, &ops);
    }

    #[test]
    fn a_tree_as_it_is_used_agrees_with_one_entry_an_offset(ops in ops(0, 120), fill in 60i64..120) {
        run::<FAN_OUT>(0, 120, fill, &ops);
    }

    #[test]
    fn both_ends_of_the_offset_space_are_offsets_like_others(ops in ops(0, 40), fill in 0i64..40) {
        let at = |base: i64, ops: &[Op]| -> Vec<Op> {
            let shift = |range: OffsetRange| OffsetRange {
                first: base + range.first,
                last: base + range.last,
            };
            let moved = ops.iter().map(|op| match *op {
                Op::Set(range, value) => Op::Set(shift(range), value),
                Op::Raise(range, value) => Op::Raise(shift(range), value),
                Op::Remove(range) => Op::Remove(shift(range)),
                Op::RemoveBefore(start) => Op::RemoveBefore(base + start),
            });
            moved.collect()
        };
        for base in [i64::MIN, i64::MAX - 39] {
            run::<4>(base, 40, fill, &at(base, &ops));
        }
    }
}
