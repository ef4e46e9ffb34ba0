//! Writes that are refused: by another leader or state, which ends the service of a share partition, and by the log, which does not.

use share_state_core::kafka_code::KafkaCode;
use share_state_gateway::node::Limits;

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B, C};
use crate::world::World;

/// Two members of which each holds two records of a partition, and one that waits for more. Rounds are held back.
fn holding() -> World {
    let (mut world, id) = (World::with(Limits::default(), &[A, B, C]), place(1, 0));
    world.produce(id, 2);
    for (connection, member) in [(A, "a"), (B, "b")] {
        let mut fetch = Fetch::of(member, 0).adding(&[id]).waiting(9);
        fetch.max_records = 2;
        assert_eq!(world.fetch(connection, &fetch).offsets().len(), 2);
    }
    world.feed(C, &Fetch::of("c", 0).adding(&[id]).waiting(500).frame(1));
    world.holds_rounds = true;
    world
}

#[test]
fn a_write_that_another_leader_refuses_ends_the_service() {
    let id = place(1, 0);
    // What the member is told, and a fetch that waits for records.
    for (refusal, acknowledged, fetched) in [
        (KafkaCode::FencedLeaderEpoch, 6, None),
        (KafkaCode::FencedStateEpoch, 6, None),
        (KafkaCode::UnknownTopicOrPartition, 3, Some(3)),
        (KafkaCode::GroupIdNotFound, 69, Some(-1)),
    ] {
        let mut world = holding();
        world.feed(A, &Acknowledge::of("a", 1, &[(id, 0, 1, 1)]).frame(2));
        assert!(world.settle(Some(refusal)));
        let told = world.answer(A, 79).unwrap();
        assert_eq!(told.row().acknowledged, acknowledged, "{refusal:?}");
        let ended = world.answer(C, 78).unwrap();
        let codes: Vec<_> = ended.rows.iter().map(|row| row.error).collect();
        assert_eq!((ended.error, codes), (0, Vec::from_iter(fetched)));
        world.holds_rounds = false;
        world.drive();
        // Nothing was settled, and nobody holds anything.
        let given = world.fetch(C, &Fetch::of("c", 1).waiting(9));
        assert_eq!(given.row().acquired, [(0, 3, 1)]);
    }
}

#[test]
fn a_write_that_the_log_refuses_changes_nothing() {
    let id = place(1, 0);
    for (refusal, acknowledged) in [
        (KafkaCode::UnknownServerError, -1),
        (KafkaCode::CoordinatorLoadInProgress, 15),
    ] {
        let mut world = holding();
        world.feed(A, &Acknowledge::of("a", 1, &[(id, 0, 1, 1)]).frame(2));
        assert!(world.settle(Some(refusal)));
        let told = world.answer(A, 79).unwrap();
        assert_eq!(told.row().acknowledged, acknowledged);
        assert_eq!(world.frame(C), None, "it waits on");
        world.holds_rounds = false;
        world.drive();
        for (connection, member, epoch, first) in [(A, "a", 2, 0), (B, "b", 1, 2)] {
            let batch = (id, first, first + 1, 1);
            let told = world.acknowledge(connection, &Acknowledge::of(member, epoch, &[batch]));
            assert_eq!(told.row().acknowledged, 0);
        }
        assert_eq!(world.loads, [0]);
    }
}

#[test]
fn acknowledgements_of_several_members_are_all_told_that_the_service_has_ended() {
    let (mut world, id) = (holding(), place(1, 0));
    world.feed(A, &Acknowledge::of("a", 1, &[(id, 0, 1, 1)]).frame(2));
    world.feed(B, &Acknowledge::of("b", 1, &[(id, 2, 3, 1)]).frame(3));
    for _ in 0..2 {
        assert!(world.settle(Some(KafkaCode::FencedStateEpoch)));
    }
    for connection in [A, B] {
        let told = world.answer(connection, 79).unwrap();
        assert_eq!(told.row().acknowledged, 6);
    }
    assert!(!world.settle(None), "there is nothing more to write");
}

#[test]
fn each_write_of_a_round_has_its_own_answer() {
    let mut world = World::with(Limits::default(), &[A]);
    let places = [place(1, 0), place(1, 1), place(1, 2)];
    for id in places {
        world.produce(id, 1);
        world.warm(id);
    }
    let mut fetch = Fetch::of("m", 0).adding(&places);
    fetch.max_records = 100;
    assert_eq!(world.fetch(A, &fetch).offsets().len(), 6);
    world.holds_rounds = true;
    let batches = places.map(|id| (id, 0, 1, 1));
    world.feed(A, &Acknowledge::of("m", 1, &batches).frame(1));
    assert_eq!(world.round.as_ref().unwrap().writes.len(), 3);
    world.settle_by(|key| match key.partition {
        0 => None,
        1 => Some(KafkaCode::FencedLeaderEpoch),
        _ => Some(KafkaCode::UnknownServerError),
    });
    let codes = |world: &mut World| {
        let told = world.answer(A, 79).unwrap();
        told.rows
            .iter()
            .map(|row| (row.id, row.acknowledged))
            .collect::<Vec<_>>()
    };
    let expected = places.into_iter().zip([0, 6, -1]);
    assert_eq!(codes(&mut world), Vec::from_iter(expected));
    world.holds_rounds = false;
    world.drive();
    world.feed(A, &Acknowledge::of("m", 2, &batches).frame(2));
    // The first is over, the second was loaded again, and the third is held as before.
    let expected = places.into_iter().zip([0, 121, 0]);
    assert_eq!(codes(&mut world), Vec::from_iter(expected));
}
