//! Tests of the tree, case by case.

use super::*;
use crate::offset::{OffsetRange, before};

/// A value that belongs to one of four classes; the first four have one each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Colour(pub(super) u8);

impl RunValue for Colour {
    fn classes(self) -> u8 {
        1 << (self.0 % 4)
    }
}

pub(super) fn range(first: i64, last: i64) -> OffsetRange {
    OffsetRange { first, last }
}

fn runs<const N: usize>(tree: &IntervalTree<Colour, N>) -> Vec<(i64, i64, u8)> {
    let shown = |run: Run<Colour>| (run.range.first, run.range.last, run.value.0);
    tree.iter().map(shown).collect()
}

#[test]
fn equal_neighbours_are_joined_and_others_kept_apart() {
    let mut tree = IntervalTree::new();
    tree.set(range(0, 4), Colour(1));
    tree.set(range(5, 9), Colour(1));
    tree.set(range(10, 14), Colour(2));
    tree.set(range(16, 19), Colour(2));
    assert_eq!(runs(&tree), [(0, 9, 1), (10, 14, 2), (16, 19, 2)]);
    tree.check().unwrap();
}

#[test]
fn a_run_that_is_cut_gets_whole_again() {
    let mut tree = IntervalTree::new();
    tree.set(range(0, 9), Colour(1));
    tree.set(range(4, 5), Colour(2));
    assert_eq!(runs(&tree), [(0, 3, 1), (4, 5, 2), (6, 9, 1)]);
    tree.set(range(4, 5), Colour(1));
    assert_eq!(runs(&tree), [(0, 9, 1)]);
    tree.check().unwrap();
}

#[test]
fn raising_fills_holes_and_leaves_what_is_higher_alone() {
    let mut tree = IntervalTree::new();
    tree.set(range(0, 4), Colour(1));
    tree.set(range(7, 8), Colour(3));
    assert!(tree.raise(range(2, 11), Colour(2)));
    let raised = [(0, 1, 1), (2, 6, 2), (7, 8, 3), (9, 11, 2)];
    assert_eq!(runs(&tree), raised);
    assert!(!tree.raise(range(2, 11), Colour(2)), "nothing is lower");
    assert!(!tree.raise(range(0, 1), Colour(0)));
    assert_eq!(runs(&tree), raised);
    tree.check().unwrap();
}

#[test]
fn a_tree_that_lost_all_its_runs_takes_others() {
    let mut tree = IntervalTree::<Colour>::new();
    for first in [0, 10, 40] {
        assert!(!tree.remove_before(first));
        assert!(tree.raise(range(first, first + 9), Colour(1)));
        tree.check().unwrap();
        assert_eq!(runs(&tree), [(first, first + 9, 1)]);
        assert!(tree.remove_before(first + 10));
        tree.check().unwrap();
        assert_eq!(runs(&tree), []);
    }
}

#[test]
fn a_range_as_wide_as_the_offset_space_is_one_run() {
    let mut tree = IntervalTree::new();
    tree.set(range(i64::MIN, i64::MAX), Colour(1));
    assert_eq!(tree.first_hole(0), i64::MAX);
    assert_eq!(tree.contiguous_end(0), Some(i64::MAX));
    tree.set(OffsetRange::single(i64::MAX), Colour(2));
    tree.set(OffsetRange::single(i64::MIN), Colour(3));
    assert_eq!(tree.len(), 3);
    tree.remove(OffsetRange::single(i64::MAX));
    assert_eq!(tree.first_hole(i64::MIN), i64::MAX);
    assert_eq!(tree.contiguous_end(i64::MIN), before(i64::MAX));
    let mut seen = Vec::new();
    tree.drain(range(i64::MIN, i64::MAX), |run| seen.push(run.range));
    assert_eq!(
        seen,
        [
            OffsetRange::single(i64::MIN),
            range(i64::MIN + 1, i64::MAX - 1)
        ]
    );
    assert!(tree.is_empty() && tree.bounds().is_none());
    tree.check().unwrap();
}

#[test]
fn what_is_behind_the_last_run_is_neither_shown_nor_sought_for_ever() {
    let mut tree = IntervalTree::new();
    tree.drain(range(0, 9), |_| panic!("nothing is there"));
    tree.set(range(0, 1), Colour(1));
    tree.drain(range(2, i64::MAX), |_| panic!("nothing is there"));
    tree.remove(range(2, i64::MAX));
    assert_eq!(tree.at_or_after(2), None);
    assert_eq!(runs(&tree), [(0, 1, 1)]);
}

#[test]
fn runs_written_in_order_fill_their_leaves_whichever_the_order() {
    for step in [1, -1] {
        let mut tree = IntervalTree::new();
        for i in 0..32_000 {
            tree.set(OffsetRange::single(i * step), Colour((i % 2) as u8));
        }
        tree.check().unwrap();
        assert_eq!(tree.len(), 32_000);
        assert!(tree.leaves.used() <= 1_010, "{} leaves", tree.leaves.used());
    }
}

#[test]
fn a_window_shredded_batch_by_batch_leaves_its_leaves_well_filled() {
    let mut tree = IntervalTree::new();
    for batch in 0..100 {
        tree.set(range(batch * 500, batch * 500 + 499), Colour(1));
    }
    for offset in (0..50_000).filter(|offset| offset % 2 == 1) {
        tree.set(OffsetRange::single(offset), Colour(2));
    }
    tree.check().unwrap();
    assert_eq!(tree.len(), 50_000);
    assert!(
        tree.leaves.used() <= 50_000 / 20,
        "{} leaves",
        tree.leaves.used()
    );
}

#[test]
fn nodes_that_lose_their_runs_are_merged_so_that_memory_follows_the_number_of_runs() {
    let mut tree = IntervalTree::new();
    for i in 0..32_000 {
        tree.set(OffsetRange::single(i), Colour((i % 2) as u8));
    }
    for i in (0..32_000).filter(|i| i % 16 != 0) {
        tree.remove(OffsetRange::single(i));
    }
    tree.check().unwrap();
    assert_eq!(tree.len(), 2_000);
    assert!(
        tree.leaves.used() <= 2_000 * 16 / 7 / 32 + 1,
        "{} leaves",
        tree.leaves.used()
    );
    tree.remove(range(0, 30_000));
    tree.check().unwrap();
    tree.remove(range(0, 32_000));
    assert!(tree.is_empty());
    assert_eq!(tree.heap_bytes(), 0);
}

#[test]
fn one_colour_for_all_leaves_one_run_behind() {
    let mut tree = IntervalTree::new();
    for i in 0..10_000 {
        tree.set(OffsetRange::single(i), Colour((i % 2) as u8));
    }
    assert_eq!(tree.len(), 10_000);
    assert!(tree.raise(range(0, 9_999), Colour(3)));
    assert_eq!(runs(&tree), [(0, 9_999, 3)]);
    tree.check().unwrap();
    assert_eq!(tree.leaves.used() + tree.inners.used(), 1);
}

#[test]
fn items_are_counted_as_a_binary_search_finds_them() {
    let items: Vec<i64> = (0..40).collect();
    for len in 0..=items.len() {
        for bound in -1..=41 {
            let is_before = |item: &i64| *item < bound;
            let found = node::count_before(&items[..len], is_before);
            assert_eq!(found, items[..len].partition_point(is_before));
        }
    }
}
