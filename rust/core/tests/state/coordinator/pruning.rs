//! Prefix of the log that may go, and the end of keys.

use share_state_core::coordinator::RedundantOffset;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::records::{ShareRecord, ShareUpdate, ShareValue};
use share_state_core::time::WallTime;

use super::support::{Owner, TOPIC, b, key, snapshot_of};

/// KAFKA-19695: a deleted key held the log forever.
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
        // Kafka takes the least of what it sees, also when offsets do not ascend.
        (&c, 7, true, 7, 1),
        (&a, 32, false, 32, 1),
    ];
    for (key, offset, is_delete, expected, keys) in steps {
        redundant.update(key, offset, is_delete);
        assert_eq!(
            (redundant.last_redundant_offset(), redundant.len()),
            (expected, keys)
        );
    }
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

/// KAFKA-19201: the state of deleted topics was kept forever.
#[test]
fn row_66_a_deleted_topic_takes_its_keys_along() {
    let groups = ["f", "b", "e", "a", "h", "c", "g", "d"];
    let mut owner = Owner::new(500);
    for group in groups {
        owner.initialize(group, 5, 0).unwrap();
    }
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
    let tombstones = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|group| ShareRecord {
        key: key(group),
        value: ShareValue::Tombstone,
    });
    assert_eq!(records, tombstones);
    owner.append(&records);
    let left: Vec<_> = owner.coordinator.states().map(|(key, _)| key).collect();
    assert_eq!(left, [&other]);
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

    // Its updates hold no part of the log, so it is due for a snapshot of its own.
    let cold = owner
        .coordinator
        .decide_cold_snapshots(WallTime(1_795_254_335_382));
    assert_eq!(snapshot_of(&cold[0]).state_batches, [b(9, 9, 2, 1)]);

    let records = owner.initialize("g", 0, 8).unwrap();
    assert_eq!(snapshot_of(&records[0]).snapshot_epoch, 5);
    assert!(!owner.state("g").incomplete);
}
