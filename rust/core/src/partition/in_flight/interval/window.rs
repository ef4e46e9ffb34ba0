//! Window of the records in flight, with their holders and the number of records in each state, changed together.

use super::StateCounts;
use super::cell::Cell;
use super::directory::Leaves;
use crate::offset::OffsetRange;
use crate::partition::in_flight::locks::{Leases, NONE, NewLease};
use crate::partition::in_flight::{InFlightRun, NewLock};
use crate::partition::record_state::{Phase, RecordState};

/// A window that has held something.
#[derive(Clone, Debug, Default)]
pub(super) struct Window<const N: usize> {
    pub leaves: Leaves<N>,
    pub locks: Leases,
    /// Records by state, kept from the time when there was more than one leaf.
    pub counts: Option<Box<StateCounts>>,
}

const _: () = assert!(
    size_of::<Window<64>>() <= 120,
    "a window takes 120 bytes without its runs"
);

#[inline(always)]
pub(super) fn shown(range: OffsetRange, cell: Cell, locks: &Leases) -> InFlightRun {
    InFlightRun {
        range,
        state: cell.state(),
        delivery_count: cell.delivery_count(),
        phase: cell.phase(),
        batch_start: cell.is_start(),
        lock: locks.get(cell.lock()),
    }
}

/// A batch over all 2^64 offsets would be one record more than can be counted, so nothing here may wrap.
pub(super) fn add(counts: &mut StateCounts, state: RecordState, records: u64) {
    let count = &mut counts[state as usize];
    *count = count.saturating_add(records);
}

pub(super) fn take(counts: &mut StateCounts, state: RecordState, records: u64) {
    let count = &mut counts[state as usize];
    // A count at its end stands for one record more.
    debug_assert!(
        records <= count.saturating_add(1),
        "{records} of {count} {state:?}"
    );
    *count = count.saturating_sub(records);
}

/// Records have gone, where such are counted.
#[inline]
pub(super) fn uncount(counts: &mut Option<Box<StateCounts>>, cell: Cell, records: u64) {
    if let Some(counts) = counts {
        take(counts, cell.state(), records);
    }
}

/// Records change from one state to another, where such are counted.
#[inline(always)]
pub(super) fn recount(
    counts: &mut Option<Box<StateCounts>>,
    from: RecordState,
    to: RecordState,
    records: u64,
) {
    if let Some(counts) = counts {
        take(counts, from, records);
        add(counts, to, records);
    }
}

impl<const N: usize> Window<N> {
    #[inline(always)]
    pub fn insert(
        &mut self,
        batch: OffsetRange,
        state: RecordState,
        delivery_count: i16,
        lock: u32,
    ) {
        debug_assert!(
            self.leaves.run_in(batch).is_none(),
            "a record of {batch} is in flight already"
        );
        if let Some(counts) = &mut self.counts {
            add(counts, state, batch.len());
        }
        let cell = Cell::new(state, delivery_count, Phase::Stable, lock).starting(true);
        debug_assert!(
            (lock != NONE) == cell.is_lockable(),
            "a record is locked exactly while a member holds it: {cell:?}"
        );
        self.leaves.insert(batch, cell);
        self.keep_counts();
    }

    /// Counts the records by state as they change once there is more than one leaf. The few entries of one are counted when
    /// somebody asks.
    #[inline(always)]
    pub fn keep_counts(&mut self) {
        if self.leaves.are_many() && self.counts.is_none() {
            self.begin_counts();
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_counts(&mut self) {
        self.counts = Some(Box::new(self.leaves.counts()));
    }

    pub fn counts(&self) -> StateCounts {
        match &self.counts {
            Some(counts) => **counts,
            None => self.leaves.counts(),
        }
    }

    /// See [`InFlightStore::hold`](crate::in_flight::InFlightStore::hold).
    pub fn hold(
        &mut self,
        range: OffsetRange,
        new: NewLock,
        mut delivery_count: impl FnMut(&InFlightRun) -> Option<i16>,
    ) {
        let Self {
            leaves,
            locks,
            counts,
        } = self;
        let lock = locks.make(NewLease::of(new, range, false));
        leaves.update(range, &mut |range, cell| {
            let count = delivery_count(&shown(range, cell, locks))?;
            locks.enter(lock, range.len());
            locks.leave(cell.lock(), range.len());
            if cell.state() != RecordState::Acquired {
                recount(counts, cell.state(), RecordState::Acquired, range.len());
            }
            let held = Cell::new(RecordState::Acquired, count, Phase::Stable, lock);
            Some(held.starting(cell.is_start()))
        });
        // Frees the lease if nothing was put under it.
        locks.leave(lock, 0);
        self.keep_counts();
    }
}
