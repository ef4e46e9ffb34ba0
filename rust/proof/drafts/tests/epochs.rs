//! Deltas that count: those of the latest checkpoint, in their order; all others are passed over.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly")]

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::WriteState;
use share_state_core::state_batch::StateBatch;
use share_state_drafts::control::{ControlBody, ControlRecord, ControlRecovery};
use share_state_drafts::state_topic::{
    CheckpointEpochWidth, StateKey, StateRecord, StateReplay, StateValue, StateWriter,
};
use share_state_drafts::{CheckpointEpochExhausted, EffectiveState};

fn accepted(first_offset: i64, last_offset: i64) -> Vec<StateBatch> {
    vec![StateBatch {
        first_offset,
        last_offset,
        delivery_state: 2,
        delivery_count: 1,
    }]
}

fn control(group: &str, checkpoint_epoch: u32, body: ControlBody) -> ControlRecord {
    ControlRecord {
        group: group.to_owned(),
        checkpoint_epoch,
        body,
    }
}

fn checkpoint(start_offset: i64) -> ControlBody {
    ControlBody::Checkpoint {
        start_offset,
        end_offset: start_offset,
        states: vec![],
    }
}

#[test]
fn a_control_delta_counts_for_the_latest_checkpoint_of_its_group_only() {
    let delta = |first, last| ControlBody::Delta {
        states: accepted(first, last),
    };
    let log = [
        (control("a", 0, delta(0, 9)), false, "no checkpoint yet"),
        (control("a", 0, checkpoint(0)), true, ""),
        (control("b", 5, checkpoint(50)), true, ""),
        (control("a", 0, delta(0, 3)), true, ""),
        (control("a", 5, delta(4, 9)), false, "the epoch of b"),
        (control("a", 1, checkpoint(4)), true, ""),
        (control("a", 0, delta(4, 9)), false, "the epoch before"),
        (control("a", 2, delta(4, 9)), false, "an epoch to come"),
        (control("a", 1, delta(4, 5)), true, ""),
    ];
    let mut recovery = ControlRecovery::new();
    for (offset, (record, counts, reason)) in log.iter().enumerate() {
        assert_eq!(recovery.replay(offset as i64, record), *counts, "{reason}");
    }
    assert_eq!(recovery.state("a").unwrap().start_offset(), 6);
    assert_eq!(recovery.state("b"), Some(&EffectiveState::new(50, &[])));
    assert_eq!(recovery.state("c"), None);
    assert_eq!(recovery.share_checkpoint_offset("a"), Some(5));
    assert_eq!(recovery.share_checkpoint_offset("b"), Some(2));
    assert_eq!(recovery.earliest_share_offset(), Some(2));
}

fn share_partition() -> SharePartitionKey {
    SharePartitionKey::new("g", TopicId([1; 16]), 0)
}

/// A record with its epochs: of the state, of the checkpoint.
fn record(
    delta_index: Option<u8>,
    (state_epoch, checkpoint_epoch): (u32, u32),
    start_offset: i64,
    states: Vec<StateBatch>,
) -> StateRecord {
    let share_partition = share_partition();
    StateRecord {
        key: StateKey {
            share_partition,
            delta_index,
        },
        value: Some(StateValue {
            state_epoch,
            checkpoint_epoch,
            start_offset,
            states,
        }),
    }
}

fn replayed(log: &[StateRecord]) -> Option<EffectiveState> {
    let mut replay = StateReplay::new();
    for record in log {
        replay.replay(record);
    }
    replay.state(&share_partition())
}

#[test]
fn a_delta_of_another_epoch_is_passed_over() {
    let mut log = vec![record(Some(3), (0, 1), 30, vec![])];
    assert_eq!(replayed(&log), None, "a delta alone is no state");
    log.push(record(None, (0, 1), 10, vec![]));
    assert_eq!(replayed(&log).unwrap().start_offset(), 30);
    log.push(record(None, (0, 2), 40, vec![]));
    log.push(record(Some(0), (0, 2), -1, accepted(40, 44)));
    log.push(record(Some(1), (0, 1), 99, vec![]));
    log.push(record(Some(2), (0, 3), 99, vec![]));
    assert_eq!(replayed(&log), Some(EffectiveState::new(45, &[])));
}

#[test]
fn a_delta_of_a_deleted_state_is_passed_over() {
    let tombstone = |delta_index| StateRecord {
        value: None,
        ..record(delta_index, (0, 0), 0, vec![])
    };
    let mut log = vec![
        record(None, (0, 0), 10, vec![]),
        record(Some(0), (0, 0), 20, vec![]),
        record(Some(1), (0, 0), 30, vec![]),
        tombstone(None),
    ];
    assert_eq!(replayed(&log), None);
    // Initialised again: the checkpoint epochs begin at 0 as before, so only the state epoch tells the deltas apart.
    log.push(record(None, (1, 0), 5, vec![]));
    assert_eq!(replayed(&log), Some(EffectiveState::new(5, &[])));
    log.push(record(Some(0), (1, 0), 6, vec![]));
    assert_eq!(replayed(&log), Some(EffectiveState::new(6, &[])));
    log.push(tombstone(Some(0)));
    assert_eq!(replayed(&log), Some(EffectiveState::new(5, &[])));
}

#[test]
fn deltas_apply_in_the_order_of_their_indexes() {
    let at = |state, count| {
        vec![StateBatch {
            first_offset: 11,
            last_offset: 12,
            delivery_state: state,
            delivery_count: count,
        }]
    };
    let log = [
        record(None, (0, 0), 10, vec![]),
        record(Some(1), (0, 0), -1, at(2, 2)),
        record(Some(0), (0, 0), -1, at(0, 1)),
    ];
    assert_eq!(replayed(&log), Some(EffectiveState::new(10, &at(2, 2))));
}

#[test]
fn a_writer_without_an_epoch_left_stays_as_it_was() {
    let change = |start_offset| WriteState {
        state_epoch: 0,
        leader_epoch: 0,
        start_offset,
        delivery_complete_count: 0,
        state_batches: vec![],
    };
    let width = CheckpointEpochWidth::U16;
    let (mut writer, _) = StateWriter::begin(share_partition(), 0, 0, width, 0);
    for epoch in 1..=65_535 {
        let record = writer.write(&change(i64::from(epoch))).unwrap();
        assert_eq!(record.value.unwrap().checkpoint_epoch, epoch);
    }
    let exhausted = CheckpointEpochExhausted {
        checkpoint_epoch: 65_535,
    };
    assert_eq!(writer.write(&change(70_000)), Err(exhausted));
    assert_eq!(writer.write(&change(70_000)), Err(exhausted));
}
