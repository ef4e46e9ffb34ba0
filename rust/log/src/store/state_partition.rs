//! One state partition: a coordinator, its log, and the group commit that joins them.
//!
//! Under the mutex a verb decides, puts its records into the group that is forming, and replays them. Then it waits
//! until the log holds everything that its answer depends on, also when it only read. Whoever waits first leads: it
//! takes the oldest group and writes it as one record batch, without the mutex, while others form the next group
//! behind it.
//!
//! After a failed append or sync what the disk holds is unknown, and memory may be ahead of it: the store is poisoned,
//! every waiter is told, and nothing is answered any more.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use share_state_core::coordinator::{CoordinatorError, Decision, ShareCoordinator};
use share_state_core::offset::plus_saturating;
use share_state_core::records::ShareRecord;
use share_state_core::time::WallTime;
use share_state_wire::record_batch::Compression;

use super::config::SyncPolicy;
use super::error::{PoisonCause, StoreError};
use super::group::{Group, Records};
use crate::counters::Tally;
use crate::segment_log::SegmentLog;

/// How far the log must be before an answer is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// As far as the sync policy asks.
    ByPolicy,
    /// On the disk, whatever the policy.
    Durably,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct StatePartition {
    shared: Mutex<Shared>,
    /// Told whenever a leader is done.
    settled: Condvar,
    /// Locked only by the leader and by pruning, and never together with `shared`.
    log: Mutex<SegmentLog>,
    sync: SyncPolicy,
    compression: Compression,
    tally: Arc<Tally>,
    /// Common to all partitions of the store.
    poison: Arc<OnceLock<Arc<PoisonCause>>>,
}

#[derive(Debug)]
struct Shared {
    coordinator: ShareCoordinator,
    groups: VecDeque<Group>,
    /// Offset of the next record.
    next_offset: i64,
    /// Records below are with the operating system.
    appended: i64,
    /// Records below are on the disk.
    synced: i64,
    /// Whether a thread is writing a group.
    led: bool,
    closed: bool,
}

impl StatePartition {
    pub fn new(
        coordinator: ShareCoordinator,
        log: SegmentLog,
        next_offset: i64,
        sync: SyncPolicy,
        compression: Compression,
        tally: Arc<Tally>,
        poison: Arc<OnceLock<Arc<PoisonCause>>>,
    ) -> Self {
        Self {
            shared: Mutex::new(Shared {
                coordinator,
                groups: VecDeque::new(),
                next_offset,
                appended: next_offset,
                synced: next_offset,
                led: false,
                closed: false,
            }),
            settled: Condvar::new(),
            log: Mutex::new(log),
            sync,
            compression,
            tally,
            poison,
        }
    }

    /// Decides, appends, replays, waits, answers. A refusal waits too: it may rest on what is not yet durable.
    pub fn operate<A>(
        &self,
        now: WallTime,
        decide: impl FnOnce(&ShareCoordinator) -> Result<Decision<A>, CoordinatorError>,
    ) -> Result<A, StoreError> {
        let mut shared = self.enter()?;
        let answer = match decide(&shared.coordinator) {
            Ok(decision) => {
                self.take_in(&mut shared, &decision.records, now)?;
                if !decision.records.is_empty() {
                    self.tally.write();
                }
                Ok(decision.answer)
            }
            Err(refusal) => Err(StoreError::Refused(refusal)),
        };
        let ticket = shared.next_offset;
        self.wait(shared, ticket, Settled::ByPolicy)?;
        answer
    }

    /// Appends records that need not be in one group. Returns how many there were.
    pub fn append_each(
        &self,
        now: WallTime,
        decide: impl FnOnce(&ShareCoordinator) -> Vec<ShareRecord>,
    ) -> Result<usize, StoreError> {
        let mut shared = self.enter()?;
        let records = decide(&shared.coordinator);
        let taken = records
            .iter()
            .try_for_each(|record| self.take_in(&mut shared, std::slice::from_ref(record), now));
        let ticket = shared.next_offset;
        self.wait(shared, ticket, Settled::ByPolicy)?;
        taken.map(|()| records.len())
    }

    /// What `look` sees, once everything it saw is settled.
    pub fn inspect<A>(&self, look: impl FnOnce(&ShareCoordinator) -> A) -> Result<A, StoreError> {
        let shared = self.enter()?;
        let seen = look(&shared.coordinator);
        let ticket = shared.next_offset;
        self.wait(shared, ticket, Settled::ByPolicy)?;
        Ok(seen)
    }

    /// Returns when everything accepted so far is on the disk.
    pub fn flush(&self) -> Result<(), StoreError> {
        let shared = self.enter()?;
        let ticket = shared.next_offset;
        self.wait(shared, ticket, Settled::Durably)
    }

    /// Flushes, and accepts nothing from then on.
    pub fn close(&self) -> Result<(), StoreError> {
        let mut shared = self.lock()?;
        shared.closed = true;
        let ticket = shared.next_offset;
        self.wait(shared, ticket, Settled::Durably)
    }

    /// Returns when no thread writes any more. Only for a partition that is closed or poisoned, so that none begins.
    pub fn quiesce(&self) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.closed = true;
        while shared.led {
            shared = self
                .settled
                .wait(shared)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Deletes the whole segments that nobody needs, after `record` has made the new log start durable. The snapshots
    /// that make them redundant are made durable before. Returns how many segments went.
    pub fn prune(
        &self,
        record: impl FnOnce(i64) -> Result<(), StoreError>,
    ) -> Result<usize, StoreError> {
        let shared = self.enter()?;
        let redundant = shared.coordinator.last_redundant_offset();
        let ticket = shared.next_offset;
        self.wait(shared, ticket, Settled::Durably)?;
        let mut log = self.log.lock().map_err(|_| self.fail(PoisonCause::Panic))?;
        let Some(log_start) = redundant.and_then(|offset| log.prunable(offset)) else {
            return Ok(0);
        };
        record(log_start)?;
        let removed = log.remove_below(log_start).map_err(StoreError::Prune)?;
        self.tally.pruned(removed);
        Ok(removed)
    }

    /// The state, if the store is usable.
    fn enter(&self) -> Result<MutexGuard<'_, Shared>, StoreError> {
        let shared = self.lock()?;
        if shared.closed {
            return Err(StoreError::Closed);
        }
        Ok(shared)
    }

    fn lock(&self) -> Result<MutexGuard<'_, Shared>, StoreError> {
        let shared = self
            .shared
            .lock()
            .map_err(|_| self.fail(PoisonCause::Panic))?;
        self.healthy()?;
        Ok(shared)
    }

    fn healthy(&self) -> Result<(), StoreError> {
        match self.poison.get() {
            Some(cause) => Err(StoreError::Poisoned {
                cause: Arc::clone(cause),
            }),
            None => Ok(()),
        }
    }

    /// Poisons the store; the first cause stands.
    fn fail(&self, cause: PoisonCause) -> StoreError {
        let cause = self.poison.get_or_init(|| Arc::new(cause));
        StoreError::Poisoned {
            cause: Arc::clone(cause),
        }
    }

    /// Puts the records of one decision into one group and replays them. An error has changed nothing.
    fn take_in(
        &self,
        shared: &mut Shared,
        records: &[ShareRecord],
        now: WallTime,
    ) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        let encoded = Records::encode(records, now)?;
        let next_offset = plus_saturating(shared.next_offset, records.len() as u64);
        if next_offset == i64::MAX {
            return Err(StoreError::OffsetEnd);
        }
        match shared.groups.back_mut() {
            Some(group) if group.has_room_for(&encoded) => group.add(encoded),
            _ => shared
                .groups
                .push_back(Group::new(shared.next_offset, encoded)),
        }
        for (i, record) in records.iter().enumerate() {
            let offset = plus_saturating(shared.next_offset, i as u64);
            shared.coordinator.replay(offset, record);
        }
        shared.next_offset = next_offset;
        Ok(())
    }

    /// Waits until the records below `ticket` are settled, leading where nobody does.
    fn wait<'a>(
        &'a self,
        mut shared: MutexGuard<'a, Shared>,
        ticket: i64,
        how: Settled,
    ) -> Result<(), StoreError> {
        let durably = how == Settled::Durably || self.sync == SyncPolicy::Always;
        loop {
            let reached = if durably {
                shared.synced
            } else {
                shared.appended
            };
            if reached >= ticket {
                return Ok(());
            }
            self.healthy()?;
            if shared.led {
                shared = self
                    .settled
                    .wait(shared)
                    .map_err(|_| self.fail(PoisonCause::Panic))?;
                continue;
            }
            shared.led = true;
            let group = shared.groups.pop_front();
            let end = group.as_ref().map_or(shared.appended, Group::next_offset);
            drop(shared);
            let turn = Turn { partition: self };
            let written = self.write(group.as_ref(), durably);
            drop(turn);
            let mut panicked = false;
            shared = self.shared.lock().unwrap_or_else(|poisoned| {
                panicked = true;
                poisoned.into_inner()
            });
            shared.led = false;
            // Also after a failure or a panic elsewhere: nobody may sleep through that.
            self.settled.notify_all();
            if panicked {
                return Err(self.fail(PoisonCause::Panic));
            }
            written?;
            shared.appended = end;
            if durably {
                shared.synced = end;
            }
        }
    }

    /// Writes a group as one batch and syncs if asked.
    fn write(&self, group: Option<&Group>, sync: bool) -> Result<(), StoreError> {
        let mut log = self.log.lock().map_err(|_| self.fail(PoisonCause::Panic))?;
        if let Some(group) = group {
            let batch = group
                .to_batch(self.compression)
                .map_err(|error| self.fail(PoisonCause::Encode(error)))?;
            log.append(group.base_offset(), &batch)
                .map_err(|failure| self.fail(PoisonCause::Io(failure)))?;
            self.tally.batch(group.len(), batch.len());
        }
        if sync {
            log.sync()
                .map_err(|failure| self.fail(PoisonCause::Io(failure)))?;
        }
        Ok(())
    }
}

/// A leader at work. If it panics the store is poisoned and the waiters are woken.
struct Turn<'a> {
    partition: &'a StatePartition,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.partition.fail(PoisonCause::Panic);
            // Whoever saw the store healthy is asleep by the time the mutex can be had.
            let shared = self.partition.shared.lock();
            shared.unwrap_or_else(PoisonError::into_inner).led = false;
            self.partition.settled.notify_all();
        }
    }
}
