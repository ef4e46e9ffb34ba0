//! The records of one group commit, on their way to becoming one record batch.

use share_state_core::offset::plus_saturating;
use share_state_core::time::WallTime;
use share_state_wire::WireError;
use share_state_wire::record_batch::{Compression, NewRecord, encode_batch};

use super::Machine;
use crate::segment_log::LEADER_EPOCH;
use crate::store::StoreError;

/// A group takes no more records once it has this many bytes of keys and values; Kafka's largest batch
/// (`max.message.bytes`) less room for the frames.
const GROUP_BYTES: usize = 1_000_000;

/// The most bytes of keys and values of one request, so that a group commit fits into memory and into what a reader
/// of the log allows.
pub(crate) const REQUEST_BYTES: usize = 64 << 20;

/// The records of one decision, encoded before anything is changed.
#[derive(Debug)]
pub(super) struct Records {
    records: Vec<Encoded>,
    /// Of keys and values.
    bytes: usize,
}

#[derive(Debug)]
struct Encoded {
    timestamp: i64,
    key: Vec<u8>,
    value: Option<Vec<u8>>,
}

impl Records {
    /// Encodes what must stand together in one batch.
    pub fn encode<M: Machine>(records: &[M::Record], now: WallTime) -> Result<Self, StoreError> {
        if now.0 < 0 {
            // Within one batch timestamps are written as distances, and those of negative ones may not exist.
            return Err(StoreError::Timestamp { wall_ms: now.0 });
        }
        let mut encoded = Self {
            records: Vec::with_capacity(records.len()),
            bytes: 0,
        };
        for record in records {
            let (key, value) = M::encode(record).map_err(StoreError::Unwritable)?;
            encoded.bytes += key.len() + value.as_ref().map_or(0, Vec::len);
            encoded.records.push(Encoded {
                timestamp: now.0,
                key,
                value,
            });
        }
        if encoded.bytes > REQUEST_BYTES {
            return Err(StoreError::TooLarge {
                bytes: encoded.bytes,
                limit: REQUEST_BYTES,
            });
        }
        Ok(encoded)
    }
}

/// Records at consecutive offsets that will be one batch.
#[derive(Debug)]
pub(super) struct Group {
    base_offset: i64,
    records: Records,
}

impl Group {
    pub fn new(base_offset: i64, records: Records) -> Self {
        Self {
            base_offset,
            records,
        }
    }

    pub fn base_offset(&self) -> i64 {
        self.base_offset
    }

    /// Offset behind the last record.
    pub fn next_offset(&self) -> i64 {
        plus_saturating(self.base_offset, self.len() as u64)
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.records.len()
    }

    pub fn has_room_for(&self, more: &Records) -> bool {
        self.records.bytes + more.bytes <= GROUP_BYTES
    }

    pub fn add(&mut self, mut more: Records) {
        self.records.records.append(&mut more.records);
        self.records.bytes += more.bytes;
    }

    /// The bytes of the batch.
    pub fn to_batch(&self, compression: Compression) -> Result<Vec<u8>, WireError> {
        let records: Vec<_> = self
            .records
            .records
            .iter()
            .map(|record| NewRecord {
                timestamp: record.timestamp,
                key: Some(&record.key),
                value: record.value.as_deref(),
            })
            .collect();
        encode_batch(self.base_offset, LEADER_EPOCH, compression, &records)
    }
}
