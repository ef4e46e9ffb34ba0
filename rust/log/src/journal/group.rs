//! The records of one group commit, on their way to becoming one record batch.

use share_state_core::offset::plus_saturating;
use share_state_core::time::WallTime;
use share_state_wire::WireError;
use share_state_wire::record_batch::{Compression, NewRecord, append_marked_batch};

use super::Machine;
use crate::error::StoreError;
use crate::segment_log::LEADER_EPOCH;

/// A group takes no more records once it has this many bytes of keys and values; Kafka's largest batch
/// (`max.message.bytes`) less room for the frames.
pub(super) const GROUP_BYTES: usize = 1_000_000;

/// The most bytes of keys and values of one request, so that a group commit fits into memory and into what a reader
/// of the log allows.
pub(crate) const REQUEST_BYTES: usize = 64 << 20;

/// About what a record takes beside its key and value.
const FRAME_BYTES: usize = 10;

/// More room than this is not kept for the records that come next, bytes.
pub(super) const KEPT_BYTES: usize = 1 << 16;

/// A group with at most this many bytes of keys and values is appended sooner than a thread is woken.
const SHORT_BYTES: usize = 1 << 16;

/// More than the batch of such a group takes, with the frames of records that have the shortest keys there are.
pub(super) const SHORT_BATCH_BYTES: u64 = 4 * SHORT_BYTES as u64;

/// The records of one decision, encoded before anything is changed.
#[derive(Debug, Default)]
pub(super) struct Records {
    records: Vec<Encoded>,
    /// Keys and values, one after the other.
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Encoded {
    timestamp: i64,
    /// Lengths of the key and of the value.
    key: usize,
    value: Option<usize>,
}

impl Encoded {
    const fn bytes(&self) -> usize {
        self.key
            + match self.value {
                Some(value) => value,
                None => 0,
            }
    }
}

impl Records {
    /// Encodes what must stand together in one batch, in the room of records that are done with.
    pub fn encode<M: Machine>(
        spare: Self,
        records: &[M::Record],
        now: WallTime,
    ) -> Result<Self, StoreError> {
        if now.0 < 0 {
            // Within one batch timestamps are written as distances, and those of negative ones may not exist.
            return Err(StoreError::Timestamp { wall_ms: now.0 });
        }
        let encoded = Self::encode_all::<M>(spare, records, now).map_err(StoreError::Unwritable)?;
        let bytes = encoded.bytes.len();
        if bytes > REQUEST_BYTES {
            let limit = REQUEST_BYTES;
            return Err(StoreError::TooLarge { bytes, limit });
        }
        Ok(encoded)
    }

    /// Encodes what may stand in several batches.
    pub fn encode_all<M: Machine>(
        spare: Self,
        records: &[M::Record],
        now: WallTime,
    ) -> Result<Self, WireError> {
        let mut encoded = spare;
        for record in records {
            let start = encoded.bytes.len();
            M::append_key(record, &mut encoded.bytes)?;
            let end_of_key = encoded.bytes.len();
            let has_value = M::append_value(record, &mut encoded.bytes)?;
            encoded.records.push(Encoded {
                timestamp: now.0,
                key: end_of_key - start,
                value: has_value.then(|| encoded.bytes.len() - end_of_key),
            });
        }
        Ok(encoded)
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// About what the records take in a log, bytes.
    pub fn log_bytes(&self) -> u64 {
        (self.bytes.len() + FRAME_BYTES * self.len()) as u64
    }

    /// Their room, for records that come next.
    pub fn into_spare(mut self) -> Self {
        if self.bytes.capacity() > KEPT_BYTES {
            return Self::default();
        }
        self.records.clear();
        self.bytes.clear();
        self
    }
}

/// Compression and mark, which all batches of a log have in common.
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

    /// Tells if its append takes no longer than a call of the system.
    pub const fn is_short(&self) -> bool {
        !self.is_whole && self.records.bytes.len() <= SHORT_BYTES
    }

    pub const fn has_room_for(&self, more: &Records) -> bool {
        !self.is_whole && self.records.bytes.len() + more.bytes.len() <= GROUP_BYTES
    }

    /// Takes records in, and returns their room.
    pub fn add(&mut self, mut more: Records) -> Records {
        self.records.records.append(&mut more.records);
        self.records.bytes.append(&mut more.bytes);
        more.into_spare()
    }

    /// The room of a group that is written.
    pub fn into_spare(self) -> Records {
        self.records.into_spare()
    }

    /// Appends the bytes of the batch, or of the batches of a segment, to `out`. Returns how many there are.
    pub fn append_batches(&self, framing: Framing, out: &mut Vec<u8>) -> Result<usize, WireError> {
        let Framing { compression, mark } = framing;
        let (mut rest, mut bytes) = (&self.records.records[..], &self.records.bytes[..]);
        let (mut batches, mut base_offset) = (0, self.base_offset);
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(if self.is_whole {
                fitting(rest)
            } else {
                rest.len()
            });
            let (its, others) = bytes.split_at(batch.iter().map(Encoded::bytes).sum());
            let records = new_records(batch, its);
            append_marked_batch(out, base_offset, LEADER_EPOCH, mark, compression, records)?;
            base_offset = plus_saturating(base_offset, batch.len() as u64);
            batches += 1;
            (rest, bytes) = (later, others);
        }
        Ok(batches)
    }
}

/// Number of these records that make one batch of the usual size; at least one.
fn fitting(records: &[Encoded]) -> usize {
    let mut bytes = 0;
    let fits = |record: &&Encoded| {
        bytes += record.bytes();
        bytes <= GROUP_BYTES
    };
    records.iter().take_while(fits).count().max(1)
}

/// The records whose keys and values these bytes are.
fn new_records<'a>(
    records: &'a [Encoded],
    mut bytes: &'a [u8],
) -> impl Iterator<Item = NewRecord<'a>> {
    records.iter().map(move |record| {
        let (key, rest) = bytes.split_at(record.key);
        let (value, rest) = rest.split_at(record.value.unwrap_or(0));
        bytes = rest;
        NewRecord {
            timestamp: record.timestamp,
            key: Some(key),
            value: record.value.map(|_| value),
        }
    })
}
