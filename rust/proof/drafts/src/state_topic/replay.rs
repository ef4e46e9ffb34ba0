//! Replay of the records of the topic to the states of the share partitions, and the records that compaction leaves.

use std::collections::{BTreeMap, HashMap};

use share_state_core::ids::SharePartitionKey;

use super::{StateRecord, StateValue};
use crate::effective::EffectiveState;

/// Content of the topic: the latest record of each key, as compaction would leave it.
#[derive(Clone, Debug, Default)]
pub struct StateReplay {
    share_partitions: BTreeMap<SharePartitionKey, Latest>,
}

#[derive(Clone, Debug, Default)]
struct Latest {
    checkpoint: Option<StateValue>,
    /// Deltas by index. Those of earlier checkpoints stay until another delta takes their index.
    deltas: BTreeMap<u8, StateValue>,
}

impl StateReplay {
    /// State without any record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next record of the log.
    pub fn replay(&mut self, record: &StateRecord) {
        let StateRecord { key, value } = record;
        let share_partition = key.share_partition.clone();
        let latest = self.share_partitions.entry(share_partition).or_default();
        match (key.delta_index, value) {
            (None, value) => latest.checkpoint.clone_from(value),
            (Some(index), Some(value)) => {
                latest.deltas.insert(index, value.clone());
            }
            (Some(index), None) => {
                latest.deltas.remove(&index);
            }
        }
        if latest.checkpoint.is_none() && latest.deltas.is_empty() {
            self.share_partitions.remove(&key.share_partition);
        }
    }

    /// The latest checkpoint of a share partition.
    #[must_use]
    pub fn checkpoint(&self, share_partition: &SharePartitionKey) -> Option<&StateValue> {
        self.share_partitions
            .get(share_partition)?
            .checkpoint
            .as_ref()
    }

    /// The state of a share partition: its latest checkpoint, and the deltas of that checkpoint in the order of their indexes.
    ///
    /// A delta of another epoch is passed over. The state epoch counts as well: a state that was deleted and initialised again
    /// begins at checkpoint epoch 0, and deltas of the earlier state may still stand in the log.
    #[must_use]
    pub fn state(&self, share_partition: &SharePartitionKey) -> Option<EffectiveState> {
        let latest = self.share_partitions.get(share_partition)?;
        let checkpoint = latest.checkpoint.as_ref()?;
        let mut state = EffectiveState::new(checkpoint.start_offset, &checkpoint.states);
        let epochs = |value: &StateValue| (value.state_epoch, value.checkpoint_epoch);
        for delta in latest.deltas.values() {
            if epochs(delta) == epochs(checkpoint) {
                state.apply(delta.start_offset, &delta.states);
            }
        }
        Some(state)
    }
}

/// A record with its offset in the topic's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedState {
    /// Its offset.
    pub offset: i64,
    /// The record.
    pub record: StateRecord,
}

/// Compacts `log`, which is in the order of the offsets, below `end` (exclusive): of each key only the latest record there stays.
/// Returns the number of records taken.
///
/// Kafka's cleaner leaves the active segment alone; `end` is where that begins. Tombstones stay as well, as they do in Kafka until
/// `delete.retention.ms` is over.
pub fn compact(log: &mut Vec<LoggedState>, end: i64) -> usize {
    let before = log.len();
    let mut latest = HashMap::new();
    for logged in log.iter().filter(|logged| logged.offset < end) {
        latest.insert(logged.record.key.clone(), logged.offset);
    }
    log.retain(|logged| {
        logged.offset >= end || latest.get(&logged.record.key) == Some(&logged.offset)
    });
    before - log.len()
}
