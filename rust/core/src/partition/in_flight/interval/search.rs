//! Questions to the window: each looks at the leaf of the offset, and at the one that the groups name.

use super::StateCounts;
use super::cell::{Cell, Class};
use super::directory::Leaves;
use super::runs;
use super::window::add;
use crate::offset::{OffsetRange, after, before, before_saturating};

impl<const N: usize> Leaves<N> {
    /// First offset of the first leaf and last offset of the last.
    pub fn bounds(&self) -> Option<OffsetRange> {
        let (first, last) = (self.get(self.first()?)?, self.get(self.last()?)?);
        OffsetRange::new(first.range.first, last.range.last)
    }

    /// The first run that `range` touches, clipped to it.
    pub fn run_in(&self, range: OffsetRange) -> Option<(OffsetRange, Cell)> {
        let mut at = self.reaching(range.first)?;
        let mut leaf = self.get(at)?;
        let first = leaf.held_from(range.first)?;
        if first > range.last {
            return None;
        }
        let (cell, mut last) = leaf.run(first, range.last.min(leaf.range.last));
        // A run may go on in the next leaf.
        while last == leaf.range.last
            && last < range.last
            && let Some(next) = self.next(at)
        {
            let Some(beyond) = self
                .get(next)
                .filter(|next| leaf.range.is_followed_by(next.range.first))
            else {
                break;
            };
            let (more, end) = beyond.run(beyond.range.first, range.last.min(beyond.range.last));
            if !cell.joins(more) {
                break;
            }
            (at, leaf, last) = (next, beyond, end);
        }
        Some((OffsetRange { first, last }, cell))
    }

    /// The first offset from `from` on that belongs to `class`, which is not the class of holes.
    pub fn find(&self, from: i64, class: Class) -> Option<i64> {
        let at = self.reaching(from)?;
        let leaf = self.get(at)?;
        if let Some(found) = leaf.next(from.max(leaf.range.first), class) {
            return Some(found);
        }
        let leaf = self.get(self.next_with(self.next(at)?, class)?)?;
        leaf.next(leaf.range.first, class)
    }

    /// The last beginning of a batch at or before `offset`.
    pub fn start_at_or_before(&self, offset: i64) -> Option<i64> {
        let at = self.beginning(offset)?;
        if let Some(found) = self.get(at)?.start_at_or_before(offset) {
            return Some(found);
        }
        let leaf = self.get(self.prev_with(self.prev(at)?, Class::Start)?)?;
        leaf.start_at_or_before(leaf.range.last)
    }

    /// The last offset of the stretch without a hole that holds `offset`; `None` when no record does.
    fn contiguous_end(&self, offset: i64) -> Option<i64> {
        let at = self.reaching(offset)?;
        let leaf = self.get(at)?;
        if leaf.held_from(offset)? != offset {
            return None;
        }
        if let Some(hole) = leaf.next(offset, Class::Hole) {
            return Some(before_saturating(hole));
        }
        let next = self
            .next(at)
            .and_then(|next| self.get(next).map(|leaf| (next, leaf)));
        let Some((next, _)) = next.filter(|(_, next)| leaf.range.is_followed_by(next.range.first))
        else {
            return Some(leaf.range.last);
        };
        let leaf = self.get(self.next_with(next, Class::Hole)?)?;
        let hole = leaf.next(leaf.range.first, Class::Hole);
        Some(hole.map_or(leaf.range.last, before_saturating))
    }

    /// The first offset at or after `from` that no batch holds.
    pub fn first_hole(&self, from: i64) -> Option<i64> {
        self.contiguous_end(from).map_or(Some(from), after)
    }

    /// The batch that begins at `start`: it ends before a hole or the next batch.
    pub fn batch(&self, start: i64) -> OffsetRange {
        let next = after(start).and_then(|from| self.find(from, Class::Start));
        let end = self.contiguous_end(start).unwrap_or(start);
        OffsetRange {
            first: start,
            last: end.min(next.map_or(i64::MAX, before_saturating)),
        }
    }

    /// Records by state.
    pub fn counts(&self) -> StateCounts {
        let mut counts = StateCounts::default();
        for leaf in self.iter() {
            let edges = leaf.edges();
            for (at, edge) in edges.iter().enumerate() {
                if !edge.cell.is_hole() {
                    let records = runs::range_of(&edges, at, leaf.range.last).len();
                    add(&mut counts, edge.cell.state(), records);
                }
            }
        }
        counts
    }

    /// The last offset of the last batch that ends at or before `last`.
    pub fn end_of_batches(&self, last: i64) -> Option<i64> {
        let bounds = self.bounds()?;
        if last >= bounds.last {
            return Some(bounds.last);
        }
        let beyond = after(last)?;
        let leaf = self.get(self.reaching(beyond)?)?;
        let whole = leaf.range.first > beyond || {
            let (cell, _) = leaf.run(beyond, beyond);
            cell.is_start() || cell.is_hole()
        };
        if whole {
            return Some(last);
        }
        before(self.start_at_or_before(last)?)
    }
}
