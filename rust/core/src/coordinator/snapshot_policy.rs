//! Whether a change becomes an update or a snapshot, and what stands in it.

use super::ShareCoordinator;
use super::replay::KeyState;
use crate::group_offset::ShareGroupOffset;
use crate::ids::SharePartitionKey;
use crate::records::{ShareRecord, ShareSnapshot, ShareUpdate, ShareValue};
use crate::state_batch::{StateBatch, combine};
use crate::time::WallTime;

/// What a write or a read changes; start offset and delivery complete count are the resulting ones.
pub(super) struct Change<'a> {
    pub leader_epoch: i32,
    pub start_offset: i64,
    pub delivery_complete_count: i32,
    pub state_batches: &'a [StateBatch],
}

impl ShareCoordinator {
    /// The record of a change. A key's change is a snapshot when it has had its number of updates, and for no other
    /// reason (#21426 counts the first update as one). At the end of the snapshot epochs it stays an update: the epoch
    /// does not wrap, and the key is served on.
    pub(super) fn record(
        &self,
        key: &SharePartitionKey,
        known: &KeyState,
        state: &ShareGroupOffset,
        change: Change<'_>,
        now: WallTime,
    ) -> ShareRecord {
        let due = known.updates >= self.config.snapshot_update_records_per_snapshot;
        let value = match state.snapshot_epoch.checked_add(1) {
            Some(snapshot_epoch) if due => {
                let mut batches = state.state_batches.clone();
                batches.clip(change.start_offset);
                batches.merge(change.state_batches, change.start_offset);
                ShareValue::Snapshot(ShareSnapshot {
                    snapshot_epoch,
                    state_epoch: state.state_epoch,
                    leader_epoch: change.leader_epoch,
                    start_offset: change.start_offset,
                    delivery_complete_count: change.delivery_complete_count,
                    create_timestamp: now.0,
                    write_timestamp: now.0,
                    state_batches: batches.to_vec(),
                    unknown_tagged_fields: state.unknown_tagged_fields.clone(),
                })
            }
            _ => ShareValue::Update(ShareUpdate {
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
