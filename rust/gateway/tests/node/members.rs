//! Members and what they hold: until it is settled, until their session ends, or until the locks run out.

use share_state_core::time::LockTime;
use share_state_gateway::node::Limits;

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B, C};
use crate::world::World;

/// A world with two records in each of three partitions, which were given out once.
fn world() -> World {
    let mut world = World::with(Limits::default(), &[A, B, C]);
    for id in [place(1, 0), place(1, 1), place(2, 0)] {
        world.produce(id, 1);
        world.warm(id);
    }
    world
}

#[test]
fn the_end_of_a_session_releases_what_its_member_holds_and_nothing_else() {
    let (mut world, places) = (world(), [place(1, 0), place(2, 0)]);
    let other = place(1, 1);
    let given = world.fetch(A, &Fetch::of("m", 0).adding(&places));
    assert_eq!(given.offsets().len(), 4);
    let beside = world.fetch(B, &Fetch::of("n", 0).adding(&[other]));
    assert_eq!(beside.offsets().len(), 2);
    // A member of the same name in another group.
    let mut elsewhere = Fetch::of("m", 0).adding(&places[..1]).waiting(9);
    elsewhere.group = "other".to_owned();
    assert_eq!(world.fetch(B, &elsewhere).row().acquired, [(0, 1, 1)]);
    world.acknowledge(A, &Acknowledge::of("m", -1, &[]));
    for id in places {
        assert_eq!(world.kept("group", id), [(0, 1, 0)], "it is written");
    }
    let rounds = world.rounds;
    world.close(A);
    assert_eq!(world.rounds, rounds, "once");
    let mut fetch = Fetch::of("late", 0).adding(&places).adding(&[other]);
    fetch.max_records = 100;
    let mut given = world.fetch(C, &fetch).offsets();
    given.sort_unstable();
    let expected = places.map(|id| [(id, 0, 3), (id, 1, 3)]);
    assert_eq!(given, expected.concat());
    let kept = world.acknowledge(B, &Acknowledge::of("n", 1, &[(other, 0, 1, 1)]));
    assert_eq!(kept.row().acknowledged, 0);
    let mut kept = Acknowledge::of("m", 1, &[(places[0], 0, 1, 1)]);
    kept.group = "other".to_owned();
    assert_eq!(world.acknowledge(B, &kept).row().acknowledged, 0);
}

#[test]
fn records_of_a_share_partition_that_was_loaded_again_are_not_released_by_who_held_them_before() {
    let (mut world, id) = (world(), place(1, 0));
    let given = world.fetch(A, &Fetch::of("m", 0).adding(&[id]));
    assert_eq!(given.row().acquired, [(0, 1, 2)]);
    world.node.state_changed(None, id.topic_id, world.now);
    world.drive();
    let given = world.fetch(B, &Fetch::of("n", 0).adding(&[id]).waiting(9));
    assert_eq!(given.row().acquired, [(0, 1, 2)]);
    world.close(A);
    let held = world.fetch(C, &Fetch::of("late", 0).adding(&[id]));
    assert_eq!(held.offsets(), []);
    let kept = world.acknowledge(B, &Acknowledge::of("n", 1, &[(id, 0, 1, 1)]));
    assert_eq!(kept.row().acknowledged, 0);
}

#[test]
fn locks_that_have_run_out_are_seen_by_an_acknowledgement_and_given_to_who_waits() {
    let (mut world, id) = (world(), place(1, 0));
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]));
    world.feed(B, &Fetch::of("n", 0).adding(&[id]).waiting(5_000).frame(1));
    assert_eq!(world.frame(B), None);
    // The driver comes late: the request is there before the tick.
    world.now = world.now.plus(1_000);
    let late = world.acknowledge(A, &Acknowledge::of("m", 1, &[(id, 0, 1, 1)]));
    assert_eq!(late.row().acknowledged, 121);
    assert_eq!(world.answer(B, 78).unwrap().row().acquired, [(0, 1, 3)]);
}

#[test]
fn locks_that_have_run_out_are_seen_by_a_fetch_and_written() {
    let (mut world, id) = (World::with(Limits::default(), &[A, B]), place(1, 0));
    world.produce(id, 2);
    let mut fetch = Fetch::of("m", 0).adding(&[id]).waiting(9);
    fetch.max_records = 2;
    assert_eq!(world.fetch(A, &fetch).row().acquired, [(0, 1, 1)]);
    world.now = world.now.plus(1_000);
    world.holds_rounds = true;
    // It takes what comes next, and the time of the first two is seen to be over on the way.
    fetch.member = "n".to_owned();
    assert_eq!(world.fetch(B, &fetch).row().acquired, [(2, 3, 1)]);
    let round = world.round.as_ref().unwrap();
    let [(_, state)] = &round.writes[..] else {
        panic!("{round:?} has one write")
    };
    let batch = state.state_batches[0];
    let offsets = (batch.first_offset, batch.last_offset);
    assert_eq!((offsets, batch.delivery_state), ((0, 1), 0));
}

#[test]
fn acknowledgements_of_a_connection_that_is_gone_are_settled_and_the_rest_is_released() {
    let (mut world, id) = (world(), place(1, 0));
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]));
    world.holds_rounds = true;
    world.feed(A, &Acknowledge::of("m", 1, &[(id, 0, 0, 1)]).frame(1));
    world.close(A);
    assert!(world.settle(None));
    assert_eq!(world.frame(A), None);
    world.holds_rounds = false;
    world.drive();
    let given = world.fetch(B, &Fetch::of("n", 0).adding(&[id]));
    assert_eq!(given.row().acquired, [(1, 1, 3)]);
    // Nothing is left of the write that nobody has waited for.
    world.close(B);
    world.node.sweep(LockTime(i64::MAX), world.now);
    assert_eq!(world.node.sizes(), (0, 0, 0));
}

#[test]
fn a_request_that_follows_at_once_goes_with_the_next_round() {
    let (mut world, id) = (world(), place(1, 0));
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]));
    world.holds_rounds = true;
    let requests = [(1, 0), (2, 1)].map(|(epoch, at)| {
        let batch = (id, at, at, 1);
        Acknowledge::of("m", epoch, &[batch]).frame(epoch)
    });
    world.feed(A, &requests.concat());
    for (correlation_id, at) in [(1, 0), (2, 1)] {
        let round = world.round.as_ref().unwrap();
        let [(_, state)] = &round.writes[..] else {
            panic!("{round:?} has one write")
        };
        let batch = state.state_batches[0];
        assert_eq!((batch.first_offset, batch.last_offset), (at, at));
        assert!(world.settle(None));
        assert_eq!(world.answer(A, 79).unwrap().correlation_id, correlation_id);
    }
    assert!(!world.settle(None));
}
