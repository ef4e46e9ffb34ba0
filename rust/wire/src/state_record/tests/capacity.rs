//! Numbers of batches that a snapshot may have, beside the bytes of the snapshots that have as many.

use super::*;
use crate::record_batch::{Compression, HEADER_SIZE, NewRecord, encode_batch};
use share_state_core::persister::MAX_STATE_BATCHES;

/// Key and value of a snapshot of so many batches.
fn snapshot_with(key: &SharePartitionKey, batches: usize) -> (Vec<u8>, Vec<u8>) {
    let record = ShareRecord {
        key: key.clone(),
        value: ShareValue::Snapshot(ShareSnapshot {
            delivery_complete_count: 7,
            state_batches: vec![batch(0, 0, 2); batches],
            ..empty_snapshot()
        }),
    };
    let value = encode_value(&record.value).unwrap().unwrap();
    (encode_key(&record).unwrap(), value)
}

/// The bytes of a batch of records with one snapshot of so many batches.
fn bytes_with(key: &SharePartitionKey, batches: usize) -> usize {
    let (key, value) = snapshot_with(key, batches);
    let record = NewRecord {
        timestamp: 0,
        key: Some(&key),
        value: Some(&value),
    };
    encode_batch(0, 0, Compression::None, &[record])
        .unwrap()
        .len()
}

#[test]
fn no_snapshot_has_more_than_the_coordinator_measures() {
    for batches in [1, 100, 20_000] {
        let (key_bytes, value) = snapshot_with(&key(), batches);
        let measured = 2 * HEADER_SIZE + 21 + key_bytes.len() + value.len();
        let capacity = |bytes| snapshot_capacity(&key(), bytes).unwrap();
        assert_eq!(capacity(measured - 1), batches - 1);
        assert!(capacity(measured + 4) >= batches);
    }
}

#[test]
fn a_snapshot_of_as_many_batches_fits_and_little_is_left() {
    for group in ["g".to_owned(), "ü".repeat(200)] {
        let key = SharePartitionKey::new(&group, TopicId([7; 16]), 0);
        for limit in [1_000, 5_000, 1_048_588, 8 << 20] {
            let batches = snapshot_capacity(&key, limit).unwrap();
            let bytes = bytes_with(&key, batches);
            assert!(bytes <= limit, "{batches}: {bytes} of {limit}");
            // A second header, what is taken for the fields of a record, a batch that is cut off.
            let left = HEADER_SIZE + 21 + 5 + 20;
            assert!(bytes + left >= limit, "{batches}: {bytes} of {limit}");
        }
    }
}

#[test]
fn the_capacity_has_its_ends() {
    for (bytes, batches) in [(0, 0), (usize::MAX, MAX_STATE_BATCHES)] {
        assert_eq!(snapshot_capacity(&key(), bytes), Ok(batches));
    }
    let nameless = SharePartitionKey::new("", TopicId([7; 16]), 0);
    assert!(snapshot_capacity(&nameless, 1_000).is_err());
}
