//! The embedded store: a directory of state partitions with one writing process and any number of threads.

mod accepted;
mod flusher;
mod inner;
mod load;
mod many;
mod open;
mod recovery;
mod state_partition;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use share_state_core::coordinator::ShareCoordinator;
use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::{
    InitializeState, ReadState, ReadStateResult, StateSummary, WriteStateRef,
};
use share_state_core::time::WallTime;
use share_state_wire::partitioner::state_partition;

pub use accepted::AcceptedWrite;
pub(crate) use flusher::Flusher;
pub use many::Answers;
pub use recovery::Recovery;

use crate::config::{StoreConfig, SyncPolicy};
use crate::counters::Counters;
use crate::disk::{Disk, RealDisk};
use crate::error::{OpenError, StoreError};
use crate::opener::Opener;
use crate::progress::Progress;
use crate::sync::Mutex;
use inner::Inner;
use state_partition::StatePartition;

/// The states of share partitions, in a directory, in Kafka's own log format.
///
/// Every verb takes `&self` and may be called from any thread. Calls for one state partition share their syncs (group
/// commit). A verb returns once everything that its answer depends on is as durable as the [`SyncPolicy`] requires. This holds for
/// reads and refusals too. Every topic counts as existing, because the store has no metadata.
///
/// After a failed append or sync the store is poisoned: every call returns [`StoreError::Poisoned`] until the
/// directory is opened again. In a forked child every call returns [`StoreError::Forked`]. Dropping a store
/// closes it and ignores errors.
#[derive(Debug)]
pub struct StateStore {
    inner: Arc<Inner>,
    flusher: Option<Flusher>,
}

impl StateStore {
    /// Opens the store in `root`. Creates it if it does not exist and the settings allow that.
    ///
    /// `on_progress` is called before each state partition, about once per MiB, and at the end; it may stop the load.
    ///
    /// # Errors
    /// See [`OpenError`]. A torn tail is not an error: it is cut off, and [`Self::recovery`] reports it.
    pub fn open(
        root: impl AsRef<Path>,
        config: &StoreConfig,
        mut on_progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Self, OpenError> {
        Self::open_on(Arc::new(RealDisk), root.as_ref(), config, &mut on_progress)
    }

    pub(crate) fn open_on(
        disk: Arc<dyn Disk>,
        root: &Path,
        config: &StoreConfig,
        on_progress: &mut load::OnProgress<'_>,
    ) -> Result<Self, OpenError> {
        let opened = open::open(&disk, root, config, on_progress)?;
        let inner = Arc::new(Inner {
            disk,
            root: root.to_owned(),
            partitions: opened.partitions,
            noted: Mutex::new(opened.noted),
            recovery: opened.recovery,
            tally: opened.tally,
            lock: opened.lock,
            opener: Opener::this_process(),
            released: AtomicBool::new(false),
        });
        let flusher = match config.sync {
            SyncPolicy::Interval { ms } => {
                let inner = Arc::clone(&inner);
                Some(Flusher::start(root, ms, move || inner.flush())?)
            }
            SyncPolicy::Always | SyncPolicy::Never => None,
        };
        Ok(Self { inner, flusher })
    }

    /// InitializeShareGroupState (RPC 83).
    ///
    /// # Errors
    /// The coordinator refuses, or the store cannot be used.
    pub fn initialize(
        &self,
        key: &SharePartitionKey,
        request: &InitializeState,
        wall: WallTime,
    ) -> Result<(), StoreError> {
        self.partition_of(key)?.1.operate(wall, |coordinator| {
            coordinator.decide_initialize(key, request, true, wall)
        })
    }

    /// ReadShareGroupState (RPC 84). A read with a new leader epoch is written, and fences older leaders.
    ///
    /// # Errors
    /// The coordinator refuses, or the store cannot be used.
    pub fn read(
        &self,
        key: &SharePartitionKey,
        request: &ReadState,
        wall: WallTime,
    ) -> Result<ReadStateResult, StoreError> {
        self.partition_of(key)?.1.operate(wall, |coordinator| {
            coordinator.decide_read(key, request, true, wall)
        })
    }

    /// WriteShareGroupState (RPC 85).
    ///
    /// # Errors
    /// The coordinator refuses, or the store cannot be used.
    pub fn write<'a>(
        &self,
        key: &SharePartitionKey,
        request: impl Into<WriteStateRef<'a>>,
        wall: WallTime,
    ) -> Result<(), StoreError> {
        self.partition_of(key)?.1.operate(wall, |coordinator| {
            coordinator.decide_write(key, request, true, wall)
        })
    }

    /// DeleteShareGroupState (RPC 86). It succeeds if there is no state.
    ///
    /// # Errors
    /// The coordinator refuses, or the store cannot be used.
    pub fn delete(&self, key: &SharePartitionKey, wall: WallTime) -> Result<(), StoreError> {
        self.partition_of(key)?
            .1
            .operate(wall, |coordinator| coordinator.decide_delete(key, true))
    }

    /// ReadShareGroupStateSummary (RPC 87).
    ///
    /// # Errors
    /// The coordinator refuses, or the store cannot be used.
    pub fn summary(&self, key: &SharePartitionKey) -> Result<StateSummary, StoreError> {
        let (_, partition) = self.partition_of(key)?;
        Ok(partition.inspect(|coordinator| coordinator.read_summary(key, true))??)
    }

    /// Every share partition with its state, ordered by key.
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn states(&self) -> Result<Vec<(SharePartitionKey, ShareGroupOffset)>, StoreError> {
        let mut states = Vec::new();
        for partition in self.partitions()? {
            states.extend(partition.inspect(|coordinator| {
                coordinator
                    .states()
                    .map(|(key, state)| (key.clone(), state.clone()))
                    .collect::<Vec<_>>()
            })?);
        }
        states.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Ok(states)
    }

    /// Number of share partitions with state.
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn state_count(&self) -> Result<usize, StoreError> {
        let mut states = 0;
        for partition in self.partitions()? {
            states += partition.inspect(ShareCoordinator::len)?;
        }
        Ok(states)
    }

    /// Deletes the states of these topics, as Kafka does when a topic is deleted. Returns their number.
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn topics_deleted(
        &self,
        topic_ids: &[TopicId],
        wall: WallTime,
    ) -> Result<usize, StoreError> {
        self.each(|partition| {
            partition.append_each(wall, |coordinator| {
                coordinator.decide_topics_deleted(topic_ids)
            })
        })
    }

    /// Forgets the offsets from `offset` on in every state of a topic partition whose log was truncated. Returns the number of
    /// changed states.
    ///
    /// # Errors
    /// The store cannot be used, or a snapshot is too large to be written. All others are written even so.
    pub fn log_truncated(
        &self,
        topic_id: TopicId,
        partition: i32,
        offset: i64,
        wall: WallTime,
    ) -> Result<usize, StoreError> {
        self.each(|state_partition| {
            state_partition.append_each(wall, |coordinator| {
                coordinator.decide_log_truncated(topic_id, partition, offset, wall)
            })
        })
    }

    /// Writes the snapshots again that are older than the interval of the settings, so that [`Self::prune`] can delete
    /// segments. Returns their number. A broker does both every five minutes; here the caller does.
    ///
    /// # Errors
    /// As for [`Self::log_truncated`].
    pub fn cold_snapshots(&self, wall: WallTime) -> Result<usize, StoreError> {
        self.each(|partition| {
            partition.append_each(wall, |coordinator| coordinator.decide_cold_snapshots(wall))
        })
    }

    /// Deletes the segments that are entirely below the latest snapshot of every key. Returns their number.
    ///
    /// # Errors
    /// The store cannot be used, or deleting failed ([`StoreError::Prune`]; the store stays usable).
    pub fn prune(&self) -> Result<usize, StoreError> {
        let partitions = self.partitions()?;
        let mut noted = self.inner.noted()?;
        let mut removed = 0;
        for (index, partition) in (0..).zip(partitions) {
            removed += partition.prune(|log_start, end| {
                noted
                    .move_start(
                        self.inner.disk.as_ref(),
                        &self.inner.root,
                        index,
                        log_start,
                        end,
                    )
                    .map_err(StoreError::Prune)
            })?;
        }
        Ok(removed)
    }

    /// Returns once everything accepted so far is on disk, whatever the sync policy.
    ///
    /// # Errors
    /// The store cannot be used, or the sync failed.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.check_process()?;
        self.inner.flush()
    }

    /// Flushes, notes where each log ends, and releases the directory. A second call does nothing.
    ///
    /// # Errors
    /// The flush failed; the directory is released nevertheless.
    pub fn close(&self) -> Result<(), StoreError> {
        self.check_process()?;
        self.inner.close()
    }

    /// The findings and repairs of opening.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        &self.inner.recovery
    }

    /// Counts of the store's work since it was opened.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.inner.tally.counters()
    }

    /// Number of state partitions.
    #[must_use]
    pub fn partition_count(&self) -> u32 {
        self.inner.partition_count()
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.root
    }

    fn check_process(&self) -> Result<(), StoreError> {
        self.inner.opener.check()
    }

    fn partitions(&self) -> Result<&[StatePartition], StoreError> {
        self.check_process()?;
        Ok(&self.inner.partitions)
    }

    /// The state partition of a key, and its number.
    fn partition_of(&self, key: &SharePartitionKey) -> Result<(u32, &StatePartition), StoreError> {
        let index = state_partition(key, self.partition_count());
        // The partitioner answers below the count, and a store has at least one partition.
        let partition = self.partitions()?.get(index as usize);
        Ok((index, partition.ok_or(StoreError::Closed)?))
    }

    fn each(
        &self,
        mut act: impl FnMut(&StatePartition) -> Result<usize, StoreError>,
    ) -> Result<usize, StoreError> {
        let mut sum = Ok(0);
        for partition in self.partitions()? {
            // One that fails does not keep the others from theirs.
            let done = act(partition);
            sum = sum.and_then(|sum| Ok(sum + done?));
        }
        sum
    }
}

impl Drop for StateStore {
    fn drop(&mut self) {
        if self.check_process().is_err() {
            // The thread belongs to the parent; the child has nothing to join.
            if let Some(flusher) = self.flusher.take() {
                flusher.abandon();
            }
            return;
        }
        if let Some(flusher) = self.flusher.take() {
            flusher.stop();
        }
        // A caller who needs the error calls `close`.
        let _ = self.inner.close();
    }
}
