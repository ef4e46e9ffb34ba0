//! A machine and its log, joined by the group commit.
//!
//! Under the mutex a verb decides, puts its records into the group that is forming, and replays them. Then it waits
//! until the log holds everything that its answer depends on, also when it only read (`group_commit.rs`).
//!
//! After a failed append or sync what the disk holds is unknown, and memory may be ahead of it: the store is poisoned,
//! every waiter is told, and nothing is answered any more.

mod group;
mod group_commit;
mod rewriting;

use core::fmt;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use share_state_wire::WireError;
use share_state_wire::record_batch::Compression;

use crate::counters::Tally;
use crate::end_note::LogEnd;
use crate::segment_log::SegmentLog;
use crate::store::{PoisonCause, StoreError, SyncPolicy};
use group::Group;

#[cfg(test)]
pub(crate) use group::REQUEST_BYTES;
pub(crate) use rewriting::Rewriting;

/// A machine whose state is the replay of its records.
pub(crate) trait Machine: fmt::Debug {
    /// A record.
    type Record;
    /// The key and the value of a record, as bytes.
    fn encode(record: &Self::Record) -> Result<(Vec<u8>, Option<Vec<u8>>), WireError>;
    /// Applies the record at `offset` of the log.
    fn replay(&mut self, offset: i64, record: &Self::Record);
    /// Records whose replay gives this state, for a log that is rewritten.
    fn live(&self) -> Vec<Self::Record> {
        Vec::new()
    }
}

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
pub(crate) struct Journal<M> {
    shared: Mutex<Shared<M>>,
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

/// What the mutex guards.
#[derive(Debug)]
pub(crate) struct Shared<M> {
    pub machine: M,
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
    /// For a log that is rewritten.
    rewriting: Option<Rewriting>,
}

impl<M> Shared<M> {
    /// The offset after all that was taken in, to be waited for.
    pub const fn ticket(&self) -> i64 {
        self.next_offset
    }
}

impl<M: Machine> Journal<M> {
    pub fn new(
        machine: M,
        log: SegmentLog,
        next_offset: i64,
        sync: SyncPolicy,
        compression: Compression,
        tally: Arc<Tally>,
        poison: Arc<OnceLock<Arc<PoisonCause>>>,
    ) -> Self {
        Self {
            shared: Mutex::new(Shared {
                machine,
                groups: VecDeque::new(),
                next_offset,
                appended: next_offset,
                synced: next_offset,
                led: false,
                turn: 0,
                closed: false,
                rewriting: None,
            }),
            settled: [Condvar::new(), Condvar::new()],
            log: Mutex::new(log),
            sync,
            compression,
            tally,
            poison,
        }
    }

    /// Has the log rewritten whenever that is due.
    pub fn rewritten(mut self, rewriting: Rewriting) -> Self {
        // Nobody else has seen it yet, so nobody can have panicked with the mutex in hand.
        if let Ok(shared) = self.shared.get_mut() {
            shared.rewriting = Some(rewriting);
        }
        self
    }

    /// Returns when the records below `ticket` are as durable as the sync policy asks.
    pub fn settle(&self, ticket: i64) -> Result<(), StoreError> {
        let shared = self.lock()?;
        // One that was not given out would never be reached.
        let ticket = ticket.min(shared.ticket());
        self.wait(shared, ticket, Settled::ByPolicy)
    }

    /// Whether [`Self::settle`] would return at once.
    pub fn is_settled(&self, ticket: i64) -> Result<bool, StoreError> {
        let shared = self.lock()?;
        let ticket = ticket.min(shared.ticket());
        Ok(self.reached(&shared, Settled::ByPolicy) >= ticket)
    }

    /// The offset below which records are settled.
    pub fn reached(&self, shared: &Shared<M>, how: Settled) -> i64 {
        if how == Settled::Durably || self.sync == SyncPolicy::Always {
            shared.synced
        } else {
            shared.appended
        }
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

    /// Where the log ends. Only for a journal that is closed, so that it ends there for good.
    pub fn end(&self) -> Result<LogEnd, StoreError> {
        let next_offset = self.lock()?.next_offset;
        Ok(self.log()?.end(next_offset))
    }

    /// Returns when no thread writes any more. Only for a journal that is closed or poisoned, so that none begins.
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

    /// The machine, if the store is usable.
    pub fn enter(&self) -> Result<MutexGuard<'_, Shared<M>>, StoreError> {
        let shared = self.lock()?;
        if shared.closed {
            return Err(StoreError::Closed);
        }
        Ok(shared)
    }

    fn lock(&self) -> Result<MutexGuard<'_, Shared<M>>, StoreError> {
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

    /// The log, for what is done to it between two turns of the group commit.
    pub fn log(&self) -> Result<MutexGuard<'_, SegmentLog>, StoreError> {
        self.log.lock().map_err(|_| self.fail(PoisonCause::Panic))
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Poisons the store; the first cause stands.
    fn fail(&self, cause: PoisonCause) -> StoreError {
        let cause = self.poison.get_or_init(|| Arc::new(cause));
        StoreError::Poisoned {
            cause: Arc::clone(cause),
        }
    }
}
