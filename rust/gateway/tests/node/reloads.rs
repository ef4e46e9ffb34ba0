//! Share partitions that are dropped and loaded again.

use share_state_core::kafka_code::KafkaCode;
use share_state_gateway::node::{Limits, Topics};

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B, topics};
use crate::world::World;

#[test]
fn a_state_is_read_after_the_writes_of_the_share_partition_that_was_dropped() {
    let (mut world, id) = (World::with(Limits::default(), &[A, B]), place(1, 0));
    world.produce(id, 2);
    let mut fetch = Fetch::of("a", 0).adding(&[id]).waiting(9);
    fetch.max_records = 2;
    assert_eq!(world.fetch(A, &fetch).row().acquired, [(0, 1, 1)]);
    world.holds_rounds = true;
    world.feed(A, &Acknowledge::of("a", 1, &[(id, 0, 1, 1)]).frame(1));
    world.node.topic_deleted(id.topic_id, world.now);
    world.feed(B, &Fetch::of("b", 0).adding(&[id]).waiting(500).frame(2));
    assert_eq!(world.frame(B), None);
    assert!(world.settle(None));
    assert_eq!(world.answer(A, 79).unwrap().row().acknowledged, 0);
    let given = world.answer(B, 78).unwrap();
    assert_eq!(given.row().acquired, [(2, 3, 1)]);
}

#[test]
fn a_topic_that_is_not_known_for_a_moment_keeps_its_locks() {
    let (mut world, id) = (World::with(Limits::default(), &[A, B]), place(1, 0));
    world.produce(id, 1);
    let given = world.fetch(A, &Fetch::of("a", 0).adding(&[id]).waiting(9));
    assert_eq!(given.row().acquired, [(0, 1, 1)]);
    world.node.set_topics(Topics::default());
    assert_eq!(world.fetch(A, &Fetch::of("a", 1)).row().error, 100);
    world.node.set_topics(topics());
    assert_eq!(
        world.fetch(B, &Fetch::of("b", 0).adding(&[id])).offsets(),
        []
    );
    let settled = world.acknowledge(A, &Acknowledge::of("a", 2, &[(id, 0, 1, 1)]));
    assert_eq!(settled.row().acknowledged, 0);
    assert_eq!(world.loads, [0]);
}

#[test]
fn a_load_that_fails_without_a_code_for_the_client_is_not_repeated_at_once() {
    let (mut world, id) = (World::with(Limits::default(), &[A]), place(1, 0));
    world.produce(id, 1);
    world.refuses_states = Some(KafkaCode::FencedLeaderEpoch);
    world.feed(A, &Fetch::of("m", 0).adding(&[id]).waiting(500).frame(1));
    world.pass(499);
    assert_eq!(world.frame(A), None);
    world.pass(1);
    assert_eq!(world.answer(A, 78).unwrap().offsets(), []);
    // Acknowledgements do not wait for it, and a code that the client is told is told at once.
    let refused = world.acknowledge(A, &Acknowledge::of("m", 1, &[(id, 0, 1, 1)]));
    assert_ne!(refused.row().acknowledged, 0);
    world.refuses_states = Some(KafkaCode::UnknownTopicOrPartition);
    let told = world.fetch(A, &Fetch::of("m", 2).waiting(500));
    assert_eq!(told.row().error, 3);
    world.refuses_states = None;
    let given = world.fetch(A, &Fetch::of("m", 3).waiting(500));
    assert_eq!(given.row().acquired, [(0, 1, 1)]);
    assert_eq!(world.loads, [6, 6, 3, 0]);
}
