//! A write in two halves, for a writer that releases its share partition while it waits for the disk.

use share_state_core::coordinator::ShareCoordinator;
use share_state_core::ids::SharePartitionKey;
use share_state_core::persister::WriteState;
use share_state_core::time::WallTime;
use share_state_wire::partitioner::state_partition;

use super::{StateStore, StoreError};

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
    pub fn begin_write(
        &self,
        key: &SharePartitionKey,
        request: &WriteState,
        wall: WallTime,
    ) -> Result<AcceptedWrite, StoreError> {
        let decide =
            |coordinator: &ShareCoordinator| coordinator.decide_write(key, request, true, wall);
        let (answers, ticket) = self
            .partition_of(key)?
            .operate_many(wall, core::iter::once(decide))?;
        Ok(AcceptedWrite {
            partition: state_partition(key, self.partition_count()),
            ticket,
            answer: answers.into_iter().collect(),
        })
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
