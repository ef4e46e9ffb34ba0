//! A change of many ranges in one pass over the leaves; neighbouring records that are equal change in one step, whichever lease
//! each refers to.

use super::StateCounts;
use super::cell::{Cell, CellChange, Code};
use super::window::{Window, recount, shown};
use crate::offset::OffsetRange;
use crate::partition::in_flight::locks::{Emptied, Leases};
use crate::partition::in_flight::{Change, Holder, InFlightRun, LockChange, RunChange};

/// Ranges that are noted together.
const TOGETHER: usize = 64;

/// Change of the records last looked at: those that are equal need not be asked for again.
struct Latest {
    run: InFlightRun,
    cell: Cell,
    change: Change,
    becomes: CellChange,
    /// Classes before and after, but for the beginning of a batch.
    classes: (u8, u8),
}

/// A change of the records of a holder while it is made.
pub(super) struct Held<'a, C> {
    locks: &'a mut Leases,
    counts: &'a mut Option<Box<StateCounts>>,
    holder: Holder,
    change: &'a mut C,
    latest: Option<Latest>,
    /// Ranges that became what the latest did, to be noted.
    changed: [OffsetRange; TOGETHER],
    unnoted: usize,
    emptied: Emptied,
}

impl<'a, C: RunChange> Held<'a, C> {
    pub const fn new(
        locks: &'a mut Leases,
        counts: &'a mut Option<Box<StateCounts>>,
        holder: Holder,
        change: &'a mut C,
    ) -> Self {
        Self {
            locks,
            counts,
            holder,
            change,
            latest: None,
            changed: [OffsetRange::single(0); TOGETHER],
            unnoted: 0,
            emptied: Emptied::new(),
        }
    }

    /// Does what was put off.
    fn finish(mut self) {
        self.note_changed();
        self.locks.free_emptied(&mut self.emptied);
    }

    pub const fn locks(&self) -> &Leases {
        self.locks
    }

    /// Returns `true` if records under this lease are the holder's.
    #[inline]
    pub fn holds(&self, lock: u32) -> bool {
        self.locks.is_of(lock, self.holder)
    }

    /// Returns the change of the records of `range`, which are equal to `cell` but for their leases.
    #[inline]
    pub fn change_of(&mut self, range: OffsetRange, cell: Cell) -> Option<CellChange> {
        let found = self.change_of_like(range, |latest| cell.is_like(latest), || cell);
        found.map(|(change, _)| change)
    }

    /// As [`Self::change_of`], of records equal to `code`, with the classes before and after, which leave out where a batch begins.
    #[inline]
    pub fn change_of_code(
        &mut self,
        range: OffsetRange,
        code: Code,
    ) -> Option<(CellChange, (u8, u8))> {
        self.change_of_like(range, |latest| code.is_like_cell(latest), || code.cell())
    }

    #[inline(always)]
    fn change_of_like(
        &mut self,
        range: OffsetRange,
        is_like: impl FnOnce(Cell) -> bool,
        cell: impl FnOnce() -> Cell,
    ) -> Option<(CellChange, (u8, u8))> {
        if let Some(latest) = &self.latest
            && is_like(latest.cell)
            && let Some(place) = self.changed.get_mut(self.unnoted)
        {
            *place = range;
            self.unnoted += 1;
            return Some((latest.becomes, latest.classes));
        }
        self.decide_again(range, cell())
    }

    #[inline(never)]
    fn decide_again(&mut self, range: OffsetRange, cell: Cell) -> Option<(CellChange, (u8, u8))> {
        self.note_changed();
        if cell.is_hole() {
            return None;
        }
        let cell = cell.tail();
        let run = shown(range, cell, self.locks);
        let change = self.change.decide(&run)?;
        let keeps_lock = change.lock == LockChange::Keep;
        let becomes = CellChange::new(change.state, change.phase, keeps_lock);
        let classes = (cell.classes(), cell.with(becomes).classes());
        self.latest = Some(Latest {
            run,
            cell,
            change,
            becomes,
            classes,
        });
        (self.changed[0], self.unnoted) = (range, 1);
        Some((becomes, classes))
    }

    /// The records after those last changed, up to `last`, change alike.
    #[inline]
    pub fn widen(&mut self, last: i64) {
        if let Some(range) = self.changed[..self.unnoted].last_mut() {
            debug_assert!(range.last <= last, "{range} does not shrink to {last}");
            range.last = last;
        }
    }

    fn note_changed(&mut self) {
        let ranges = &self.changed[..self.unnoted];
        let Some(Latest { run, change, .. }) = self.latest.take_if(|_| !ranges.is_empty()) else {
            return;
        };
        if change.state != run.state {
            let records = ranges.iter().fold(0, |n: u64, r| n.saturating_add(r.len()));
            recount(self.counts, run.state, change.state, records);
        }
        self.change.note(&run, change, ranges);
        self.unnoted = 0;
    }

    /// Takes `records` records from this lease if it is the holder's. Returns `true` if it is.
    #[inline(always)]
    pub fn leave_held(&mut self, lock: u32, records: u64) -> bool {
        let emptied = &mut self.emptied;
        self.locks.leave_held(self.holder, emptied, lock, records)
    }

    /// Takes `records` records from this lease.
    #[inline(always)]
    pub fn leave(&mut self, lock: u32, records: u64) {
        self.locks.leave_to(&mut self.emptied, lock, records);
    }

    pub fn replace(&mut self, range: OffsetRange, cell: Cell) -> Option<Cell> {
        if !self.holds(cell.lock()) {
            return None;
        }
        let becomes = self.change_of(range, cell)?;
        if !becomes.keeps_lock() {
            self.leave(cell.lock(), range.len());
        }
        Some(cell.with(becomes))
    }
}

impl<const N: usize> Window<N> {
    /// See [`InFlightStore::update`](crate::in_flight::InFlightStore::update).
    #[inline]
    pub fn update<C: RunChange>(
        &mut self,
        mut ranges: impl Iterator<Item = OffsetRange>,
        holder: Holder,
        change: &mut C,
    ) {
        if ranges.size_hint().1 != Some(1) {
            self.update_many(ranges, holder, change);
        } else if let Some(range) = ranges.next()
            && let Err(_) = self.update_run(range, holder, change, |_, _| true)
        {
            self.update_many(core::iter::once(range), holder, change);
        }
        self.keep_counts();
    }

    /// See [`InFlightStore::update_if`](crate::in_flight::InFlightStore::update_if).
    #[inline]
    pub fn update_if<C: RunChange>(
        &mut self,
        range: OffsetRange,
        holder: Holder,
        change: &mut C,
        confirm: impl FnOnce(&mut C, bool) -> bool,
    ) {
        if let Err(confirm) = self.update_run(range, holder, change, confirm) {
            let all = self.look_at_many(core::iter::once(range), holder, change);
            if confirm(change, all) {
                let mut decide = |run: &InFlightRun| change.decide(run);
                self.update_many(core::iter::once(range), holder, &mut decide);
            }
        }
        self.keep_counts();
    }

    #[inline(never)]
    fn update_many<C: RunChange>(
        &mut self,
        ranges: impl Iterator<Item = OffsetRange>,
        holder: Holder,
        change: &mut C,
    ) {
        let mut held = Held::new(&mut self.locks, &mut self.counts, holder, change);
        self.leaves.update_held(ranges, &mut held);
        held.finish();
    }

    /// Changes `range` if all of it is one run of one leaf, which is found by one search, and `confirm` says so. Otherwise gives
    /// back `confirm`.
    #[inline]
    fn update_run<C: RunChange, F: FnOnce(&mut C, bool) -> bool>(
        &mut self,
        range: OffsetRange,
        holder: Holder,
        change: &mut C,
        confirm: F,
    ) -> Result<(), F> {
        let Self {
            leaves,
            locks,
            counts,
        } = self;
        let Some((place, cell)) = leaves.look(range) else {
            return Err(confirm);
        };
        let run = shown(range, cell, locks);
        let is_held = locks.is_of(cell.lock(), holder);
        let new = is_held.then(|| change.decide(&run)).flatten();
        if let Some(new) = new {
            change.note(&run, new, &[range]);
        }
        if confirm(change, new.is_some())
            && let Some(new) = new
        {
            let keeps_lock = new.lock == LockChange::Keep;
            let after = cell.with(CellChange::new(new.state, new.phase, keeps_lock));
            if !keeps_lock {
                locks.leave(cell.lock(), range.len());
            }
            if new.state != run.state {
                recount(counts, run.state, new.state, range.len());
            }
            leaves.put(place, range, (cell, after));
        }
        Ok(())
    }
}
