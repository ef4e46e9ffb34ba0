//! What the store's handle, its thread and its closing share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::error::{PoisonCause, StoreError};
use super::recovery::Recovery;
use super::state_partition::StatePartition;
use crate::checkpoint::LogStarts;
use crate::counters::Tally;
use crate::disk::{Disk, Held};
use crate::home::write_meta;
use crate::meta::{Meta, Noted, Torn};

/// An open store.
#[derive(Debug)]
pub(super) struct Inner {
    pub disk: Arc<dyn Disk>,
    pub root: PathBuf,
    pub partitions: Vec<StatePartition>,
    /// Locked for as long as a prune or a close is in progress, so that a closed store changes nothing.
    pub starts: Mutex<LogStarts>,
    pub recovery: Recovery,
    pub tally: Arc<Tally>,
    pub lock: Box<dyn Held>,
    pub pid: u32,
    pub released: AtomicBool,
}

impl Inner {
    pub fn partition_count(&self) -> u32 {
        u32::try_from(self.partitions.len()).unwrap_or(u32::MAX)
    }

    pub fn starts(&self) -> Result<MutexGuard<'_, LogStarts>, StoreError> {
        self.starts.lock().map_err(|_| StoreError::Poisoned {
            cause: Arc::new(PoisonCause::Panic),
        })
    }

    pub fn flush(&self) -> Result<(), StoreError> {
        self.partitions.iter().try_for_each(StatePartition::flush)
    }

    pub fn close(&self) -> Result<(), StoreError> {
        let starts = self.starts();
        if self.released.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let closed = self.finish();
        // The next writer may come as soon as the lock is free: nobody here may still be writing then.
        self.partitions.iter().for_each(StatePartition::quiesce);
        self.lock.release();
        drop(starts);
        closed
    }

    fn finish(&self) -> Result<(), StoreError> {
        for partition in &self.partitions {
            partition.close()?;
        }
        // Everything is on the disk, so from here on whatever is missing is damage.
        let ends: Result<_, StoreError> = self.partitions.iter().map(StatePartition::end).collect();
        let meta = Meta {
            partitions: self.partition_count(),
            torn: Torn::Nothing,
            noted: Noted::Ends(ends?),
        };
        write_meta(self.disk.as_ref(), &self.root, &meta).map_err(|failure| StoreError::Poisoned {
            cause: Arc::new(PoisonCause::Io(failure)),
        })
    }
}
