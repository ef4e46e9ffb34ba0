//! Snapshots of keys that nobody writes to (Kafka: `ShareCoordinatorShard.snapshotColdPartitions`).

use super::ShareCoordinator;
use crate::ids::SharePartitionKey;
use crate::persister::MAX_STATE_BATCHES;
use crate::records::{ShareRecord, ShareSnapshot, ShareValue};
use crate::state::group_offset::ShareGroupOffset;
use crate::time::WallTime;

impl ShareCoordinator {
    /// Writes again what was last snapshotted a full interval ago, so that the log below it becomes redundant
    /// (KAFKA-18170). The records are ordered by key.
    ///
    /// Only a snapshot counts as writing, so a busy key without one comes up too. A rewritten snapshot keeps its create
    /// timestamp; once every key stands in that form nothing is written, or a sleeping coordinator would rewrite itself
    /// forever. A key at the end of the snapshot epochs is passed over, and one whose state is too large for a snapshot.
    ///
    /// A key with updates only has a write timestamp of 0 and so comes up at once, which is due: its updates hold no
    /// part of the log. Whoever prunes should ask here first.
    #[must_use]
    pub fn decide_cold_snapshots(&self, now: WallTime) -> Vec<ShareRecord> {
        let all_rewritten = self
            .keys
            .values()
            .filter_map(|known| known.state.as_ref())
            .all(|state| state.create_timestamp != state.write_timestamp);
        if all_rewritten {
            return Vec::new();
        }
        self.states()
            .filter(|(_, state)| {
                now.0.saturating_sub(state.write_timestamp)
                    >= self.config.cold_partition_snapshot_interval_ms
                    && state.state_batches.len() <= MAX_STATE_BATCHES
            })
            .filter_map(|(key, state)| rewritten(key, state, now))
            .collect()
    }
}

fn rewritten(
    key: &SharePartitionKey,
    state: &ShareGroupOffset,
    now: WallTime,
) -> Option<ShareRecord> {
    Some(ShareRecord {
        key: key.clone(),
        value: ShareValue::Snapshot(ShareSnapshot {
            snapshot_epoch: state.snapshot_epoch.checked_add(1)?,
            write_timestamp: now.0,
            ..state.to_snapshot()
        }),
    })
}
