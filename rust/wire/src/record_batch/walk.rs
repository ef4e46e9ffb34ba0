//! The walk over the records of a batch: once to check them, and then for each who wants to see them.

use super::header::{HEADER_SIZE, RecordBatchHeader};
use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::varint::{read_long, read_signed};

/// The least that a record takes, a byte each: length, attributes, timestamp delta, offset delta, key length, value
/// length, header count.
const MIN_RECORD_SIZE: usize = 7;
/// The least that a header of a record takes: the lengths of key and value.
const MIN_HEADER_SIZE: usize = 2;
/// Position of the number of records in a batch.
const COUNT_POSITION: usize = HEADER_SIZE - 4;

/// Record of a batch. Keys and values are borrowed from the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordView<'a> {
    /// Offset of the record in its log.
    pub offset: i64,
    /// Its timestamp, ms since the epoch; the time of the append where the batch says so.
    pub timestamp: i64,
    /// The key, if it is not null.
    pub key: Option<&'a [u8]>,
    /// The value, if it is not null.
    pub value: Option<&'a [u8]>,
    /// Number of headers.
    pub headers_count: usize,
    /// The headers as they are written, after their number. [`Self::headers`] reads them.
    headers: &'a [u8],
}

impl<'a> RecordView<'a> {
    /// The headers in their order: a name, which should be UTF-8, and a value, if it is not null.
    pub fn headers(&self) -> impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)> + use<'a> {
        let mut rest = Reader::new(self.headers);
        // The same bytes have passed `check`, so there are as many headers.
        (0..self.headers_count).map_while(move |_| read_header(&mut rest).ok())
    }
}

/// The records that are still ahead.
pub(super) struct Walk<'a> {
    header: RecordBatchHeader,
    rest: Reader<'a>,
    left: usize,
    /// The least distance from the base offset that the next record may have.
    least_delta: i64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(header: &RecordBatchHeader, records: Reader<'a>) -> Self {
        let left = usize::try_from(header.records_count).unwrap_or(0);
        Self {
            header: *header,
            rest: records,
            left,
            least_delta: 0,
        }
    }

    /// Checks the count, every record, and that nothing is after the last.
    pub(super) fn check(mut self) -> Result<(), WireError> {
        let count = self.header.records_count;
        let possible = self.rest.remaining() / MIN_RECORD_SIZE;
        if count < 0 || self.left > possible {
            let kind = WireErrorKind::Count {
                count: u64::from(count.unsigned_abs()),
                possible,
            };
            return Err(WireError::new(COUNT_POSITION, kind));
        }
        for _ in 0..self.left {
            self.read_record()?;
        }
        self.rest.finish()
    }

    /// Without a call: the check needs none of what is found but the end of the record.
    #[inline(always)]
    fn read_record(&mut self) -> Result<RecordView<'a>, WireError> {
        let start = self.rest;
        let length = read_signed(&mut self.rest)?;
        let wrong_length = || start.error(WireErrorKind::RecordLength { length });
        let mut r = self
            .rest
            .sub(usize::try_from(length).map_err(|_| wrong_length())?)?;
        r.i8()?; // attributes: none are defined
        let timestamp_delta = read_long(&mut r)?;
        let at_delta = r;
        let delta = read_signed(&mut r)?;
        if i64::from(delta) < self.least_delta || delta > self.header.last_offset_delta {
            return Err(at_delta.error(WireErrorKind::RecordOffset { delta }));
        }
        let key = read_bytes(&mut r)?;
        let value = read_bytes(&mut r)?;
        let (headers_count, headers) = read_headers(&mut r)?;
        if r.remaining() > 0 {
            return Err(wrong_length());
        }
        let overflow = || start.error(WireErrorKind::Overflow);
        let timestamp = self.header.base_timestamp.checked_add(timestamp_delta);
        let timestamp = timestamp.ok_or_else(overflow)?;
        let offset = self
            .header
            .base_offset
            .checked_add(i64::from(delta))
            .ok_or_else(overflow)?;
        self.least_delta = i64::from(delta) + 1;
        let appended = self.header.is_log_append_time();
        let timestamp = if appended {
            self.header.max_timestamp
        } else {
            timestamp
        };
        Ok(RecordView {
            offset,
            timestamp,
            key,
            value,
            headers_count,
            headers,
        })
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = RecordView<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        // The same bytes have passed `check`, so there is a record.
        self.read_record().ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Walk<'_> {}

fn impossible_length(length: i32) -> WireErrorKind {
    WireErrorKind::Length {
        length: i64::from(length),
        max: i64::from(i32::MAX),
    }
}

/// Bytes with a zig-zag length, -1 for null.
#[inline]
fn read_bytes<'a>(r: &mut Reader<'a>) -> Result<Option<&'a [u8]>, WireError> {
    let start = *r;
    match read_signed(r)? {
        -1 => Ok(None),
        length => {
            let size = usize::try_from(length);
            r.take(size.map_err(|_| start.error(impossible_length(length)))?)
                .map(Some)
        }
    }
}

/// The number of headers of a record, which are checked, and the bytes from the first of them on.
#[inline]
fn read_headers<'a>(r: &mut Reader<'a>) -> Result<(usize, &'a [u8]), WireError> {
    let start = *r;
    match read_signed(r)? {
        0 => Ok((0, &[])),
        count => check_headers(start, r, count),
    }
}

/// Checks the headers of a record, of which there are `count`: names and values have lengths that fit, and no name is null. A name
/// that is not UTF-8 is one, as for Kafka's own readers (`Utils.utf8`).
#[cold]
fn check_headers<'a>(
    start: Reader<'a>,
    r: &mut Reader<'a>,
    count: i32,
) -> Result<(usize, &'a [u8]), WireError> {
    let possible = r.remaining() / MIN_HEADER_SIZE;
    let kind = WireErrorKind::Count {
        count: u64::from(count.unsigned_abs()),
        possible,
    };
    let count = usize::try_from(count)
        .ok()
        .filter(|count| *count <= possible);
    let count = count.ok_or(start.error(kind))?;
    let headers = r.rest();
    for _ in 0..count {
        read_header(r)?;
    }
    Ok((count, headers))
}

/// Name and value of a header.
fn read_header<'a>(r: &mut Reader<'a>) -> Result<(&'a [u8], Option<&'a [u8]>), WireError> {
    let start = *r;
    let length = read_signed(r)?;
    let size = usize::try_from(length).map_err(|_| start.error(impossible_length(length)))?;
    Ok((r.take(size)?, read_bytes(r)?))
}
