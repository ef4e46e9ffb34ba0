//! Bytes of answers: those of one answer, and those of all that clients have not taken.

use share_state_gateway::node::Limits;

use crate::client::{Fetch, place};
use crate::scene::{A, B};
use crate::world::World;

#[test]
fn large_batches_of_several_partitions_do_not_add_up_in_one_answer() {
    let mut world = World::with(Limits::default(), &[A]);
    let places = [place(1, 0), place(1, 1), place(1, 2)];
    // Batches of 40 KiB, each of them worth no second answer by itself.
    world.value = 20 << 10;
    for id in places {
        world.produce(id, 1);
        world.warm(id);
    }
    let mut fetch = Fetch::of("m", 0).adding(&places);
    (fetch.max_bytes, fetch.max_records) = (1, 100);
    let given = world.fetch(A, &fetch);
    let with_records = given.rows.iter().filter(|row| !row.acquired.is_empty());
    assert_eq!(with_records.count(), 1);
}

#[test]
fn one_batch_is_given_however_large_it_is() {
    let (mut world, id) = (World::with(Limits::default(), &[A]), place(1, 0));
    // More than an answer may have beyond its limit.
    world.value = 40 << 10;
    world.produce(id, 1);
    world.warm(id);
    let mut fetch = Fetch::of("m", 0).adding(&[id]);
    fetch.max_bytes = 1;
    assert_eq!(world.fetch(A, &fetch).offsets().len(), 2);
}

#[test]
fn fetches_that_are_woken_together_share_the_bytes_that_are_left() {
    let limits = Limits {
        answers: 1,
        ..Limits::default()
    };
    let (mut world, id) = (World::new(limits), place(1, 0));
    for (connection, member) in [(A, "a"), (B, "b")] {
        world.open(connection);
        world.fetch(connection, &Fetch::of(member, 0).adding(&[id]));
        let fetch = Fetch::of(member, 1).waiting(500);
        world.feed(connection, &fetch.frame(1));
    }
    world.holds_bytes = true;
    world.produce(id, 4);
    let first = world.frame(A).unwrap();
    assert_eq!(world.frame(B), None, "the first has not been taken");
    world.node.sent(A, first.len(), world.now);
    world.drive();
    assert_eq!(world.answer(B, 78).unwrap().offsets()[0], (id, 4, 1));
}

#[test]
fn a_fetch_waits_for_no_more_bytes_than_its_answer_may_have() {
    let (mut world, id) = (World::with(Limits::default(), &[A]), place(1, 0));
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]));
    let mut fetch = Fetch::of("m", 1).waiting(500);
    (fetch.min_bytes, fetch.max_bytes, fetch.max_records) = (1_000, 100, 100);
    world.feed(A, &fetch.frame(1));
    world.produce(id, 2);
    assert_eq!(world.answer(A, 78).unwrap().offsets().len(), 2);
}

#[test]
fn a_fetch_waits_for_no_bytes_after_a_gap_of_the_ring() {
    // Three reads of four batches fit, of the four that the log has.
    let limits = Limits {
        ring: 1_000,
        ..Limits::default()
    };
    let (mut world, id) = (World::new(limits), place(1, 0));
    world.produce(id, 16);
    for (connection, group) in [(A, "group"), (B, "other")] {
        world.open(connection);
        let mut fetch = Fetch::of("m", 0).adding(&[id]).waiting(9);
        fetch.group = group.to_owned();
        fetch.max_records = 2;
        world.feed(connection, &fetch.frame(1));
        world.frame(connection).unwrap();
        if group == "group" {
            // It reads to the end of the log.
            for epoch in 1..16 {
                let mut fetch = Fetch::of("m", epoch).waiting(9);
                fetch.max_records = 2;
                world.fetch(A, &fetch);
            }
        }
    }
    let mut fetch = Fetch::of("m", 1).waiting(500);
    fetch.group = "other".to_owned();
    (fetch.min_bytes, fetch.max_records) = (500, 100);
    world.feed(B, &fetch.frame(1));
    assert_eq!(world.answer(B, 78).unwrap().offsets().len(), 6);
}
