//! State that the store's handle, its thread and its closing share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::recovery::Recovery;
use super::state_partition::StatePartition;
use crate::checkpoint::{self, LogStarts};
use crate::counters::Tally;
use crate::disk::{Disk, Held, IoFailure, write_atomically};
use crate::end_note::LogEnd;
use crate::error::{PoisonCause, StoreError};
use crate::home::write_meta;
use crate::layout::{CHECKPOINT_FILE, STATE_TOPIC};
use crate::mark::Marks;
use crate::meta::{Meta, Noted, Torn};
use crate::opener::Opener;
use crate::sync::{Mutex, MutexGuard};

/// Contents of the files beside the logs.
#[derive(Debug)]
pub(super) struct NotedFiles {
    pub starts: LogStarts,
    pub meta: Meta,
}

impl NotedFiles {
    /// Notes that a log begins later, and before that where it ends: it is whole up to there. Without what stands before the
    /// new beginning, a log that was cut back to before the end would be another state, and none that ever was.
    pub fn move_start(
        &mut self,
        disk: &dyn Disk,
        root: &Path,
        partition: u32,
        log_start: i64,
        end: LogEnd,
    ) -> Result<(), IoFailure> {
        let meta = self.meta.with_end(partition, end);
        write_meta(disk, root, &meta)?;
        self.meta = meta;
        let mut starts = self.starts.clone();
        starts.insert(partition, log_start);
        let checkpoint = checkpoint::encode(STATE_TOPIC, &starts);
        write_atomically(disk, root, CHECKPOINT_FILE, &checkpoint)?;
        self.starts = starts;
        Ok(())
    }
}

/// An open store.
#[derive(Debug)]
pub(super) struct Inner {
    pub disk: Arc<dyn Disk>,
    pub root: PathBuf,
    pub partitions: Vec<StatePartition>,
    /// Locked for as long as a prune or a close is in progress, so that a closed store changes nothing.
    pub noted: Mutex<NotedFiles>,
    pub recovery: Recovery,
    pub tally: Arc<Tally>,
    pub lock: Box<dyn Held>,
    pub opener: Opener,
    pub released: AtomicBool,
}

impl Inner {
    pub fn partition_count(&self) -> u32 {
        u32::try_from(self.partitions.len()).unwrap_or(u32::MAX)
    }

    pub fn noted(&self) -> Result<MutexGuard<'_, NotedFiles>, StoreError> {
        self.noted.lock().map_err(|_| StoreError::Poisoned {
            cause: Arc::new(PoisonCause::Panic),
        })
    }

    pub fn flush(&self) -> Result<(), StoreError> {
        self.partitions.iter().try_for_each(StatePartition::flush)
    }

    pub fn close(&self) -> Result<(), StoreError> {
        let noted = self.noted();
        if self.released.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let marks = noted.as_ref().ok().and_then(|n| n.meta.marks.clone());
        let closed = self.finish(marks);
        // The next writer may come as soon as the lock is free: nobody here may still be writing then.
        self.partitions.iter().for_each(StatePartition::quiesce);
        self.lock.release();
        drop(noted);
        closed
    }

    fn finish(&self, marks: Option<Marks>) -> Result<(), StoreError> {
        for partition in &self.partitions {
            partition.close()?;
        }
        // Everything is on the disk, so from here on whatever is missing is damage.
        let ends: Result<_, StoreError> = self.partitions.iter().map(StatePartition::end).collect();
        let meta = Meta {
            partitions: self.partition_count(),
            torn: Torn::Nothing,
            marks,
            noted: Noted::Ends(ends?),
        };
        write_meta(self.disk.as_ref(), &self.root, &meta).map_err(|failure| StoreError::Poisoned {
            cause: Arc::new(PoisonCause::Io(failure)),
        })
    }
}
