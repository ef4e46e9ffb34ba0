//! Reading a batch: checksum first, then decompression within limits, then every record.

use std::borrow::Cow;

use super::Limits;
use super::compression::Compression;
use super::header::{ATTRIBUTES_POSITION, CRC_POSITION, HEADER_SIZE, RecordBatchHeader, peek_size};
use super::walk::{RecordView, Walk};
use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};

/// A batch that has passed every check.
#[derive(Clone, Debug)]
pub struct DecodedBatch<'a> {
    /// The header as written.
    pub header: RecordBatchHeader,
    /// Set if the records are markers of the log; a loader of state skips them.
    pub is_control: bool,
    /// The records section, decompressed.
    bytes: Cow<'a, [u8]>,
}

impl DecodedBatch<'_> {
    /// The records in the order of their offsets. They are read again on each call: an index of them could be many times
    /// larger than the bytes.
    pub fn records(&self) -> impl ExactSizeIterator<Item = RecordView<'_>> {
        Walk::new(&self.header, Reader::new(&self.bytes))
    }
}

/// Reads the one batch that fills `buf`. Nothing of it is believed before its checksum fits, and the records of a
/// batch with a fitting checksum are still checked one by one.
///
/// # Errors
/// `buf` holds less or more than one batch, another format, a wrong checksum, an unknown or damaged compression, more
/// than `limits` allow, or records that are malformed, out of order, or outside the offsets of the batch.
pub fn decode_batch<'a>(buf: &'a [u8], limits: &Limits) -> Result<DecodedBatch<'a>, WireError> {
    let mut r = Reader::new(buf);
    if let Some(size) = peek_size(buf)? {
        r.take(size)?;
        r.finish()?;
    }
    let header = RecordBatchHeader::read(buf)?;
    let computed = crc32c::crc32c(buf.get(ATTRIBUTES_POSITION..).unwrap_or_default());
    if computed != header.crc {
        let kind = WireErrorKind::Crc {
            stored: header.crc,
            computed,
        };
        return Err(WireError::new(CRC_POSITION, kind));
    }
    let section = buf.get(HEADER_SIZE..).unwrap_or_default();
    let (bytes, position) = match header.compression()? {
        Compression::None => (Cow::Borrowed(section), HEADER_SIZE),
        codec => {
            let bytes = codec.decompress(section, limits.max_decompressed_bytes);
            (
                Cow::Owned(bytes.map_err(|kind| WireError::new(HEADER_SIZE, kind))?),
                0,
            )
        }
    };
    Walk::new(&header, Reader::at(&bytes, position)).check()?;
    Ok(DecodedBatch {
        is_control: header.is_control(),
        header,
        bytes,
    })
}
