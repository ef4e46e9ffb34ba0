//! The obvious twin: one entry an offset, and every question answered by looking at all of them.
//!
//! It is the specification of [`InFlightStore`] in code: no summary, no index, no run is kept. It is right because there
//! is nothing in it that could be out of date, and it is as slow as that sounds.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Included, Unbounded};

use super::{
    Holder, InFlightRun, InFlightStore, Lock, LockChange, MemberIndex, NewLock, RunChange, Sought,
    StateCounts,
};
use crate::offset::{OffsetRange, after};
use crate::partition::record_state::{Phase, RecordState};
use crate::time::LockTime;

/// Record in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    state: RecordState,
    delivery_count: i16,
    phase: Phase,
    batch_start: bool,
    /// The lock with its number: equal locks of two acquisitions are two locks.
    lock: Option<(u32, Lock)>,
}

impl Record {
    /// Returns `true` if a record right after this one belongs to the same run.
    fn is_continued_by(&self, next: &Self) -> bool {
        !next.batch_start
            && *next
                == Self {
                    batch_start: false,
                    ..*self
                }
    }

    fn is_outstanding(&self) -> bool {
        !self.state.is_terminal() || self.phase != Phase::Stable
    }
}

/// The in-flight store with one entry an offset.
#[derive(Clone, Debug)]
pub struct TwinStore {
    records: BTreeMap<i64, Record>,
    locks_made: u32,
    /// The latest time seen.
    clock: LockTime,
}

impl Default for TwinStore {
    fn default() -> Self {
        Self {
            records: BTreeMap::new(),
            locks_made: 0,
            clock: LockTime(i64::MIN),
        }
    }
}

impl TwinStore {
    fn make(&mut self, new: NewLock) -> (u32, Lock) {
        self.clock = self.clock.max(new.now);
        self.locks_made = self.locks_made.wrapping_add(1);
        let lock = Lock {
            member: new.member,
            acquired_at: self.clock,
            deadline: self.clock.plus(new.duration_ms),
            expired: false,
        };
        (self.locks_made, lock)
    }

    /// Shows `f` every run of `range`, and does what it returns to each of the run's records.
    fn for_each_run<G: FnMut(&mut Record)>(
        &mut self,
        range: OffsetRange,
        mut f: impl FnMut(&InFlightRun) -> Option<G>,
    ) {
        let mut next = Some(range.first);
        while let Some(from) = next
            && let Some((&first, _)) = self.records.range(from..).next()
            && first <= range.last
            && let Some(run) = self.run_beginning_at(first, range.last)
        {
            next = after(run.range.last);
            if let Some(mut change) = f(&run) {
                let records = self.records.range_mut(run.range.first..=run.range.last);
                records.for_each(|(_, record)| change(record));
            }
        }
    }

    /// The run that begins at `first`, as far as the offset `last`.
    fn run_beginning_at(&self, first: i64, last: i64) -> Option<InFlightRun> {
        let head = *self.records.get(&first)?;
        let mut range = OffsetRange::single(first);
        for (&offset, record) in self.records.range((Excluded(first), Included(last))) {
            if !range.is_followed_by(offset) || !head.is_continued_by(record) {
                break;
            }
            range.last = offset;
        }
        Some(InFlightRun {
            range,
            state: head.state,
            delivery_count: head.delivery_count,
            phase: head.phase,
            batch_start: head.batch_start,
            lock: head.lock.map(|(_, lock)| lock),
        })
    }

    fn batch_beginning_at(&self, first: i64) -> OffsetRange {
        let mut batch = OffsetRange::single(first);
        for (&offset, record) in self.records.range((Excluded(first), Unbounded)) {
            if !batch.is_followed_by(offset) || record.batch_start {
                break;
            }
            batch.last = offset;
        }
        batch
    }

    /// The first offset at or after `from` of a record for which `pick` is true.
    fn first_where(&self, from: i64, pick: impl Fn(&Record) -> bool) -> Option<i64> {
        let mut beyond = self.records.range(from..);
        beyond
            .find(|(_, record)| pick(record))
            .map(|(&offset, _)| offset)
    }
}

/// Ascending offsets as ranges.
fn joined(offsets: impl Iterator<Item = i64>) -> Vec<OffsetRange> {
    let mut ranges: Vec<OffsetRange> = Vec::new();
    for offset in offsets {
        match ranges.last_mut() {
            Some(range) if range.is_followed_by(offset) => range.last = offset,
            _ => ranges.push(OffsetRange::single(offset)),
        }
    }
    ranges
}

impl InFlightStore for TwinStore {
    fn bounds(&self) -> Option<OffsetRange> {
        let (&first, _) = self.records.first_key_value()?;
        let (&last, _) = self.records.last_key_value()?;
        OffsetRange::new(first, last)
    }

    fn run_in(&self, range: OffsetRange) -> Option<InFlightRun> {
        let (&first, _) = self.records.range(range.first..=range.last).next()?;
        self.run_beginning_at(first, range.last)
    }

    fn first(&self, from: i64, sought: Sought) -> Option<i64> {
        match sought {
            Sought::Available => self.first_where(from, |record| {
                record.state == RecordState::Available && record.phase == Phase::Stable
            }),
            Sought::Outstanding => self.first_where(from, Record::is_outstanding),
            Sought::BatchStart => self.first_where(from, |record| record.batch_start),
            Sought::Hole => {
                let mut hole = from;
                while self.records.contains_key(&hole) {
                    hole = after(hole)?;
                }
                Some(hole)
            }
        }
    }

    fn batch_floor(&self, offset: i64) -> Option<OffsetRange> {
        let mut back = self.records.range(..=offset).rev();
        let (&first, _) = back.find(|(_, record)| record.batch_start)?;
        Some(self.batch_beginning_at(first))
    }

    fn counts(&self) -> StateCounts {
        let mut counts = StateCounts::default();
        for record in self.records.values() {
            counts[record.state as usize] += 1;
        }
        counts
    }

    fn next_deadline(&self) -> Option<LockTime> {
        let locks = self.records.values().filter_map(|record| record.lock);
        locks
            .filter(|(_, lock)| !lock.expired)
            .map(|(_, lock)| lock.deadline)
            .min()
    }

    fn held_by(&self, member: MemberIndex) -> Vec<OffsetRange> {
        let held = |record: &Record| record.lock.is_some_and(|(_, lock)| lock.member == member);
        let records = self.records.iter().filter(|(_, record)| held(record));
        joined(records.map(|(offset, _)| *offset))
    }

    fn insert_batch(
        &mut self,
        batch: OffsetRange,
        state: RecordState,
        delivery_count: i16,
        lock: Option<NewLock>,
    ) {
        let lock = lock.map(|new| self.make(new));
        for offset in batch.first..=batch.last {
            let record = Record {
                state,
                delivery_count,
                phase: Phase::Stable,
                batch_start: offset == batch.first,
                lock,
            };
            let held = self.records.insert(offset, record);
            debug_assert!(held.is_none(), "offset {offset} is in flight already");
        }
    }

    fn hold<F: FnMut(&InFlightRun) -> Option<i16>>(
        &mut self,
        range: OffsetRange,
        lock: NewLock,
        mut delivery_count: F,
    ) {
        let lock = self.make(lock);
        self.for_each_run(range, |run| {
            let count = delivery_count(run)?;
            Some(move |record: &mut Record| {
                record.state = RecordState::Acquired;
                record.phase = Phase::Stable;
                record.delivery_count = count;
                record.lock = Some(lock);
            })
        });
    }

    fn update<C: RunChange>(
        &mut self,
        ranges: impl Iterator<Item = OffsetRange>,
        holder: Holder,
        change: &mut C,
    ) {
        for range in ranges {
            self.for_each_run(range, |run| {
                let new = holder.holds(run).then(|| change.decide(run))??;
                change.note(run, new, &[run.range]);
                Some(move |record: &mut Record| {
                    record.state = new.state;
                    record.phase = new.phase;
                    if new.lock == LockChange::End {
                        record.lock = None;
                    }
                })
            });
        }
    }

    fn remove_through(&mut self, last: i64) {
        while let Some((&first, _)) = self.records.first_key_value() {
            let batch = self.batch_beginning_at(first);
            if batch.last > last {
                break;
            }
            self.records.retain(|offset, _| !batch.contains(*offset));
        }
    }

    fn expire(&mut self, now: LockTime, most: u32) -> Vec<OffsetRange> {
        self.clock = self.clock.max(now);
        let locks = self.records.values().filter_map(|record| record.lock);
        let due: BTreeSet<_> = locks
            .filter(|(_, lock)| !lock.expired && lock.deadline <= self.clock)
            .map(|(number, lock)| (lock.deadline, lock.acquired_at, number))
            .collect();
        let first = due.into_iter().take(most as usize);
        let first: BTreeSet<u32> = first.map(|(.., number)| number).collect();
        let mut offsets = Vec::new();
        for (&offset, record) in &mut self.records {
            if let Some((number, lock)) = &mut record.lock
                && first.contains(number)
            {
                lock.expired = true;
                offsets.push(offset);
            }
        }
        joined(offsets.into_iter())
    }

    fn heap_bytes(&self) -> usize {
        self.records.len() * size_of::<(i64, Record)>()
    }

    fn check(&self) -> Result<(), String> {
        let mut beyond: Option<OffsetRange> = None;
        for (&offset, record) in &self.records {
            if !record.batch_start && !beyond.is_some_and(|held| held.is_followed_by(offset)) {
                return Err(format!(
                    "no batch begins at {offset}, after a hole: {record:?}"
                ));
            }
            let lockable = record.state == RecordState::Acquired || record.phase == Phase::Pending;
            if record.lock.is_some() != lockable {
                return Err(format!(
                    "a record has a lock exactly while acquired or pending with a way back, not {offset}: {record:?}"
                ));
            }
            beyond = Some(OffsetRange::single(offset));
        }
        Ok(())
    }
}
