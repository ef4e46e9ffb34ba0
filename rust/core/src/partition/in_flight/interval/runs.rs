//! A leaf of few runs: where each begins, in ascending order; a run ends where the next one begins.

use super::cell::{Cell, Class};
use crate::offset::{OffsetRange, before_saturating};

/// The beginning of a run, or of a hole between batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub first: i64,
    pub cell: Cell,
}

/// Permission for neighbouring batches to become one whose records are all equal and done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merge {
    /// No: somebody wants to know where each began.
    Never,
    /// Yes, but the last batch of the leaf may reach into the next one.
    Inside,
    /// Yes, and no batch reaches into the next leaf.
    ToTheEnd,
}

impl Merge {
    /// Permission in a leaf that no other follows.
    pub const fn alone(allowed: bool) -> Self {
        if allowed { Self::ToTheEnd } else { Self::Never }
    }
}

/// Decides the new cell of a run, or of a part of one.
pub(super) type Becomes<'a> = &'a mut dyn FnMut(OffsetRange, Cell) -> Option<Cell>;

const _: () = assert!(size_of::<Edge>() == 16, "a run takes 16 bytes");

/// The offsets of the entry `at`, in a leaf that ends at `last`.
#[inline]
pub(super) fn range_of(edges: &[Edge], at: usize, last: i64) -> OffsetRange {
    OffsetRange {
        first: edges[at].first,
        last: edges
            .get(at + 1)
            .map_or(last, |next| before_saturating(next.first)),
    }
}

/// The entry that holds `offset`, which is not before the first one. The oldest records are asked for most.
#[inline]
pub(super) fn holding(edges: &[Edge], offset: i64) -> usize {
    for at in 1..4 {
        if edges.get(at).is_none_or(|edge| edge.first > offset) {
            return at - 1;
        }
    }
    edges.partition_point(|edge| edge.first <= offset) - 1
}

/// The entry that all of `range` belongs to, and its cell there. A leaf of runs ends at `last`.
#[inline(always)]
pub(super) fn holding_all(edges: &[Edge], last: i64, range: OffsetRange) -> Option<(usize, Cell)> {
    let at = holding(edges, range.first);
    let &Edge { first, cell } = edges.get(at)?;
    let next = edges.get(at + 1);
    let end = next.map_or(last, |next| before_saturating(next.first));
    if end < range.last || cell.is_hole() {
        return None;
    }
    let cell = if first < range.first {
        cell.tail()
    } else {
        cell
    };
    Some((at, cell))
}

/// The first offset from `from` on that belongs to `class`.
pub(super) fn next(edges: &[Edge], from: i64, class: Class) -> Option<i64> {
    let at = holding(edges, from);
    let head = edges.get(at)?;
    let here = if head.first < from {
        head.cell.tail()
    } else {
        head.cell
    };
    if here.classes() & class.bit() != 0 {
        return Some(from.max(head.first));
    }
    let beyond = edges[at + 1..].iter();
    beyond
        .into_iter()
        .find(|edge| edge.cell.classes() & class.bit() != 0)
        .map(|edge| edge.first)
}

/// The last beginning of a batch at or before `offset`, which is not before the first entry.
pub(super) fn start_at_or_before(edges: &[Edge], offset: i64) -> Option<i64> {
    let mut back = edges[..=holding(edges, offset)].iter().rev();
    back.find(|edge| edge.cell.is_start())
        .map(|edge| edge.first)
}
