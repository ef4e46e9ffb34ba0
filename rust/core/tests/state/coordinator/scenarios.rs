//! Bugs of the verbs of Kafka's share coordinator, each with the outcome that is right.

use share_state_core::coordinator::{CoordinatorError, Operation};
use share_state_core::records::{ShareRecord, ShareValue};

use super::support::{Owner, b, key, snapshot_of, update_of, write};

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

/// The fences outlive a new initialisation, whose own leader epoch is 0; the leader's next read writes its epoch again (I2).
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
    let records = owner.read("g", 4).unwrap().records;
    assert_eq!(update_of(&records[0]).leader_epoch, 4);
    assert_eq!(owner.state("g").leader_epoch, 4);
    assert_eq!(owner.read("g", 4).unwrap().records, []);
}

/// Lower epochs in later records, as foreign logs may hold them, do not let older writers in.
#[test]
fn the_fences_are_the_highest_epochs_of_any_record() {
    let mut owner = Owner::initialized("g", 0);
    owner.read("g", 4).unwrap();
    let mut update = update_of(&owner.log[1]).clone();
    update.leader_epoch = 2;
    let mut snapshot = snapshot_of(&owner.log[0]).clone();
    (snapshot.state_epoch, snapshot.snapshot_epoch) = (3, 1);
    for value in [ShareValue::Update(update), ShareValue::Snapshot(snapshot)] {
        owner.append(&[ShareRecord {
            key: key("g"),
            value,
        }]);
        assert_eq!(owner.coordinator.highest_leader_epoch(&key("g")), Some(4));
        assert_eq!(owner.coordinator.highest_state_epoch(&key("g")), Some(5));
    }
    assert_eq!(owner.state("g").state_epoch, 3);
    let fenced = CoordinatorError::FencedStateEpoch {
        requested: 4,
        current: 5,
    };
    assert_eq!(owner.initialize("g", 4, 0).unwrap_err(), fenced);
}
