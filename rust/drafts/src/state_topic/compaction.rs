//! What compaction leaves of the topic.

use std::collections::HashMap;

use super::StateRecord;

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

#[cfg(test)]
mod tests {
    use share_state_core::ids::{SharePartitionKey, TopicId};

    use super::*;
    use crate::state_topic::StateKey;

    #[test]
    fn several_deltas_stay_because_their_keys_differ() {
        let logged = |offset, delta_index| {
            let share_partition = SharePartitionKey::new("g", TopicId([1; 16]), 0);
            let key = StateKey {
                share_partition,
                delta_index,
            };
            let record = StateRecord { key, value: None };
            LoggedState { offset, record }
        };
        let mut log = vec![
            logged(0, None),
            logged(1, Some(0)),
            logged(2, Some(1)),
            logged(3, None),
            logged(4, Some(0)),
        ];
        assert_eq!(compact(&mut log, 4), 1, "of those below offset 4");
        assert_eq!(compact(&mut log, 5), 1);
        let kept: Vec<i64> = log.iter().map(|logged| logged.offset).collect();
        assert_eq!(kept, [2, 3, 4]);
    }
}
