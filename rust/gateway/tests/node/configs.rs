//! Configurations of groups, which come and go.

use share_state_core::limits::{IsolationLevel, ShareGroupConfig};
use share_state_core::time::LockTime;
use share_state_gateway::node::Limits;

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, config};
use crate::world::World;

#[test]
fn a_group_that_set_nothing_any_more_has_the_configuration_of_all() {
    let (mut world, id) = (World::with(Limits::default(), &[A]), place(1, 0));
    world.produce(id, 9);
    let own = ShareGroupConfig {
        record_lock_duration_ms: 9_000,
        isolation_level: IsolationLevel::ReadCommitted,
        ..config()
    };
    world.node.configure("group", own, world.now).unwrap();
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]).waiting(9));
    let isolation = |world: &World| world.node.list().next().unwrap().source.isolation;
    assert_eq!(isolation(&world), IsolationLevel::ReadCommitted);
    world.node.forget_config("group", world.now);
    assert_eq!(isolation(&world), IsolationLevel::ReadUncommitted);
    let given = world.fetch(A, &Fetch::of("m", 1).waiting(9));
    assert_eq!(given.row().acquired, [(4, 7, 1)]);
    // Locks that run keep their deadline.
    world.pass(1_000);
    for (first, last, code) in [(4, 7, 121), (0, 3, 0)] {
        let epoch = if first == 4 { 2 } else { 3 };
        let told = world.acknowledge(A, &Acknowledge::of("m", epoch, &[(id, first, last, 1)]));
        assert_eq!(told.row().acknowledged, code);
    }
}

#[test]
fn a_group_is_kept_in_memory_as_long_as_it_has_a_configuration() {
    let mut world = World::with(Limits::default(), &[]);
    let groups = |world: &mut World| {
        world.node.sweep(LockTime(0), world.now);
        world.node.remains()[0]
    };
    world.node.configure("group", config(), world.now).unwrap();
    assert_eq!(groups(&mut world), 1);
    world.node.forget_config("other", world.now);
    assert_eq!(groups(&mut world), 1);
    world.node.forget_config("group", world.now);
    assert_eq!(groups(&mut world), 0);
}
