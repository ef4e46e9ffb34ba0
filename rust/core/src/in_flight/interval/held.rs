//! Changes of everything that a member holds, whose locks ran out, or whose write is confirmed: many ranges in one pass over
//! the leaves, and neighbouring records in one run whichever lease each refers to.

use super::StateCounts;
use super::cell::{Cell, Code, Turn};
use super::directory::Leaves;
use super::window::{Window, recount, shown};
use crate::in_flight::locks::{Emptied, Leases, NONE};
use crate::in_flight::{Change, HeldChange, Holder, InFlightRun, LockChange, MemberIndex};
use crate::offset::OffsetRange;

/// Ranges that are noted together.
const TOGETHER: usize = 64;

/// What became of the records last looked at: those that are equal need not be asked for again.
struct Latest {
    run: InFlightRun,
    cell: Cell,
    change: Change,
    turn: Turn,
    /// Classes before and after, but for the beginning of a batch.
    classes: (u8, u8),
}

/// What it takes to undo a change that ends locks. A lease that all its records leave together is emptied and remembers the rest
/// itself: its extent. So nothing is kept for each record of a member that acquires them one by one.
#[derive(Default)]
struct Undo {
    /// What the records were from an offset on, but for their leases, in ascending order.
    cells: Vec<(i64, Cell)>,
    /// The records that would leave a lease in parts, as they were. The lease still counts them.
    parts: Vec<(OffsetRange, Cell)>,
}

impl Undo {
    /// What the records of the emptied lease `lock` were.
    fn cell(&self, extent: OffsetRange, lock: u32) -> Option<Cell> {
        let behind = self
            .cells
            .partition_point(|(first, _)| *first <= extent.first);
        let (_, cell) = self.cells.get(behind.checked_sub(1)?)?;
        Some(cell.under(lock))
    }
}

/// A change of the records of a holder while it is made.
pub(super) struct Held<'a, C> {
    locks: &'a mut Leases,
    counts: &'a mut Option<Box<StateCounts>>,
    holder: Holder,
    change: &'a mut C,
    latest: Option<Latest>,
    /// Ranges that became what the latest did, to be noted.
    turned: [OffsetRange; TOGETHER],
    unnoted: usize,
    emptied: Emptied,
    undo: Option<Undo>,
}

impl<'a, C: HeldChange> Held<'a, C> {
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
            turned: [OffsetRange::single(0); TOGETHER],
            unnoted: 0,
            emptied: Emptied::new(),
            undo: None,
        }
    }

    /// Frees no lease, and keeps what it takes to undo the change.
    fn undoable(mut self) -> Self {
        self.undo = Some(Undo::default());
        self
    }

    /// Does what was put off, and returns what it takes to undo the change.
    fn finish(mut self) -> Undo {
        self.note_turned();
        self.locks.free_emptied(&mut self.emptied);
        self.undo.unwrap_or_default()
    }

    /// Loads a lease.
    #[inline]
    pub fn touch(&self, lock: u32) -> u64 {
        self.locks.touch(lock)
    }

    /// Whether records under this lease are the holder's.
    #[inline]
    pub fn holds(&self, lock: u32) -> bool {
        self.locks.is_of(lock, self.holder)
    }

    /// What becomes of the records of `range`, which are equal to `cell` but for their leases.
    #[inline]
    pub fn turn(&mut self, range: OffsetRange, cell: Cell) -> Option<Turn> {
        self.turn_code(range, cell).map(|(turn, _)| turn)
    }

    /// As [`Self::turn`], of records equal to `code`, with the classes before and after, which leave out where a batch begins.
    #[inline]
    pub fn turn_code<T: Code>(&mut self, range: OffsetRange, code: T) -> Option<(Turn, (u8, u8))> {
        if let Some(latest) = &self.latest
            && code.is_like_cell(latest.cell)
            && let Some(place) = self.turned.get_mut(self.unnoted)
        {
            *place = range;
            self.unnoted += 1;
            return Some((latest.turn, latest.classes));
        }
        self.turn_anew(range, code.cell())
    }

    #[inline(never)]
    fn turn_anew(&mut self, range: OffsetRange, cell: Cell) -> Option<(Turn, (u8, u8))> {
        self.note_turned();
        if cell.is_hole() {
            return None;
        }
        let cell = cell.tail();
        if let Some(undo) = &mut self.undo {
            let cell = cell.under(NONE);
            if undo.cells.last().is_none_or(|(_, last)| *last != cell) {
                undo.cells.push((range.first, cell));
            }
        }
        let run = shown(range, cell, self.locks);
        let change = self.change.decide(&run)?;
        debug_assert_eq!(change.delivery_count, cell.delivery_count());
        debug_assert!(!matches!(change.lock, LockChange::Hold(_)));
        let keeps_lock = change.lock == LockChange::Keep;
        let turn = Turn::new(change.state, change.phase, keeps_lock);
        let classes = (cell.classes(), cell.turned(turn).classes());
        self.latest = Some(Latest {
            run,
            cell,
            change,
            turn,
            classes,
        });
        (self.turned[0], self.unnoted) = (range, 1);
        Some((turn, classes))
    }

    /// The records behind those last turned, up to `last`, are turned alike.
    #[inline]
    pub fn widen(&mut self, last: i64) {
        if let Some(range) = self.turned[..self.unnoted].last_mut() {
            range.last = last;
        }
    }

    fn note_turned(&mut self) {
        let turned = &self.turned[..self.unnoted];
        let Some(Latest { run, change, .. }) = self.latest.take_if(|_| !turned.is_empty()) else {
            return;
        };
        if change.state != run.state {
            let records = turned.iter().fold(0, |n: u64, r| n.saturating_add(r.len()));
            recount(self.counts, run.state, change.state, records);
        }
        self.change.note(&run, change, turned);
        self.unnoted = 0;
    }

    /// As [`Self::leave`], if the lease is the holder's. Returns whether it is.
    #[inline(always)]
    pub fn leave_held<T: Code>(
        &mut self,
        code: T,
        records: u64,
        range: impl FnOnce() -> OffsetRange,
    ) -> bool {
        if self.undo.is_none() {
            let emptied = &mut self.emptied;
            return self
                .locks
                .leave_held(self.holder, emptied, code.lock(), records);
        }
        let is_held = self.holds(code.lock());
        if is_held {
            self.leave(code, records, range);
        }
        is_held
    }

    /// So many records, those of `range`, which are equal to `code`, leave their lease.
    #[inline(always)]
    pub fn leave<T: Code>(&mut self, code: T, records: u64, range: impl FnOnce() -> OffsetRange) {
        match &mut self.undo {
            None => self.locks.leave_to(&mut self.emptied, code.lock(), records),
            Some(_) if self.locks.empty(code.lock(), records) => {}
            Some(undo) => undo.parts.push((range(), code.cell())),
        }
    }

    pub fn replace(&mut self, range: OffsetRange, cell: Cell) -> Option<Cell> {
        if !self.holds(cell.lock()) {
            return None;
        }
        let turn = self.turn(range, cell)?;
        if !turn.keeps_lock() {
            self.leave(cell, range.len(), || range);
        }
        Some(cell.turned(turn))
    }
}

impl<const N: usize> Window<N> {
    pub(super) fn update_held<C: HeldChange>(
        &mut self,
        ranges: impl Iterator<Item = OffsetRange>,
        holder: Holder,
        change: &mut C,
    ) {
        let mut held = Held::new(&mut self.locks, &mut self.counts, holder, change);
        self.leaves.update_held(ranges, &mut held);
        held.finish();
        self.keep_counts();
    }

    pub(super) fn update_held_if<C: HeldChange>(
        &mut self,
        ranges: &[OffsetRange],
        member: MemberIndex,
        change: &mut C,
        confirm: impl FnOnce(&mut C) -> bool,
    ) -> bool {
        let Self {
            leaves,
            locks,
            counts,
        } = self;
        let mut held = Held::new(locks, counts, Holder::Member(member), change).undoable();
        leaves.update_held(ranges.iter().copied(), &mut held);
        let undo = held.finish();
        let confirmed = confirm(change);
        if confirmed {
            let mut emptied = Emptied::new();
            for (range, cell) in undo.parts {
                locks.leave_to(&mut emptied, cell.lock(), range.len());
            }
            locks.free_emptied(&mut emptied);
            locks.free_emptied_of(member);
        } else {
            for (extent, lock) in locks.fill_emptied_of(member) {
                if let Some(before) = undo.cell(extent, lock) {
                    leaves.put_back(extent, before, counts);
                }
            }
            for (range, before) in undo.parts {
                leaves.put_back(range, before, counts);
            }
        }
        self.keep_counts();
        confirmed
    }
}

impl<const N: usize> Leaves<N> {
    /// Makes the records of `range` what they were, but for where batches begin, which has not changed.
    fn put_back(
        &mut self,
        range: OffsetRange,
        before: Cell,
        counts: &mut Option<Box<StateCounts>>,
    ) {
        self.update(range, |part, now| {
            recount(counts, now.state(), before.state(), part.len());
            Some(before.starting(now.is_start()))
        });
    }
}
