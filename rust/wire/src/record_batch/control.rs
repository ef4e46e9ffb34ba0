//! Control batches (`ControlRecordType`): the key of their one record is a version and a type, 16 bits each.

use share_state_core::share_partition::ControlType;

use super::compression::Compression;
use super::header::{HEADER_SIZE, RecordBatchHeader};
use super::walk::Walk;
use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};

const ABORT: i16 = 0;

/// The marker of a control batch with this header and records section. Whatever aborts nothing counts as a commit: markers of
/// KRaft, types of later releases, and a batch that compaction has left without its record.
///
/// # Errors
/// The record or its key cannot be read; no broker compresses it.
pub(super) fn control_type(
    header: &RecordBatchHeader,
    section: &[u8],
) -> Result<ControlType, WireError> {
    if header.records_count == 0 {
        return Ok(ControlType::Commit);
    }
    match abort_or_not(header, section) {
        Some(ABORT) => Ok(ControlType::Abort),
        Some(_) => Ok(ControlType::Commit),
        None => Err(WireError::new(HEADER_SIZE, WireErrorKind::ControlRecord)),
    }
}

fn abort_or_not(header: &RecordBatchHeader, section: &[u8]) -> Option<i16> {
    if header.compression() != Ok(Compression::None) {
        return None;
    }
    let record = Walk::new(header, Reader::new(section)).next()?;
    let mut key = Reader::new(record.key?);
    let version = key.i16().ok()?;
    key.i16().ok().filter(|_| version >= 0)
}
