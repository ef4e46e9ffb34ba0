//! States that are too large for a snapshot. No write makes one; a log of another program may hold one.

use share_state_core::coordinator::{CoordinatorConfig, CoordinatorError, ShareCoordinator};
use share_state_core::persister::{MAX_STATE_BATCHES, ReadState};
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareValue};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::WallTime;

use super::support::{b, key, snapshot_of, write};

/// The last batch of a state reaches so much further than the others.
const WIDE: i64 = 100;

/// The `i`-th of the offsets that alternate with others of which nothing is known.
fn alternate(i: usize) -> StateBatch {
    let offset = 2 * i as i64;
    b(offset, offset, 2, 1)
}

/// A snapshot of the key `g` with so many batches, the last of which is wide, as a log holds it.
fn snapshot(batches: usize) -> ShareRecord {
    let mut state_batches: Vec<StateBatch> = (0..batches).map(alternate).collect();
    state_batches[batches - 1].last_offset += WIDE;
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
            state_batches,
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

    let too_many = |batches| CoordinatorError::StateFull {
        batches,
        allowed: MAX_STATE_BATCHES,
    };
    let nothing = coordinator.decide_write(&key("g"), &write(-1, -1, &[]), true, much_later);
    assert_eq!(nothing.unwrap_err(), too_many(MAX_STATE_BATCHES + 1));

    // With room again it gets its snapshot.
    let moved = coordinator
        .decide_write(&key("g"), &write(2, -1, &[]), true, much_later)
        .unwrap();
    let batches = &snapshot_of(&moved.records[0]).state_batches;
    assert_eq!(batches.len(), MAX_STATE_BATCHES);

    // A batch inside another adds two: with room for five, two may be written and three may not.
    let moved = coordinator
        .decide_write(&key("g"), &write(12, -1, &[]), true, much_later)
        .unwrap();
    coordinator.replay(1, &moved.records[0]);
    let end = 2 * MAX_STATE_BATCHES as i64 + WIDE;
    let inside = [1, 3, 5].map(|n| b(end - 10 * n, end - 10 * n, 2, 2));
    let write_inside =
        |n| coordinator.decide_write(&key("g"), &write(-1, -1, &inside[..n]), true, much_later);
    assert!(write_inside(2).is_ok());
    assert_eq!(
        write_inside(3).unwrap_err(),
        too_many(MAX_STATE_BATCHES + 1)
    );
}

#[test]
fn a_batch_that_fills_every_gap_is_counted_with_the_gaps() {
    let half = MAX_STATE_BATCHES / 2 + 1;
    let mut coordinator = ShareCoordinator::new(CoordinatorConfig::default()).unwrap();
    let mut snapshot = snapshot(half);
    if let ShareValue::Snapshot(value) = &mut snapshot.value {
        value.state_batches[half - 1].last_offset -= WIDE;
    }
    coordinator.replay(0, &snapshot);
    // Its count is lower than theirs: it leaves them and fills what lies between.
    let wide = [b(0, 2 * (half as i64 - 1), 0, 0)];
    let refused = coordinator.decide_write(&key("g"), &write(-1, -1, &wide), true, WallTime(0));
    assert_eq!(
        refused.unwrap_err(),
        CoordinatorError::StateFull {
            batches: 2 * half - 1,
            allowed: MAX_STATE_BATCHES,
        }
    );
}
