//! Fetches that wait, and what ends their wait besides records and time.

use share_state_gateway::node::Limits;

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B, C};
use crate::world::World;

/// A member that waits on another connection than the one that has opened its session.
fn waiting() -> World {
    let (mut world, id) = (World::new(Limits::default()), place(1, 0));
    for connection in [A, B, C] {
        world.open(connection);
    }
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]));
    world.feed(B, &Fetch::of("m", 1).waiting(5_000).frame(1));
    assert_eq!(world.frame(B), None);
    world
}

/// Asserts that nobody holds the records that are produced now.
fn nobody_holds(mut world: World) {
    let id = place(1, 0);
    world.produce(id, 1);
    let given = world.fetch(C, &Fetch::of("other", 0).adding(&[id]).waiting(9));
    assert_eq!(given.row().acquired, [(0, 1, 1)]);
}

#[test]
fn a_second_fetch_of_a_member_that_finds_records_ends_the_first() {
    let (mut world, other) = (waiting(), place(2, 0));
    world.produce(other, 1);
    world.warm(other);
    let given = world.fetch(A, &Fetch::of("m", 2).adding(&[other]));
    assert_eq!(given.row().acquired, [(0, 1, 2)]);
    assert_eq!(world.answer(B, 78).unwrap().error, 123);
    nobody_holds(world);
}

#[test]
fn an_acknowledgement_of_a_member_ends_its_wait() {
    let mut world = waiting();
    world.acknowledge(A, &Acknowledge::of("m", 2, &[]));
    assert_eq!(world.answer(B, 78).unwrap().error, 123);
    nobody_holds(world);
}

#[test]
fn the_end_of_a_session_ends_the_wait_of_its_member() {
    let mut world = waiting();
    world.close(A);
    assert_eq!(world.answer(B, 78).unwrap().error, 123);
    nobody_holds(world);
    // Of a fetch that opens a session, too, which has no epoch to be told of.
    let (mut world, id) = (waiting(), place(1, 0));
    world.feed(A, &Fetch::of("n", 0).adding(&[id]).waiting(5_000).frame(1));
    assert_eq!(world.frame(A), None);
    world.acknowledge(C, &Acknowledge::of("n", -1, &[]));
    assert_eq!(world.answer(A, 78).unwrap().offsets(), []);
}

#[test]
fn a_share_partition_that_is_to_be_loaded_again_ends_the_wait_for_it() {
    let (mut world, id) = (waiting(), place(1, 0));
    world.node.state_changed(None, id.topic_id, world.now);
    world.drive();
    let ended = world.answer(B, 78).unwrap();
    assert_eq!((ended.error, ended.rows), (0, Vec::new()));
}
