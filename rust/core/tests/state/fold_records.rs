//! Effects of single records on a share partition's state, also of records that a 4.4 coordinator would not have written.

use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::records::{ShareSnapshot, ShareUpdate, ShareValue, TaggedField};
use share_state_core::state_batch::StateBatch;

fn b(first: i64, last: i64, state: i8, count: i16) -> StateBatch {
    StateBatch {
        first_offset: first,
        last_offset: last,
        delivery_state: state,
        delivery_count: count,
    }
}

fn tag(tag: u32, data: &[u8]) -> TaggedField {
    TaggedField {
        tag,
        data: data.to_vec(),
    }
}

fn snapshot() -> ShareSnapshot {
    ShareSnapshot {
        snapshot_epoch: 3,
        state_epoch: 2,
        leader_epoch: 5,
        start_offset: 10,
        delivery_complete_count: 4,
        create_timestamp: 1_000,
        write_timestamp: 2_000,
        state_batches: vec![b(10, 19, 0, 1)],
        unknown_tagged_fields: Vec::new(),
    }
}

fn update() -> ShareUpdate {
    ShareUpdate {
        snapshot_epoch: 3,
        leader_epoch: 5,
        start_offset: 10,
        delivery_complete_count: 4,
        state_batches: Vec::new(),
        unknown_tagged_fields: Vec::new(),
    }
}

fn folded(values: &[ShareValue]) -> Option<ShareGroupOffset> {
    let mut state = None;
    for value in values {
        ShareGroupOffset::fold(&mut state, value);
    }
    state
}

#[test]
fn a_snapshot_is_the_state_and_back() {
    let state = ShareGroupOffset::from_snapshot(&snapshot());
    assert_eq!(state.to_snapshot(), snapshot());
    assert!(!state.incomplete);
    let other = ShareSnapshot {
        state_epoch: 1,
        snapshot_epoch: 0,
        start_offset: 0,
        ..snapshot()
    };
    let values = [
        ShareValue::Snapshot(snapshot()),
        ShareValue::Snapshot(other.clone()),
    ];
    assert_eq!(folded(&values).map(|s| s.to_snapshot()), Some(other));
}

#[test]
fn an_update_keeps_what_it_does_not_name() {
    let mut state = ShareGroupOffset::from_snapshot(&snapshot());
    state.apply_update(&ShareUpdate {
        snapshot_epoch: 99,
        leader_epoch: -1,
        start_offset: -1,
        delivery_complete_count: -1,
        state_batches: vec![b(15, 24, 2, 1)],
        ..update()
    });
    let expected = ShareSnapshot {
        delivery_complete_count: -1,
        state_batches: vec![b(10, 14, 0, 1), b(15, 24, 2, 1)],
        ..snapshot()
    };
    assert_eq!(state.to_snapshot(), expected);
}

/// Logs of brokers up to 4.3 hold updates that go back; what was pruned then does not come back.
#[test]
fn an_updates_start_offset_and_count_stand_as_written() {
    let mut state = ShareGroupOffset::from_snapshot(&snapshot());
    state.apply_update(&ShareUpdate {
        start_offset: 15,
        delivery_complete_count: 9,
        ..update()
    });
    state.apply_update(&ShareUpdate {
        leader_epoch: 4,
        start_offset: 2,
        delivery_complete_count: 1,
        state_batches: vec![b(0, 4, 4, 1)],
        ..update()
    });
    let expected = ShareSnapshot {
        leader_epoch: 4,
        start_offset: 2,
        delivery_complete_count: 1,
        state_batches: vec![b(2, 4, 4, 1), b(15, 19, 0, 1)],
        ..snapshot()
    };
    assert_eq!(state.to_snapshot(), expected);
}

#[test]
fn a_key_with_updates_only_loads_and_is_marked_incomplete() {
    let first = ShareUpdate {
        start_offset: -1,
        state_batches: vec![b(3, 5, 2, 1)],
        ..update()
    };
    let state = folded(&[
        ShareValue::Update(first.clone()),
        ShareValue::Update(update()),
    ]);
    let state = state.expect("an update makes a state");
    assert!(state.incomplete);
    assert_eq!(
        (
            state.state_epoch,
            state.create_timestamp,
            state.write_timestamp
        ),
        (0, 0, 0)
    );
    assert_eq!((state.snapshot_epoch, state.start_offset), (3, 10));
    assert!(state.state_batches.is_empty());

    let later = [ShareValue::Update(first), ShareValue::Snapshot(snapshot())];
    assert_eq!(
        folded(&later),
        Some(ShareGroupOffset::from_snapshot(&snapshot()))
    );
}

#[test]
fn a_tombstone_ends_the_state_whether_there_is_one_or_not() {
    assert_eq!(folded(&[ShareValue::Tombstone]), None);
    assert_eq!(
        folded(&[ShareValue::Snapshot(snapshot()), ShareValue::Tombstone]),
        None
    );
    assert_eq!(
        folded(&[ShareValue::Tombstone, ShareValue::Snapshot(snapshot())]),
        Some(ShareGroupOffset::from_snapshot(&snapshot()))
    );
}

#[test]
fn damaged_batches_fold_without_harm() {
    let damaged = ShareSnapshot {
        state_batches: vec![
            b(30, 20, 2, 1),
            b(12, 14, 2, 2),
            b(0, 13, 9, 1),
            b(14, i64::MAX, 0, 1),
        ],
        ..snapshot()
    };
    let mut state = ShareGroupOffset::from_snapshot(&damaged);
    // A snapshot is not clipped at its start offset.
    assert_eq!(
        state.state_batches.to_vec(),
        [b(0, 11, 9, 1), b(12, 14, 2, 2), b(15, i64::MAX, 0, 1)]
    );
    state.apply_update(&ShareUpdate {
        state_batches: vec![b(i64::MAX, i64::MIN, 4, 7), b(20, 19, 4, 7)],
        ..update()
    });
    assert_eq!(
        state.state_batches.to_vec(),
        [b(10, 11, 9, 1), b(12, 14, 2, 2), b(15, i64::MAX, 0, 1)]
    );
}

#[test]
fn unknown_tagged_fields_are_carried_and_later_ones_win() {
    let mut state = ShareGroupOffset::from_snapshot(&ShareSnapshot {
        unknown_tagged_fields: vec![tag(2, b"two"), tag(7, b"seven")],
        ..snapshot()
    });
    state.apply_update(&update());
    state.apply_update(&ShareUpdate {
        unknown_tagged_fields: vec![tag(7, b"new"), tag(1, b"one"), tag(1, b"again")],
        ..update()
    });
    let carried = [tag(1, b"again"), tag(2, b"two"), tag(7, b"new")];
    assert_eq!(state.unknown_tagged_fields, carried);
    assert_eq!(state.to_snapshot().unknown_tagged_fields, carried);
}

#[test]
fn replaying_a_log_twice_is_replaying_it_once() {
    let log = [
        ShareValue::Snapshot(snapshot()),
        ShareValue::Update(ShareUpdate {
            state_batches: vec![b(12, 30, 2, 2)],
            ..update()
        }),
        ShareValue::Update(ShareUpdate {
            start_offset: 14,
            state_batches: vec![b(14, 20, 4, 2)],
            ..update()
        }),
    ];
    let once = folded(&log);
    assert_eq!(folded(&[&log[..], &log[..]].concat()), once);
    let compacted = once.as_ref().map(ShareGroupOffset::to_snapshot);
    let compacted = compacted.expect("there is a state");
    assert_eq!(folded(&[ShareValue::Snapshot(compacted)]), once);
}

#[test]
fn an_update_that_changes_one_thing_says_so() {
    let changes = |update: &ShareUpdate| {
        let mut state = Some(ShareGroupOffset::from_snapshot(&snapshot()));
        ShareGroupOffset::fold(&mut state, &ShareValue::Update(update.clone()))
    };
    let epoch = ShareUpdate {
        leader_epoch: 6,
        ..update()
    };
    let count = ShareUpdate {
        delivery_complete_count: 5,
        ..update()
    };
    // Below the first batch: nothing is clipped.
    let start = ShareUpdate {
        start_offset: 9,
        ..update()
    };
    let batch = ShareUpdate {
        state_batches: vec![b(10, 10, 0, 2)],
        ..update()
    };
    let unknown = ShareUpdate {
        unknown_tagged_fields: vec![tag(9, b"x")],
        ..update()
    };
    assert_eq!(
        [epoch, count, start, batch].map(|update| changes(&update)),
        [true; 4]
    );
    assert_eq!(
        [update(), unknown].map(|update| changes(&update)),
        [false; 2]
    );
}
