//! The share groups of a group coordinator with their log: one writer, any number of threads.
//!
//! The log has its own directory, `__consumer_offsets-0`, in Kafka's segment format, with its lock and what it says of
//! itself inside. So it may stand beside the state partitions of a [`StateStore`](crate::StateStore), and Kafka's tools
//! read it.

mod admin;
mod config;
mod heartbeat;
mod open;
mod sessions;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use share_state_core::share_group::{
    Decision, GroupError, GroupRecord, Numbers, ShareGroups, Topic, TopicsError,
};
use share_state_core::time::WallTime;
use share_state_wire::WireError;
use share_state_wire::group_record::{encode_key, encode_value};

pub use config::{GroupConfigError, GroupStoreConfig};
pub use sessions::Expired;

use crate::config::SyncPolicy;
use crate::counters::{Counters, Tally};
use crate::disk::{Disk, Held, RealDisk};
use crate::error::{OpenError, PoisonCause, StoreError};
use crate::home::write_meta;
use crate::journal::{Durability, Journal, Machine, Shared};
use crate::mark::Marks;
use crate::meta::{Meta, Noted, Torn};
use crate::opener::Opener;
use crate::store::{Flusher, Recovery};

impl Machine for ShareGroups {
    type Record = GroupRecord;

    fn append_key(record: &GroupRecord, out: &mut Vec<u8>) -> Result<(), WireError> {
        out.append(&mut encode_key(record)?);
        Ok(())
    }

    fn append_value(record: &GroupRecord, out: &mut Vec<u8>) -> Result<bool, WireError> {
        let value = encode_value(&record.value)?;
        out.extend_from_slice(value.as_deref().unwrap_or_default());
        Ok(value.is_some())
    }

    fn replay(&mut self, _offset: i64, record: &GroupRecord) {
        Self::replay(self, record);
    }

    fn live(&self) -> Vec<GroupRecord> {
        self.live_records().collect()
    }
}

/// An answer that must not leave before the log holds what it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the answer counts once `ShareGroupStore::wait` has returned for the ticket"]
pub struct Accepted<A> {
    /// The answer.
    pub answer: A,
    /// Ticket for [`ShareGroupStore::wait`]; 0 when there is nothing to wait for.
    pub ticket: i64,
}

/// Answer of a verb of the groups: the groups may refuse, and a refusal too may rest on what is not yet durable.
pub type GroupAnswer<A> = Accepted<Result<A, GroupError>>;

/// The share groups, kept in Kafka's own log format in a directory.
///
/// A verb decides and replays at once, and returns its answer with a ticket; [`Self::wait`] returns when the records are as
/// durable as the [`SyncPolicy`] asks. Whoever waits at the same time shares one sync. The records of a verb are in one
/// record batch, so a crash loses all of them or none.
///
/// After a failed append or sync the store is poisoned for good: each call answers [`StoreError::Poisoned`] until the
/// directory is opened again. A forked child that inherits a store is refused ([`StoreError::Forked`]). Dropping a store
/// closes it, without a word about errors.
#[derive(Debug)]
pub struct ShareGroupStore {
    inner: Arc<Inner>,
    flusher: Option<Flusher>,
}

/// State that the store's handle and its thread share.
#[derive(Debug)]
struct Inner {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    journal: Journal<ShareGroups>,
    marks: Marks,
    recovery: Recovery,
    tally: Arc<Tally>,
    lock: Box<dyn Held>,
    opener: Opener,
    released: AtomicBool,
}

impl ShareGroupStore {
    /// Opens the log of share groups in `root`, making it if there is none. Every member that it loads has a full session
    /// timeout before it.
    ///
    /// # Errors
    /// See [`OpenError`]. A torn tail is no error: it is cut off and told by [`Self::recovery`].
    pub fn open(root: impl AsRef<Path>, config: &GroupStoreConfig) -> Result<Self, OpenError> {
        Self::open_on(Arc::new(RealDisk), root.as_ref(), config)
    }

    pub(crate) fn open_on(
        disk: Arc<dyn Disk>,
        root: &Path,
        config: &GroupStoreConfig,
    ) -> Result<Self, OpenError> {
        let inner = Arc::new(open::open(disk, root, config)?);
        let flusher = match config.sync {
            SyncPolicy::Interval { ms } => {
                let inner = Arc::clone(&inner);
                Some(Flusher::start(root, ms, move || inner.journal.flush())?)
            }
            SyncPolicy::Always | SyncPolicy::Never => None,
        };
        Ok(Self { inner, flusher })
    }

    /// Returns when all that this ticket stands for is as durable as the sync policy asks. A ticket that was never given out
    /// stands for everything so far.
    ///
    /// # Errors
    /// The append or the sync failed, or the store cannot be used.
    pub fn wait(&self, ticket: i64) -> Result<(), StoreError> {
        self.check_process()?;
        self.inner.journal.await_ticket(ticket)
    }

    /// Returns `true` if [`Self::wait`] would return at once.
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn is_durable(&self, ticket: i64) -> Result<bool, StoreError> {
        self.check_process()?;
        self.inner.journal.has_reached(ticket)
    }

    /// The ticket of everything so far, for an answer that was read; 0 when there is nothing to wait for.
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn ticket(&self) -> Result<i64, StoreError> {
        self.look(|_| ()).map(|seen| seen.ticket)
    }

    /// Returns when everything accepted so far is on the disk, whatever the sync policy.
    ///
    /// # Errors
    /// The store cannot be used, or the sync failed.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.check_process()?;
        self.inner.journal.flush()
    }

    /// Flushes, notes where the log ends, and lets go of the directory. Closing again does nothing.
    ///
    /// # Errors
    /// The flush failed; the directory is given up nevertheless.
    pub fn close(&self) -> Result<(), StoreError> {
        self.check_process()?;
        self.inner.close()
    }

    /// Result of opening: what was found and made good.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        &self.inner.recovery
    }

    /// Counters of the store since it was opened.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.inner.tally.counters()
    }

    /// The directory of the log.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.dir
    }

    /// Tells every topic that there is ([`ShareGroups::set_topics`]).
    ///
    /// # Errors
    /// The store cannot be used; or the topics cannot be used, then nothing has changed.
    pub fn set_topics(&self, topics: Vec<Topic>) -> Result<Result<(), TopicsError>, StoreError> {
        self.check_process()?;
        Ok(self.inner.journal.enter()?.machine.set_topics(topics))
    }

    /// Sets what a group configures for itself ([`ShareGroups::set_group_config`]); it is not stored here.
    ///
    /// # Errors
    /// The store cannot be used; or a value is outside its bounds, then nothing has changed.
    pub fn set_group_config(
        &self,
        group: &str,
        config: &Numbers,
    ) -> Result<Result<(), GroupConfigError>, StoreError> {
        self.check_process()?;
        let mut shared = self.inner.journal.enter()?;
        Ok(shared.machine.set_group_config(group, config))
    }

    /// Returns what `look` sees. Nothing is waited for; the ticket stands for what it rests on.
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn look<A>(&self, look: impl FnOnce(&ShareGroups) -> A) -> Result<Accepted<A>, StoreError> {
        self.check_process()?;
        let shared = self.inner.journal.enter()?;
        let answer = look(&shared.machine);
        Ok(self.accepted(&shared, answer))
    }

    /// Decides, appends, replays. A refusal has changed nothing.
    fn take<A>(
        &self,
        shared: &mut Shared<ShareGroups>,
        wall: WallTime,
        decide: impl FnOnce(&ShareGroups) -> Result<Decision<A>, GroupError>,
    ) -> Result<Result<A, GroupError>, StoreError> {
        let decision = match decide(&shared.machine) {
            Ok(decision) => decision,
            Err(refused) => return Ok(Err(refused)),
        };
        self.inner
            .journal
            .take_in(shared, &decision.records, wall)?;
        if !decision.records.is_empty() {
            self.inner.tally.write();
        }
        Ok(Ok(decision.answer))
    }

    /// A verb that asks nothing but to be decided.
    fn verb<A>(
        &self,
        wall: WallTime,
        decide: impl FnOnce(&ShareGroups) -> Result<Decision<A>, GroupError>,
    ) -> Result<GroupAnswer<A>, StoreError> {
        self.check_process()?;
        let mut shared = self.inner.journal.enter()?;
        let answer = self.take(&mut shared, wall, decide)?;
        Ok(self.accepted(&shared, answer))
    }

    fn accepted<A>(&self, shared: &Shared<ShareGroups>, answer: A) -> Accepted<A> {
        let ticket = shared.ticket();
        Accepted {
            answer,
            ticket: if shared.reached(Durability::ByPolicy) >= ticket {
                0
            } else {
                ticket
            },
        }
    }

    fn check_process(&self) -> Result<(), StoreError> {
        self.inner.opener.check()
    }
}

impl Inner {
    fn close(&self) -> Result<(), StoreError> {
        if self.released.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let closed = self.journal.close().and_then(|()| self.note_end());
        // The next writer may come as soon as the lock is free: nobody here may still be writing then.
        self.journal.quiesce();
        self.lock.release();
        closed
    }

    /// Notes where the log ends: from here on whatever is missing is damage.
    fn note_end(&self) -> Result<(), StoreError> {
        let meta = Meta {
            partitions: 1,
            torn: Torn::Nothing,
            marks: Some(self.marks.clone()),
            noted: Noted::Ends(vec![self.journal.end()?]),
        };
        write_meta(self.disk.as_ref(), &self.dir, &meta).map_err(|failure| StoreError::Poisoned {
            cause: Arc::new(PoisonCause::Io(failure)),
        })
    }
}

impl Drop for ShareGroupStore {
    fn drop(&mut self) {
        if self.check_process().is_err() {
            // The thread is the parent's; here there is nothing to join.
            if let Some(flusher) = self.flusher.take() {
                flusher.abandon();
            }
            return;
        }
        if let Some(flusher) = self.flusher.take() {
            flusher.stop();
        }
        // Whoever wants to know calls `close`.
        let _ = self.inner.close();
    }
}
