//! One state partition: a coordinator, its log, and the group commit that joins them.
//!
//! Under the mutex a verb decides, puts its records into the group that is forming, and replays them. Then it waits
//! until the log holds everything that its answer depends on, also when it only read (`group_commit.rs`).
//!
//! After a failed append or sync what the disk holds is unknown, and memory may be ahead of it: the store is poisoned,
//! every waiter is told, and nothing is answered any more.

mod group_commit;

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use share_state_core::coordinator::{CoordinatorError, Decision, ShareCoordinator};
use share_state_core::records::ShareRecord;
use share_state_core::time::WallTime;
use share_state_wire::record_batch::Compression;

use super::config::SyncPolicy;
use super::error::{PoisonCause, StoreError};
use super::group::Group;
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
    /// Told when an even, or an odd, turn of the group commit has ended.
    settled: [Condvar; 2],
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
    /// Number of that thread's turn, or of the last one.
    turn: u64,
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
                turn: 0,
                closed: false,
            }),
            settled: [Condvar::new(), Condvar::new()],
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
        let answer = self.decide(&mut shared, now, decide);
        let ticket = shared.next_offset;
        self.wait(shared, ticket, Settled::ByPolicy)?;
        answer
    }

    /// Decides one request after the other and appends, so that they share their groups, and does not wait: the answers may
    /// be given once [`Self::settle`] has returned for the offset that comes with them.
    pub fn operate_many<A, D>(
        &self,
        now: WallTime,
        requests: impl Iterator<Item = D>,
    ) -> Result<(Vec<Result<A, StoreError>>, i64), StoreError>
    where
        D: FnOnce(&ShareCoordinator) -> Result<Decision<A>, CoordinatorError>,
    {
        let mut shared = self.enter()?;
        let answers = requests
            .map(|request| self.decide(&mut shared, now, request))
            .collect();
        Ok((answers, shared.next_offset))
    }

    /// Returns when the records below `ticket` are as durable as the sync policy asks.
    pub fn settle(&self, ticket: i64) -> Result<(), StoreError> {
        let shared = self.lock()?;
        self.wait(shared, ticket, Settled::ByPolicy)
    }

    fn decide<A>(
        &self,
        shared: &mut Shared,
        now: WallTime,
        decide: impl FnOnce(&ShareCoordinator) -> Result<Decision<A>, CoordinatorError>,
    ) -> Result<A, StoreError> {
        let decision = decide(&shared.coordinator).map_err(StoreError::Refused)?;
        self.take_in(shared, &decision.records, now)?;
        if !decision.records.is_empty() {
            self.tally.write();
        }
        Ok(decision.answer)
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
                .settled(shared.turn)
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
}
