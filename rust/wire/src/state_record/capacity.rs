//! Number of batches that a state may have, so that its snapshot is taken by a log whose batches have a greatest size.

use share_state_core::ids::SharePartitionKey;
use share_state_core::persister::MAX_STATE_BATCHES;
use share_state_core::records::ShareSnapshot;

use super::{SHARE_SNAPSHOT, key, value};
use crate::error::WireError;
use crate::record_batch::HEADER_SIZE;
use crate::state_batch::SIZE;

/// Bytes that Kafka counts for the fields around key and value of a record (`DefaultRecord.MAX_RECORD_OVERHEAD`).
const RECORD_OVERHEAD: usize = 21;
/// Bytes by which the length of a list grows: it is one when the list is empty.
const LONGER_LENGTH: usize = 4;

/// The most state batches that a snapshot of the key may have where a batch of records may have `max_message_bytes`
/// (`max.message.bytes` of `__share_group_state`), never more than any coordinator of ours takes.
///
/// The coordinator measures the record with the header of a batch, against what is left beside a header, so two are counted.
///
/// # Errors
/// The key's group id is empty or too long for a record.
pub fn snapshot_capacity(
    key: &SharePartitionKey,
    max_message_bytes: usize,
) -> Result<usize, WireError> {
    let empty = ShareSnapshot {
        snapshot_epoch: 0,
        state_epoch: 0,
        leader_epoch: 0,
        start_offset: 0,
        delivery_complete_count: 0,
        create_timestamp: 0,
        write_timestamp: 0,
        state_batches: Vec::new(),
        unknown_tagged_fields: Vec::new(),
    };
    let key = key::encode(SHARE_SNAPSHOT, key)?.len();
    let mut value = Vec::new();
    value::append_snapshot(&mut value, &empty)?;
    let value = value.len();
    let fixed = 2 * HEADER_SIZE + RECORD_OVERHEAD + key + value + LONGER_LENGTH;
    let room = max_message_bytes.saturating_sub(fixed);
    Ok((room / SIZE).min(MAX_STATE_BATCHES))
}
