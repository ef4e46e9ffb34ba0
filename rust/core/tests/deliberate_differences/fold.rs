//! M1, M2 and I1: the merge of state batches, and the initialisation of a state.

use share_state_core::coordinator::{CoordinatorConfig, CoordinatorError, ShareCoordinator};
use share_state_core::persister::{InitializeState, WriteState};
use share_state_core::state_batch::{StateBatch, combine};
use share_state_core::time::WallTime;

use crate::common::lab::{batch, key};

const NOW: WallTime = WallTime(1_700_000_000_000);

/// A coordinator whose key starts at 5 with state epoch 2.
fn coordinator() -> ShareCoordinator {
    let mut coordinator = ShareCoordinator::new(CoordinatorConfig::default()).unwrap();
    let request = InitializeState {
        state_epoch: 2,
        start_offset: 5,
    };
    let decision = coordinator.decide_initialize(&key(), &request, true, NOW);
    for record in decision.unwrap().records {
        coordinator.replay(0, &record);
    }
    coordinator
}

fn write(state_batches: &[StateBatch]) -> WriteState {
    WriteState {
        state_epoch: 2,
        leader_epoch: 0,
        start_offset: 5,
        delivery_complete_count: 0,
        state_batches: state_batches.to_vec(),
    }
}

fn m1_an_inverted_batch_is_refused_and_has_no_part_in_a_merge() {
    let coordinator = coordinator();
    let cases = [
        (batch(10, 5, 2, 1), "last_offset", 5),
        (batch(5, 10, 1, 1), "delivery_state", 1),
        (batch(5, 10, 7, 1), "delivery_state", 7),
        (batch(5, 10, 2, -1), "delivery_count", -1),
    ];
    for (bad, name, found) in cases {
        let request = write(&[batch(5, 20, 0, 1), bad]);
        match coordinator.decide_write(&key(), &request, true, NOW) {
            Err(CoordinatorError::InvalidRequest {
                field,
                index,
                value,
            }) => assert_eq!((field.name(), index, value), (name, Some(1), found)),
            other => panic!("{other:?}"),
        }
    }
    let merged = combine(&[batch(0, 20, 0, 1)], &[batch(10, 5, 2, 1)], -1);
    assert_eq!(merged, [batch(0, 20, 0, 1)]);
}

fn m2_a_merge_reaches_the_last_offset_there_is() {
    const MAX: i64 = i64::MAX;
    let merged = combine(&[batch(10, MAX, 0, 1)], &[batch(100, MAX, 2, 1)], -1);
    assert_eq!(merged, [batch(10, 99, 0, 1), batch(100, MAX, 2, 1)]);
    let merged = combine(&[batch(10, MAX, 2, 1)], &[batch(MAX, MAX, 0, 1)], 50);
    assert_eq!(merged, [batch(50, MAX, 2, 1)]);
}

fn i1_a_repeated_initialisation_writes_nothing() {
    let coordinator = coordinator();
    let initialize = |state_epoch, start_offset| {
        let request = InitializeState {
            state_epoch,
            start_offset,
        };
        coordinator
            .decide_initialize(&key(), &request, true, NOW)
            .map(|decision| decision.records.len())
    };
    assert_eq!(initialize(2, 5), Ok(0));
    assert_eq!(
        initialize(2, 6),
        Ok(1),
        "another start offset is no repetition"
    );
    assert_eq!(initialize(3, 5), Ok(1), "nor is another epoch");
    let fenced = CoordinatorError::FencedStateEpoch {
        requested: 1,
        current: 2,
    };
    assert_eq!(initialize(1, 5), Err(fenced));
}

crate::differences!(once:
    M1 m1_an_inverted_batch_is_refused_and_has_no_part_in_a_merge,
    M2 m2_a_merge_reaches_the_last_offset_there_is,
    I1 i1_a_repeated_initialisation_writes_nothing,
);
