//! Any bytes as a batch, and as the records section of a batch whose checksum fits, for raw bytes never pass that.

use share_state_wire::Limits;
use share_state_wire::record_batch::{
    Compression, DecodedBatch, HEADER_SIZE, NewRecord, RecordBatchHeader, RecordView, decode_batch,
    encode_batch, peek_size,
};

/// Small, so that a run reaches it.
const LIMITS: Limits = Limits {
    max_decompressed_bytes: 1 << 20,
};

/// Runs one input; tells whether it was a batch, framed or not.
pub fn run(data: &[u8]) -> bool {
    if let Ok(Some(size)) = peek_size(data) {
        assert!(size >= HEADER_SIZE);
    }
    let header = RecordBatchHeader::read(data);
    let whole = decode_batch(data, &LIMITS);
    if let Ok(batch) = &whole {
        assert_eq!(header, Ok(batch.header));
        check(batch);
    }
    let [attributes, count, last_delta, section @ ..] = data else {
        return whole.is_ok();
    };
    let framed = framed(*attributes, *count, *last_delta, section);
    let framed = decode_batch(&framed, &LIMITS);
    if let Ok(batch) = &framed {
        check(batch);
    }
    whole.is_ok() || framed.is_ok()
}

/// A batch at offset 1,000 with this records section and a fitting checksum.
fn framed(attributes: u8, count: u8, last_delta: u8, section: &[u8]) -> Vec<u8> {
    let mut covered = vec![0, attributes, 0, 0, 0, last_delta];
    covered.extend([0; 16]); // timestamps
    covered.extend([0xff; 14]); // no producer
    covered.extend([0, 0, 0, count]);
    covered.extend(section);
    let mut batch = 1000i64.to_be_bytes().to_vec();
    batch.extend((covered.len() as i32 + 9).to_be_bytes());
    batch.extend([0, 0, 0, 0, 2]);
    batch.extend(crc32c::crc32c(&covered).to_be_bytes());
    batch.extend(covered);
    batch
}

/// Asserts the laws of every batch that is accepted.
fn check(batch: &DecodedBatch<'_>) {
    let mut least = batch.header.base_offset;
    for record in batch.records() {
        assert!(record.offset >= least && Some(record.offset) <= batch.header.last_offset());
        least = record.offset.saturating_add(1);
    }
    assert_eq!(batch.records().len() as i32, batch.header.records_count);
    let records = new_records(batch);
    // Refused only without records, or where timestamps lie further apart than one number can say.
    if let Ok(written) = encode_batch(batch.header.base_offset, 0, Compression::Lz4, &records) {
        let again = decode_batch(&written, &Limits::default());
        assert_eq!(again.as_ref().map(new_records), Ok(records));
    }
}

fn new_records<'a>(batch: &'a DecodedBatch<'_>) -> Vec<NewRecord<'a>> {
    let record = |r: RecordView<'a>| NewRecord {
        timestamp: r.timestamp,
        key: r.key,
        value: r.value,
    };
    batch.records().map(record).collect()
}
