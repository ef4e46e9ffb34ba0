//! Snapshots: the moments at which a key's state is written as a whole, and what stands in them.

use share_state_core::coordinator::CoordinatorError;
use share_state_core::records::{ShareRecord, ShareValue, TaggedField};

use super::support::{Owner, b, key, snapshot_of, update_of, write};

/// #21426: one update too many went before the first snapshot.
#[test]
fn row_57_the_snapshot_comes_after_its_number_of_updates() {
    let mut owner = Owner::new(2);
    owner.initialize("g", 5, 0).unwrap();
    let mut kinds = Vec::new();
    for i in 0..7 {
        let records = owner.write("g", &write(0, 0, &[b(i, i, 2, 1)])).unwrap();
        kinds.push(match &records[0].value {
            ShareValue::Update(update) => ('u', update.snapshot_epoch, update.state_batches.len()),
            ShareValue::Snapshot(s) => ('s', s.snapshot_epoch, s.state_batches.len()),
            ShareValue::Tombstone => ('t', 0, 0),
        });
    }
    let expected = [
        ('u', 0, 1),
        ('u', 0, 1),
        ('s', 1, 1),
        ('u', 1, 1),
        ('u', 1, 1),
        ('s', 2, 1),
        ('u', 2, 1),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(owner.state("g").state_batches.to_vec(), [b(0, 6, 2, 1)]);

    let mut always = Owner::new(0);
    always.initialize("g", 5, 0).unwrap();
    let records = always.write("g", &write(0, 0, &[])).unwrap();
    assert_eq!(snapshot_of(&records[0]).snapshot_epoch, 1);
}

/// A read with a new leader epoch counts as an update, and becomes a snapshot like any other change.
#[test]
fn a_due_read_writes_the_whole_state() {
    let mut owner = Owner::new(1);
    owner.initialize("g", 5, 3).unwrap();
    owner.write("g", &write(3, 2, &[b(4, 5, 2, 1)])).unwrap();
    owner.now.0 = 2_000;
    let decision = owner.read("g", 8).unwrap();
    let snapshot = snapshot_of(&decision.records[0]);
    assert_eq!((snapshot.leader_epoch, snapshot.state_epoch), (8, 5));
    assert_eq!(
        (snapshot.start_offset, snapshot.delivery_complete_count),
        (3, 2)
    );
    assert_eq!(
        (snapshot.create_timestamp, snapshot.write_timestamp),
        (2_000, 2_000)
    );
    assert_eq!(snapshot.state_batches, [b(4, 5, 2, 1)]);
    assert_eq!(owner.coordinator.updates_since_snapshot(&key("g")), 0);
}

/// Snapshots that the counter did not ask for leave it alone.
#[test]
fn initialize_and_cold_snapshots_do_not_reset_the_update_counter() {
    let mut owner = Owner::new(2);
    owner.initialize("g", 5, 0).unwrap();
    owner.write("g", &write(0, 0, &[])).unwrap();
    owner.initialize("g", 6, 0).unwrap();
    owner.now.0 += 10_000;
    assert_eq!(owner.cold_snapshots().len(), 1);
    assert_eq!(owner.coordinator.updates_since_snapshot(&key("g")), 1);
    owner.delete("g").unwrap();
    assert_eq!(owner.coordinator.updates_since_snapshot(&key("g")), 0);
}

/// #20016 and D5.46: the snapshot epoch was 16 bits wide and wrapped; now it stops at the end of 32 bits.
#[test]
fn row_58_the_snapshot_epoch_does_not_wrap() {
    let mut owner = Owner::new(0);
    owner.initialize("g", 5, 0).unwrap();
    let mut record = owner.log[0].clone();
    let ShareValue::Snapshot(snapshot) = &mut record.value else {
        panic!("an initialisation is a snapshot")
    };
    snapshot.snapshot_epoch = 65_535;
    owner.append(&[record.clone()]);
    let records = owner.write("g", &write(0, 0, &[])).unwrap();
    assert_eq!(snapshot_of(&records[0]).snapshot_epoch, 65_536);

    let ShareValue::Snapshot(snapshot) = &mut record.value else {
        panic!("an initialisation is a snapshot")
    };
    snapshot.snapshot_epoch = i32::MAX;
    owner.append(&[record]);
    // Snapshots are due, but the key is served on by updates.
    let records = owner.write("g", &write(0, 0, &[b(1, 1, 2, 1)])).unwrap();
    assert_eq!(update_of(&records[0]).snapshot_epoch, i32::MAX);
    let records = owner.read("g", i32::MAX).unwrap().records;
    assert_eq!(update_of(&records[0]).leader_epoch, i32::MAX);
    owner.now.0 += 1_000_000;
    assert_eq!(owner.cold_snapshots(), []);
    let refused = owner.initialize("g", 6, 0).unwrap_err();
    assert_eq!(refused, CoordinatorError::SnapshotEpochExhausted);
    assert_eq!(owner.state("g").state_batches.to_vec(), [b(1, 1, 2, 1)]);
    // Deleting the state is the way out.
    owner.delete("g").unwrap();
    owner.initialize("g", 6, 0).unwrap();
    assert_eq!(owner.state("g").snapshot_epoch, 0);
}

/// KAFKA-18170: a cold key is rewritten, so that the log below it can go, and is not cold again at once.
#[test]
fn row_60_a_cold_key_is_rewritten_once() {
    let mut owner = Owner::initialized("a", 0);
    owner.now.0 = 5_000;
    owner.initialize("b", 5, 0).unwrap();
    owner.write("a", &write(3, 1, &[b(4, 4, 2, 1)])).unwrap();
    owner.now.0 = 10_999;
    assert_eq!(owner.cold_snapshots(), []);

    owner.now.0 = 11_000;
    let records = owner.cold_snapshots();
    assert_eq!(records.len(), 1);
    let snapshot = snapshot_of(&records[0]);
    assert_eq!((&*records[0].key.group, snapshot.snapshot_epoch), ("a", 1));
    assert_eq!(
        (snapshot.create_timestamp, snapshot.write_timestamp),
        (1_000, 11_000)
    );
    assert_eq!(
        (snapshot.start_offset, snapshot.delivery_complete_count),
        (3, 1)
    );
    assert_eq!(snapshot.state_batches, [b(4, 4, 2, 1)]);
    assert_eq!(owner.coordinator.last_redundant_offset(), Some(1));
    assert_eq!(owner.cold_snapshots(), []);

    owner.now.0 = 15_000;
    assert_eq!(owner.cold_snapshots().len(), 1);
    // Every key stands rewritten: a sleeping coordinator writes nothing more, however long it sleeps.
    owner.now.0 = i64::MAX;
    assert_eq!(owner.cold_snapshots(), []);
    // A clock that went back makes nothing cold.
    owner.now.0 = 2_000;
    owner.initialize("c", 5, 0).unwrap();
    owner.now.0 = i64::MIN;
    assert_eq!(owner.cold_snapshots(), []);
}

/// Fields that a newer Kafka adds to a value survive our snapshots of it; a new initialisation starts afresh.
#[test]
fn unknown_tagged_fields_survive_snapshots() {
    let field = TaggedField {
        tag: 9,
        data: vec![1, 2, 3],
    };
    let mut owner = Owner::initialized("g", 0);
    let mut snapshot = snapshot_of(&owner.log[0]).clone();
    snapshot.unknown_tagged_fields = vec![field.clone()];
    let value = ShareValue::Snapshot(snapshot);
    owner.append(&[ShareRecord {
        key: key("g"),
        value,
    }]);
    owner.now.0 += 10_000;
    let records = owner.cold_snapshots();
    let carried = &snapshot_of(&records[0]).unknown_tagged_fields;
    assert_eq!(carried.as_slice(), std::slice::from_ref(&field));
    for _ in 0..500 {
        let records = owner.write("g", &write(0, 0, &[])).unwrap();
        assert_eq!(update_of(&records[0]).unknown_tagged_fields, []);
    }
    let records = owner.write("g", &write(0, 0, &[])).unwrap();
    assert_eq!(snapshot_of(&records[0]).unknown_tagged_fields, [field]);
    let records = owner.initialize("g", 6, 0).unwrap();
    assert_eq!(snapshot_of(&records[0]).unknown_tagged_fields, []);
}
