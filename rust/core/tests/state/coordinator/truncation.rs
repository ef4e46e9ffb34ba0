//! A log that is cut: what lies beyond the cut is forgotten, and nothing else.

use share_state_core::ids::{SharePartitionKey, TopicId};

use super::support::{Owner, TOPIC, b, key, snapshot_of, write};

#[test]
fn what_lies_beyond_the_cut_is_forgotten() {
    let mut owner = Owner::initialized("a", 10);
    let batches = [b(10, 14, 2, 1), b(15, 19, 0, 3), b(20, 29, 4, 5)];
    owner.write("a", &write(10, 15, &batches)).unwrap();
    // Each cut with the start offset, the complete count and the batches that are left.
    for (offset, start_offset, complete, left) in [
        (
            25,
            10,
            10,
            vec![b(10, 14, 2, 1), b(15, 19, 0, 3), b(20, 24, 4, 5)],
        ),
        (20, 10, 5, vec![b(10, 14, 2, 1), b(15, 19, 0, 3)]),
        (12, 10, 2, vec![b(10, 11, 2, 1)]),
        (10, 10, 0, vec![]),
        (3, 3, 0, vec![]),
        (-5, 0, 0, vec![]),
    ] {
        let records = owner
            .coordinator
            .decide_log_truncated(TOPIC, 0, offset, owner.now);
        let snapshot = snapshot_of(&records[0]);
        assert_eq!(
            (
                snapshot.start_offset,
                snapshot.delivery_complete_count,
                &snapshot.state_batches
            ),
            (start_offset, complete, &left),
            "cut at {offset}"
        );
        assert_eq!((snapshot.state_epoch, records.len()), (6, 1));
    }
}

#[test]
fn a_state_that_ends_before_the_cut_is_not_touched() {
    let mut owner = Owner::initialized("a", 10);
    owner.write("a", &write(10, 5, &[b(10, 14, 2, 1)])).unwrap();
    assert_eq!(
        owner
            .coordinator
            .decide_log_truncated(TOPIC, 0, 15, owner.now),
        []
    );
    // One that is yet to find its start offset knows of no offset.
    let mut owner = Owner::initialized("a", -1);
    owner.initialize("a", 6, -1).unwrap();
    assert_eq!(
        owner
            .coordinator
            .decide_log_truncated(TOPIC, 0, 0, owner.now),
        []
    );
}

#[test]
fn every_group_of_the_partition_is_cut_and_no_other_partition() {
    let mut owner = Owner::new(500);
    for group in ["b", "a"] {
        owner.initialize(group, 5, 8).unwrap();
    }
    let mut elsewhere = owner.log[0].clone();
    elsewhere.key = SharePartitionKey::new("a", TOPIC, 1);
    let mut other_topic = owner.log[0].clone();
    other_topic.key = SharePartitionKey::new("a", TopicId([9; 16]), 0);
    owner.append(&[elsewhere, other_topic]);
    let records = owner
        .coordinator
        .decide_log_truncated(TOPIC, 0, 4, owner.now);
    let keys: Vec<_> = records.iter().map(|record| &record.key).collect();
    assert_eq!(keys, [&key("a"), &key("b")]);
}

#[test]
fn the_leader_of_the_old_state_is_fenced() {
    let mut owner = Owner::initialized("a", 10);
    let records = owner
        .coordinator
        .decide_log_truncated(TOPIC, 0, 4, owner.now);
    owner.append(&records);
    assert!(owner.write("a", &write(11, 0, &[])).is_err());
    assert_eq!(owner.read("a", 0).unwrap().answer.start_offset, 4);
}

/// A write without a start offset leaves the one that is known, here none.
#[test]
fn records_of_a_state_without_a_start_offset_are_cut_too() {
    let mut owner = Owner::initialized("a", -1);
    owner.write("a", &write(-1, 0, &[b(15, 18, 2, 1)])).unwrap();
    let records = owner
        .coordinator
        .decide_log_truncated(TOPIC, 0, 17, owner.now);
    let snapshot = snapshot_of(&records[0]);
    assert_eq!(snapshot.start_offset, -1);
    assert_eq!(snapshot.state_batches, [b(15, 16, 2, 1)]);
}

#[test]
fn the_snapshot_of_a_cut_is_new_and_names_its_time() {
    let mut owner = Owner::initialized("a", 10);
    owner.write("a", &write(10, 5, &[b(10, 14, 2, 1)])).unwrap();
    let before = owner.state("a").to_snapshot();
    owner.now.0 += 777;
    let records = owner
        .coordinator
        .decide_log_truncated(TOPIC, 0, 12, owner.now);
    let cut = snapshot_of(&records[0]);
    assert_eq!(cut.snapshot_epoch, before.snapshot_epoch + 1);
    assert_eq!(cut.state_epoch, before.state_epoch + 1);
    assert_eq!(cut.create_timestamp, owner.now.0);
    assert_eq!(cut.write_timestamp, owner.now.0);
}

/// The count on the wire has 31 bits, and a state may hold more records.
#[test]
fn a_count_that_does_not_fit_is_unknown() {
    let mut owner = Owner::initialized("a", 0);
    let most = i64::from(i32::MAX);
    owner
        .write("a", &write(0, -1, &[b(0, most + 10, 2, 1)]))
        .unwrap();
    for (offset, count) in [(most, i32::MAX), (most + 1, -1)] {
        let records = owner
            .coordinator
            .decide_log_truncated(TOPIC, 0, offset, owner.now);
        assert_eq!(snapshot_of(&records[0]).delivery_complete_count, count);
    }
}
