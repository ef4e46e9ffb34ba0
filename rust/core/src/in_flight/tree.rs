//! The in-flight store on the interval tree.
//!
//! One cell a run of records, locks beside it, counts kept up with every change. Where a batch begins is a mark on the
//! run that begins there, and a search for that mark finds the batches.

use std::collections::BTreeMap;

use super::cell::{AVAILABLE, BATCH_START, Cell, UNSETTLED};
use super::locks::{Locks, NONE};
use super::{Change, InFlightRun, InFlightStore, LockChange, LockId, MemberIndex, StateCounts};
use crate::interval_tree::{IntervalTree, Run};
use crate::offset::{OffsetRange, after, before};
use crate::record_state::{Phase, RecordState};
use crate::time::LockTime;

/// The in-flight store with one entry a run.
#[derive(Clone, Debug, Default)]
pub struct IntervalStore {
    tree: IntervalTree<Cell>,
    locks: Locks,
    counts: StateCounts,
}

fn shown(run: Run<Cell>, locks: &Locks) -> InFlightRun {
    InFlightRun {
        range: run.range,
        state: run.value.state,
        delivery_count: run.value.delivery_count,
        phase: run.value.phase(),
        batch_start: run.value.is_batch_start(),
        lock: locks.get(run.value.lock),
    }
}

/// A batch over all 2^64 offsets would be one record more than can be counted, so nothing here may wrap.
fn add(counts: &mut StateCounts, state: RecordState, records: u64) {
    let count = &mut counts[state as usize];
    *count = count.saturating_add(records);
}

fn take(counts: &mut StateCounts, state: RecordState, records: u64) {
    let count = &mut counts[state as usize];
    *count = count.saturating_sub(records);
}

impl IntervalStore {
    /// The batch that begins where `start` does. It ends before a hole or the next batch.
    fn batch(&self, start: Run<Cell>) -> OffsetRange {
        let OffsetRange { first, last } = start.range;
        let next = after(last).and_then(|from| self.tree.next_with(from, BATCH_START));
        let before_next = next
            .and_then(|next| before(next.range.first))
            .unwrap_or(i64::MAX);
        if before_next == last {
            return start.range;
        }
        let end = self.tree.contiguous_end(first).unwrap_or(last);
        OffsetRange {
            first,
            last: end.min(before_next),
        }
    }
}

impl InFlightStore for IntervalStore {
    fn bounds(&self) -> Option<OffsetRange> {
        self.tree.bounds()
    }

    fn run_at(&self, offset: i64) -> Option<InFlightRun> {
        self.tree.at(offset).map(|run| shown(run, &self.locks))
    }

    fn run_from(&self, offset: i64) -> Option<InFlightRun> {
        self.tree
            .at_or_after(offset)
            .map(|run| shown(run, &self.locks))
    }

    fn first_available(&self, from: i64) -> Option<i64> {
        self.tree
            .next_with(from, AVAILABLE)
            .map(|run| run.range.first.max(from))
    }

    fn first_unsettled(&self, from: i64) -> Option<i64> {
        self.tree
            .next_with(from, UNSETTLED)
            .map(|run| run.range.first.max(from))
    }

    fn first_hole(&self, from: i64) -> i64 {
        self.tree.first_hole(from)
    }

    fn batch_floor(&self, offset: i64) -> Option<OffsetRange> {
        self.tree
            .prev_with(offset, BATCH_START)
            .map(|start| self.batch(start))
    }

    fn batch_ceiling(&self, offset: i64) -> Option<OffsetRange> {
        let mut start = self.tree.next_with(offset, BATCH_START)?;
        if start.range.first < offset {
            start = self.tree.next_with(after(start.range.last)?, BATCH_START)?;
        }
        Some(self.batch(start))
    }

    fn counts(&self) -> StateCounts {
        self.counts
    }

    fn next_deadline(&self) -> Option<LockTime> {
        self.locks.next_deadline()
    }

    fn held_by(&self, member: MemberIndex) -> Vec<OffsetRange> {
        self.locks.held_by(member)
    }

    fn insert_batch(
        &mut self,
        batch: OffsetRange,
        state: RecordState,
        delivery_count: i16,
        lock: Option<LockId>,
    ) {
        let lies_in_hole = self
            .tree
            .at_or_after(batch.first)
            .is_none_or(|run| run.range.first > batch.last);
        debug_assert!(lies_in_hole, "a record of {batch} is in flight already");
        let lock = lock.map_or(NONE, |lock| self.locks.running(lock));
        self.locks.enter(lock, batch.len());
        add(&mut self.counts, state, batch.len());
        let cell = Cell::new(state, delivery_count, Phase::Settled, lock).starting(true);
        self.tree.set(batch, cell);
    }

    fn new_lock(
        &mut self,
        extent: OffsetRange,
        member: MemberIndex,
        now: LockTime,
        duration_ms: i64,
    ) -> LockId {
        self.locks.make(extent, member, now, duration_ms)
    }

    fn update<F: FnMut(&InFlightRun) -> Option<Change>>(
        &mut self,
        range: OffsetRange,
        mut decide: F,
    ) {
        let Self {
            tree,
            locks,
            counts,
        } = self;
        tree.update(range, |run| {
            let change = decide(&shown(run, locks))?;
            let (cell, records) = (run.value, run.range.len());
            let lock = match change.lock {
                LockChange::Keep => cell.lock,
                LockChange::End => NONE,
                LockChange::Hold(lock) => locks.running(lock),
            };
            if lock != cell.lock {
                locks.enter(lock, records);
                locks.leave(cell.lock, records);
            }
            if change.state != cell.state {
                take(counts, cell.state, records);
                add(counts, change.state, records);
            }
            let cell = Cell::new(change.state, change.delivery_count, change.phase, lock);
            Some(cell.starting(run.value.is_batch_start()))
        });
    }

    fn remove_through(&mut self, last: i64) {
        let Some(batch) = self.batch_floor(last) else {
            return;
        };
        let last = if batch.last <= last {
            Some(batch.last)
        } else {
            before(batch.first)
        };
        let bounds = self.tree.bounds();
        let range = bounds
            .zip(last)
            .and_then(|(all, last)| OffsetRange::new(all.first, last));
        let Some(range) = range else { return };
        let Self {
            tree,
            locks,
            counts,
        } = self;
        tree.drain(range, |run| {
            locks.leave(run.value.lock, run.range.len());
            take(counts, run.value.state, run.range.len());
        });
    }

    fn expire(&mut self, now: LockTime) -> Vec<OffsetRange> {
        self.locks.expire(now)
    }

    fn heap_bytes(&self) -> usize {
        self.tree.heap_bytes() + self.locks.heap_bytes()
    }

    fn check(&self) -> Result<(), String> {
        self.tree.check()?;
        let mut counts = StateCounts::default();
        let mut leases: BTreeMap<u32, (u64, OffsetRange)> = BTreeMap::new();
        let mut behind: Option<OffsetRange> = None;
        for Run { range, value: cell } in self.tree.iter() {
            add(&mut counts, cell.state, range.len());
            if !cell.is_batch_start() && !behind.is_some_and(|run| run.is_followed_by(range.first))
            {
                return Err(format!(
                    "no batch begins at {range}, behind a hole: {cell:?}"
                ));
            }
            if cell.is_locked() != cell.is_lockable() {
                return Err(format!(
                    "records have a lock exactly while acquired or pending with a way back, not {range}: {cell:?}"
                ));
            }
            if cell.is_locked() {
                let (live, extent) = leases.entry(cell.lock).or_insert((0, range));
                *live = live.saturating_add(range.len());
                extent.last = range.last;
            }
            behind = Some(range);
        }
        if counts != self.counts {
            return Err(format!(
                "records by state are {counts:?}, counted {:?}",
                self.counts
            ));
        }
        self.locks.check(&leases)
    }
}
