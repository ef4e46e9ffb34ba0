//! Writing a batch, as a broker's coordinator does or an idempotent producer: no transaction, the records' own timestamps.

use super::compression::Compression;
use super::header::{ATTRIBUTES_POSITION, HEADER_SIZE, MAGIC, RecordBatchHeader};
use crate::error::{WireError, WireErrorKind};
use crate::varint::{long_len, write_long};

/// A record that is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewRecord<'a> {
    /// Milliseconds since the epoch.
    pub timestamp: i64,
    /// The key, or null.
    pub key: Option<&'a [u8]>,
    /// The value, or null.
    pub value: Option<&'a [u8]>,
}

/// Header of a record: its name, and its value or null.
pub type RecordHeader<'a> = (&'a [u8], Option<&'a [u8]>);

/// Producer of a batch, by which a broker tells a repeated batch (KIP-98).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Producer {
    /// The id that a broker has given out.
    pub id: i64,
    /// The epoch of the id.
    pub epoch: i16,
    /// Sequence number of the first record in its partition.
    pub base_sequence: i32,
}

/// The bytes of one batch with these records and their headers, as a producer sends them: the broker sets the offsets.
///
/// # Errors
/// As [`encode_batch`].
pub fn encode_produced_batch(
    producer: Producer,
    compression: Compression,
    records: &[(NewRecord<'_>, Vec<RecordHeader<'_>>)],
) -> Result<Vec<u8>, WireError> {
    let mut out = Vec::new();
    let header = RecordBatchHeader {
        producer_id: producer.id,
        producer_epoch: producer.epoch,
        ..unwritten(0, -1, producer.base_sequence, compression)
    };
    let records = records
        .iter()
        .map(|(record, headers)| (*record, headers.as_slice()));
    append_batch(&mut out, 0, header, compression, records)?;
    Ok(out)
}

/// The bytes of one batch with these records at consecutive offsets from `base_offset`.
///
/// # Errors
/// There is no record, the offsets or the spread of the timestamps do not exist, or the batch would be longer than its
/// 32-bit length can say.
pub fn encode_batch(
    base_offset: i64,
    leader_epoch: i32,
    compression: Compression,
    records: &[NewRecord<'_>],
) -> Result<Vec<u8>, WireError> {
    // What the coordinators of Kafka write, although there is no producer (`CoordinatorRuntime`).
    encode_marked_batch(base_offset, leader_epoch, 0, compression, records)
}

/// The same with another base sequence. It means nothing in a batch without a producer id, and lies under the checksum, so
/// whoever writes the batch may say something of its own there.
///
/// # Errors
/// As [`encode_batch`].
pub fn encode_marked_batch(
    base_offset: i64,
    leader_epoch: i32,
    base_sequence: i32,
    compression: Compression,
    records: &[NewRecord<'_>],
) -> Result<Vec<u8>, WireError> {
    let base_timestamp = records.first().map_or(0, |first| first.timestamp);
    let mut size = HEADER_SIZE;
    for (delta, record) in records.iter().enumerate() {
        let body = body_size(base_timestamp, delta, record, &[])?;
        size = size
            .saturating_add(long_len(body as i64))
            .saturating_add(body);
    }
    length_of(size)?;
    let mut out = Vec::with_capacity(size);
    let records = records.iter().copied();
    append_marked_batch(
        &mut out,
        base_offset,
        leader_epoch,
        base_sequence,
        compression,
        records,
    )?;
    Ok(out)
}

/// As [`encode_marked_batch`], after what is in `out`, whose room is used again. After an error `out` is as before.
///
/// # Errors
/// As [`encode_batch`].
pub fn append_marked_batch<'a>(
    out: &mut Vec<u8>,
    base_offset: i64,
    leader_epoch: i32,
    base_sequence: i32,
    compression: Compression,
    records: impl Iterator<Item = NewRecord<'a>>,
) -> Result<(), WireError> {
    let start = out.len();
    let header = unwritten(base_offset, leader_epoch, base_sequence, compression);
    let records = records.map(|record| (record, [].as_slice()));
    let appended = append_batch(out, start, header, compression, records);
    if appended.is_err() {
        out.truncate(start);
    }
    appended
}

/// The header of a batch without a producer, before its records are known.
fn unwritten(
    base_offset: i64,
    leader_epoch: i32,
    base_sequence: i32,
    compression: Compression,
) -> RecordBatchHeader {
    RecordBatchHeader {
        base_offset,
        batch_length: 0,
        partition_leader_epoch: leader_epoch,
        magic: MAGIC,
        crc: 0,
        attributes: i16::from(compression.codec()),
        last_offset_delta: 0,
        base_timestamp: 0,
        max_timestamp: 0,
        producer_id: -1,
        producer_epoch: -1,
        base_sequence,
        records_count: 0,
    }
}

const TOO_LONG: WireError = WireError::unwritable(WireErrorKind::Limit {
    allowed: i32::MAX as usize,
});

/// The length field of a batch of so many bytes, which counts the bytes after itself.
fn length_of(size: usize) -> Result<i32, WireError> {
    i32::try_from(size - 12).map_err(|_| TOO_LONG)
}

fn append_batch<'a>(
    out: &mut Vec<u8>,
    start: usize,
    mut header: RecordBatchHeader,
    compression: Compression,
    records: impl Iterator<Item = (NewRecord<'a>, &'a [RecordHeader<'a>])>,
) -> Result<(), WireError> {
    let section = start + HEADER_SIZE;
    out.extend_from_slice(&[0; HEADER_SIZE]);
    for (delta, (record, headers)) in records.enumerate() {
        if delta == 0 {
            header.base_timestamp = record.timestamp;
            header.max_timestamp = record.timestamp;
        }
        header.max_timestamp = header.max_timestamp.max(record.timestamp);
        header.last_offset_delta = i32::try_from(delta).map_err(|_| TOO_LONG)?;
        header.records_count = header.last_offset_delta.checked_add(1).ok_or(TOO_LONG)?;
        write_record(out, header.base_timestamp, delta, &record, headers)?;
        header.batch_length = length_of(out.len() - start)?;
    }
    if header.records_count == 0 {
        return Err(WireError::unwritable(WireErrorKind::EmptyBatch));
    }
    header
        .last_offset()
        .ok_or(WireError::unwritable(WireErrorKind::Overflow))?;
    if compression != Compression::None {
        let compressed = compression
            .compress(out.get(section..).unwrap_or_default())
            .map_err(WireError::unwritable)?;
        out.truncate(section);
        out.extend_from_slice(&compressed);
        header.batch_length = length_of(out.len() - start)?;
    }
    // Length and checksum are known only now.
    let covered = crc32c::crc32c(&header.bytes()[ATTRIBUTES_POSITION..]);
    header.crc = crc32c::crc32c_append(covered, out.get(section..).unwrap_or_default());
    if let Some(space) = out.get_mut(start..section) {
        space.copy_from_slice(&header.bytes());
    }
    Ok(())
}

/// Bytes of a record after its length field.
fn body_size(
    base_timestamp: i64,
    delta: usize,
    record: &NewRecord<'_>,
    headers: &[RecordHeader<'_>],
) -> Result<usize, WireError> {
    let timestamp_delta = timestamp_delta(base_timestamp, record)?;
    let counts = long_len(delta as i64) + long_len(headers.len() as i64);
    let mut size = (1 + long_len(timestamp_delta) + counts)
        .saturating_add(bytes_size(record.key)?)
        .saturating_add(bytes_size(record.value)?);
    for (name, value) in headers {
        size = size
            .saturating_add(bytes_size(Some(name))?)
            .saturating_add(bytes_size(*value)?);
    }
    Ok(size)
}

fn timestamp_delta(base_timestamp: i64, record: &NewRecord<'_>) -> Result<i64, WireError> {
    let delta = record.timestamp.checked_sub(base_timestamp);
    delta.ok_or(WireError::unwritable(WireErrorKind::Overflow))
}

fn bytes_size(bytes: Option<&[u8]>) -> Result<usize, WireError> {
    let Some(bytes) = bytes else {
        return Ok(long_len(-1));
    };
    let too_long = WireError::unwritable(WireErrorKind::Limit {
        allowed: i32::MAX as usize,
    });
    let length = i32::try_from(bytes.len()).map_err(|_| too_long)?;
    Ok(long_len(i64::from(length)) + bytes.len())
}

fn write_record(
    out: &mut Vec<u8>,
    base_timestamp: i64,
    delta: usize,
    record: &NewRecord<'_>,
    headers: &[RecordHeader<'_>],
) -> Result<(), WireError> {
    let size = body_size(base_timestamp, delta, record, headers)?;
    write_long(out, size as i64);
    out.push(0); // attributes: none are defined
    write_long(out, timestamp_delta(base_timestamp, record)?);
    write_long(out, delta as i64);
    write_bytes(out, record.key);
    write_bytes(out, record.value);
    write_long(out, headers.len() as i64);
    for (name, value) in headers {
        write_bytes(out, Some(name));
        write_bytes(out, *value);
    }
    Ok(())
}

fn write_bytes(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    write_long(out, bytes.map_or(-1, |bytes| bytes.len() as i64));
    out.extend_from_slice(bytes.unwrap_or_default());
}
