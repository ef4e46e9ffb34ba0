//! Changes of everything that a member holds, whose locks ran out, or whose write is confirmed: many ranges in one pass over
//! the leaves, and neighbouring records in one run whichever lease each refers to.

use super::cell::{Cell, Code, Tally};
use super::dense::Dense;
use super::directory::{Leaves, Spot};
use super::leaf::{Body, Leaf};
use super::runs::Merge;
use super::runs_change;
use super::{StateCounts, add, shown, take};
use crate::in_flight::locks::Locks;
use crate::in_flight::{Change, Holder, InFlightRun, LockChange};
use crate::offset::OffsetRange;
use crate::record_state::{Phase, RecordState};

/// What becomes of a record whose delivery count stays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub state: RecordState,
    pub phase: Phase,
    /// Otherwise the record leaves its lease.
    pub keeps_lock: bool,
}

/// A change of the records of a holder while it is made.
pub(super) struct Held<'a, F> {
    pub locks: &'a mut Locks,
    pub counts: &'a mut StateCounts,
    pub holder: Holder,
    pub decide: F,
}

impl<F: FnMut(&InFlightRun) -> Option<Change>> Held<'_, F> {
    /// Whether records under this lease are the holder's.
    #[inline]
    pub fn holds(&self, lock: u32) -> bool {
        match self.holder {
            Holder::Anybody => true,
            Holder::Member(member) => self.locks.is_of(lock, member),
            Holder::RunOut => self.locks.has_run_out(lock),
        }
    }

    /// What becomes of the records of `range`, which are equal to `cell` but for their leases.
    #[inline]
    pub fn turn(&mut self, range: OffsetRange, cell: Cell) -> Option<Turn> {
        let change = (self.decide)(&shown(range, cell, self.locks))?;
        debug_assert_eq!(change.delivery_count, cell.delivery_count());
        debug_assert!(!matches!(change.lock, LockChange::Hold(_)));
        if change.state != cell.state() {
            take(self.counts, cell.state(), range.len());
            add(self.counts, change.state, range.len());
        }
        Some(Turn {
            state: change.state,
            phase: change.phase,
            keeps_lock: change.lock == LockChange::Keep,
        })
    }

    /// Records leave their lease.
    #[inline]
    pub fn leave(&mut self, lock: u32, records: u64) {
        self.locks.leave(lock, records);
    }

    fn replace(&mut self, range: OffsetRange, cell: Cell) -> Option<Cell> {
        if !self.holds(cell.lock()) {
            return None;
        }
        let turn = self.turn(range, cell)?;
        if !turn.keeps_lock {
            self.leave(cell.lock(), range.len());
        }
        Some(cell.turned(turn))
    }
}

impl<T: Code> Dense<T> {
    /// Shows the records of `range` and of the ranges behind it that the holder holds, as far as this leaf reaches, and turns
    /// them. Returns the first range that is not done.
    fn update_held<F: FnMut(&InFlightRun) -> Option<Change>>(
        &mut self,
        range: OffsetRange,
        (ranges, span): (&mut impl Iterator<Item = OffsetRange>, OffsetRange),
        tally: &mut Tally,
        held: &mut Held<'_, F>,
    ) -> Option<OffsetRange> {
        let mut next = Some(range);
        while let Some(range) = next
            && range.first <= span.last
        {
            let from = self.index(range.first.max(span.first));
            if range.first == range.last && range.first >= span.first {
                self.turn_one(from, tally, held);
            } else if range.last >= span.first {
                let to = self.index(range.last.min(span.last));
                self.turn_all(from, to, tally, held);
            }
            next = range.behind(span.last).or_else(|| ranges.next());
        }
        next
    }

    #[inline]
    fn turn_one<F: FnMut(&InFlightRun) -> Option<Change>>(
        &mut self,
        at: usize,
        tally: &mut Tally,
        held: &mut Held<'_, F>,
    ) {
        let head = self.codes[at];
        let (cell, lock) = (head.cell(), head.lock());
        if cell.is_hole() || !held.holds(lock) {
            return;
        }
        let Some(turn) = held.turn(OffsetRange::single(self.offset(at)), cell) else {
            return;
        };
        if !turn.keeps_lock {
            held.leave(lock, 1);
        }
        self.replace(at, (cell, cell.turned(turn)), head.turned(turn), tally);
    }

    /// Turns the records `at..=end`, in runs of those that are equal but for lease and beginning of a batch.
    fn turn_all<F: FnMut(&InFlightRun) -> Option<Change>>(
        &mut self,
        mut at: usize,
        end: usize,
        tally: &mut Tally,
        held: &mut Held<'_, F>,
    ) {
        while at <= end {
            let head = self.codes[at];
            let (cell, mut lock) = (head.cell(), head.lock());
            if cell.is_hole() || !held.holds(lock) {
                at += 1;
                continue;
            }
            let mut to = at;
            for next in &self.codes[at + 1..=end] {
                if !next.is_like(head) {
                    break;
                }
                if next.lock() != lock {
                    lock = next.lock();
                    if !held.holds(lock) {
                        break;
                    }
                }
                to += 1;
            }
            let run = OffsetRange {
                first: self.offset(at),
                last: self.offset(to),
            };
            if let Some(turn) = held.turn(run, cell) {
                if !turn.keeps_lock {
                    self.leave(at, to, held);
                }
                self.turn(at, to, turn, tally);
            }
            at = to + 1;
        }
    }

    fn leave<F: FnMut(&InFlightRun) -> Option<Change>>(
        &self,
        at: usize,
        to: usize,
        held: &mut Held<'_, F>,
    ) {
        let (mut lock, mut records) = (self.codes[at].lock(), 0);
        for code in &self.codes[at..=to] {
            if code.lock() != lock {
                held.leave(lock, records);
                (lock, records) = (code.lock(), 0);
            }
            records += 1;
        }
        held.leave(lock, records);
    }
}

impl Leaf {
    /// Does `range`, or if the leaf is dense all ranges as far as it reaches, and returns the first that is not done.
    fn update_held<F: FnMut(&InFlightRun) -> Option<Change>>(
        &mut self,
        range: OffsetRange,
        ranges: &mut impl Iterator<Item = OffsetRange>,
        merge: Merge,
        held: &mut Held<'_, F>,
    ) -> Option<OffsetRange> {
        let (span, tally) = (self.range, &mut self.tally);
        match &mut self.body {
            Body::Runs(edges) => {
                let mut f = |range, cell| held.replace(range, cell);
                if let Some(part) = span.intersection(range) {
                    runs_change::update(edges, (span.last, merge), tally, part, &mut f);
                }
                range.behind(span.last).or_else(|| ranges.next())
            }
            Body::Narrow(dense) => dense.update_held(range, (ranges, span), tally, held),
            Body::Wide(dense) => dense.update_held(range, (ranges, span), tally, held),
        }
    }
}

impl<const N: usize> Leaves<N> {
    /// Shows the records of `ranges`, which ascend, that the holder holds, and turns them. The shape of a dense leaf is looked
    /// at when all its ranges are done.
    pub fn update_held<F: FnMut(&InFlightRun) -> Option<Change>>(
        &mut self,
        ranges: impl IntoIterator<Item = OffsetRange>,
        held: &mut Held<'_, F>,
    ) {
        let mut ranges = ranges.into_iter();
        let mut next = ranges.next();
        let mut near: Option<Spot> = None;
        while let Some(range) = next {
            let holds = |at: &Spot| self.get(*at).is_some_and(|l| l.range.contains(range.first));
            let at = near.filter(holds).or_else(|| self.reaching(range.first));
            let Some((at, leaf)) = at.and_then(|at| self.get(at).map(|leaf| (at, leaf))) else {
                return;
            };
            let before = (leaf.tally, leaf.runs());
            let merge = if leaf.is_dense() {
                Merge::Never
            } else {
                self.merge(at)
            };
            let Some(leaf) = self.get_mut(at) else { return };
            next = leaf.update_held(range, &mut ranges, merge, held);
            self.reshape(at, before);
            near = self.next(at);
        }
    }
}
