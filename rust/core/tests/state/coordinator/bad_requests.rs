//! Requests that must be refused, and what precedes what. Deciding takes `&self`, so a refusal cannot change anything.

use share_state_core::coordinator::{
    CoordinatorConfig, CoordinatorError, RequestField, ShareCoordinator,
};
use share_state_core::ids::{MAX_GROUP_ID_BYTES, SharePartitionKey, TopicId};
use share_state_core::persister::{
    InitializeState, MAX_STATE_BATCHES_PER_WRITE, ReadState, WriteState,
};
use share_state_core::state_batch::StateBatch;

use super::support::{Owner, TOPIC, b, key, write};

fn invalid(field: RequestField, value: i64) -> CoordinatorError {
    CoordinatorError::InvalidRequest {
        field,
        index: None,
        value,
    }
}

/// Answers of the five verbs to a key, to a topic that may be missing and to a leader epoch of 0.
fn every_verb(
    owner: &Owner,
    key: &SharePartitionKey,
    topic: bool,
) -> Vec<Option<CoordinatorError>> {
    let c = &owner.coordinator;
    let initialize = InitializeState {
        state_epoch: 6,
        start_offset: 0,
    };
    let read = ReadState { leader_epoch: 0 };
    vec![
        c.decide_initialize(key, &initialize, topic, owner.now)
            .err(),
        c.decide_read(key, &read, topic, owner.now).err(),
        c.decide_write(key, &write(0, 0, &[]), topic, owner.now)
            .err(),
        c.decide_delete(key, topic).err(),
        c.read_summary(key, topic).err(),
    ]
}

#[test]
fn d5_43_the_key_must_be_well_formed() {
    let owner = Owner::initialized("g", 0);
    let long = "x".repeat(MAX_GROUP_ID_BYTES + 1);
    let keys = [
        (
            SharePartitionKey::new("g", TopicId::ZERO, -1),
            RequestField::TopicId,
            0,
        ),
        (
            SharePartitionKey::new("g", TOPIC, -1),
            RequestField::Partition,
            -1,
        ),
        (SharePartitionKey::new("", TOPIC, 0), RequestField::Group, 0),
        (
            SharePartitionKey::new(&long, TOPIC, 0),
            RequestField::Group,
            32_768,
        ),
    ];
    for (key, field, value) in keys {
        // The form of the request precedes the missing topic.
        assert_eq!(
            every_verb(&owner, &key, false),
            vec![Some(invalid(field, value)); 5]
        );
    }
    assert_eq!(invalid(RequestField::Partition, -1).kafka_code().code(), 42);
}

#[test]
fn d5_43_epochs_are_not_negative() {
    let owner = Owner::initialized("g", 0);
    let (c, g, now) = (&owner.coordinator, key("g"), owner.now);
    for epoch in [-1, i32::MIN] {
        let leader = Some(invalid(RequestField::LeaderEpoch, i64::from(epoch)));
        let state = Some(invalid(RequestField::StateEpoch, i64::from(epoch)));
        let initialize = InitializeState {
            state_epoch: epoch,
            start_offset: 0,
        };
        let read = ReadState {
            leader_epoch: epoch,
        };
        assert_eq!(
            c.decide_initialize(&g, &initialize, false, now).err(),
            state
        );
        assert_eq!(c.decide_read(&g, &read, false, now).err(), leader);
        // The leader epoch precedes the state epoch.
        let mut request = write(0, 0, &[]);
        (request.leader_epoch, request.state_epoch) = (epoch, epoch);
        assert_eq!(c.decide_write(&g, &request, false, now).err(), leader);
        request.leader_epoch = 0;
        assert_eq!(c.decide_write(&g, &request, false, now).err(), state);
    }
}

#[test]
fn d5_44_lower_epochs_are_fenced_leader_first_then_state_then_topic() {
    let mut owner = Owner::initialized("g", 0);
    owner.read("g", 3).unwrap();
    let (c, g, now) = (&owner.coordinator, key("g"), owner.now);
    let mut request = write(0, 0, &[]);
    let leader = CoordinatorError::FencedLeaderEpoch {
        requested: 2,
        current: 3,
    };
    let state = CoordinatorError::FencedStateEpoch {
        requested: 4,
        current: 5,
    };
    (request.leader_epoch, request.state_epoch) = (2, 4);
    assert_eq!(c.decide_write(&g, &request, false, now).err(), Some(leader));
    request.leader_epoch = 3;
    assert_eq!(c.decide_write(&g, &request, false, now).err(), Some(state));
    request.state_epoch = 5;
    let missing = CoordinatorError::UnknownTopicOrPartition;
    assert_eq!(
        c.decide_write(&g, &request, false, now).err(),
        Some(missing)
    );
    assert!(c.decide_write(&g, &request, true, now).is_ok());

    let older = InitializeState {
        state_epoch: 4,
        start_offset: 9,
    };
    assert_eq!(
        c.decide_initialize(&g, &older, false, now).err(),
        Some(state)
    );
    let stale = ReadState { leader_epoch: 2 };
    assert_eq!(c.decide_read(&g, &stale, false, now).err(), Some(leader));
    let codes = [leader, state, missing].map(|e| e.kafka_code().code());
    assert_eq!(codes, [74, 124, 3]);
}

#[test]
fn a_missing_topic_comes_last_but_before_an_empty_answer() {
    let mut owner = Owner::initialized("g", 0);
    let missing = Some(CoordinatorError::UnknownTopicOrPartition);
    assert_eq!(every_verb(&owner, &key("g"), false), vec![missing; 5]);
    // A repeated Initialize and a delete of an unknown key would write nothing, and still name the topic.
    let repeated = InitializeState {
        state_epoch: 5,
        start_offset: 0,
    };
    let (c, now) = (&owner.coordinator, owner.now);
    assert_eq!(
        c.decide_initialize(&key("g"), &repeated, false, now).err(),
        missing
    );
    assert_eq!(c.decide_delete(&key("h"), false).err(), missing);
    assert_eq!(c.read_summary(&key("h"), false).err(), missing);
    // A key without state precedes the topic.
    let read = c.decide_read(&key("h"), &ReadState { leader_epoch: 0 }, false, now);
    assert!(matches!(read, Err(CoordinatorError::Uninitialized { .. })));
    assert_eq!(owner.read("g", 0).unwrap().records, []);
}

#[test]
fn d5_47_m1_malformed_batches_are_refused_by_field_index_and_value() {
    let owner = Owner::initialized("g", 0);
    let good = b(0, 9, 2, 1);
    let table: [(StateBatch, RequestField, i64); 8] = [
        (b(10, 5, 2, 1), RequestField::LastOffset, 5),
        (
            b(i64::MAX, i64::MIN, 2, 1),
            RequestField::LastOffset,
            i64::MIN,
        ),
        (b(0, 0, 1, 1), RequestField::DeliveryState, 1),
        (b(0, 0, 5, 1), RequestField::DeliveryState, 5),
        (b(0, 0, i8::MAX, 1), RequestField::DeliveryState, 127),
        (b(0, 0, -1, 1), RequestField::DeliveryState, -1),
        (b(0, 0, 2, -1), RequestField::DeliveryCount, -1),
        (b(0, 0, 0, i16::MIN), RequestField::DeliveryCount, -32_768),
    ];
    for (bad, field, value) in table {
        let request = write(0, 0, &[good, good, bad]);
        let refused = owner
            .coordinator
            .decide_write(&key("g"), &request, true, owner.now);
        let expected = CoordinatorError::InvalidRequest {
            field,
            index: Some(2),
            value,
        };
        assert_eq!(refused.err(), Some(expected), "{bad:?}");
        assert!(expected.to_string().contains(field.name()));
    }
}

#[test]
fn d5_47_whatever_else_batches_are_they_merge() {
    let mut owner = Owner::initialized("g", 10);
    let batches = [
        b(40, i64::MAX, 0, 1),
        b(20, 30, 0, 1),
        b(25, 50, 2, 1),
        b(-7, 11, 4, 0),
        b(-9, -8, 3, 32_767),
    ];
    owner.write("g", &write(10, 0, &batches)).unwrap();
    let merged = [
        b(10, 11, 4, 0),
        b(20, 24, 0, 1),
        b(25, 50, 2, 1),
        b(51, i64::MAX, 0, 1),
    ];
    assert_eq!(owner.state("g").state_batches.to_vec(), merged);
}

#[test]
fn d5_48_start_offset_and_count_are_not_below_unknown() {
    let owner = Owner::initialized("g", 3);
    let (c, g, now) = (&owner.coordinator, key("g"), owner.now);
    let initialize = InitializeState {
        state_epoch: 6,
        start_offset: -2,
    };
    let start = invalid(RequestField::StartOffset, -2);
    assert_eq!(
        c.decide_initialize(&g, &initialize, true, now).err(),
        Some(start)
    );
    assert_eq!(
        c.decide_write(&g, &write(-2, 0, &[]), true, now).err(),
        Some(start)
    );
    let count = invalid(RequestField::DeliveryCompleteCount, -2);
    assert_eq!(
        c.decide_write(&g, &write(3, -2, &[]), true, now).err(),
        Some(count)
    );
    assert!(c.decide_write(&g, &write(-1, -1, &[]), true, now).is_ok());
}

#[test]
fn d5_50_too_many_batches_are_refused_and_the_most_are_merged() {
    let mut owner = Owner::initialized("g", 0);
    let most: Vec<_> = (0..MAX_STATE_BATCHES_PER_WRITE as i64)
        .map(|i| b(2 * i, 2 * i, 2, 1))
        .collect();
    let mut request: WriteState = write(0, 0, &most);
    owner.write("g", &request).unwrap();
    assert_eq!(
        owner.state("g").state_batches.len(),
        MAX_STATE_BATCHES_PER_WRITE
    );

    request.state_batches.extend_from_slice(&most);
    let expected = CoordinatorError::TooManyStateBatches {
        asked: 100_000,
        allowed: 50_000,
    };
    assert_eq!(owner.write("g", &request).err(), Some(expected));
    assert_eq!(expected.kafka_code().code(), -1);
}

#[test]
fn d5_51_any_group_id_that_a_record_can_name_is_served() {
    let mut owner = Owner::new(500);
    let longest = "g".repeat(MAX_GROUP_ID_BYTES);
    for group in [":a:b:", "nul\0nul", "gé", longest.as_str()] {
        owner.initialize(group, 5, 1).unwrap();
        assert_eq!(owner.state(group).start_offset, 1);
    }
    assert_eq!(owner.coordinator.len(), 4);

    // One group, two topics: two states.
    let other = SharePartitionKey::new("gé", TopicId([8; 16]), 0);
    assert_eq!(owner.coordinator.state(&other), None);
}

#[test]
fn d5_52_a_deleted_key_is_gone_and_may_be_deleted_again() {
    let mut owner = Owner::initialized("g", 0);
    assert_eq!(owner.delete("h").unwrap(), []);
    assert_eq!(owner.delete("g").unwrap().len(), 1);
    let refused = owner.write("g", &write(0, 0, &[])).unwrap_err();
    assert_eq!(refused.kafka_code().code(), 42);
    assert_eq!(owner.delete("g").unwrap(), []);
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let default = CoordinatorConfig::default();
    let updates = CoordinatorConfig {
        snapshot_update_records_per_snapshot: 501,
        ..default
    };
    let interval = CoordinatorConfig {
        cold_partition_snapshot_interval_ms: 0,
        ..default
    };
    assert!(ShareCoordinator::new(default).is_ok());
    let refused = ShareCoordinator::new(updates).unwrap_err();
    assert_eq!((refused.value, refused.min, refused.max), (501, 0, 500));
    let refused = ShareCoordinator::new(interval).unwrap_err();
    assert_eq!(
        refused.name,
        "share.coordinator.cold.partition.snapshot.interval.ms"
    );
    assert_eq!((refused.value, refused.min), (0, 1));
}
