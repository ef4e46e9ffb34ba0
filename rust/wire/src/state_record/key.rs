//! Keys (`ShareSnapshotKey`, `ShareUpdateKey`): `type i16 · GroupId string · TopicId uuid · Partition i32`.

use share_state_core::ids::SharePartitionKey;

use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::primitives::{
    MAX_STRING, check_string, read_legacy_string, read_topic_id, write_legacy_string,
};

pub(super) const EMPTY_GROUP: WireErrorKind = WireErrorKind::Length {
    length: 0,
    max: MAX_STRING as i64,
};

pub(super) fn encode(record_type: i16, key: &SharePartitionKey) -> Result<Vec<u8>, WireError> {
    let mut out = Vec::new();
    append(&mut out, record_type, key)?;
    Ok(out)
}

/// An error leaves `out` as it is.
pub(super) fn append(
    out: &mut Vec<u8>,
    record_type: i16,
    key: &SharePartitionKey,
) -> Result<(), WireError> {
    check_string(key.group.len())?;
    if key.group.is_empty() {
        return Err(WireError::unwritable(EMPTY_GROUP));
    }
    out.reserve(2 + 2 + key.group.len() + 16 + 4);
    out.extend_from_slice(&record_type.to_be_bytes());
    write_legacy_string(out, Some(&key.group));
    out.extend_from_slice(&key.topic_id.0);
    out.extend_from_slice(&key.partition.to_be_bytes());
    Ok(())
}

/// Reads what follows the record type. An empty group is refused: no request can make a state for it.
pub(super) fn read(mut r: Reader<'_>) -> Result<SharePartitionKey, WireError> {
    let start = r;
    let group = read_legacy_string(&mut r)?.ok_or(start.error(WireErrorKind::Null))?;
    if group.is_empty() {
        return Err(start.error(EMPTY_GROUP));
    }
    let key = SharePartitionKey::new(group, read_topic_id(&mut r)?, r.i32()?);
    r.finish()?;
    Ok(key)
}
