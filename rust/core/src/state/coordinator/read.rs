//! ReadShareGroupState (RPC 84).

use super::snapshot_policy::Change;
use super::{CoordinatorError, Decision, Operation, ShareCoordinator, check};
use crate::ids::SharePartitionKey;
use crate::persister::{ReadState, ReadStateResult};
use crate::time::WallTime;

impl ShareCoordinator {
    /// Answers a share partition's state, and fences leaders older than the reader.
    ///
    /// A leader epoch that the state does not have is written as a record, or a crash would let the stale leader back in
    /// (KAFKA-17796). Memory may know the epoch all the same, from before a new initialisation: its records may be pruned
    /// (deliberate difference I2). The answer must wait for the record.
    ///
    /// # Errors
    /// In this order: malformed request, no state, fenced leader epoch, unknown topic.
    pub fn decide_read(
        &self,
        key: &SharePartitionKey,
        request: &ReadState,
        topic_exists: bool,
        now: WallTime,
    ) -> Result<Decision<ReadStateResult>, CoordinatorError> {
        check::key(key)?;
        check::leader_epoch(request.leader_epoch)?;
        let (known, state) = check::initialized(self.known(key), Operation::Read)?;
        check::leader_not_fenced(known, request.leader_epoch)?;
        check::topic(topic_exists)?;

        let mut records = Vec::new();
        if state.leader_epoch != request.leader_epoch {
            let change = Change {
                leader_epoch: request.leader_epoch,
                start_offset: state.start_offset,
                delivery_complete_count: state.delivery_complete_count,
                state_batches: &[],
            };
            records.push(self.record(key, known, state, change, now));
        }
        Ok(Decision {
            records,
            answer: ReadStateResult {
                state_epoch: state.state_epoch,
                start_offset: state.start_offset,
                state_batches: state.state_batches.to_vec(),
            },
        })
    }

    /// As [`Self::decide_read`], of a leader that takes the epoch after the highest that is known. Answers the epoch too.
    ///
    /// # Errors
    /// Errors of a read; a fenced leader epoch if there is no higher one.
    pub fn decide_read_as_next_leader(
        &self,
        key: &SharePartitionKey,
        topic_exists: bool,
        now: WallTime,
    ) -> Result<Decision<(i32, ReadStateResult)>, CoordinatorError> {
        let current = self.highest_leader_epoch(key).unwrap_or(0);
        let Some(leader_epoch) = current.checked_add(1) else {
            return Err(CoordinatorError::FencedLeaderEpoch {
                requested: current,
                current,
            });
        };
        let read = self.decide_read(key, &ReadState { leader_epoch }, topic_exists, now)?;
        Ok(Decision {
            records: read.records,
            answer: (leader_epoch, read.answer),
        })
    }
}
