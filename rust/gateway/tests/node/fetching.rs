//! Fetches: records at once, records later, and none.

use share_state_gateway::node::{Closing, Limits};

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B};
use crate::world::World;

fn world() -> World {
    World::with(Limits::default(), &[A, B])
}

#[test]
fn records_are_given_acknowledged_and_never_given_again() {
    let (mut world, id) = (world(), place(1, 0));
    world.produce(id, 3);
    // Its state is read, a start offset written and the log read while it waits.
    let given = world.fetch(A, &Fetch::of("m", 0).adding(&[id]).waiting(9));
    assert_eq!(given.row().acquired, [(0, 3, 1)]);
    assert_eq!(given.row().batches, [(0, 1), (2, 3)]);
    let done = world.acknowledge(A, &Acknowledge::of("m", 1, &[(id, 0, 3, 1)]));
    assert_eq!((done.row().acknowledged, done.row().leader), (0, (-1, -1)));
    assert_eq!(world.kept("group", id), [(0, 3, 2)]);
    let rest = world.fetch(A, &Fetch::of("m", 2));
    assert_eq!(rest.row().acquired, [(4, 5, 1)]);
}

#[test]
fn a_fetch_waits_for_a_record_and_for_its_time_at_most() {
    let (mut world, id) = (world(), place(1, 0));
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]));
    world.feed(A, &Fetch::of("m", 1).waiting(500).frame(1));
    assert_eq!(world.frame(A), None);
    world.pass(499);
    assert_eq!(world.frame(A), None);
    world.pass(1);
    assert_eq!(world.answer(A, 78).unwrap().offsets(), []);
    world.feed(A, &Fetch::of("m", 2).waiting(500).frame(2));
    world.pass(100);
    world.produce(id, 1);
    assert_eq!(world.answer(A, 78).unwrap().offsets().len(), 2);
}

#[test]
fn a_longer_wait_than_clients_survive_is_cut() {
    let (mut world, id) = (world(), place(1, 0));
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]));
    world.feed(A, &Fetch::of("m", 1).waiting(i32::MAX).frame(1));
    world.pass(24_999);
    assert_eq!(world.frame(A), None);
    world.pass(1);
    assert!(world.frame(A).is_some());
}

#[test]
fn a_fetch_of_many_bytes_waits_for_them_and_takes_fewer_in_the_end() {
    let (mut world, id) = (world(), place(1, 0));
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]));
    let mut fetch = Fetch::of("m", 1).waiting(500);
    (fetch.min_bytes, fetch.max_records) = (300, 100);
    world.feed(A, &fetch.frame(1));
    world.produce(id, 1);
    assert_eq!(world.frame(A), None, "one batch has about 80 bytes");
    world.produce(id, 3);
    assert_eq!(world.answer(A, 78).unwrap().offsets().len(), 8);
    fetch.epoch = 2;
    world.feed(A, &fetch.frame(1));
    world.produce(id, 1);
    world.pass(500);
    assert_eq!(world.answer(A, 78).unwrap().offsets().len(), 2);
}

#[test]
fn the_fetch_that_has_waited_longest_is_woken_first() {
    let (mut world, id) = (world(), place(1, 0));
    world.join(&[(A, "a"), (B, "b")], id);
    for (connection, member) in [(B, "b"), (A, "a")] {
        let mut fetch = Fetch::of(member, 1).waiting(500);
        fetch.max_records = 2;
        world.feed(connection, &fetch.frame(1));
    }
    world.produce(id, 1);
    assert_eq!(world.frame(A), None);
    assert_eq!(world.answer(B, 78).unwrap().offsets().len(), 2);
}

#[test]
fn a_second_fetch_of_a_member_ends_the_first_which_is_told_that_its_epoch_is_over() {
    let (mut world, id) = (world(), place(1, 0));
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]));
    world.feed(A, &Fetch::of("m", 1).waiting(500).frame(1));
    world.feed(B, &Fetch::of("m", 2).waiting(500).frame(2));
    assert_eq!(world.answer(A, 78).unwrap().error, 123);
    world.produce(id, 1);
    assert_eq!(world.answer(B, 78).unwrap().offsets().len(), 2);
}

#[test]
fn the_end_of_a_connection_gives_its_records_to_a_fetch_that_waits() {
    let (mut world, id) = (world(), place(1, 0));
    world.produce(id, 1);
    world.fetch(A, &Fetch::of("a", 0).adding(&[id]).waiting(9));
    world.fetch(B, &Fetch::of("b", 0).adding(&[id]));
    world.feed(B, &Fetch::of("b", 1).waiting(500).frame(1));
    assert_eq!(world.frame(B), None, "the other member holds all");
    world.close(A);
    let given = world.answer(B, 78).unwrap();
    // The count of a record that its member never saw is not raised twice.
    assert_eq!(given.row().acquired, [(0, 1, 2)]);
}

#[test]
fn a_lock_that_runs_out_gives_its_record_to_a_fetch_that_waits() {
    let (mut world, id) = (world(), place(1, 0));
    world.produce(id, 1);
    world.fetch(A, &Fetch::of("a", 0).adding(&[id]).waiting(9));
    world.fetch(B, &Fetch::of("b", 0).adding(&[id]));
    world.feed(B, &Fetch::of("b", 1).waiting(5_000).frame(1));
    world.pass(999);
    assert_eq!(world.frame(B), None);
    // The time-out is written too, but nobody waits for that.
    world.holds_rounds = true;
    world.pass(1);
    assert_eq!(world.answer(B, 78).unwrap().row().acquired, [(0, 1, 2)]);
}

#[test]
fn a_read_of_many_records_wakes_all_who_can_have_some() {
    let (mut world, id) = (world(), place(1, 0));
    world.join(&[(A, "a"), (B, "b")], id);
    for (connection, member) in [(A, "a"), (B, "b")] {
        let fetch = Fetch::of(member, 1).waiting(500);
        world.feed(connection, &fetch.frame(1));
    }
    world.produce(id, 4);
    for (connection, first) in [(A, 0), (B, 4)] {
        let given = world.answer(connection, 78).unwrap();
        assert_eq!(given.offsets()[0], (id, first, 1));
    }
}

#[test]
fn the_partition_that_comes_first_rotates_with_the_requests() {
    let mut world = world();
    let places = [place(1, 0), place(1, 1), place(1, 2)];
    for id in places {
        world.produce(id, 9);
        world.warm(id);
    }
    world.fetch(A, &Fetch::of("m", 0).adding(&places));
    let mut firsts = Vec::new();
    // The bytes of a session of three are divided by three, and two records are wanted.
    for epoch in 1..=6 {
        let mut fetch = Fetch::of("m", epoch);
        fetch.max_records = 2;
        let given = world.fetch(A, &fetch).offsets();
        firsts.push(given[0].0.partition);
    }
    // The order of the session rotates by the epoch, and a partition that gave records goes to its end.
    assert_eq!(firsts, [1, 1, 0, 1, 1, 2]);
}

#[test]
fn a_session_of_many_waits_at_all_of_its_partitions() {
    let mut world = world();
    let places = [place(1, 0), place(1, 1), place(2, 2)];
    world.fetch(A, &Fetch::of("m", 0).adding(&places));
    for (epoch, id) in (1..).zip(places) {
        world.feed(A, &Fetch::of("m", epoch).waiting(500).frame(epoch));
        world.produce(id, 1);
        let given = world.answer(A, 78).unwrap();
        assert_eq!(given.row().id, id);
    }
}

#[test]
fn a_client_that_reads_nothing_is_given_nothing_more_until_it_does() {
    let limits = Limits {
        unread: 1,
        ..Limits::default()
    };
    let mut world = World::with(limits, &[A]);
    world.holds_bytes = true;
    world.feed(A, &Fetch::of("m", 0).frame(1));
    world.feed(A, &Fetch::of("m", 1).frame(2));
    let first = world.frame(A).unwrap();
    assert_eq!(world.frame(A), None);
    world.node.sent(A, first.len() - 1, world.now);
    world.drive();
    assert_eq!(world.frame(A), None);
    world.node.sent(A, 1, world.now);
    world.drive();
    assert_eq!(world.answer(A, 78).unwrap().correlation_id, 2);
}

#[test]
fn fetches_wait_while_too_many_bytes_are_unread() {
    let limits = Limits {
        answers: 1,
        ..Limits::default()
    };
    let (mut world, id) = (World::with(limits, &[A, B]), place(1, 0));
    world.produce(id, 2);
    world.fetch(A, &Fetch::of("a", 0).adding(&[id]));
    world.fetch(B, &Fetch::of("b", 0).adding(&[id]));
    world.holds_bytes = true;
    let mut fetch = Fetch::of("a", 1);
    fetch.max_records = 2;
    let size = {
        world.feed(A, &fetch.frame(1));
        world.frame(A).unwrap().len()
    };
    world.feed(B, &Fetch::of("b", 1).waiting(500).frame(2));
    assert_eq!(world.frame(B), None);
    world.node.sent(A, size, world.now);
    world.drive();
    assert_eq!(world.answer(B, 78).unwrap().offsets().len(), 2);
    assert_eq!(world.closings, Vec::<(u64, Closing)>::new());
}
