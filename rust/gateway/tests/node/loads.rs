//! Share partitions on their way to service: their states, their start offsets, and loads that fail.

use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::{AutoOffsetReset, IsolationLevel};
use share_state_core::persister::{ReadStateResult, WriteState};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::LockTime;
use share_state_gateway::node::{Limits, Need, ServedId, SourceKey};

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B, LEADER_EPOCH};
use crate::world::World;

/// A world that holds states and start offsets back.
fn holding() -> World {
    let mut world = World::with(Limits::default(), &[A, B]);
    world.holds_states = true;
    world
}

/// The next state that is asked for.
fn state(world: &mut World) -> (ServedId, SharePartitionKey, i32) {
    match world.held() {
        Some(Need::State {
            served,
            key,
            leader_epoch,
        }) => (served, key, leader_epoch),
        other => panic!("{other:?} is no state"),
    }
}

/// Answers the next state that is asked for.
fn answer(world: &mut World, read: Result<ReadStateResult, KafkaCode>) {
    let (served, ..) = state(world);
    world.node.state_read(served, read, world.now);
    world.drive();
}

#[test]
fn a_share_partition_is_loaded_once_for_all_who_ask() {
    let mut world = holding();
    let places = [place(1, 0), place(1, 1), place(2, 0)];
    for id in places {
        world.produce(id, 1);
    }
    world.feed(A, &Fetch::of("a", 0).adding(&places).waiting(500).frame(1));
    world.feed(
        B,
        &Fetch::of("b", 0).adding(&places[..1]).waiting(500).frame(2),
    );
    let asked = [(); 3].map(|()| state(&mut world));
    assert_eq!(world.held(), None);
    for ((_, key, leader_epoch), id) in asked.iter().zip(places) {
        let expected = SharePartitionKey::new("group", id.topic_id, id.partition);
        assert_eq!((key, *leader_epoch), (&expected, LEADER_EPOCH));
    }
    assert_eq!((world.frame(A), world.frame(B)), (None, None));
    // Whoever waits for it is woken by what is loaded, and nobody else.
    let read = Ok(ReadStateResult::starting_at(0));
    world.node.state_read(asked[1].0, read, world.now);
    world.drive();
    assert_eq!(world.answer(A, 78).unwrap().row().id, places[1]);
    assert_eq!(world.frame(B), None);
    let mut other = Fetch::of("a", 0).adding(&places[..1]).waiting(500);
    other.group = "other".to_owned();
    world.feed(A, &other.frame(3));
    let (_, key, _) = state(&mut world);
    assert_eq!(&*key.group, "other");
}

#[test]
fn a_start_offset_is_kept_before_records_are_given() {
    let (mut world, id) = (holding(), place(1, 0));
    world.produce(id, 4);
    world.feed(A, &Fetch::of("m", 0).adding(&[id]).waiting(500).frame(1));
    let unresolved = ReadStateResult {
        state_epoch: 3,
        ..ReadStateResult::starting_at(-1)
    };
    answer(&mut world, Ok(unresolved));
    let Some(Need::Start {
        served,
        source,
        strategy,
    }) = world.held()
    else {
        panic!("a start offset is needed")
    };
    let expected = SourceKey {
        id,
        isolation: IsolationLevel::ReadUncommitted,
    };
    assert_eq!((source, strategy), (expected, AutoOffsetReset::Earliest));
    world.holds_rounds = true;
    world.node.start_found(served, Some(2), world.now);
    world.drive();
    assert_eq!(world.frame(A), None, "it is not kept yet");
    let written = WriteState {
        state_epoch: 3,
        leader_epoch: LEADER_EPOCH,
        start_offset: 2,
        delivery_complete_count: 0,
        state_batches: Vec::new(),
    };
    let key = SharePartitionKey::new("group", id.topic_id, 0);
    let round = world.round.take().unwrap();
    assert_eq!(round.writes, [(key, written)]);
    let settled = world
        .node
        .settle(round.number, &[KafkaCode::None], world.now);
    assert_eq!(settled, Ok(()));
    world.drive();
    assert_eq!(world.answer(A, 78).unwrap().row().acquired, [(2, 5, 1)]);
}

#[test]
fn a_state_with_a_start_offset_needs_none() {
    let (mut world, id) = (holding(), place(1, 0));
    world.produce(id, 4);
    world.feed(A, &Fetch::of("m", 0).adding(&[id]).waiting(500).frame(1));
    answer(&mut world, Ok(ReadStateResult::starting_at(4)));
    assert_eq!((world.held(), world.rounds), (None, 0));
    assert_eq!(world.answer(A, 78).unwrap().row().acquired, [(4, 7, 1)]);
}

/// A cause for which a load fails.
enum Failure {
    /// The state is refused.
    Read(KafkaCode),
    /// A batch of the state lies before its start offset.
    Corrupt,
    /// No start offset is found.
    NoStart,
    /// The write of the start offset is refused.
    Kept(KafkaCode),
}

/// Has a load fail.
fn fail(world: &mut World, failure: &Failure) {
    let read = match failure {
        Failure::Read(refused) => Err(*refused),
        Failure::Corrupt => Ok(ReadStateResult {
            state_batches: vec![StateBatch {
                first_offset: 2,
                last_offset: 3,
                delivery_state: 2,
                delivery_count: 1,
            }],
            ..ReadStateResult::starting_at(4)
        }),
        Failure::NoStart | Failure::Kept(_) => Ok(ReadStateResult::starting_at(-1)),
    };
    answer(world, read);
    if let Some(Need::Start { served, .. }) = world.held() {
        world.holds_rounds = true;
        let found = matches!(failure, Failure::Kept(_)).then_some(0);
        world.node.start_found(served, found, world.now);
        world.drive();
        if let Failure::Kept(refused) = failure {
            assert!(world.settle(Some(*refused)));
        }
        world.holds_rounds = false;
    }
}

#[test]
fn what_cannot_be_loaded_has_a_code_and_the_next_request_loads_it() {
    let full = KafkaCode::UnknownServerError;
    // What a fetch is told, at once or once its time is over, and what acknowledgements are told.
    for (failure, fetched, acknowledged) in [
        (Failure::Read(KafkaCode::UnknownTopicOrPartition), 3, 3),
        (Failure::Read(full), -1, -1),
        (Failure::Read(KafkaCode::KafkaStorageError), -1, -1),
        (Failure::Read(KafkaCode::FencedLeaderEpoch), 0, 6),
        (Failure::Corrupt, -1, -1),
        (Failure::NoStart, 78, 78),
        (Failure::Kept(full), -1, -1),
        (Failure::Kept(KafkaCode::UnknownTopicOrPartition), 3, 3),
        (Failure::Kept(KafkaCode::FencedStateEpoch), 0, 124),
    ] {
        let (mut world, id) = (holding(), place(1, 0));
        world.produce(id, 1);
        world.feed(A, &Fetch::of("m", 0).adding(&[id]).waiting(500).frame(1));
        world.fetch(B, &Fetch::of("b", 0));
        world.feed(B, &Acknowledge::of("b", 1, &[(id, 0, 1, 1)]).frame(2));
        fail(&mut world, &failure);
        let told = world.answer(B, 79).unwrap();
        assert_eq!(told.row().acknowledged, acknowledged);
        assert_eq!(world.loads, [acknowledged]);
        if fetched == 0 {
            world.pass(500);
        }
        let told = world.answer(A, 78).unwrap();
        let codes: Vec<_> = told.rows.iter().map(|row| row.error).collect();
        let expected: &[i16] = if fetched == 0 { &[] } else { &[fetched] };
        assert_eq!((told.error, &codes[..]), (0, expected));
        assert_eq!(world.node.sizes(), (0, 0, 0));
        world.holds_states = false;
        let given = world.fetch(A, &Fetch::of("m", 1).waiting(500));
        assert_eq!(given.row().acquired, [(0, 1, 1)]);
        assert_eq!(world.loads, [acknowledged, 0]);
    }
}

#[test]
fn acknowledgements_that_wait_for_a_share_partition_that_is_dropped_have_lost_their_locks() {
    let (mut world, id) = (holding(), place(1, 0));
    world.fetch(A, &Fetch::of("m", 0));
    world.feed(A, &Acknowledge::of("m", 1, &[(id, 0, 1, 1)]).frame(1));
    world.node.state_changed(None, id.topic_id, world.now);
    world.drive();
    assert_eq!(world.answer(A, 79).unwrap().row().acknowledged, 121);
}

#[test]
fn an_answer_for_a_share_partition_that_was_dropped_reaches_nobody() {
    let (mut world, id) = (holding(), place(1, 0));
    world.produce(id, 4);
    world.feed(A, &Fetch::of("m", 0).adding(&[id]).waiting(500).frame(1));
    let (first, ..) = state(&mut world);
    world.node.state_changed(None, id.topic_id, world.now);
    world.drive();
    assert_eq!(world.answer(A, 78).unwrap().rows, []);
    world.feed(A, &Fetch::of("m", 1).waiting(500).frame(2));
    let (second, ..) = state(&mut world);
    assert_ne!(first, second);
    // Neither as an answer that is late, nor as one to a question that nobody has asked.
    let late = Ok(ReadStateResult::starting_at(6));
    world.node.state_read(first, late, world.now);
    world.node.start_found(first, Some(6), world.now);
    world.node.start_found(second, Some(6), world.now);
    world.drive();
    assert_eq!(world.frame(A), None);
    let read = Ok(ReadStateResult::starting_at(2));
    world.node.state_read(second, read, world.now);
    let again = Err(KafkaCode::UnknownServerError);
    world.node.state_read(second, again, world.now);
    world.drive();
    assert_eq!(world.node.sizes().0, 1, "it serves");
    assert_eq!(world.answer(A, 78).unwrap().row().acquired, [(2, 5, 1)]);
}

#[test]
fn a_share_partition_that_was_forgotten_is_loaded_with_what_was_settled() {
    let (mut world, id) = (World::with(Limits::default(), &[A]), place(1, 0));
    world.produce(id, 2);
    let mut fetch = Fetch::of("m", 0).adding(&[id]).waiting(9);
    fetch.max_records = 2;
    assert_eq!(world.fetch(A, &fetch).row().acquired, [(0, 1, 1)]);
    world.acknowledge(A, &Acknowledge::of("m", 1, &[(id, 0, 1, 1)]));
    world.node.sweep(LockTime(i64::MAX), world.now);
    world.drive();
    assert_eq!(world.node.sizes(), (0, 0, 0));
    let given = world.fetch(A, &Fetch::of("m", 2).waiting(9));
    assert_eq!(given.row().acquired, [(2, 3, 1)]);
}
