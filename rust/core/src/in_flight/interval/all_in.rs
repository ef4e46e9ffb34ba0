//! A look at the records of many ranges in one pass over the leaves: each is found without a search behind the last, and what is
//! equal is shown together.

use super::cell::Cell;
use super::directory::Leaves;
use super::leaf::Leaf;
use super::window::{Window, shown};
use crate::in_flight::InFlightRun;
use crate::in_flight::locks::Leases;
use crate::offset::OffsetRange;

/// Ranges that are shown together.
const TOGETHER: usize = 16;

/// Ranges whose records are equal, but for where batches begin, while they are gathered.
struct Alike<'a, F> {
    locks: &'a Leases,
    is: F,
    cell: Option<Cell>,
    ranges: [OffsetRange; TOGETHER],
    gathered: usize,
}

impl<F: FnMut(&InFlightRun, &[OffsetRange]) -> bool> Alike<'_, F> {
    /// Takes in the records of `range`, which are equal to `cell`. Returns whether all that was asked about so far is as it
    /// should be.
    #[inline(always)]
    fn take(&mut self, range: OffsetRange, cell: Cell) -> bool {
        if self.cell == Some(cell.tail())
            && let Some(place) = self.ranges.get_mut(self.gathered)
        {
            *place = range;
            self.gathered += 1;
            return true;
        }
        self.begin(range, cell)
    }

    #[inline(never)]
    fn begin(&mut self, range: OffsetRange, cell: Cell) -> bool {
        if !self.ask() || cell.is_hole() {
            return false;
        }
        self.cell = Some(cell.tail());
        (self.ranges[0], self.gathered) = (range, 1);
        true
    }

    fn ask(&mut self) -> bool {
        let ranges = &self.ranges[..self.gathered];
        self.cell
            .is_none_or(|cell| (self.is)(&shown(ranges[0], cell, self.locks), ranges))
    }
}

impl<const N: usize> Window<N> {
    pub fn all_in(
        &self,
        ranges: impl IntoIterator<Item = OffsetRange>,
        is: impl FnMut(&InFlightRun, &[OffsetRange]) -> bool,
    ) -> bool {
        let mut alike = Alike {
            locks: &self.locks,
            is,
            cell: None,
            ranges: [OffsetRange::single(0); TOGETHER],
            gathered: 0,
        };
        let taken = self
            .leaves
            .all_in(ranges, |range, cell| alike.take(range, cell));
        taken && alike.ask()
    }
}

impl<const N: usize> Leaves<N> {
    /// Shows the runs and holes that `ranges` touch, clipped to them and perhaps in pieces, as long as `f` says yes and a leaf
    /// reaches there. Returns whether all were shown.
    fn all_in(
        &self,
        ranges: impl IntoIterator<Item = OffsetRange>,
        mut f: impl FnMut(OffsetRange, Cell) -> bool,
    ) -> bool {
        let mut near: Option<&Leaf> = None;
        for range in ranges {
            let mut rest = Some(range);
            while let Some(part) = rest {
                let at = near.filter(|leaf| leaf.range.contains(part.first));
                let Some(leaf) = at.or_else(|| self.holding(part.first)) else {
                    return false;
                };
                near = Some(leaf);
                let first = part.first;
                let (cell, last) = leaf.run(first, part.last.min(leaf.range.last));
                if !f(OffsetRange { first, last }, cell) {
                    return false;
                }
                rest = part.behind(last);
            }
        }
        true
    }

    /// The leaf that reaches over `offset`.
    fn holding(&self, offset: i64) -> Option<&Leaf> {
        let leaf = self.get(self.reaching(offset)?)?;
        leaf.range.contains(offset).then_some(leaf)
    }
}
