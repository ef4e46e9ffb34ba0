//! The walk over the batches of a Fetch answer by their headers: nothing is decompressed, and of the records only the marker
//! of a control batch is looked at.
//!
//! A broker cuts an answer where its size is reached and not where a batch ends, so what follows the last whole batch is
//! dropped. The batches before it must be of format 2, ascending and disjoint: callers that forward them rely on it.

use share_state_core::share_partition::FetchedBatch;

use super::control::control_type;
use super::header::{ATTRIBUTES_POSITION, CRC_POSITION, HEADER_SIZE, RecordBatchHeader, peek_size};
use crate::error::{WireError, WireErrorKind};

/// Position of the last offset delta in a batch.
const DELTA_POSITION: usize = 23;

/// The header of a batch, and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    /// Offsets, producer, transaction and marker. The offsets are those of the log: compaction may have left fewer records,
    /// or none.
    pub batch: FetchedBatch,
    /// Index of its first byte.
    pub start: usize,
    /// Index of the byte after its last.
    pub end: usize,
    /// Epoch of the leader that appended it (KIP-101).
    pub partition_leader_epoch: i32,
    /// Greatest timestamp in it, ms since the epoch.
    pub max_timestamp: i64,
}

impl BatchHeader {
    /// Bytes of the batch.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.end - self.start
    }
}

/// Treatment of the checksums of the batches: to compute them reads every byte, and a consumer does it anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Checksums {
    /// They are passed on as they are.
    #[default]
    Trusted,
    /// A batch that does not match its own is refused.
    Checked,
}

/// The whole batches in a buffer, one after the other. It ends with the first error.
#[derive(Clone, Debug)]
pub struct BatchHeaders<'a> {
    buf: &'a [u8],
    position: usize,
    end: usize,
    checksums: Checksums,
    /// The least offset that the next batch may have.
    least: i64,
}

impl<'a> BatchHeaders<'a> {
    /// The batches in the bytes of `buf` from `start` up to `end`, which is cut to the length of `buf`. Positions count from
    /// the start of `buf`.
    #[must_use]
    pub fn new(buf: &'a [u8], start: usize, end: usize, checksums: Checksums) -> Self {
        Self {
            buf,
            position: start,
            end: end.min(buf.len()),
            checksums,
            least: 0,
        }
    }

    fn read(&mut self) -> Result<Option<BatchHeader>, WireError> {
        let start = self.position;
        let rest = self.buf.get(start..self.end).unwrap_or_default();
        let at = |error: WireError| WireError::new(start + error.position, error.kind);
        let size = peek_size(rest).map_err(at)?;
        let Some(bytes) = size.and_then(|size| rest.get(..size)) else {
            return Ok(None);
        };
        let header = RecordBatchHeader::read(bytes).map_err(at)?;
        let last_offset = self.last_offset(&header).map_err(at)?;
        if self.checksums == Checksums::Checked {
            check_crc(bytes, header.crc).map_err(at)?;
        }
        let control = if header.is_control() {
            let section = bytes.get(HEADER_SIZE..).unwrap_or_default();
            Some(control_type(&header, section).map_err(at)?)
        } else {
            None
        };
        self.position = start + bytes.len();
        self.least = last_offset + 1;
        Ok(Some(BatchHeader {
            batch: FetchedBatch {
                base_offset: header.base_offset,
                last_offset,
                producer_id: header.producer_id,
                is_transactional: header.is_transactional(),
                control,
            },
            start,
            end: self.position,
            partition_leader_epoch: header.partition_leader_epoch,
            max_timestamp: header.max_timestamp,
        }))
    }

    /// The last offset of the batch, which is none of the batch before it, and after which another offset exists.
    fn last_offset(&self, header: &RecordBatchHeader) -> Result<i64, WireError> {
        let (base_offset, delta) = (header.base_offset, header.last_offset_delta);
        if base_offset < self.least {
            let least = self.least;
            let kind = WireErrorKind::BatchOrder { base_offset, least };
            return Err(WireError::new(0, kind));
        }
        if delta < 0 {
            let kind = WireErrorKind::RecordOffset { delta };
            return Err(WireError::new(DELTA_POSITION, kind));
        }
        header
            .last_offset()
            .filter(|last| *last < i64::MAX)
            .ok_or(WireError::new(DELTA_POSITION, WireErrorKind::Overflow))
    }
}

impl Iterator for BatchHeaders<'_> {
    type Item = Result<BatchHeader, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read().transpose();
        if !matches!(read, Some(Ok(_))) {
            self.position = self.end;
        }
        read
    }
}

fn check_crc(batch: &[u8], stored: u32) -> Result<(), WireError> {
    let computed = crc32c::crc32c(batch.get(ATTRIBUTES_POSITION..).unwrap_or_default());
    if computed == stored {
        return Ok(());
    }
    let kind = WireErrorKind::Crc { stored, computed };
    Err(WireError::new(CRC_POSITION, kind))
}
