//! Tests of record batches: what they share.

mod compression;
mod damage;
mod headers;
mod layout;

use super::*;
use crate::error::{WireError, WireErrorKind};

fn record<'a>(timestamp: i64, key: &'a [u8], value: Option<&'a [u8]>) -> NewRecord<'a> {
    NewRecord {
        timestamp,
        key: Some(key),
        value,
    }
}

/// A batch with this header and records section, and a checksum that fits.
fn framed(edit: impl FnOnce(&mut RecordBatchHeader), section: &[u8]) -> Vec<u8> {
    let bytes = encode_batch(100, 7, Compression::None, &[record(5, b"k", None)]).unwrap();
    let mut header = RecordBatchHeader::read(&bytes).unwrap();
    header.batch_length = 49 + section.len() as i32;
    edit(&mut header);
    let mut out = [&header.bytes(), section].concat();
    header.crc = crc32c::crc32c(&out[21..]);
    out[17..21].copy_from_slice(&header.crc.to_be_bytes());
    out
}

fn decode(bytes: &[u8]) -> Result<DecodedBatch<'_>, WireError> {
    decode_batch(bytes, &Limits::default())
}

fn kind(bytes: &[u8]) -> WireErrorKind {
    decode(bytes).unwrap_err().kind
}
