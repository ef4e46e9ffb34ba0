//! Questions to a coordinator about itself, and the fields that its refusals name.

use share_state_core::coordinator::{
    CoordinatorConfig, CoordinatorError, RedundantOffset, RequestField as Field, ShareCoordinator,
};

use super::support::{Owner, key};

#[test]
fn a_refused_field_is_named_with_what_it_may_be() {
    for (field, index, value, said) in [
        (
            Field::Group,
            None,
            0,
            "group has 0 bytes; expected 1 to 32767 bytes",
        ),
        (
            Field::TopicId,
            None,
            0,
            "topic_id is the zero id; expected any other",
        ),
        (Field::Partition, None, -1, "partition is -1; expected >= 0"),
        (
            Field::StateEpoch,
            None,
            -2,
            "state_epoch is -2; expected >= 0",
        ),
        (
            Field::LeaderEpoch,
            None,
            -3,
            "leader_epoch is -3; expected >= 0",
        ),
        (
            Field::StartOffset,
            None,
            -2,
            "start_offset is -2; expected >= -1",
        ),
        (
            Field::DeliveryCompleteCount,
            None,
            -4,
            "delivery_complete_count is -4; expected >= -1",
        ),
        (
            Field::LastOffset,
            Some(3),
            4,
            "state_batches[3].last_offset is 4; expected >= first_offset",
        ),
        (
            Field::DeliveryState,
            Some(0),
            1,
            "state_batches[0].delivery_state is 1; expected 0, 2, 3 or 4",
        ),
        (
            Field::DeliveryCount,
            Some(1),
            -1,
            "state_batches[1].delivery_count is -1; expected >= 0",
        ),
    ] {
        let error = CoordinatorError::InvalidRequest {
            field,
            index,
            value,
        };
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn a_coordinator_tells_its_settings_and_whether_it_knows_a_key() {
    let config = CoordinatorConfig {
        snapshot_update_records_per_snapshot: 7,
        cold_partition_snapshot_interval_ms: 11,
    };
    let coordinator = ShareCoordinator::new(config).unwrap();
    assert_eq!(*coordinator.config(), config);
    assert!(coordinator.is_empty());
    let owner = Owner::initialized("g", 0);
    assert!(!owner.coordinator.is_empty());
    assert_eq!(owner.coordinator.len(), 1);
}

#[test]
fn the_keys_that_hold_the_log_are_told() {
    let mut redundant = RedundantOffset::new();
    assert!(redundant.is_empty());
    redundant.update(&key("g"), 3, false);
    assert!(!redundant.is_empty());
    redundant.update(&key("g"), 4, true);
    assert!(redundant.is_empty());
}
