//! The records of share groups in `__consumer_offsets`, byte for byte as Kafka 4.3 and later writes them (record types 10
//! to 15, `GroupCoordinatorRecordSerde`).
//!
//! A key is the record type and a non-flexible struct; a value is a version, always 0, and a flexible struct. Types of
//! other kinds of groups are left unread. Tagged fields that are not known are dropped: who rewrites such a log is the one
//! who wrote it.

mod assignment;
mod key;
mod member;
mod state_partitions;
mod value;

use std::sync::Arc;

use share_state_core::share_group::{GroupRecord, GroupValue};

use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use key::Key;

/// Record type of the description of a member.
pub const SHARE_GROUP_MEMBER_METADATA: i16 = 10;
/// Record type of a group's epoch.
pub const SHARE_GROUP_METADATA: i16 = 11;
/// Record type of the epoch of a group's target assignment.
pub const SHARE_GROUP_TARGET_ASSIGNMENT_METADATA: i16 = 12;
/// Record type of a member's target assignment.
pub const SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER: i16 = 13;
/// Record type of a member's current assignment.
pub const SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT: i16 = 14;
/// Record type of the share partitions that have state.
pub const SHARE_GROUP_STATE_PARTITION_METADATA: i16 = 15;

/// A decoded record of `__consumer_offsets`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A record of a share group.
    Record(GroupRecord),
    /// A record of another type, left unread.
    OtherType(i16),
}

/// The bytes of the record's key.
///
/// # Errors
/// An id is longer than 32,767 bytes, or the group id is empty: no reader would accept the key.
pub fn encode_key(record: &GroupRecord) -> Result<Vec<u8>, WireError> {
    let (record_type, member) = match &record.value {
        GroupValue::Member(member, _) => (SHARE_GROUP_MEMBER_METADATA, Some(member)),
        GroupValue::Group(_) => (SHARE_GROUP_METADATA, None),
        GroupValue::TargetAssignment(_) => (SHARE_GROUP_TARGET_ASSIGNMENT_METADATA, None),
        GroupValue::TargetMember(member, _) => (SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER, Some(member)),
        GroupValue::CurrentMember(member, _) => {
            (SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT, Some(member))
        }
        GroupValue::StatePartitions(_) => (SHARE_GROUP_STATE_PARTITION_METADATA, None),
    };
    key::encode(record_type, &record.group, member.map(|member| &**member))
}

/// The bytes of a value; `None` is the null value that deletes a key.
///
/// # Errors
/// A text is longer than 32,767 bytes, or there are more elements than Kafka's 32-bit lengths can express.
pub fn encode_value(value: &GroupValue) -> Result<Option<Vec<u8>>, WireError> {
    match value {
        GroupValue::Member(_, value) => value.as_ref().map(member::encode).transpose(),
        GroupValue::Group(value) => Ok(value.map(value::encode_group)),
        GroupValue::TargetAssignment(value) => Ok(value.map(value::encode_target)),
        GroupValue::TargetMember(_, value) => {
            value.as_ref().map(assignment::encode_target).transpose()
        }
        GroupValue::CurrentMember(_, value) => {
            value.as_ref().map(assignment::encode_current).transpose()
        }
        GroupValue::StatePartitions(value) => {
            value.as_ref().map(state_partitions::encode).transpose()
        }
    }
}

/// Reads one record. Positions in an error count from the start of the key or of the value, whichever is at fault.
///
/// # Errors
/// Any departure from the format, and a version other than 0 ([`WireErrorKind::UnsupportedVersion`]).
pub fn decode(key: &[u8], value: Option<&[u8]>) -> Result<Decoded, WireError> {
    let mut r = Reader::new(key);
    let record_type = r.i16()?;
    if !(SHARE_GROUP_MEMBER_METADATA..=SHARE_GROUP_STATE_PARTITION_METADATA).contains(&record_type)
    {
        return Ok(Decoded::OtherType(record_type));
    }
    let of_member = matches!(
        record_type,
        SHARE_GROUP_MEMBER_METADATA
            | SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER
            | SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT
    );
    let Key { group, member } = key::read(r, of_member)?;
    let member = Arc::from(member);
    let value = match record_type {
        SHARE_GROUP_MEMBER_METADATA => GroupValue::Member(member, read(value, member::read)?),
        SHARE_GROUP_METADATA => GroupValue::Group(read(value, value::read_group)?),
        SHARE_GROUP_TARGET_ASSIGNMENT_METADATA => {
            GroupValue::TargetAssignment(read(value, value::read_target)?)
        }
        SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER => {
            GroupValue::TargetMember(member, read(value, assignment::read_target)?)
        }
        SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT => {
            GroupValue::CurrentMember(member, read(value, assignment::read_current)?)
        }
        _ => GroupValue::StatePartitions(read(value, state_partitions::read)?),
    };
    Ok(Decoded::Record(GroupRecord {
        group: Arc::from(group),
        value,
    }))
}

const VERSION: i16 = 0;

/// Reads the version and then the whole of the value.
fn read<T>(
    value: Option<&[u8]>,
    body: impl FnOnce(&mut Reader<'_>) -> Result<T, WireError>,
) -> Result<Option<T>, WireError> {
    let Some(bytes) = value else {
        return Ok(None);
    };
    let mut r = Reader::new(bytes);
    match r.i16()? {
        VERSION => {}
        version => {
            let kind = WireErrorKind::UnsupportedVersion { version };
            return Err(WireError::new(0, kind));
        }
    }
    let value = body(&mut r)?;
    r.finish()?;
    Ok(Some(value))
}

/// A value's first bytes.
fn begin() -> Vec<u8> {
    VERSION.to_be_bytes().to_vec()
}

#[cfg(test)]
mod tests;
