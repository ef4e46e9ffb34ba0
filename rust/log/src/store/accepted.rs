//! A write in two halves, for a writer that releases its share partition while it waits for the disk.

use share_state_core::ids::SharePartitionKey;
use share_state_core::persister::WriteStateRef;
use share_state_core::time::WallTime;

use super::StateStore;
use crate::error::StoreError;

/// A write that has its place in the log and no answer yet.
#[derive(Debug)]
#[must_use = "the write is answered by `StateStore::end_write`"]
pub struct AcceptedWrite {
    partition: u32,
    /// The offset after everything that the answer depends on.
    ticket: i64,
    answer: Result<(), StoreError>,
}

impl StateStore {
    /// The first half of [`Self::write`]: decides, and gives the write its place in the log, after all writes begun before it.
    /// It does not wait for the disk.
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn begin_write<'a>(
        &self,
        key: &SharePartitionKey,
        request: impl Into<WriteStateRef<'a>>,
        wall: WallTime,
    ) -> Result<AcceptedWrite, StoreError> {
        let request = request.into();
        let (index, partition) = self.partition_of(key)?;
        let (answer, ticket) = partition.begin(wall, |coordinator| {
            coordinator.decide_write(key, request, true, wall)
        })?;
        Ok(AcceptedWrite {
            partition: index,
            ticket,
            answer,
        })
    }

    /// The second half, where it takes one short append at most. Returns `false` where a sync, a new segment or another thread would
    /// have to be waited for: [`Self::end_write`] does that.
    ///
    /// # Errors
    /// As for [`Self::end_write`].
    pub fn try_end_write(&self, write: &AcceptedWrite) -> Result<bool, StoreError> {
        let partitions = self.partitions()?;
        if let Some(partition) = partitions.get(write.partition as usize)
            && !partition.await_ticket_at_once(write.ticket)?
        {
            return Ok(false);
        }
        write.answer.clone().map(|()| true)
    }

    /// The second half: returns once the answer is as durable as the sync policy requires. Writes that were begun together share
    /// a sync, whichever thread ends them.
    ///
    /// # Errors
    /// The coordinator refused the write, or the store cannot be used any more.
    pub fn end_write(&self, write: AcceptedWrite) -> Result<(), StoreError> {
        let partitions = self.partitions()?;
        if let Some(partition) = partitions.get(write.partition as usize) {
            partition.await_ticket(write.ticket)?;
        }
        write.answer
    }
}
