//! M1 to M3, I1 and I2: the merge of state batches, the greatest size of a state, and its initialisation.

use share_state_core::coordinator::{CoordinatorConfig, CoordinatorError, ShareCoordinator};
use share_state_core::persister::{InitializeState, MAX_STATE_BATCHES, ReadState, WriteState};
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareValue};
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

fn i2_a_read_after_a_new_initialisation_writes_its_leader() {
    let mut coordinator = coordinator();
    let mut offset = 0;
    let mut read = |coordinator: &mut ShareCoordinator, leader_epoch| {
        let request = ReadState { leader_epoch };
        let records = coordinator
            .decide_read(&key(), &request, true, NOW)?
            .records;
        for record in &records {
            offset += 1;
            coordinator.replay(offset, record);
        }
        Ok(records)
    };
    assert_eq!(read(&mut coordinator, 5).unwrap().len(), 1);
    let request = InitializeState {
        state_epoch: 3,
        start_offset: 5,
    };
    let decision = coordinator.decide_initialize(&key(), &request, true, NOW);
    let mut after_prune = decision.unwrap().records;
    coordinator.replay(2, &after_prune[0]);
    after_prune.extend(read(&mut coordinator, 5).unwrap());
    assert_eq!(read(&mut coordinator, 5).unwrap(), []);

    // What a coordinator loads when all before the new initialisation is gone keeps older leaders out.
    let mut loaded = ShareCoordinator::new(CoordinatorConfig::default()).unwrap();
    for (offset, record) in (2..).zip(&after_prune) {
        loaded.replay(offset, record);
    }
    let fenced = CoordinatorError::FencedLeaderEpoch {
        requested: 4,
        current: 5,
    };
    assert_eq!(read(&mut loaded, 4), Err(fenced));
    let written = WriteState {
        state_epoch: 3,
        leader_epoch: 4,
        ..write(&[])
    };
    let refused = loaded.decide_write(&key(), &written, true, NOW);
    assert_eq!(refused.map(drop), Err(fenced));
}

fn m3_a_state_has_a_greatest_size() {
    let mut coordinator = coordinator();
    let alternate = |i: usize| batch(5 + 2 * i as i64, 5 + 2 * i as i64, 2, 1);
    let full = ShareSnapshot {
        state_batches: (0..MAX_STATE_BATCHES).map(alternate).collect(),
        ..coordinator.state(&key()).unwrap().to_snapshot()
    };
    let record = ShareRecord {
        key: key(),
        value: ShareValue::Snapshot(full),
    };
    coordinator.replay(1, &record);
    let ask = |request: &WriteState| coordinator.decide_write(&key(), request, true, NOW);
    let one_more = write(&[alternate(MAX_STATE_BATCHES)]);
    let refused = ask(&one_more).map(drop).unwrap_err();
    let expected = CoordinatorError::StateFull {
        batches: MAX_STATE_BATCHES + 1,
        allowed: MAX_STATE_BATCHES,
    };
    assert_eq!((refused, refused.kafka_code().code()), (expected, -1));

    // A write that fills a gap, changes a batch, or moves the start offset is taken.
    for taken in [batch(6, 6, 2, 1), batch(7, 7, 2, 2)] {
        assert!(ask(&write(&[taken])).is_ok(), "{taken:?}");
    }
    let moved = WriteState {
        start_offset: 7,
        ..one_more
    };
    assert!(ask(&moved).is_ok());
}

crate::differences!(once:
    M1 m1_an_inverted_batch_is_refused_and_has_no_part_in_a_merge,
    M2 m2_a_merge_reaches_the_last_offset_there_is,
    M3 m3_a_state_has_a_greatest_size,
    I1 i1_a_repeated_initialisation_writes_nothing,
    I2 i2_a_read_after_a_new_initialisation_writes_its_leader,
);
