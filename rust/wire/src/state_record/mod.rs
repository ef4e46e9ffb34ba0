//! The records of the state topic `__share_group_state`, byte for byte as Kafka 4.2 and later writes them.
//!
//! A key is the record type and a non-flexible struct; a value is a version and a flexible struct. `decode` answers
//! for both, because the type in the key says what the value is.

mod capacity;
mod decoder;
mod key;
mod value;

pub use capacity::snapshot_capacity;
pub use decoder::{RecordDecoder, Seen};

use share_state_core::ids::SharePartitionKey;
use share_state_core::records::{ShareRecord, ShareValue};

use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};

/// Record type of a snapshot, and of the null value that deletes a state.
pub const SHARE_SNAPSHOT: i16 = 0;
/// Record type of an update.
pub const SHARE_UPDATE: i16 = 1;

/// A decoded record of the state topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A record of a share partition.
    Record(ShareRecord),
    /// A record of a type that this release does not know, left unread; a loader skips it, as Kafka's does
    /// (`CoordinatorLoaderImpl`).
    UnknownType(i16),
}

/// The bytes of the record's key.
///
/// # Errors
/// The group id is empty or longer than 32,767 bytes: no reader would accept the key.
pub fn encode_key(record: &ShareRecord) -> Result<Vec<u8>, WireError> {
    let mut out = Vec::new();
    append_key(&mut out, record)?;
    Ok(out)
}

/// As [`encode_key`], after what is in `out`; an error leaves it as it is.
///
/// # Errors
/// As [`encode_key`].
pub fn append_key(out: &mut Vec<u8>, record: &ShareRecord) -> Result<(), WireError> {
    let record_type = match record.value {
        ShareValue::Snapshot(_) | ShareValue::Tombstone => SHARE_SNAPSHOT,
        ShareValue::Update(_) => SHARE_UPDATE,
    };
    key::append(out, record_type, &record.key)
}

/// The bytes of a value; `None` is the null value of a tombstone.
///
/// Unknown tagged fields are written after the known one, in the order in which they stand; [`decode`] yields them in
/// the order that the format asks for.
///
/// # Errors
/// The value does not fit Kafka's 32-bit lengths, or its unknown tagged fields do not ascend from 1.
pub fn encode_value(value: &ShareValue) -> Result<Option<Vec<u8>>, WireError> {
    let mut out = Vec::new();
    Ok(append_value(&mut out, value)?.then_some(out))
}

/// As [`encode_value`], after what is in `out`, with `false` for the null value; an error leaves `out` as it is.
///
/// # Errors
/// As [`encode_value`].
pub fn append_value(out: &mut Vec<u8>, value: &ShareValue) -> Result<bool, WireError> {
    match value {
        ShareValue::Snapshot(snapshot) => value::append_snapshot(out, snapshot)?,
        ShareValue::Update(update) => value::append_update(out, update)?,
        ShareValue::Tombstone => return Ok(false),
    }
    Ok(true)
}

/// A decoded key of the state topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodedKey {
    /// The key of a snapshot, or of the null value that deletes a state.
    Snapshot(SharePartitionKey),
    /// The key of an update.
    Update(SharePartitionKey),
    /// A type that this release does not know; see [`Decoded::UnknownType`].
    UnknownType(i16),
}

/// Reads a key by itself, for readers who may not need the value. Positions in an error count from its start.
///
/// # Errors
/// Any departure from the format.
pub fn decode_key(key: &[u8]) -> Result<DecodedKey, WireError> {
    let mut r = Reader::new(key);
    match r.i16()? {
        SHARE_SNAPSHOT => key::read(r).map(DecodedKey::Snapshot),
        SHARE_UPDATE => key::read(r).map(DecodedKey::Update),
        record_type => Ok(DecodedKey::UnknownType(record_type)),
    }
}

/// Reads the value of a snapshot's key; null is a tombstone. Positions in an error count from its start.
///
/// # Errors
/// Any departure from the format, and a version other than 0 ([`WireErrorKind::UnsupportedVersion`]).
pub fn decode_snapshot(value: Option<&[u8]>) -> Result<ShareValue, WireError> {
    let mut read = ShareValue::Tombstone;
    read_value(SHARE_SNAPSHOT, value, &mut read)?;
    Ok(read)
}

/// Reads the value of an update's key. Positions in an error count from its start.
///
/// Null is refused ([`WireErrorKind::NullUpdate`]): Kafka never writes it, and its own coordinator fails to load it.
///
/// # Errors
/// Any departure from the format, and a version other than 0 ([`WireErrorKind::UnsupportedVersion`]).
pub fn decode_update(value: Option<&[u8]>) -> Result<ShareValue, WireError> {
    let mut read = ShareValue::Tombstone;
    read_value(SHARE_UPDATE, value, &mut read)?;
    Ok(read)
}

/// Reads one record. Positions in an error count from the start of the key or of the value, whichever is at fault.
///
/// # Errors
/// Those of [`decode_key`], and of [`decode_snapshot`] or [`decode_update`].
pub fn decode(key: &[u8], value: Option<&[u8]>) -> Result<Decoded, WireError> {
    let (key, value) = match decode_key(key)? {
        DecodedKey::Snapshot(key) => (key, decode_snapshot(value)?),
        DecodedKey::Update(key) => (key, decode_update(value)?),
        DecodedKey::UnknownType(record_type) => return Ok(Decoded::UnknownType(record_type)),
    };
    Ok(Decoded::Record(ShareRecord { key, value }))
}

const fn is_known(record_type: i16) -> bool {
    matches!(record_type, SHARE_SNAPSHOT | SHARE_UPDATE)
}

/// Reads the value of a record of a known type into `into`, whose room is used again.
fn read_value(
    record_type: i16,
    value: Option<&[u8]>,
    into: &mut ShareValue,
) -> Result<(), WireError> {
    match (record_type, value, &mut *into) {
        (SHARE_SNAPSHOT, None, _) => *into = ShareValue::Tombstone,
        (SHARE_SNAPSHOT, Some(bytes), _) => {
            *into = ShareValue::Snapshot(value::decode_snapshot(bytes)?);
        }
        (_, Some(bytes), ShareValue::Update(update)) => value::read_update(bytes, update)?,
        (_, Some(bytes), _) => {
            let mut update = value::empty_update();
            value::read_update(bytes, &mut update)?;
            *into = ShareValue::Update(update);
        }
        (_, None, _) => return Err(WireError::new(0, WireErrorKind::NullUpdate)),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
