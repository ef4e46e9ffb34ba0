//! Acknowledgements and their writes: what is confirmed is durable.

use share_state_core::kafka_code::KafkaCode;
use share_state_core::time::LockTime;
use share_state_gateway::node::{Limits, NoSuchRound};

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B};
use crate::world::World;

/// Two members of which each holds two records of a partition.
fn holding() -> World {
    let (mut world, id) = (World::new(Limits::default()), place(1, 0));
    world.produce(id, 2);
    for (connection, member) in [(A, "a"), (B, "b")] {
        world.open(connection);
        let mut fetch = Fetch::of(member, 0).adding(&[id]).waiting(9);
        fetch.max_records = 2;
        assert_eq!(world.fetch(connection, &fetch).offsets().len(), 2);
    }
    world
}

#[test]
fn an_answer_leaves_after_its_round_and_the_next_round_after_that() {
    let (mut world, id) = (holding(), place(1, 0));
    world.holds_rounds = true;
    let before = world.rounds;
    world.feed(A, &Acknowledge::of("a", 1, &[(id, 0, 1, 1)]).frame(1));
    world.feed(B, &Acknowledge::of("b", 1, &[(id, 2, 3, 1)]).frame(2));
    assert_eq!((world.frame(A), world.frame(B)), (None, None));
    assert_eq!(world.rounds, before + 1, "the second waits for the first");
    assert!(world.settle(None));
    assert_eq!(world.answer(A, 79).unwrap().row().acknowledged, 0);
    assert_eq!((world.frame(B), world.rounds), (None, before + 2));
    assert!(world.settle(None));
    assert_eq!(world.answer(B, 79).unwrap().row().acknowledged, 0);
    assert_eq!(world.kept("group", id), [(0, 3, 2)]);
}

#[test]
fn a_refused_write_is_told_and_the_records_stay_with_their_member() {
    let (mut world, id) = (holding(), place(1, 0));
    world.holds_rounds = true;
    world.feed(A, &Acknowledge::of("a", 1, &[(id, 0, 1, 1)]).frame(1));
    assert!(world.settle(Some(KafkaCode::CoordinatorNotAvailable)));
    let told = world.answer(A, 79).unwrap();
    assert_eq!(told.row().acknowledged, 15);
    world.holds_rounds = false;
    let again = world.acknowledge(A, &Acknowledge::of("a", 2, &[(id, 0, 1, 1)]));
    assert_eq!(again.row().acknowledged, 0);
}

#[test]
fn a_fenced_share_partition_is_loaded_again_and_its_clients_see_no_error_of_the_fetch() {
    let (mut world, id) = (holding(), place(1, 0));
    world.holds_rounds = true;
    world.feed(A, &Acknowledge::of("a", 1, &[(id, 0, 1, 1)]).frame(1));
    world.feed(B, &Fetch::of("b", 1).waiting(500).frame(2));
    assert!(world.settle(Some(KafkaCode::FencedStateEpoch)));
    assert_eq!(world.answer(A, 79).unwrap().row().acknowledged, 6);
    let ended = world.answer(B, 78).unwrap();
    assert_eq!((ended.error, ended.rows), (0, Vec::new()));
    world.holds_rounds = false;
    world.drive();
    // The locks are gone with the share partition.
    let epoch = 2;
    let lost = world.acknowledge(B, &Acknowledge::of("b", epoch, &[(id, 2, 3, 1)]));
    assert_eq!(lost.row().acknowledged, 121);
    let given = world.fetch(A, &Fetch::of("a", 2).waiting(9));
    assert_eq!(given.row().acquired, [(0, 3, 1)]);
}

#[test]
fn the_last_request_of_a_session_settles_and_then_releases() {
    let (mut world, id) = (holding(), place(1, 0));
    world.holds_rounds = true;
    world.feed(A, &Acknowledge::of("a", -1, &[(id, 0, 0, 1)]).frame(1));
    assert_eq!(world.frame(A), None);
    assert!(world.settle(None));
    assert_eq!(world.answer(A, 79).unwrap().row().acknowledged, 0);
    world.holds_rounds = false;
    world.settle(None);
    let given = world.fetch(B, &Fetch::of("b", 1));
    assert_eq!(given.row().acquired, [(1, 1, 2)]);
    let gone = world.acknowledge(A, &Acknowledge::of("a", 1, &[]));
    assert_eq!(gone.error, 122);
}

#[test]
fn acknowledgements_wait_for_the_state_of_their_share_partition() {
    let (mut world, id) = (World::with(Limits::default(), &[A]), place(1, 0));
    world.fetch(A, &Fetch::of("m", 0));
    world.holds_states = true;
    // Of an earlier life of the gateway: nobody knows of these locks any more.
    world.feed(A, &Acknowledge::of("m", 1, &[(id, 0, 1, 1)]).frame(1));
    assert_eq!(world.frame(A), None);
    world.holds_states = false;
    world.drive();
    assert_eq!(world.answer(A, 79).unwrap().row().acknowledged, 121);
}

#[test]
fn every_acknowledged_partition_is_in_the_answer_once() {
    let (mut world, id) = (holding(), place(1, 0));
    let batches = [
        (id, 0, 0, 1),
        (place(7, 0), 0, 0, 1),
        (place(1, 5), 0, 0, 1),
        (place(9, 0), 0, 0, 1),
        (id, 1, 1, 2),
        (place(2, 1), 0, 0, 4),
    ];
    let told = world.acknowledge(A, &Acknowledge::of("a", 1, &batches));
    let codes: Vec<_> = told
        .rows
        .iter()
        .map(|row| (row.id, row.acknowledged))
        .collect();
    let expected = [
        (id, 0),
        (place(1, 5), 3),
        (place(7, 0), 100),
        (place(9, 0), 3),
        (place(2, 1), 42),
    ];
    assert_eq!(codes, expected);
}

#[test]
fn a_renewal_takes_no_write_and_lengthens_the_lock() {
    let (mut world, id) = (holding(), place(1, 0));
    world.pass(900);
    let before = world.rounds;
    let mut renewal = Acknowledge::of("a", 1, &[(id, 0, 1, 4)]);
    renewal.is_renewal = true;
    assert_eq!(world.acknowledge(A, &renewal).row().acknowledged, 0);
    assert_eq!(world.rounds, before);
    world.pass(999);
    let done = world.acknowledge(A, &Acknowledge::of("a", 2, &[(id, 0, 1, 1)]));
    assert_eq!(done.row().acknowledged, 0);
}

#[test]
fn a_store_that_is_closed_gives_nothing_out() {
    for is_closed in [false, true] {
        let (mut world, id) = (holding(), place(1, 0));
        // Records that are at hand and that nobody holds.
        world.acknowledge(A, &Acknowledge::of("a", 1, &[(id, 0, 1, 2)]));
        if is_closed {
            world.node.store_closed();
        }
        let given = world.fetch(A, &Fetch::of("a", 2)).offsets();
        assert_eq!(given.is_empty(), is_closed);
    }
}

#[test]
fn answers_to_another_round_change_nothing() {
    let (mut world, id) = (holding(), place(1, 0));
    world.holds_rounds = true;
    world.feed(A, &Acknowledge::of("a", 1, &[(id, 0, 1, 1)]).frame(1));
    let wrong = world.node.settle(99, &[KafkaCode::None], LockTime(0));
    let expected = NoSuchRound {
        number: 99,
        answers: 1,
    };
    assert_eq!(wrong, Err(expected));
    assert_eq!(expected.to_string(), "no round 99 of 1 writes is under way");
    assert!(world.settle(None));
    assert_eq!(world.answer(A, 79).unwrap().row().acknowledged, 0);
}
