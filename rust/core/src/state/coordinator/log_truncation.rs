//! Forgets offsets when the log of a topic partition is cut: an unclean election, a cluster restored from a backup.
//!
//! Not Kafka's: there what was terminal stays terminal, and a new record at such an offset is never delivered. Who calls this
//! wants every record delivered at least once.

use super::ShareCoordinator;
use crate::delivery::RecordState;
use crate::ids::{SharePartitionKey, TopicId};
use crate::records::{ShareRecord, ShareSnapshot, ShareValue};
use crate::state::group_offset::ShareGroupOffset;
use crate::state::state_batch::StateBatch;
use crate::time::WallTime;

impl ShareCoordinator {
    /// Forgets the offsets from `offset` on in the states of a topic partition, for they are those of other records now. One
    /// snapshot for each key that knows something of them, ordered by key.
    ///
    /// The state epoch rises, so that a leader which still holds the old state is fenced. A start offset that is unknown stays
    /// so. A key whose epochs are at their end is passed over. No log is cut below 0: a lower offset counts as 0.
    #[must_use]
    pub fn decide_log_truncated(
        &self,
        topic_id: TopicId,
        partition: i32,
        offset: i64,
        now: WallTime,
    ) -> Vec<ShareRecord> {
        let offset = offset.max(0);
        self.states()
            .filter(|(key, _)| key.topic_id == topic_id && key.partition == partition)
            .filter_map(|(key, state)| cut(key, state, offset, now))
            .collect()
    }
}

fn cut(
    key: &SharePartitionKey,
    state: &ShareGroupOffset,
    offset: i64,
    now: WallTime,
) -> Option<ShareRecord> {
    let batches = state.state_batches.to_vec();
    let reaches = batches.iter().any(|batch| batch.last_offset >= offset);
    if state.start_offset <= offset && !reaches {
        return None;
    }
    let left: Vec<StateBatch> = batches
        .into_iter()
        .filter(|batch| batch.first_offset < offset)
        .map(|batch| StateBatch {
            // There is an offset below this one, that of the batch.
            last_offset: batch.last_offset.min(offset.saturating_sub(1)),
            ..batch
        })
        .collect();
    Some(ShareRecord {
        key: key.clone(),
        value: ShareValue::Snapshot(ShareSnapshot {
            snapshot_epoch: state.snapshot_epoch.checked_add(1)?,
            state_epoch: state.state_epoch.checked_add(1)?,
            start_offset: state.start_offset.min(offset),
            delivery_complete_count: complete(&left),
            create_timestamp: now.0,
            write_timestamp: now.0,
            state_batches: left,
            ..state.to_snapshot()
        }),
    })
}

/// Terminal records; -1, unknown, where a count of 31 bits does not hold them.
fn complete(batches: &[StateBatch]) -> i32 {
    let records: i128 = batches
        .iter()
        .filter(|batch| {
            RecordState::from_id(batch.delivery_state).is_some_and(RecordState::is_terminal)
        })
        .map(|batch| i128::from(batch.last_offset) - i128::from(batch.first_offset) + 1)
        .sum();
    i32::try_from(records).unwrap_or(-1)
}
