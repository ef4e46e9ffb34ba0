//! Two segments that Kafka 4.4.0 wrote: every batch is read, and written again as the broker did.

use share_state_wire::Limits;
use share_state_wire::partitioner::state_partition;
use share_state_wire::record_batch::{
    Compression, DecodedBatch, NewRecord, decode_batch, encode_batch, peek_size,
};
use share_state_wire::state_record::{Decoded, decode, encode_key, encode_value};

/// Uncompressed, several records in a batch.
const ORDERS: &[u8] = include_bytes!("fixtures/orders-4.4.0-0.log");
/// Compressed with snappy.
const JOBS: &[u8] = include_bytes!("fixtures/jobs-4.4.0-0.log");

/// The batches of a segment, each with its bytes.
fn batches(mut rest: &[u8]) -> Vec<(&[u8], DecodedBatch<'_>)> {
    let mut batches = Vec::new();
    while let Ok(Some(size)) = peek_size(rest) {
        let (bytes, after) = rest.split_at(size);
        batches.extend(decode_batch(bytes, &Limits::default()).map(|batch| (bytes, batch)));
        rest = after;
    }
    assert!(rest.is_empty());
    batches
}

/// Writes a batch again, from nothing but its records.
#[expect(
    clippy::unwrap_used,
    reason = "a helper of tests: what was read must be writable"
)]
fn rebuilt(batch: &DecodedBatch<'_>, compression: Compression) -> Vec<u8> {
    let records: Vec<_> = batch
        .records()
        .map(|r| NewRecord {
            timestamp: r.timestamp,
            key: r.key,
            value: r.value,
        })
        .collect();
    let header = &batch.header;
    encode_batch(
        header.base_offset,
        header.partition_leader_epoch,
        compression,
        &records,
    )
    .unwrap()
}

#[test]
fn every_record_is_read_and_written_as_the_broker_did() {
    for (segment, partition, expected) in [(ORDERS, 0, 91), (JOBS, 0, 82)] {
        let mut records = 0;
        let mut next_offset = None;
        for (_, batch) in batches(segment) {
            assert!(!batch.is_control && !batch.header.is_transactional());
            for r in batch.records() {
                assert!(next_offset.is_none_or(|next| next == r.offset) && r.headers_count == 0);
                let key = r.key.unwrap();
                let Ok(Decoded::Record(record)) = decode(key, r.value) else {
                    panic!("offset {}", r.offset)
                };
                assert_eq!(encode_key(&record).unwrap(), key);
                assert_eq!(encode_value(&record.value).unwrap().as_deref(), r.value);
                assert_eq!(state_partition(&record.key, 3), partition);
                records += 1;
                next_offset = Some(r.offset + 1);
            }
        }
        assert_eq!(records, expected);
    }
}

#[test]
fn an_uncompressed_batch_is_written_with_the_very_bytes_of_the_broker() {
    let batches = batches(ORDERS);
    for (bytes, batch) in &batches {
        assert_eq!(rebuilt(batch, Compression::None), *bytes);
    }
    assert_eq!(batches.len(), 12);
}

#[test]
fn a_snappy_batch_of_the_broker_is_read_and_one_of_ours_has_the_same_records() {
    let batches = batches(JOBS);
    for (_, batch) in &batches {
        assert_eq!(batch.header.compression(), Ok(Compression::Snappy));
        let bytes = rebuilt(batch, Compression::Snappy);
        let ours = decode_batch(&bytes, &Limits::default()).unwrap();
        assert!(ours.records().eq(batch.records()));
    }
    assert_eq!(batches.len(), 82);
}

#[test]
fn a_flipped_bit_in_a_broker_batch_is_found_by_its_checksum() {
    let (bytes, _) = batches(JOBS)[0];
    let mut found = 0;
    for bit in 21 * 8..bytes.len() * 8 {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        found += usize::from(decode_batch(&flipped, &Limits::default()).is_err());
    }
    assert_eq!(found, (bytes.len() - 21) * 8);
}
