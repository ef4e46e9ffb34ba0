//! What has gone wrong in Kafka's share coordinator, each with the outcome that is right.

use share_state_core::coordinator::{CoordinatorError, Operation, RedundantOffset};
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::records::{ShareRecord, ShareUpdate, ShareValue};

use crate::support::{Owner, TOPIC, b, key, snapshot_of, update_of, write};

/// #23074: a late write with a lower start offset moved it back.
#[test]
fn row_49_the_start_offset_does_not_go_back() {
    let mut owner = Owner::initialized("g", 5);
    let records = owner.write("g", &write(2, 0, &[b(0, 20, 0, 1)])).unwrap();
    let update = update_of(&records[0]);
    assert_eq!(
        (update.start_offset, update.state_batches.as_slice()),
        (5, &[b(5, 20, 0, 1)][..])
    );
    assert_eq!(owner.state("g").start_offset, 5);
}

/// #23112: the delivery complete count belongs to its start offset.
#[test]
fn row_50_the_delivery_complete_count_does_not_go_back() {
    let table = [
        // stored start 15 and count 10; asked start, count; resulting start, count
        (11, 20, 15, 10),
        (15, 20, 15, 20),
        (15, 3, 15, 10),
        (15, -1, 15, 10),
        (19, 2, 19, 2),
        (19, -1, 19, -1),
        (-1, 20, 15, 10),
    ];
    for (start, count, start_after, count_after) in table {
        let mut owner = Owner::initialized("g", 15);
        owner.write("g", &write(15, 10, &[])).unwrap();
        owner.write("g", &write(start, count, &[])).unwrap();
        let state = owner.state("g");
        let after = (state.start_offset, state.delivery_complete_count);
        assert_eq!(after, (start_after, count_after), "asked {start}, {count}");
    }
}

/// #23190 and I1: a repeated Initialize that arrives late wiped the state.
#[test]
fn row_51_a_repeated_initialize_writes_nothing() {
    let mut owner = Owner::initialized("g", 10);
    owner.write("g", &write(10, 0, &[b(10, 12, 2, 1)])).unwrap();
    assert_eq!(owner.initialize("g", 5, 10).unwrap(), []);
    assert_eq!(owner.state("g").state_batches.len(), 1);

    let records = owner.initialize("g", 5, 20).unwrap();
    let snapshot = snapshot_of(&records[0]);
    assert_eq!((snapshot.snapshot_epoch, snapshot.start_offset), (1, 20));
    assert_eq!(
        (
            snapshot.delivery_complete_count,
            snapshot.state_batches.len()
        ),
        (0, 0)
    );
    let records = owner.initialize("g", 6, 20).unwrap();
    assert_eq!(snapshot_of(&records[0]).snapshot_epoch, 2);
}

/// KAFKA-20034: only an unresolved start offset leaves the count unknown.
#[test]
fn initialize_knows_the_delivery_complete_count_with_the_start_offset() {
    for (start_offset, count) in [(-1, -1), (0, 0), (40, 0)] {
        let mut owner = Owner::new(500);
        let records = owner.initialize("g", 0, start_offset).unwrap();
        let snapshot = snapshot_of(&records[0]);
        assert_eq!(snapshot.delivery_complete_count, count);
        assert_eq!(
            (snapshot.create_timestamp, snapshot.write_timestamp),
            (1_000, 1_000)
        );
    }
}

/// KAFKA-19456: a write raised the epochs that it carried.
#[test]
fn row_52_a_write_raises_no_epoch() {
    let mut owner = Owner::initialized("g", 0);
    owner.read("g", 3).unwrap();
    let mut request = write(0, 0, &[]);
    (request.leader_epoch, request.state_epoch) = (9, 9);
    let records = owner.write("g", &request).unwrap();
    assert_eq!(update_of(&records[0]).leader_epoch, 3);
    assert_eq!(owner.coordinator.highest_leader_epoch(&key("g")), Some(3));
    assert_eq!(owner.coordinator.highest_state_epoch(&key("g")), Some(5));
    (request.leader_epoch, request.state_epoch) = (3, 5);
    owner.write("g", &request).unwrap();
}

/// KAFKA-19338: reads and writes were accepted before Initialize.
#[test]
fn row_54_nothing_is_read_or_written_before_initialize_or_after_delete() {
    let mut owner = Owner::new(500);
    let read = CoordinatorError::Uninitialized {
        operation: Operation::Read,
    };
    let written = CoordinatorError::Uninitialized {
        operation: Operation::Write,
    };
    assert_eq!(owner.read("g", 0).unwrap_err(), read);
    assert_eq!(owner.write("g", &write(0, 0, &[])).unwrap_err(), written);
    assert_eq!(
        (read.kafka_code().code(), written.kafka_code().code()),
        (42, 42)
    );

    owner.initialize("g", 5, 0).unwrap();
    owner.delete("g").unwrap();
    assert_eq!(owner.read("g", 0).unwrap_err(), read);
    assert_eq!(owner.write("g", &write(0, 0, &[])).unwrap_err(), written);
    assert_eq!(owner.delete("g").unwrap(), []);
}

/// KAFKA-17796: the reader's epoch was in memory only, so a stale writer came back after a crash.
#[test]
fn row_55_a_read_fences_older_leaders_across_a_crash() {
    let mut owner = Owner::initialized("g", 7);
    owner.write("g", &write(7, 1, &[b(8, 8, 2, 1)])).unwrap();
    let decision = owner.read("g", 2).unwrap();
    let update = update_of(&decision.records[0]);
    assert_eq!((update.leader_epoch, update.start_offset), (2, 7));
    assert_eq!(
        (update.delivery_complete_count, update.state_batches.len()),
        (1, 0)
    );
    assert_eq!(decision.answer.state_batches, [b(8, 8, 2, 1)]);
    assert_eq!(
        (decision.answer.state_epoch, decision.answer.start_offset),
        (5, 7)
    );

    owner.coordinator = owner.loaded_from(0);
    let mut stale = write(7, 1, &[]);
    stale.leader_epoch = 1;
    let fenced = CoordinatorError::FencedLeaderEpoch {
        requested: 1,
        current: 2,
    };
    assert_eq!(owner.write("g", &stale).unwrap_err(), fenced);
    assert_eq!(owner.read("g", 1).unwrap_err(), fenced);
    assert_eq!(owner.read("g", 2).unwrap().records, []);
}

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

/// KAFKA-19695: a deleted key held the log for ever.
#[test]
fn row_59_a_deleted_key_does_not_hold_the_log() {
    let mut owner = Owner::initialized("a", 0);
    assert_eq!(owner.coordinator.last_redundant_offset(), None);
    owner.initialize("b", 5, 0).unwrap();
    owner.initialize("c", 5, 0).unwrap();
    assert_eq!(owner.coordinator.last_redundant_offset(), None);
    owner.delete("a").unwrap();
    assert_eq!(owner.coordinator.last_redundant_offset(), Some(1));
    owner.delete("b").unwrap();
    assert_eq!(owner.coordinator.last_redundant_offset(), Some(2));
    // The last key leaves its tombstone as the bound.
    owner.delete("c").unwrap();
    assert_eq!(owner.coordinator.last_redundant_offset(), Some(5));
    assert!(owner.coordinator.is_empty());
}

#[test]
fn the_redundant_offset_follows_snapshots_and_tombstones() {
    let [a, b, c] = ["a", "b", "c"].map(key);
    let mut redundant = RedundantOffset::new();
    assert_eq!(redundant.last_redundant_offset(), i64::MAX);
    let steps = [
        (&a, 10, false, 10, 1),
        (&b, 11, false, 10, 2),
        (&c, 15, false, 10, 3),
        (&a, 18, false, 11, 3),
        (&b, 20, false, 15, 3),
        (&c, 22, true, 18, 2),
        (&a, 25, true, 20, 1),
        (&b, 28, true, 28, 0),
        (&b, 30, true, 30, 0),
        (&a, 31, false, 31, 1),
    ];
    for (key, offset, is_delete, expected, keys) in steps {
        redundant.update(key, offset, is_delete);
        assert_eq!(
            (redundant.last_redundant_offset(), redundant.len()),
            (expected, keys)
        );
    }
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

/// KAFKA-17306: a tombstone of an unknown key failed the load.
#[test]
fn row_65_a_tombstone_of_an_unknown_key_changes_nothing() {
    let mut owner = Owner::initialized("a", 0);
    let before = owner.state("a").clone();
    owner.append(&[ShareRecord {
        key: key("never"),
        value: ShareValue::Tombstone,
    }]);
    assert_eq!((owner.coordinator.len(), owner.state("a")), (1, &before));
}

/// KAFKA-19201: the state of deleted topics was kept for ever.
#[test]
fn row_66_a_deleted_topic_takes_its_keys_along() {
    let mut owner = Owner::initialized("b", 0);
    owner.initialize("a", 5, 0).unwrap();
    let other = SharePartitionKey::new("a", TopicId([9; 16]), 3);
    let mut record = owner.log[0].clone();
    record.key = other.clone();
    owner.append(&[record]);

    assert_eq!(owner.coordinator.decide_topics_deleted(&[]), []);
    assert_eq!(
        owner.coordinator.decide_topics_deleted(&[TopicId([1; 16])]),
        []
    );
    let records = owner.coordinator.decide_topics_deleted(&[TOPIC, TOPIC]);
    let tombstone = |key| ShareRecord {
        key,
        value: ShareValue::Tombstone,
    };
    assert_eq!(records, [tombstone(key("a")), tombstone(key("b"))]);
    owner.append(&records);
    let left: Vec<_> = owner.coordinator.states().map(|(key, _)| key).collect();
    assert_eq!(left, [&other]);
}

#[test]
fn row_67_the_summary_tells_the_leader_epoch_and_the_empty_one_is_no_error() {
    let mut owner = Owner::initialized("g", 4);
    owner.read("g", 6).unwrap();
    owner.write("g", &write(9, 2, &[])).unwrap_err();
    let mut request = write(9, 2, &[]);
    request.leader_epoch = 6;
    owner.write("g", &request).unwrap();
    let told = owner.coordinator.read_summary(&key("g"), true).unwrap();
    assert_eq!((told.state_epoch, told.leader_epoch), (5, 6));
    assert_eq!((told.start_offset, told.delivery_complete_count), (9, 2));
    let empty = owner.coordinator.read_summary(&key("h"), true).unwrap();
    assert_eq!((empty.state_epoch, empty.leader_epoch), (0, 0));
    assert_eq!(
        (empty.start_offset, empty.delivery_complete_count),
        (-1, -1)
    );
}

/// The fences outlive a new initialisation, whose own leader epoch is 0.
#[test]
fn a_new_initialisation_keeps_older_leaders_out() {
    let mut owner = Owner::initialized("g", 0);
    owner.read("g", 4).unwrap();
    owner.initialize("g", 6, 0).unwrap();
    assert_eq!(owner.state("g").leader_epoch, 0);
    let fenced = CoordinatorError::FencedLeaderEpoch {
        requested: 3,
        current: 4,
    };
    assert_eq!(owner.read("g", 3).unwrap_err(), fenced);
    assert_eq!(owner.read("g", 4).unwrap().records, []);
}

/// D6.57: a pruned log may begin with updates; what is left of such a key loads, and Initialize makes it whole.
#[test]
fn an_incomplete_key_is_served_and_made_whole_by_initialize() {
    let mut owner = Owner::new(500);
    let update = ShareUpdate {
        snapshot_epoch: 4,
        leader_epoch: 2,
        start_offset: 8,
        delivery_complete_count: 1,
        state_batches: vec![b(9, 9, 2, 1)],
        unknown_tagged_fields: Vec::new(),
    };
    owner.append(&[ShareRecord {
        key: key("g"),
        value: ShareValue::Update(update),
    }]);
    assert!(owner.state("g").incomplete);
    assert_eq!(owner.coordinator.highest_state_epoch(&key("g")), None);
    assert_eq!(owner.coordinator.last_redundant_offset(), None);
    assert_eq!(
        owner.read("g", 2).unwrap().answer.state_batches,
        [b(9, 9, 2, 1)]
    );

    let records = owner.initialize("g", 0, 8).unwrap();
    assert_eq!(snapshot_of(&records[0]).snapshot_epoch, 5);
    assert!(!owner.state("g").incomplete);
}
