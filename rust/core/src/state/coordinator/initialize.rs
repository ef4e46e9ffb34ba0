//! InitializeShareGroupState (RPC 83).

use super::{CoordinatorError, Decision, ShareCoordinator, check};
use crate::ids::SharePartitionKey;
use crate::persister::InitializeState;
use crate::records::{ShareRecord, ShareSnapshot, ShareValue};
use crate::time::WallTime;

impl ShareCoordinator {
    /// Creates a share partition's state, or replaces the whole of it.
    ///
    /// A repetition of the last initialisation, by state epoch and stored start offset, writes nothing: late
    /// duplicates do not wipe the state (#23190, deliberate difference I1 from 4.4.0).
    ///
    /// # Errors
    /// In this order: malformed request, fenced state epoch, unknown topic, snapshot epoch at its end.
    pub fn decide_initialize(
        &self,
        key: &SharePartitionKey,
        request: &InitializeState,
        topic_exists: bool,
        now: WallTime,
    ) -> Result<Decision<()>, CoordinatorError> {
        check::key(key)?;
        check::state_epoch(request.state_epoch)?;
        check::start_offset(request.start_offset)?;
        let known = self.known(key);
        if let Some((known, _)) = known {
            check::state_not_fenced(known, request.state_epoch)?;
        }
        check::topic(topic_exists)?;

        let mut snapshot_epoch = 0;
        if let Some((_, state)) = known {
            let repeated = !state.incomplete
                && state.state_epoch == request.state_epoch
                && state.start_offset == request.start_offset;
            if repeated {
                return Ok(Decision {
                    records: Vec::new(),
                    answer: (),
                });
            }
            snapshot_epoch = state
                .snapshot_epoch
                .checked_add(1)
                .ok_or(CoordinatorError::SnapshotEpochExhausted)?;
        }
        let snapshot = ShareSnapshot {
            snapshot_epoch,
            state_epoch: request.state_epoch,
            leader_epoch: 0,
            start_offset: request.start_offset,
            // Nothing is complete after a start offset that is known; after an unknown one nobody can say
            // (KAFKA-20034).
            delivery_complete_count: if request.start_offset == -1 { -1 } else { 0 },
            create_timestamp: now.0,
            write_timestamp: now.0,
            state_batches: Vec::new(),
            unknown_tagged_fields: Vec::new(),
        };
        Ok(Decision {
            records: vec![ShareRecord {
                key: key.clone(),
                value: ShareValue::Snapshot(snapshot),
            }],
            answer: (),
        })
    }
}
