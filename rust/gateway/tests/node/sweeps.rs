//! Share partitions that are forgotten when nobody uses them, and those that are not.

use share_state_core::time::LockTime;
use share_state_gateway::node::Limits;

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B};
use crate::world::World;

/// A share partition that was named last at 100 ms, of which a member has had all records and has settled them.
fn quiet() -> World {
    let (mut world, id) = (World::with(Limits::default(), &[A, B]), place(1, 0));
    world.produce(id, 1);
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]).waiting(9));
    world.pass(100);
    world.acknowledge(A, &Acknowledge::of("m", 1, &[(id, 0, 1, 1)]));
    world
}

/// Sweeps, and tells if the share partition is in memory still.
fn is_kept(world: &mut World, silent_since: i64) -> bool {
    let before = world.node.list().count();
    assert_eq!(before, 1);
    world.node.sweep(LockTime(silent_since), world.now);
    world.node.list().count() == 1
}

#[test]
fn a_share_partition_is_forgotten_when_it_was_last_named_before_a_time() {
    assert!(is_kept(&mut quiet(), 100));
    assert!(!is_kept(&mut quiet(), 101));
}

#[test]
fn one_at_which_a_fetch_waits_is_kept() {
    let mut world = quiet();
    world.feed(A, &Fetch::of("m", 2).waiting(5_000).frame(1));
    world.pass(1_000);
    assert!(is_kept(&mut world, 1_000));
    assert_eq!(world.frame(A), None, "it waits on");
}

#[test]
fn one_with_a_write_that_is_not_settled_is_kept() {
    let id = place(1, 0);
    let acknowledge = |world: &mut World| {
        let request = Acknowledge::of("m", 3, &[(id, 2, 3, 1)]);
        world.feed(A, &request.frame(1));
    };
    // Nobody waits for the others to be written: the end of a session, and locks that run out.
    let causes: [&dyn Fn(&mut World); 3] = [&acknowledge, &|world| world.close(A), &|world| {
        world.pass(1_000)
    }];
    for cause in causes {
        let mut world = quiet();
        world.produce(id, 1);
        world.fetch(A, &Fetch::of("m", 2).waiting(9));
        world.holds_rounds = true;
        cause(&mut world);
        assert!(is_kept(&mut world, 2_000));
        assert!(world.settle(None));
        assert!(!is_kept(&mut world, 2_000));
    }
}
