//! Acquire: give a member records of what the leader has read from the log (`SharePartition.acquire`).
//!
//! Steps:
//! 1. room: how many records at most, and up to which offset ([`SharePartition::room`]);
//! 2. released records that the log no longer has are archived (compacted topics);
//! 3. the in-flight batches that the fetched offsets meet, one after the other: what is available in them;
//! 4. what lies after them, or between them in a gap to read again, becomes new batches (`new_batches.rs`);
//! 5. records of aborted transactions are archived and taken out (`transactions.rs`).

use crate::offset::{OffsetRange, after, after_saturating, before, plus_saturating};
use crate::partition::in_flight::{
    InFlightQuestions, InFlightRun, InFlightStore, MemberIndex, NewLock,
};
use crate::partition::record_state::{Circumstance, Trigger, decide};
use crate::partition::share_partition::error::AcquireError;
use crate::partition::share_partition::verbs::acquire_request::{
    AcquireMode, AcquireRequest, AcquiredRange, check,
};
use crate::partition::share_partition::verbs::transactions::check_aborted;
use crate::partition::share_partition::{SharePartition, Status};
use crate::time::LockTime;

/// An acquire while it runs.
#[derive(Debug)]
pub(in crate::partition::share_partition) struct Acquisition<'a> {
    pub request: &'a AcquireRequest<'a>,
    pub member: MemberIndex,
    /// Range from the first fetched offset to the last that may be acquired.
    pub fetched: OffsetRange,
    pub max_records: u64,
    /// The caller's, who may have put others before those of this acquisition.
    pub acquired: &'a mut Vec<AcquiredRange>,
    pub count: u64,
}

impl Acquisition<'_> {
    pub(in crate::partition::share_partition) const fn remaining(&self) -> u64 {
        self.max_records.saturating_sub(self.count)
    }

    pub(in crate::partition::share_partition) fn take(
        &mut self,
        range: OffsetRange,
        delivery_count: i16,
    ) {
        self.count += range.len();
        self.acquired.push(AcquiredRange {
            range,
            delivery_count,
        });
    }
}

impl<S: InFlightStore> SharePartition<S> {
    /// Gives `request.member` what is available of the fetched offsets, in ascending order.
    ///
    /// Nothing is given when nothing was fetched, when everything fetched lies before the start offset, or when the window is
    /// full. Nothing is persisted.
    ///
    /// # Errors
    /// The request is malformed, or the share partition is not active; see [`AcquireError`].
    pub fn acquire(
        &mut self,
        request: &AcquireRequest<'_>,
        now: LockTime,
    ) -> Result<Vec<AcquiredRange>, AcquireError> {
        let mut acquired = Vec::new();
        self.acquire_into(request, now, &mut acquired)?;
        Ok(acquired)
    }

    /// As [`SharePartition::acquire`], and puts what is given after what `acquired` holds already.
    ///
    /// # Errors
    /// The request is malformed, or the share partition is not active; see [`AcquireError`].
    pub fn acquire_into(
        &mut self,
        request: &AcquireRequest<'_>,
        now: LockTime,
        acquired: &mut Vec<AcquiredRange>,
    ) -> Result<(), AcquireError> {
        check(request)?;
        check_aborted(request)?;
        if self.status != Status::Active {
            return Err(AcquireError::NotActive(self.status));
        }
        self.observe(now);
        let Some((fetched, max_records)) = self.room(request) else {
            return Ok(());
        };
        if request.fetch_offset < fetched.first && !self.store.is_empty() {
            self.archive_compacted(request.fetch_offset, fetched.first);
        }
        let Some(fetched) = fetched.last_within() else {
            self.acquired_nothing(request);
            return Ok(());
        };
        let store = &self.store;
        let activity = self.activity.make();
        let member = activity
            .members
            .intern(request.member, |member| !store.holds(member));
        let before = acquired.len();
        let mut acquisition = Acquisition {
            request,
            member,
            fetched,
            max_records,
            acquired,
            count: 0,
        };
        self.acquire_fetched(&mut acquisition);
        self.activity.make().tally.acquire(acquisition.count);
        match acquired.get(before..).and_then(<[_]>::last) {
            Some(last) => self.read_gap_through(last.range.last),
            // Only now: what was fetched may lie in a hole of a window that is otherwise done.
            None => self.acquired_nothing(request),
        }
        if let Some(aborted) = request.aborted {
            self.archive_aborted(request.fetched, aborted, acquired, before);
        }
        Ok(())
    }

    /// The fetched range cut to what may be acquired, and the number of records
    /// (`SharePartition.lastOffsetAndMaxRecordsToAcquire`). At capacity, only what is in the window.
    fn room(&self, request: &AcquireRequest<'_>) -> Option<(Fetched, u64)> {
        let (first, last) = (request.fetched.first()?, request.fetched.last()?);
        let max_records = u64::try_from(request.max_records).ok().filter(|n| *n > 0)?;
        if last.last_offset < self.start_offset {
            return None;
        }
        let free =
            u64::from(self.config.partition_max_record_locks).saturating_sub(self.window_len());
        // Records that the start offset has passed take no room: without this, a window of one record that holds only such
        // ones would stay full forever.
        let free = if self.cached().is_none() {
            free.max(1)
        } else {
            free
        };
        let (last, room) = if free > 0 {
            (last.last_offset, free)
        } else {
            let window = OffsetRange::new(request.fetch_offset, self.end_offset)?;
            (last.last_offset.min(self.end_offset), window.len())
        };
        let fetched = Fetched {
            first: first.base_offset,
            last,
        };
        Some((fetched, max_records.min(room)))
    }

    fn acquire_fetched(&mut self, acquisition: &mut Acquisition<'_>) {
        let fetched = acquisition.fetched;
        let mut next = if fetched.first > self.end_offset || self.store.is_empty() {
            None
        } else {
            self.store.batch_reaching(fetched.first)
        };
        // New records never begin below the start offset (KAFKA-19954, deliberate difference K6).
        let base = fetched.first.max(self.start_offset);
        let mut gap_start = base;
        let mut last_batch = None;
        while let Some(batch) = next.filter(|batch| batch.first <= fetched.last) {
            if acquisition.remaining() == 0 {
                return;
            }
            last_batch = Some(batch);
            next = after(batch.last).and_then(|offset| self.store.batch_reaching(offset));
            if self.gap_window().is_some() {
                if let Some(gap) =
                    before(batch.first).and_then(|end| OffsetRange::new(gap_start, end))
                {
                    self.acquire_new(acquisition, gap);
                }
                gap_start = after_saturating(batch.last);
                if acquisition.remaining() == 0 {
                    return;
                }
            }
            let throttled = self.is_throttled(batch, fetched);
            if throttled && acquisition.count > 0 {
                return;
            }
            let count = acquisition.count;
            self.acquire_available(acquisition, batch);
            if throttled && acquisition.count > count {
                return;
            }
        }
        let beyond = match last_batch {
            None => OffsetRange::new(base, fetched.last),
            Some(batch) => fetched.after(batch.last),
        };
        if let Some(beyond) = beyond.filter(|_| acquisition.remaining() > 0) {
            self.acquire_new(acquisition, beyond);
        }
    }

    /// Acquires what is available in one in-flight batch, as far as it was fetched
    /// (`SharePartition.acquireSubsetBatchRecords`).
    fn acquire_available(&mut self, acquisition: &mut Acquisition<'_>, batch: OffsetRange) {
        let Some(range) = batch.intersection(acquisition.fetched) else {
            return;
        };
        let record_limit =
            (acquisition.request.mode == AcquireMode::RecordLimit).then(|| acquisition.remaining());
        let mut pace = self.pace(batch, record_limit);
        let mut rest = Some(range);
        while let Some(run) = rest.and_then(|rest| self.store.available_in(rest)) {
            let Some(part) = pace.take(run.range, run.delivery_count) else {
                break;
            };
            let delivery_count = run.delivery_count.saturating_add(1);
            self.take_lock(part, acquisition.member, Trigger::Acquire);
            // Neighbours of one delivery count are one run, and what takes a part of a run ends the batch.
            acquisition.take(part, delivery_count);
            if pace.is_over() {
                break;
            }
            rest = range.after(part.last);
        }
    }

    /// Puts records under a new lock of `member`: those that may be acquired, or with [`Trigger::Renew`] those that are. Returns
    /// their number.
    pub(in crate::partition::share_partition) fn take_lock(
        &mut self,
        range: OffsetRange,
        member: MemberIndex,
        trigger: Trigger,
    ) -> u64 {
        let delivered = i16::from(trigger == Trigger::Acquire);
        let lock = self.new_lock(member);
        let mut records = 0;
        self.store.hold(range, lock, |run: &InFlightRun| {
            decide(run.state, run.phase, trigger, Circumstance::default())?;
            records += run.range.len();
            Some(run.delivery_count.saturating_add(delivered))
        });
        records
    }

    pub(in crate::partition::share_partition) fn new_lock(&self, member: MemberIndex) -> NewLock {
        NewLock {
            member,
            now: self.now,
            duration_ms: self.config.record_lock_duration_ms,
        }
    }

    /// Archives released records that a read from `fetch_offset` shows to be gone: the first batch it returned begins after
    /// them (compacted topics, KAFKA-17351). In memory only.
    fn archive_compacted(&mut self, fetch_offset: i64, first_fetched: i64) {
        if let Some(gone) =
            before(first_fetched).and_then(|end| OffsetRange::new(fetch_offset, end))
        {
            self.pull_at_once(gone, Trigger::Compaction);
        }
    }
}

/// The fetched range before it is known to be non-empty: at capacity its end may fall before its beginning (deliberate
/// difference K4).
struct Fetched {
    first: i64,
    last: i64,
}

impl Fetched {
    const fn last_within(&self) -> Option<OffsetRange> {
        OffsetRange::new(self.first, self.last)
    }
}

/// The first `n` offsets of a range.
pub(in crate::partition::share_partition) fn first_n(
    range: OffsetRange,
    n: u64,
) -> Option<OffsetRange> {
    let last = plus_saturating(range.first, n.checked_sub(1)?);
    OffsetRange::new(range.first, range.last.min(last))
}
