//! States that are too large for a snapshot. No write makes one; a log of another program may hold one.

use share_state_core::coordinator::{CoordinatorConfig, ShareCoordinator};
use share_state_core::persister::{MAX_STATE_BATCHES, ReadState};
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareValue};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::WallTime;

use crate::support::{b, key, snapshot_of, write};

/// The `i`-th of the offsets that alternate with others of which nothing is known.
fn alternate(i: usize) -> StateBatch {
    let offset = 2 * i as i64;
    b(offset, offset, 2, 1)
}

/// A snapshot of the key `g` with so many batches, as a log holds it.
fn snapshot(batches: usize) -> ShareRecord {
    ShareRecord {
        key: key("g"),
        value: ShareValue::Snapshot(ShareSnapshot {
            snapshot_epoch: 0,
            state_epoch: 5,
            leader_epoch: 0,
            start_offset: 0,
            delivery_complete_count: -1,
            create_timestamp: 7,
            write_timestamp: 7,
            state_batches: (0..batches).map(alternate).collect(),
            unknown_tagged_fields: Vec::new(),
        }),
    }
}

#[test]
fn a_larger_state_of_another_log_is_served_and_gets_no_snapshot() {
    // Every change is due to be a snapshot.
    let mut coordinator = ShareCoordinator::new(CoordinatorConfig {
        snapshot_update_records_per_snapshot: 0,
        ..CoordinatorConfig::default()
    })
    .unwrap();
    coordinator.replay(0, &snapshot(MAX_STATE_BATCHES + 1));
    let much_later = WallTime(i64::MAX);
    assert_eq!(coordinator.decide_cold_snapshots(much_later), []);
    let read = coordinator
        .decide_read(&key("g"), &ReadState { leader_epoch: 3 }, true, much_later)
        .unwrap();
    assert_eq!(read.answer.state_batches.len(), MAX_STATE_BATCHES + 1);
    assert!(matches!(read.records[0].value, ShareValue::Update(_)));

    // With room again it gets its snapshot.
    let moved = coordinator
        .decide_write(&key("g"), &write(2, -1, &[]), true, much_later)
        .unwrap();
    let batches = &snapshot_of(&moved.records[0]).state_batches;
    assert_eq!(batches.len(), MAX_STATE_BATCHES);
}
