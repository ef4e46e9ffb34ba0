//! Keys: `version i16 · group · topic id · partition i32`, and of a delta one byte more, its index. Both are of version 0, so the
//! length tells them apart.

use share_state_core::ids::{SharePartitionKey, TopicId};

use crate::cursor::{Reader, write_group_id};
use crate::error::DraftError;

/// Key of a record; compaction keeps one record a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateKey {
    /// The share partition. It alone chooses the partition of the topic, so all records of a share partition stand in one log.
    pub share_partition: SharePartitionKey,
    /// Index of a delta; `None` for a checkpoint.
    pub delta_index: Option<u8>,
}

/// The bytes of a key.
///
/// # Errors
/// The group id is empty or longer than 32,767 bytes.
pub fn encode_key(key: &StateKey) -> Result<Vec<u8>, DraftError> {
    let mut out = vec![0, 0];
    write_group_id(&mut out, &key.share_partition.group)?;
    out.extend_from_slice(&key.share_partition.topic_id.0);
    out.extend_from_slice(&key.share_partition.partition.to_be_bytes());
    out.extend(key.delta_index);
    Ok(out)
}

/// Reads a key.
///
/// # Errors
/// Any departure from the format.
pub fn decode_key(key: &[u8]) -> Result<StateKey, DraftError> {
    let mut r = Reader::new(key);
    r.version()?;
    let group = r.group_id()?;
    let topic_id = TopicId(r.array("TopicId")?);
    let partition = r.i32("Partition")?;
    let delta_index = if r.remaining() == 0 {
        None
    } else {
        let [index] = r.array("DeltaIndex")?;
        Some(index)
    };
    r.finish()?;
    Ok(StateKey {
        share_partition: SharePartitionKey::new(group, topic_id, partition),
        delta_index,
    })
}
