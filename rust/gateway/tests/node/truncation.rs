//! Logs that were cut upstream: share partitions wait until their states were changed.

use share_state_core::limits::{IsolationLevel, ShareGroupConfig};
use share_state_gateway::node::{Limits, Need};

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B, config};
use crate::world::World;

/// A member that holds the first two of four records, and states that wait.
fn holding() -> World {
    let mut world = World::holding();
    world.holds_states = true;
    world
}

/// Returns `true` if a state is to be read.
fn is_reading(world: &mut World) -> bool {
    world.drive();
    match world.held() {
        None => false,
        Some(need) => {
            assert!(matches!(need, Need::State { .. }), "{need:?}");
            true
        }
    }
}

#[test]
fn a_share_partition_that_knows_of_offsets_after_the_cut_waits_for_its_new_state() {
    let (mut world, id) = (holding(), place(1, 0));
    world.node.truncated(id, 1, world.now);
    world.feed(B, &Fetch::of("n", 0).adding(&[id]).waiting(500).frame(1));
    world.feed(A, &Acknowledge::of("m", 1, &[(id, 0, 1, 1)]).frame(2));
    assert_eq!((world.frame(A), world.held()), (None, None));
    // The states are changed twice.
    world.node.truncated(id, 0, world.now);
    world.node.let_go(id, world.now);
    assert!(!is_reading(&mut world));
    world.holds_states = false;
    world.node.let_go(id, world.now);
    world.drive();
    assert_eq!(world.answer(A, 79).unwrap().row().acknowledged, 121);
    assert_eq!(world.answer(B, 78).unwrap().row().acquired[0].0, 0);
    // One that nobody has asked for is no hold.
    world.node.let_go(id, world.now);
    world.drive();
}

#[test]
fn a_share_partition_that_knows_only_of_offsets_before_the_cut_serves_on() {
    let (mut world, id) = (holding(), place(1, 0));
    world.node.truncated(id, 2, world.now);
    let kept = world.acknowledge(A, &Acknowledge::of("m", 1, &[(id, 0, 0, 1)]));
    assert_eq!(kept.row().acknowledged, 0);
    world.node.truncated(id, 1, world.now);
    world.feed(A, &Acknowledge::of("m", 2, &[(id, 1, 1, 1)]).frame(1));
    assert_eq!(world.frame(A), None);
}

#[test]
fn an_empty_window_reaches_its_start_offset() {
    let (mut world, id) = (holding(), place(1, 0));
    world.acknowledge(A, &Acknowledge::of("m", 1, &[(id, 0, 1, 1)]));
    for (epoch, offset, is_dropped) in [(2, 3, false), (3, 2, true)] {
        world.node.truncated(id, offset, world.now);
        world.node.let_go(id, world.now);
        let again = Acknowledge::of("m", epoch, &[(id, 0, 0, 1)]);
        world.feed(A, &again.frame(1));
        assert_eq!(is_reading(&mut world), is_dropped);
    }
}

#[test]
fn a_load_that_is_under_way_is_begun_again() {
    let (mut world, id) = (World::with(Limits::default(), &[A]), place(1, 0));
    world.holds_states = true;
    world.produce(id, 1);
    world.feed(A, &Fetch::of("m", 0).adding(&[id]).waiting(500).frame(1));
    let before = world.held().unwrap();
    world.node.truncated(id, 9, world.now);
    world.drive();
    assert_eq!(world.answer(A, 78).unwrap().offsets(), []);
    world.feed(A, &Fetch::of("m", 1).waiting(500).frame(1));
    assert_eq!(world.held(), None);
    world.node.let_go(id, world.now);
    world.drive();
    let after = world.held().unwrap();
    assert_ne!(before, after, "the answer to the first reaches nobody");
}

#[test]
fn a_state_is_read_once_writes_are_settled_and_no_hold_is_left() {
    for settles_first in [true, false] {
        let (mut world, id) = (holding(), place(1, 0));
        world.holds_rounds = true;
        world.feed(A, &Acknowledge::of("m", 1, &[(id, 0, 1, 1)]).frame(1));
        world.node.truncated(id, 0, world.now);
        world.feed(B, &Fetch::of("n", 0).adding(&[id]).waiting(500).frame(2));
        for settles in [settles_first, !settles_first] {
            assert!(!is_reading(&mut world));
            if settles {
                assert!(world.settle(None));
            } else {
                world.node.let_go(id, world.now);
            }
        }
        assert!(is_reading(&mut world));
    }
}

#[test]
fn every_group_of_the_partition_is_held_at_either_level_and_no_other_partition() {
    let mut world = World::with(Limits::default(), &[A]);
    let committed = ShareGroupConfig {
        isolation_level: IsolationLevel::ReadCommitted,
        ..config()
    };
    let configured = world.node.configure("committed", committed, world.now);
    assert_eq!(configured, Ok(()));
    let places = [place(1, 0), place(1, 1)];
    let held = places.map(|id| (id, 0, 1, 1));
    for id in places {
        world.produce(id, 1);
    }
    let groups = ["group", "committed"];
    for group in groups {
        for (epoch, id) in (0..).zip(places) {
            let mut fetch = Fetch::of("m", epoch).adding(&[id]).waiting(9);
            fetch.group = group.to_owned();
            assert_eq!(world.fetch(A, &fetch).row().acquired, [(0, 1, 1)]);
        }
    }
    world.node.truncated(places[0], 0, world.now);
    world.node.let_go(places[0], world.now);
    for group in groups {
        let mut request = Acknowledge::of("m", 2, &held);
        request.group = group.to_owned();
        let told = world.acknowledge(A, &request);
        let codes: Vec<_> = told.rows.iter().map(|row| row.acknowledged).collect();
        assert_eq!(codes, [121, 0], "{group}");
    }
}
