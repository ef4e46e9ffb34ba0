//! Time, as the driver is told of it: the next moment at which a lock runs out or a request has waited long enough.

use share_state_core::time::LockTime;
use share_state_gateway::node::Limits;

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B};
use crate::world::World;

#[test]
fn the_next_time_is_that_of_the_earliest_lock() {
    let mut world = World::with(Limits::default(), &[A]);
    let places = [place(1, 0), place(1, 1)];
    assert_eq!(world.node.poll_timeout(), None);
    for id in places {
        world.produce(id, 1);
        world.warm(id);
    }
    world.pass(2_000);
    assert_eq!(world.node.poll_timeout(), None, "nothing is held");
    for (epoch, id) in (0..).zip(places) {
        let fetch = Fetch::of("m", epoch).adding(&[id]).waiting(9);
        assert_eq!(world.fetch(A, &fetch).row().id, id);
        // The second lock ends later.
        assert_eq!(world.node.poll_timeout(), Some(LockTime(3_000)));
        world.pass(400);
    }
    world.pass(199);
    assert_eq!(world.node.poll_timeout(), Some(LockTime(3_000)));
    world.pass(1);
    assert_eq!(world.node.poll_timeout(), Some(LockTime(3_400)));
    world.pass(400);
    assert_eq!(world.node.poll_timeout(), None);
}

#[test]
fn a_lock_that_was_renewed_keeps_no_other_from_running_out() {
    let (mut world, id) = (World::with(Limits::default(), &[A, B]), place(1, 0));
    world.produce(id, 2);
    let fetch = Fetch::of("m", 0).adding(&[id]).waiting(9);
    assert_eq!(world.fetch(A, &fetch).row().acquired, [(0, 3, 1)]);
    world.pass(500);
    let mut renewal = Acknowledge::of("m", 1, &[(id, 0, 1, 4)]);
    renewal.is_renewal = true;
    assert_eq!(world.acknowledge(A, &renewal).row().acknowledged, 0);
    world.feed(B, &Fetch::of("n", 0).adding(&[id]).waiting(5_000).frame(1));
    world.pass(500);
    assert_eq!(world.answer(B, 78).unwrap().row().acquired, [(2, 3, 2)]);
    world.feed(B, &Fetch::of("n", 1).waiting(5_000).frame(2));
    world.pass(499);
    assert_eq!(world.frame(B), None);
    world.pass(1);
    assert_eq!(world.answer(B, 78).unwrap().row().acquired, [(0, 1, 2)]);
}

#[test]
fn a_timer_that_finds_its_lock_renewed_is_set_again() {
    let (mut world, id) = (World::with(Limits::default(), &[A, B]), place(1, 0));
    world.produce(id, 1);
    let fetch = Fetch::of("m", 0).adding(&[id]).waiting(9);
    assert_eq!(world.fetch(A, &fetch).row().acquired, [(0, 1, 1)]);
    world.pass(500);
    let mut renewal = Acknowledge::of("m", 1, &[(id, 0, 1, 4)]);
    renewal.is_renewal = true;
    assert_eq!(world.acknowledge(A, &renewal).row().acknowledged, 0);
    world.pass(500);
    assert_eq!(world.node.poll_timeout(), Some(LockTime(1_500)));
    world.feed(B, &Fetch::of("n", 0).adding(&[id]).waiting(5_000).frame(1));
    world.pass(500);
    assert_eq!(world.answer(B, 78).unwrap().row().acquired, [(0, 1, 2)]);
}

#[test]
fn a_tick_that_comes_late_does_everything_that_was_due() {
    let (mut world, id) = (World::with(Limits::default(), &[A, B]), place(1, 0));
    world.produce(id, 1);
    world.fetch(A, &Fetch::of("a", 0).adding(&[id]).waiting(9));
    world.feed(A, &Fetch::of("a", 1).waiting(300).frame(1));
    world.feed(B, &Fetch::of("b", 0).adding(&[id]).waiting(5_000).frame(2));
    world.now = world.now.plus(2_000);
    world.node.tick(world.now);
    world.drive();
    // The first fetch is over before the lock is: it does not take the records of its own member again.
    assert_eq!(world.answer(A, 78).unwrap().offsets(), []);
    assert_eq!(world.answer(B, 78).unwrap().row().acquired, [(0, 1, 2)]);
}
