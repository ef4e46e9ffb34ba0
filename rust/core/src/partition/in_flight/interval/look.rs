//! A look at the records of many ranges in one pass over the leaves: no range is searched for from the start, and records
//! that are equal are shown together.

use super::cell::Cell;
use super::directory::Leaves;
use super::held_leaves::{AHEAD, FEW};
use super::leaf::Leaf;
use super::window::{Window, shown};
use crate::offset::OffsetRange;
use crate::partition::in_flight::locks::{Leases, NONE};
use crate::partition::in_flight::{Change, Holder, InFlightRun, RunChange};

/// Ranges that are noted together.
const TOGETHER: usize = 16;

/// A look while it goes over the records.
struct Look<'a, C> {
    locks: &'a Leases,
    holder: Holder,
    change: &'a mut C,
    /// The lease last seen to be the holder's.
    held: Option<u32>,
    /// Cell of the records last shown, without its lease, with their change.
    latest: Option<(Cell, InFlightRun, Change)>,
    /// Ranges of records that are like those, to be noted.
    ranges: [OffsetRange; TOGETHER],
    unnoted: usize,
    /// Set while all that was asked for would change.
    all: bool,
}

impl<'a, C: RunChange> Look<'a, C> {
    const fn new(locks: &'a Leases, holder: Holder, change: &'a mut C) -> Self {
        Self {
            locks,
            holder,
            change,
            held: None,
            latest: None,
            ranges: [OffsetRange::single(0); TOGETHER],
            unnoted: 0,
            all: true,
        }
    }

    /// The records of `range` are equal to `cell`.
    #[inline(always)]
    fn show(&mut self, range: OffsetRange, cell: Cell) {
        if self.held != Some(cell.lock()) {
            if !self.locks.is_of(cell.lock(), self.holder) {
                self.all = false;
                return;
            }
            self.held = Some(cell.lock());
        }
        let like = cell.tail().under(NONE);
        if self.latest.is_some_and(|(latest, ..)| latest == like)
            && let Some(place) = self.ranges.get_mut(self.unnoted)
        {
            *place = range;
            self.unnoted += 1;
            return;
        }
        self.show_anew(range, cell, like);
    }

    #[inline(never)]
    fn show_anew(&mut self, range: OffsetRange, cell: Cell, like: Cell) {
        self.note();
        self.latest = None;
        let run = (!cell.is_hole()).then(|| shown(range, cell.tail(), self.locks));
        let change = run.and_then(|run| Some((run, self.change.decide(&run)?)));
        let Some((run, change)) = change else {
            self.all = false;
            return;
        };
        self.latest = Some((like, run, change));
        (self.ranges[0], self.unnoted) = (range, 1);
    }

    fn note(&mut self) {
        let ranges = &self.ranges[..self.unnoted];
        if let Some((_, run, change)) = self.latest.filter(|_| !ranges.is_empty()) {
            self.change.note(&run, change, ranges);
        }
        self.unnoted = 0;
    }
}

impl<const N: usize> Window<N> {
    /// See [`InFlightStore::look`](crate::in_flight::InFlightStore::look).
    #[inline]
    pub fn look<C: RunChange>(
        &self,
        mut ranges: impl Iterator<Item = OffsetRange>,
        holder: Holder,
        change: &mut C,
    ) -> bool {
        if ranges.size_hint().1 != Some(1) {
            return self.look_at_many(ranges, holder, change);
        }
        let Some(range) = ranges.next() else {
            return true;
        };
        let Some((_, cell)) = self.leaves.look(range) else {
            return self.look_at_many(core::iter::once(range), holder, change);
        };
        let run = shown(range, cell, &self.locks);
        let is_held = self.locks.is_of(cell.lock(), holder);
        let new = is_held.then(|| change.decide(&run)).flatten();
        if let Some(new) = new {
            change.note(&run, new, &[range]);
        }
        new.is_some()
    }

    #[inline(never)]
    pub(super) fn look_at_many<C: RunChange>(
        &self,
        ranges: impl Iterator<Item = OffsetRange>,
        holder: Holder,
        change: &mut C,
    ) -> bool {
        let mut look = Look::new(&self.locks, holder, change);
        self.leaves.look_at_all(ranges, &mut look);
        look.note();
        look.all
    }
}

impl<const N: usize> Leaves<N> {
    /// Shows the records of `ranges`. Many are loaded first, some at a time.
    fn look_at_all<C: RunChange>(
        &self,
        mut ranges: impl Iterator<Item = OffsetRange>,
        look: &mut Look<'_, C>,
    ) {
        let mut some = [OffsetRange::single(0); AHEAD];
        let mut near = None;
        loop {
            let mut len = 0;
            for (place, range) in some.iter_mut().zip(&mut ranges) {
                *place = range;
                len += 1;
            }
            let some = &some[..len];
            if len > FEW {
                self.load(some.iter().copied(), look.locks);
            }
            for range in some {
                near = self.look_at(*range, near, look);
            }
            if len < AHEAD {
                return;
            }
        }
    }

    /// Shows the records of `range`, in pieces, from the leaf `near` on if that holds its beginning. Returns the last leaf.
    #[inline(always)]
    fn look_at<'a, C: RunChange>(
        &'a self,
        range: OffsetRange,
        mut near: Option<&'a Leaf>,
        look: &mut Look<'_, C>,
    ) -> Option<&'a Leaf> {
        let mut rest = Some(range);
        while let Some(part) = rest {
            let at = near.filter(|leaf| leaf.range.contains(part.first));
            near = at.or_else(|| self.get(self.reaching(part.first)?));
            let Some(leaf) = near.filter(|leaf| leaf.range.first <= part.last) else {
                look.all = false;
                break;
            };
            let first = part.first.max(leaf.range.first);
            look.all &= first == part.first;
            let (cell, last) = leaf.run(first, part.last.min(leaf.range.last));
            look.show(OffsetRange { first, last }, cell);
            rest = part.after(last);
        }
        near
    }
}
