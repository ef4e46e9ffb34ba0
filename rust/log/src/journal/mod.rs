//! A machine and its log, joined by the group commit.
//!
//! 1. Under the mutex, a verb decides, adds its records to the forming group, and replays them.
//! 2. It then waits until the log holds everything that its answer depends on, even if it only read (`group_commit.rs`).
//!
//! After a failed append or sync, the content of the disk is unknown, and memory may be ahead of it. The store is then
//! poisoned: every waiting call and every later one gets an error.

mod group;
mod group_commit;
mod rewriting;
#[cfg(test)]
mod tests;

use core::fmt;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use share_state_wire::WireError;

use crate::config::SyncPolicy;
use crate::counters::Tally;
use crate::end_note::LogEnd;
use crate::error::{PoisonCause, StoreError};
use crate::segment_log::{RecordStart, SegmentLog};
use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use group::{Group, Records};

pub(crate) use group::Framing;
#[cfg(test)]
pub(crate) use group::REQUEST_BYTES;
pub(crate) use rewriting::Rewriting;

/// A machine whose state is the replay of its records.
pub(crate) trait Machine: fmt::Debug {
    /// A record.
    type Record;
    /// Appends the bytes of a record's key.
    fn append_key(record: &Self::Record, out: &mut Vec<u8>) -> Result<(), WireError>;
    /// Appends the bytes of a record's value; `false` is the null value.
    fn append_value(record: &Self::Record, out: &mut Vec<u8>) -> Result<bool, WireError>;
    /// Applies the record at `offset` of the log.
    fn replay(&mut self, offset: i64, record: &Self::Record);
    /// Records whose replay gives this state, for a log that is rewritten.
    fn live(&self) -> Vec<Self::Record> {
        Vec::new()
    }
}

/// Durability that an answer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// As the sync policy requires.
    ByPolicy,
    /// A sync, whatever the policy.
    OnDisk,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Journal<M> {
    shared: Mutex<Shared<M>>,
    /// Signalled when an even, or an odd, round of the group commit has ended.
    round_ended: [Condvar; 2],
    /// Locked only by the leader and by pruning. Nobody waits for it with `shared` locked, nor for `shared` with it locked.
    log: Mutex<SegmentLog>,
    sync: SyncPolicy,
    framing: Framing,
    tally: Arc<Tally>,
    /// Common to all partitions of the store.
    poison: Arc<OnceLock<Arc<PoisonCause>>>,
    /// Recorder of the records that begin a log that is rewritten.
    record_start: Recording,
}

/// A [`RecordStart`] that shows nothing of itself.
struct Recording(Box<RecordStart>);

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recording")
    }
}

/// State that the mutex guards.
#[derive(Debug)]
pub(crate) struct Shared<M> {
    pub machine: M,
    groups: VecDeque<Group>,
    /// Offset of the next record.
    next_offset: i64,
    /// Records below this offset are with the operating system.
    appended: i64,
    /// Records below this offset are on disk.
    synced: i64,
    /// Set while a thread writes a group.
    led: bool,
    /// Number of the current round, or of the last one.
    round: u64,
    /// Threads that wait for the end of a round.
    waiting: usize,
    /// The room of records that were written.
    spare: Records,
    closed: bool,
    /// Sizes of a log that is rewritten.
    rewriting: Option<Rewriting>,
}

impl<M> Shared<M> {
    /// The offset after all accepted records. A caller can wait for it.
    pub const fn ticket(&self) -> i64 {
        self.next_offset
    }

    /// The offset below which records are as durable as required. Under [`SyncPolicy::Always`] every round syncs what it appends,
    /// so the two are the same.
    pub const fn reached(&self, how: Durability) -> i64 {
        match how {
            Durability::ByPolicy => self.appended,
            Durability::OnDisk => self.synced,
        }
    }
}

impl<M: Machine> Journal<M> {
    pub fn new(
        machine: M,
        log: SegmentLog,
        next_offset: i64,
        sync: SyncPolicy,
        framing: Framing,
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
                round: 0,
                waiting: 0,
                spare: Records::default(),
                closed: false,
                rewriting: None,
            }),
            round_ended: [Condvar::new(), Condvar::new()],
            log: Mutex::new(log),
            sync,
            framing,
            tally,
            poison,
            record_start: Recording(Box::new(|_, _| Ok(()))),
        }
    }

    /// Makes the journal rewrite its log whenever that is due. `record` makes the new log start durable.
    pub fn rewritten(mut self, rewriting: Rewriting, record: Box<RecordStart>) -> Self {
        self.record_start = Recording(record);
        // No other thread has seen it yet, so none can have panicked while it held the mutex.
        if let Ok(shared) = self.shared.get_mut() {
            shared.rewriting = Some(rewriting);
        }
        self
    }

    /// Returns once the records below `ticket` are as durable as the sync policy requires.
    pub fn await_ticket(&self, ticket: i64) -> Result<(), StoreError> {
        let shared = self.lock()?;
        // The log would never reach a ticket that was not given out.
        let ticket = ticket.min(shared.ticket());
        self.wait(shared, ticket, Durability::ByPolicy)
    }

    /// As [`Self::await_ticket`] where that takes one short append at most. Returns `false` where a sync, a new segment or another
    /// thread would have to be waited for.
    pub fn await_ticket_at_once(&self, ticket: i64) -> Result<bool, StoreError> {
        let shared = self.lock()?;
        let ticket = ticket.min(shared.ticket());
        self.append_at_once(shared, ticket)
    }

    /// Returns `true` if [`Self::await_ticket`] returns at once.
    pub fn has_reached(&self, ticket: i64) -> Result<bool, StoreError> {
        let shared = self.lock()?;
        let ticket = ticket.min(shared.ticket());
        Ok(shared.reached(Durability::ByPolicy) >= ticket)
    }

    /// Returns once everything accepted so far is on disk.
    pub fn flush(&self) -> Result<(), StoreError> {
        let shared = self.enter()?;
        let ticket = shared.next_offset;
        self.wait(shared, ticket, Durability::OnDisk)
    }

    /// Flushes, and accepts nothing more.
    pub fn close(&self) -> Result<(), StoreError> {
        let mut shared = self.lock()?;
        shared.closed = true;
        let ticket = shared.next_offset;
        self.wait(shared, ticket, Durability::OnDisk)
    }

    /// Cuts the file off at the end of the log, and returns that end. Call it only on a closed journal, whose end is final.
    pub fn end(&self) -> Result<LogEnd, StoreError> {
        self.healthy()?;
        let mut log = self.log()?;
        log.finish()
            .map_err(|failure| self.fail(PoisonCause::Io(failure)))?;
        Ok(log.end())
    }

    /// The end of a log up to which all is on disk.
    pub fn durable_end(&self, log: &mut SegmentLog) -> Result<LogEnd, StoreError> {
        log.sync()
            .map_err(|failure| self.fail(PoisonCause::Io(failure)))?;
        Ok(log.end())
    }

    /// Returns once no thread writes, and closes the file of the log. Call it only on a closed or poisoned journal, where no thread
    /// starts to write.
    pub fn quiesce(&self) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.closed = true;
        while shared.led {
            shared.waiting += 1;
            shared = self
                .round_end(shared.round)
                .wait(shared)
                .unwrap_or_else(PoisonError::into_inner);
            shared.waiting -= 1;
        }
        drop(shared);
        let log = self.log.lock();
        log.unwrap_or_else(PoisonError::into_inner).release();
    }

    /// The machine, unless the store is closed or poisoned.
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

    /// The log, for changes between two rounds of the group commit.
    pub fn log(&self) -> Result<MutexGuard<'_, SegmentLog>, StoreError> {
        self.log.lock().map_err(|_| self.fail(PoisonCause::Panic))
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Poisons the store. The first cause is kept.
    fn fail(&self, cause: PoisonCause) -> StoreError {
        let cause = self.poison.get_or_init(|| Arc::new(cause));
        StoreError::Poisoned {
            cause: Arc::clone(cause),
        }
    }
}
