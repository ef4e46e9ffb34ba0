//! What the tree does, case by case.

use super::*;
use crate::offset::{OffsetRange, before};

/// A value with a mark on its first offset, as a batch start is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) colour: u8,
    pub(super) mark: bool,
}

pub(super) const MARK: u8 = 1 << 7;

impl RunValue for Marked {
    fn tail(self) -> Self {
        Self {
            mark: false,
            ..self
        }
    }
    fn joins(self, next: Self) -> bool {
        self.tail() == next
    }
    fn classes(self) -> u8 {
        (1 << self.colour) | if self.mark { MARK } else { 0 }
    }
}

pub(super) fn plain(colour: u8) -> Marked {
    Marked {
        colour,
        mark: false,
    }
}

fn marked(colour: u8) -> Marked {
    Marked { colour, mark: true }
}

pub(super) fn range(first: i64, last: i64) -> OffsetRange {
    OffsetRange { first, last }
}

fn runs<const N: usize>(tree: &IntervalTree<Marked, N>) -> Vec<(i64, i64, u8, bool)> {
    let shown = |run: Run<Marked>| {
        (
            run.range.first,
            run.range.last,
            run.value.colour,
            run.value.mark,
        )
    };
    tree.iter().map(shown).collect()
}

#[test]
fn equal_neighbours_are_joined_and_a_mark_keeps_them_apart() {
    let mut tree = IntervalTree::new();
    tree.set(range(0, 4), marked(1));
    tree.set(range(5, 9), plain(1));
    tree.set(range(10, 14), marked(1));
    assert_eq!(runs(&tree), [(0, 9, 1, true), (10, 14, 1, true)]);
    tree.check().unwrap();
}

#[test]
fn a_run_that_is_cut_drops_its_mark_on_the_right_and_gets_whole_again() {
    let mut tree = IntervalTree::new();
    tree.set(range(0, 9), marked(1));
    tree.update(range(4, 5), |_| Some(plain(2)));
    assert_eq!(
        runs(&tree),
        [(0, 3, 1, true), (4, 5, 2, false), (6, 9, 1, false)]
    );
    tree.update(range(0, 9), |run| {
        Some(Marked {
            colour: 1,
            ..run.value
        })
    });
    assert_eq!(runs(&tree), [(0, 9, 1, true)]);
    tree.check().unwrap();
}

#[test]
fn a_range_as_wide_as_the_offset_space_is_one_run() {
    let mut tree = IntervalTree::new();
    tree.set(range(i64::MIN, i64::MAX), plain(1));
    assert_eq!(tree.first_hole(0), i64::MAX);
    assert_eq!(tree.contiguous_end(0), Some(i64::MAX));
    tree.set(OffsetRange::single(i64::MAX), plain(2));
    tree.set(OffsetRange::single(i64::MIN), plain(3));
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
    tree.update(range(0, 9), |_| panic!("nothing is there"));
    tree.set(range(0, 1), plain(1));
    tree.update(range(2, i64::MAX), |_| panic!("nothing is there"));
    tree.remove(range(2, i64::MAX));
    assert_eq!(tree.at_or_after(2), None);
    assert_eq!(tree.floor(-1), None);
    assert_eq!(tree.floor(77).map(|run| run.range), Some(range(0, 1)));
}

#[test]
fn runs_written_in_order_fill_their_leaves_whichever_the_order() {
    for step in [1, -1] {
        let mut tree = IntervalTree::new();
        for i in 0..32_000 {
            tree.set(OffsetRange::single(i * step), marked(1));
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
        tree.set(range(batch * 500, batch * 500 + 499), marked(1));
    }
    for offset in (0..50_000).filter(|offset| offset % 2 == 1) {
        tree.update(OffsetRange::single(offset), |_| Some(plain(2)));
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
        tree.set(OffsetRange::single(i), marked(1));
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
        tree.set(OffsetRange::single(i), plain((i % 2) as u8));
    }
    assert_eq!(tree.len(), 10_000);
    let mut shown = 0;
    tree.update(range(0, 9_999), |run| {
        shown += run.range.len();
        Some(plain(3))
    });
    assert_eq!(shown, 10_000);
    assert_eq!(runs(&tree), [(0, 9_999, 3, false)]);
    tree.check().unwrap();
    assert_eq!(tree.leaves.used() + tree.inners.used(), 1);
}
