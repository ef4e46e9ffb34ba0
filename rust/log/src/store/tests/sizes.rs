//! Sizes that a request and a state may have.

use super::*;
use share_state_core::persister::MAX_STATE_BATCHES;
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareValue, TaggedField};

/// A snapshot of about this many bytes.
pub(super) fn large(n: i32, bytes: usize) -> ShareRecord {
    let value = ShareValue::Snapshot(ShareSnapshot {
        snapshot_epoch: 0,
        state_epoch: 1,
        leader_epoch: 0,
        start_offset: 0,
        delivery_complete_count: -1,
        create_timestamp: 0,
        write_timestamp: 0,
        state_batches: Vec::new(),
        unknown_tagged_fields: vec![TaggedField {
            tag: 9,
            data: vec![7; bytes],
        }],
    });
    ShareRecord { key: key(n), value }
}

#[test]
fn a_group_commit_is_bounded_and_a_request_beyond_all_bounds_is_refused() {
    let disk = SimDisk::default();
    let store = open(&disk, &config()).unwrap();
    let partition = &store.inner.partitions[0];
    let append = |records: Vec<ShareRecord>| partition.append_each(WallTime(0), |_| records);
    // Two of these do not fit into one batch, and one of these has its own batch.
    let records = vec![large(0, 600_000), large(1, 600_000), large(2, 5_000_000)];
    assert_eq!(append(records), Ok(3));
    assert_eq!(store.counters().batches, 3);
    let states = store.states().unwrap();

    let limit = crate::journal::REQUEST_BYTES;
    let refused = append(vec![large(3, limit)]).unwrap_err();
    assert!(
        matches!(refused, StoreError::TooLarge { bytes, .. } if bytes > limit),
        "{refused}"
    );
    assert_eq!(store.states().unwrap(), states);

    // It does not keep the others from the log.
    let refused = append(vec![large(4, 1), large(3, limit), large(5, 1)]).unwrap_err();
    assert!(matches!(refused, StoreError::TooLarge { .. }), "{refused}");
    let states = store.states().unwrap();
    assert_eq!(states.len(), 5);
    drop(store);
    assert_eq!(open(&disk, &config()).unwrap().states().unwrap(), states);
}

#[test]
fn the_largest_state_is_snapshotted_pruned_and_loaded_again() {
    let disk = SimDisk::default();
    let config = StoreConfig {
        segment_bytes: 1024,
        ..config()
    };
    let store = open(&disk, &config).unwrap();
    let alternate = |i: i64| StateBatch {
        first_offset: 2 * i,
        last_offset: 2 * i,
        delivery_state: 2,
        delivery_count: 1,
    };
    let mut largest = large(0, 0);
    if let ShareValue::Snapshot(snapshot) = &mut largest.value {
        snapshot.state_batches = (0..MAX_STATE_BATCHES as i64).map(alternate).collect();
    }
    store.inner.partitions[0]
        .append_each(WallTime(0), |_| vec![largest])
        .unwrap();
    let read = ReadState { leader_epoch: 4 };
    let before = store.read(&key(0), &read, WallTime(1)).unwrap();
    assert_eq!(before.state_batches.len(), MAX_STATE_BATCHES);
    assert_eq!(store.cold_snapshots(WallTime(1_000_000)), Ok(1));
    assert!(store.prune().unwrap() > 0);
    drop(store);
    let store = open(&disk, &config).unwrap();
    assert_eq!(store.read(&key(0), &read, WallTime(2)).unwrap(), before);
}
