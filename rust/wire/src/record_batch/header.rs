//! The 61 bytes before the records (`DefaultRecordBatch`).

use super::compression::Compression;
use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};

/// Bytes of the header, from base offset to number of records.
pub const HEADER_SIZE: usize = 61;

/// Bytes of base offset and length, which the length does not count.
const LOG_OVERHEAD: usize = 12;
const MAGIC_POSITION: usize = 16;
pub(super) const CRC_POSITION: usize = 17;
/// Position at which the bytes begin that the checksum covers.
pub(super) const ATTRIBUTES_POSITION: usize = 21;
pub(super) const MAGIC: i8 = 2;

const COMPRESSION_MASK: i16 = 0x07;
const LOG_APPEND_TIME: i16 = 0x08;
const TRANSACTIONAL: i16 = 0x10;
const CONTROL: i16 = 0x20;

/// The header of a record batch, field by field in wire order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordBatchHeader {
    /// Offset from which the records count.
    pub base_offset: i64,
    /// Bytes after this field, to the end of the batch.
    pub batch_length: i32,
    /// Epoch of the leader that appended the batch; not covered by the checksum.
    pub partition_leader_epoch: i32,
    /// Format of the batch, always 2 here.
    pub magic: i8,
    /// CRC-32C of everything after this field.
    pub crc: u32,
    /// Compression in bits 0 to 2, then flags; see the methods.
    pub attributes: i16,
    /// Distance of the last offset from the base offset.
    pub last_offset_delta: i32,
    /// Time from which the records count, ms since the epoch.
    pub base_timestamp: i64,
    /// Greatest timestamp in the batch, ms since the epoch.
    pub max_timestamp: i64,
    /// Id of an idempotent producer; -1 for none.
    pub producer_id: i64,
    /// Epoch of the producer; -1 for none.
    pub producer_epoch: i16,
    /// Sequence number of the first record; without a producer it says nothing.
    pub base_sequence: i32,
    /// Number of records.
    pub records_count: i32,
}

/// The size in bytes of the batch with which `buf` begins, for walking a segment. `None` if fewer than the 12 bytes
/// are there that tell it; the batch itself need not be there.
///
/// # Errors
/// The length is one that no batch can have, or the format, if it can be seen, is not 2.
pub fn peek_size(buf: &[u8]) -> Result<Option<usize>, WireError> {
    let mut r = Reader::new(buf);
    if r.remaining() < LOG_OVERHEAD {
        return Ok(None);
    }
    r.take(8)?;
    let start = r;
    let length = r.i32()?;
    if let Some(magic) = buf.get(MAGIC_POSITION)
        && *magic as i8 != MAGIC
    {
        let kind = WireErrorKind::Magic {
            magic: *magic as i8,
        };
        return Err(WireError::new(MAGIC_POSITION, kind));
    }
    match usize::try_from(length) {
        Ok(length) if length >= HEADER_SIZE - LOG_OVERHEAD => Ok(Some(LOG_OVERHEAD + length)),
        _ => Err(start.error(WireErrorKind::BatchLength { length })),
    }
}

impl RecordBatchHeader {
    /// Reads the header at the start of `buf`, without looking at the records and so without checking the checksum.
    ///
    /// # Errors
    /// The header is cut off, of another format, or claims an impossible length.
    pub fn read(buf: &[u8]) -> Result<Self, WireError> {
        peek_size(buf)?;
        let mut r = Reader::new(buf);
        Ok(Self {
            base_offset: r.i64()?,
            batch_length: r.i32()?,
            partition_leader_epoch: r.i32()?,
            magic: r.i8()?,
            crc: r.u32()?,
            attributes: r.i16()?,
            last_offset_delta: r.i32()?,
            base_timestamp: r.i64()?,
            max_timestamp: r.i64()?,
            producer_id: r.i64()?,
            producer_epoch: r.i16()?,
            base_sequence: r.i32()?,
            records_count: r.i32()?,
        })
    }

    /// The header as it stands on the wire, each field at its place.
    pub(super) fn bytes(&self) -> [u8; HEADER_SIZE] {
        let mut out = [0; HEADER_SIZE];
        out[..8].copy_from_slice(&self.base_offset.to_be_bytes());
        out[8..12].copy_from_slice(&self.batch_length.to_be_bytes());
        out[12..16].copy_from_slice(&self.partition_leader_epoch.to_be_bytes());
        out[MAGIC_POSITION] = self.magic as u8;
        out[CRC_POSITION..ATTRIBUTES_POSITION].copy_from_slice(&self.crc.to_be_bytes());
        out[ATTRIBUTES_POSITION..23].copy_from_slice(&self.attributes.to_be_bytes());
        out[23..27].copy_from_slice(&self.last_offset_delta.to_be_bytes());
        out[27..35].copy_from_slice(&self.base_timestamp.to_be_bytes());
        out[35..43].copy_from_slice(&self.max_timestamp.to_be_bytes());
        out[43..51].copy_from_slice(&self.producer_id.to_be_bytes());
        out[51..53].copy_from_slice(&self.producer_epoch.to_be_bytes());
        out[53..57].copy_from_slice(&self.base_sequence.to_be_bytes());
        out[57..].copy_from_slice(&self.records_count.to_be_bytes());
        out
    }

    /// Offset of the last record, or `None` if it would lie beyond the end of the offset space.
    #[must_use]
    pub fn last_offset(&self) -> Option<i64> {
        self.base_offset
            .checked_add(i64::from(self.last_offset_delta))
    }

    /// Codec of the records.
    ///
    /// # Errors
    /// The codec does not exist.
    pub fn compression(&self) -> Result<Compression, WireError> {
        let codec = (self.attributes & COMPRESSION_MASK) as u8;
        Compression::from_codec(codec).ok_or(WireError::new(
            ATTRIBUTES_POSITION,
            WireErrorKind::UnknownCompression { codec },
        ))
    }

    /// Returns `true` if the records carry the time of their append instead of their own.
    #[must_use]
    pub const fn is_log_append_time(&self) -> bool {
        self.attributes & LOG_APPEND_TIME != 0
    }

    /// Returns `true` if the batch belongs to a transaction.
    #[must_use]
    pub const fn is_transactional(&self) -> bool {
        self.attributes & TRANSACTIONAL != 0
    }

    /// Returns `true` if the batch holds markers of the log instead of records.
    #[must_use]
    pub const fn is_control(&self) -> bool {
        self.attributes & CONTROL != 0
    }
}
