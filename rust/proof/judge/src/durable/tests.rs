//! A store that does not hold what it should is found out.

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::IntervalStore;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::offset::OffsetRange;
use share_state_core::persister::{ReadStateResult, WriteState};
use share_state_core::share_partition::{
    AcknowledgeBatch, AcquireMode, AcquireRequest, FetchedBatch, SharePartition,
};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::LockTime;

use super::{Begun, Keeper};
use crate::outcome::{Run, State};

fn batch(first_offset: i64, last_offset: i64, delivery_state: i8) -> StateBatch {
    StateBatch {
        first_offset,
        last_offset,
        delivery_state,
        delivery_count: 1,
    }
}

/// A leader whose read a new store has answered.
fn led() -> (Keeper, SharePartition<IntervalStore>) {
    let key = SharePartitionKey::new("group", TopicId([7; 16]), 0);
    let mut keeper = Keeper::new(key.clone()).unwrap();
    let mut partition = SharePartition::new(key, 0, ShareGroupConfig::default()).unwrap();
    let read = ReadStateResult {
        state_epoch: 0,
        start_offset: 0,
        state_batches: Vec::new(),
    };
    partition
        .initialize(keeper.read(0, 0, read).unwrap())
        .unwrap();
    (keeper, partition)
}

/// Ten records of which half are accepted; the write.
fn accepted(partition: &mut SharePartition<IntervalStore>) -> WriteState {
    let fetched = [FetchedBatch::plain(0, 9)];
    let request = AcquireRequest {
        member: "m1",
        mode: AcquireMode::BatchOptimized,
        batch_size: 500,
        max_records: 500,
        fetch_offset: 0,
        fetched: &fetched,
        aborted: None,
    };
    partition.acquire(&request, LockTime(0)).unwrap();
    let types = [AcknowledgeBatch {
        first: 5,
        last: 9,
        types: &[1],
    }];
    partition.acknowledge("m1", &types, LockTime(1)).unwrap();
    let write = partition.poll_write().unwrap();
    let told = share_state_core::kafka_code::KafkaCode::None;
    partition
        .handle_write_result(write.token, told, LockTime(1))
        .unwrap();
    write.state
}

fn keep(keeper: &mut Keeper, write: &WriteState) {
    let Begun::Accepted(begun) = keeper.begin(0, true, write).unwrap() else {
        panic!("the store was not asked");
    };
    assert_eq!(keeper.end(begun).unwrap().code(), 0);
}

#[test]
fn what_is_held_agrees_and_is_counted() {
    let (mut keeper, mut partition) = led();
    let write = accepted(&mut partition);
    keep(&mut keeper, &write);
    let partitions = [partition];
    assert_eq!(keeper.look(&partitions, false), Ok(()));
    assert_eq!(keeper.look(&partitions, true), Ok(()));
    let tally = keeper.tally;
    let counted = [tally.reads, tally.written, tally.folded, tally.reopened];
    assert_eq!((counted, tally.compared), ([1, 1, 2, 1], 2));
}

#[test]
fn a_write_that_the_store_did_not_get_is_found() {
    let (mut keeper, mut partition) = led();
    accepted(&mut partition);
    let missing = keeper.look(&[partition], true).unwrap_err();
    assert!(
        missing.contains("ACKNOWLEDGED with count 1, and the store holds []"),
        "{missing}"
    );
}

#[test]
fn a_write_that_says_something_else_is_found() {
    let wrong: [(&[StateBatch], &str); 4] = [
        (&[batch(5, 9, 4)], "5 to 9 is ACKNOWLEDGED"),
        (&[batch(5, 8, 2)], "5 to 9 is ACKNOWLEDGED"),
        (&[batch(0, 0, 2), batch(5, 9, 2)], "0 to 4 is acquired"),
        (
            &[batch(5, 10, 2)],
            "10 to 9223372036854775807 is never delivered",
        ),
    ];
    for (state_batches, what) in wrong {
        let (mut keeper, mut partition) = led();
        let write = WriteState {
            state_batches: state_batches.to_vec(),
            ..accepted(&mut partition)
        };
        keep(&mut keeper, &write);
        let differs = keeper.look(&[partition], false).unwrap_err();
        assert!(differs.starts_with(what), "{differs}");
    }
}

#[test]
fn a_state_that_files_or_memory_have_lost_is_found() {
    let (mut keeper, mut partition) = led();
    let write = accepted(&mut partition);
    keep(&mut keeper, &write);
    // The files of another store.
    let (mut other, _) = led();
    core::mem::swap(&mut keeper.directory, &mut other.directory);
    let differs = keeper.look(&[partition], false).unwrap_err();
    assert!(differs.starts_with("the files hold"), "{differs}");
}

#[test]
fn a_write_of_an_earlier_leader_must_be_refused() {
    let (mut keeper, mut partition) = led();
    let write = accepted(&mut partition);
    let read = ReadStateResult {
        state_epoch: 0,
        start_offset: 0,
        state_batches: Vec::new(),
    };
    keeper.read(1, 1, read).unwrap();
    assert!(matches!(keeper.begin(0, true, &write), Ok(Begun::Planned)));
    assert_eq!(keeper.tally.fenced, 1);
    // One of the leader's own epoch is nobody's but the leader's.
    let own = WriteState {
        leader_epoch: 1,
        ..write
    };
    assert!(matches!(keeper.begin(0, true, &own), Ok(Begun::Planned)));
    assert_eq!(keeper.tally.fenced, 1);
}

#[test]
fn what_is_gone_from_the_log_may_be_held_as_it_was() {
    let (mut keeper, mut partition) = led();
    let write = WriteState {
        state_batches: vec![batch(5, 7, 0), batch(8, 9, 2)],
        ..accepted(&mut partition)
    };
    keep(&mut keeper, &write);
    let state = |archived: &[(i64, i64)]| State {
        runs: archived
            .iter()
            .map(|(first, last)| Run {
                first: *first,
                last: *last,
                state: 4,
                delivery_count: 1,
                member: 0,
                pending: false,
                deadline: -1,
            })
            .collect(),
        ..State::default()
    };
    keeper.acquired(0, &state(&[(6, 6)]), &state(&[(5, 7)]));
    let gone = |first, last| OffsetRange::new(first, last).unwrap();
    assert_eq!(keeper.gone, [gone(5, 5), gone(7, 7)]);
    // Not what was archived before.
    let differs = keeper.look(&[partition], false).unwrap_err();
    assert!(differs.starts_with("6 to 6 is ACKNOWLEDGED"), "{differs}");
}
