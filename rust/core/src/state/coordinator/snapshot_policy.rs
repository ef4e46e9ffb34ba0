//! Policy of snapshots: decides if a change becomes an update or a snapshot, and what stands in it.

use super::ShareCoordinator;
use super::replay::KeyState;
use crate::ids::SharePartitionKey;
use crate::persister::MAX_STATE_BATCHES;
use crate::records::{ShareRecord, ShareSnapshot, ShareUpdate, ShareValue};
use crate::state::group_offset::ShareGroupOffset;
use crate::state::state_batch::{StateBatch, StateBatches, combine};
use crate::time::WallTime;

/// Change by a write or a read; start offset and delivery complete count are the resulting ones.
pub(super) struct Change<'a> {
    pub leader_epoch: i32,
    pub start_offset: i64,
    pub delivery_complete_count: i32,
    pub state_batches: &'a [StateBatch],
}

impl Change<'_> {
    /// The state batches after the change.
    pub fn merged_into(&self, state: &ShareGroupOffset) -> StateBatches {
        let mut batches = state.state_batches.clone();
        batches.clip(self.start_offset);
        batches.merge(self.state_batches, self.start_offset);
        batches
    }
}

impl ShareCoordinator {
    /// The record of a change. A key's change is a snapshot when it has had its number of updates, and for no other
    /// reason (#21426 counts the first update as one). It stays an update, and the key is served on, at the end of the
    /// snapshot epochs, which do not wrap, and where the state is too large for a snapshot. Only a log that was not written
    /// here holds such a state.
    pub(super) fn record(
        &self,
        key: &SharePartitionKey,
        known: &KeyState,
        state: &ShareGroupOffset,
        change: Change<'_>,
        now: WallTime,
    ) -> ShareRecord {
        let due = known.updates >= self.config.snapshot_update_records_per_snapshot;
        let whole = due
            .then(|| change.merged_into(state))
            .filter(|batches| batches.len() <= MAX_STATE_BATCHES)
            .zip(state.snapshot_epoch.checked_add(1));
        let value = match whole {
            Some((batches, snapshot_epoch)) => ShareValue::Snapshot(ShareSnapshot {
                snapshot_epoch,
                state_epoch: state.state_epoch,
                leader_epoch: change.leader_epoch,
                start_offset: change.start_offset,
                delivery_complete_count: change.delivery_complete_count,
                create_timestamp: now.0,
                write_timestamp: now.0,
                state_batches: batches.to_vec(),
                unknown_tagged_fields: state.unknown_tagged_fields.clone(),
            }),
            None => ShareValue::Update(ShareUpdate {
                snapshot_epoch: state.snapshot_epoch,
                leader_epoch: change.leader_epoch,
                start_offset: change.start_offset,
                delivery_complete_count: change.delivery_complete_count,
                state_batches: combine(&[], change.state_batches, change.start_offset),
                unknown_tagged_fields: Vec::new(),
            }),
        };
        ShareRecord {
            key: key.clone(),
            value,
        }
    }
}
