//! The scene of these tests: topics, their batches, and the configuration of groups.

use std::sync::Arc;

use share_state_core::limits::{AutoOffsetReset, ShareGroupConfig};
use share_state_core::share_session::ConnectionId;
use share_state_gateway::node::{Topic, Topics};
use share_state_wire::record_batch::{Compression, NewRecord, encode_batch};

use crate::client::place;

/// Connections of clients.
pub const A: ConnectionId = 1;
pub const B: ConnectionId = 2;
pub const C: ConnectionId = 3;
/// Records of a batch of the logs.
pub const PER_BATCH: i64 = 2;
/// Leader epoch of the one slot of the first process.
pub const LEADER_EPOCH: i32 = 3;

/// The configuration of these tests: short locks, from the first record on.
pub fn config() -> ShareGroupConfig {
    ShareGroupConfig {
        auto_offset_reset: AutoOffsetReset::Earliest,
        record_lock_duration_ms: 1_000,
        ..ShareGroupConfig::default()
    }
}

/// Two topics of three partitions, and one of Kafka's own.
pub fn topics() -> Topics {
    let topic = |number: u8| {
        let topic = Topic {
            name: Arc::from(format!("topic-{number}")),
            partitions: 3,
            is_internal: number == 9,
        };
        (place(number, 0).topic_id, topic)
    };
    [1, 2, 9].into_iter().map(topic).collect()
}

/// A batch of the logs, whose values have so many bytes.
pub fn bytes(base_offset: i64, value: usize) -> Vec<u8> {
    let value = vec![b'v'; value];
    let record = NewRecord {
        timestamp: 1,
        key: None,
        value: Some(&value),
    };
    let records = vec![record; PER_BATCH as usize];
    encode_batch(base_offset, 0, Compression::None, &records).unwrap()
}
