//! A write in two halves, for a writer that lets others at its share partition while the disk is waited for.

use share_state_core::coordinator::ShareCoordinator;
use share_state_core::ids::SharePartitionKey;
use share_state_core::persister::WriteState;
use share_state_core::time::WallTime;
use share_state_wire::partitioner::state_partition;

use super::{StateStore, StoreError};

/// A write that has its place in the order of the log and no answer yet.
#[derive(Debug)]
#[must_use = "the write is answered by `StateStore::end_write`"]
pub struct AcceptedWrite {
    partition: u32,
    /// Offset after all that the answer depends on.
    ticket: i64,
    answer: Result<(), StoreError>,
}

impl StateStore {
    /// The first half of [`Self::write`]: decides, and gives the write its place in the log after those that were begun before.
    /// Does not wait for the disk.
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

    /// The second half: returns when the answer is as durable as the sync policy asks. Writes that were begun together share
    /// their wait, whoever ends them.
    ///
    /// # Errors
    /// The coordinator refused the write, or the store cannot be used any more.
    pub fn end_write(&self, write: AcceptedWrite) -> Result<(), StoreError> {
        let partitions = self.partitions()?;
        if let Some(partition) = partitions.get(write.partition as usize) {
            partition.settle(write.ticket)?;
        }
        write.answer
    }
}
