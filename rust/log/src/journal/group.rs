//! The records of one group commit, on their way to becoming one record batch.

use share_state_core::offset::plus_saturating;
use share_state_core::time::WallTime;
use share_state_wire::WireError;
use share_state_wire::record_batch::{Compression, NewRecord, encode_marked_batch};

use super::Machine;
use crate::segment_log::LEADER_EPOCH;
use crate::store::StoreError;

/// A group takes no more records once it has this many bytes of keys and values; Kafka's largest batch
/// (`max.message.bytes`) less room for the frames.
pub(super) const GROUP_BYTES: usize = 1_000_000;

/// The most bytes of keys and values of one request, so that a group commit fits into memory and into what a reader
/// of the log allows.
pub(crate) const REQUEST_BYTES: usize = 64 << 20;

/// About what a record takes beside its key and value.
const FRAME_BYTES: usize = 10;

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

impl Encoded {
    fn bytes(&self) -> usize {
        self.key.len() + self.value.as_ref().map_or(0, Vec::len)
    }
}

impl Records {
    /// Encodes what must stand together in one batch.
    pub fn encode<M: Machine>(records: &[M::Record], now: WallTime) -> Result<Self, StoreError> {
        if now.0 < 0 {
            // Within one batch timestamps are written as distances, and those of negative ones may not exist.
            return Err(StoreError::Timestamp { wall_ms: now.0 });
        }
        let encoded = Self::encode_all::<M>(records, now).map_err(StoreError::Unwritable)?;
        if encoded.bytes > REQUEST_BYTES {
            return Err(StoreError::TooLarge {
                bytes: encoded.bytes,
                limit: REQUEST_BYTES,
            });
        }
        Ok(encoded)
    }

    /// Encodes what may stand in several batches.
    pub fn encode_all<M: Machine>(records: &[M::Record], now: WallTime) -> Result<Self, WireError> {
        let mut encoded = Self {
            records: Vec::with_capacity(records.len()),
            bytes: 0,
        };
        for record in records {
            let (key, value) = M::encode(record)?;
            let record = Encoded {
                timestamp: now.0,
                key,
                value,
            };
            encoded.bytes += record.bytes();
            encoded.records.push(record);
        }
        Ok(encoded)
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// About what the records take in a log, bytes.
    pub fn log_bytes(&self) -> u64 {
        (self.bytes + FRAME_BYTES * self.len()) as u64
    }
}

/// What the batches of a log have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framing {
    pub compression: Compression,
    /// The mark of the store, see [`crate::mark`].
    pub mark: i32,
}

/// Records at consecutive offsets that will be one batch; or, when they are all that lives, a segment.
#[derive(Debug)]
pub(super) struct Group {
    base_offset: i64,
    records: Records,
    is_whole: bool,
}

impl Group {
    pub const fn new(base_offset: i64, records: Records) -> Self {
        Self {
            base_offset,
            records,
            is_whole: false,
        }
    }

    /// All that lives: whatever stands before it is dead.
    pub const fn whole(base_offset: i64, records: Records) -> Self {
        Self {
            base_offset,
            records,
            is_whole: true,
        }
    }

    pub const fn base_offset(&self) -> i64 {
        self.base_offset
    }

    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Offset after the last record.
    pub fn next_offset(&self) -> i64 {
        plus_saturating(self.base_offset, self.records.len() as u64)
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub const fn has_room_for(&self, more: &Records) -> bool {
        !self.is_whole && self.records.bytes + more.bytes <= GROUP_BYTES
    }

    pub fn add(&mut self, mut more: Records) {
        self.records.records.append(&mut more.records);
        self.records.bytes += more.bytes;
    }

    /// The bytes of the batch, or of the batches of a segment; and how many there are.
    pub fn to_batches(&self, framing: Framing) -> Result<(Vec<u8>, usize), WireError> {
        let mut rest = &self.records.records[..];
        let (mut bytes, mut batches) = (Vec::new(), 0);
        let mut base_offset = self.base_offset;
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(if self.is_whole {
                fitting(rest)
            } else {
                rest.len()
            });
            bytes.extend(encode(base_offset, framing, batch)?);
            base_offset = plus_saturating(base_offset, batch.len() as u64);
            batches += 1;
            rest = later;
        }
        Ok((bytes, batches))
    }
}

/// How many of these records make one batch of the usual size; at least one.
fn fitting(records: &[Encoded]) -> usize {
    let mut bytes = 0;
    let fits = |record: &&Encoded| {
        bytes += record.bytes();
        bytes <= GROUP_BYTES
    };
    records.iter().take_while(fits).count().max(1)
}

fn encode(base_offset: i64, framing: Framing, records: &[Encoded]) -> Result<Vec<u8>, WireError> {
    let records: Vec<_> = records
        .iter()
        .map(|record| NewRecord {
            timestamp: record.timestamp,
            key: Some(&record.key),
            value: record.value.as_deref(),
        })
        .collect();
    let Framing { compression, mark } = framing;
    encode_marked_batch(base_offset, LEADER_EPOCH, mark, compression, &records)
}
