//! Fetches that share a partition with others, or have several: who is tried, and who waits on.

use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_gateway::node::{Limits, Need};

use crate::client::{Fetch, place};
use crate::scene::{A, B, C, config};
use crate::world::World;

fn world() -> World {
    World::with(Limits::default(), &[A, B, C])
}

/// Answers the next state that is asked for with a refusal of which clients are told.
fn refuse(world: &mut World) {
    let Some(Need::State { served, .. }) = world.held() else {
        panic!("a state is asked for")
    };
    let refusal = Err(KafkaCode::UnknownTopicOrPartition);
    world.node.state_read(served, refusal, world.now);
    world.drive();
}

#[test]
fn all_who_wait_are_told_when_a_topic_goes() {
    let (mut world, id, stays) = (world(), place(1, 0), place(2, 0));
    world.join(&[(A, "a"), (B, "b")], id);
    for (connection, member) in [(A, "a"), (B, "b")] {
        world.feed(connection, &Fetch::of(member, 1).waiting(500).frame(1));
    }
    let mut other = Fetch::of("a", 0).adding(&[id, stays]);
    other.group = "other".to_owned();
    world.fetch(C, &other);
    (other.epoch, other.added, other.max_wait_ms) = (1, Vec::new(), 500);
    world.feed(C, &other.frame(2));
    world.node.topic_deleted(id.topic_id, world.now);
    world.drive();
    for connection in [A, B] {
        assert_eq!(world.answer(connection, 78).unwrap().row().error, 100);
    }
    // This one may have records of the other topic, but the one that is gone is told at once.
    let told = world.answer(C, 78).unwrap();
    let codes: Vec<_> = told.rows.iter().map(|row| (row.id, row.error)).collect();
    assert_eq!(codes, [(id, 100)]);
}

#[test]
fn a_fetch_of_many_bytes_does_not_hold_up_the_one_behind_it() {
    let (mut world, id) = (world(), place(1, 0));
    world.join(&[(A, "a"), (B, "b")], id);
    let mut large = Fetch::of("a", 1).waiting(500);
    large.min_bytes = 10_000;
    world.feed(A, &large.frame(1));
    world.feed(B, &Fetch::of("b", 1).waiting(500).frame(2));
    world.produce(id, 1);
    assert_eq!(world.frame(A), None);
    assert_eq!(world.answer(B, 78).unwrap().row().acquired, [(0, 1, 1)]);
}

#[test]
fn a_fetch_waits_while_one_of_its_partitions_may_give() {
    for is_last_refused in [false, true] {
        let (mut world, places) = (world(), [place(1, 0), place(1, 1)]);
        world.holds_states = true;
        let fetch = Fetch::of("m", 0).adding(&places).waiting(500);
        world.feed(A, &fetch.frame(1));
        refuse(&mut world);
        assert_eq!(world.frame(A), None, "the other one is loading");
        let expected = if is_last_refused {
            refuse(&mut world);
            [(3, 0), (3, 0)]
        } else {
            world.holds_states = false;
            world.drive();
            assert_eq!(world.frame(A), None, "the other one is empty");
            world.produce(places[1], 1);
            [(3, 0), (0, 1)]
        };
        let mut told = world.answer(A, 78).unwrap();
        told.rows.sort_by_key(|row| row.id);
        let rows: Vec<_> = told
            .rows
            .iter()
            .map(|row| (row.error, row.acquired.len()))
            .collect();
        assert_eq!(rows, expected);
    }
}

#[test]
fn a_partition_whose_locks_are_all_given_out_has_not_failed() {
    let (mut world, full) = (world(), place(1, 0));
    let two_locks = ShareGroupConfig {
        partition_max_record_locks: 2,
        ..config()
    };
    let configured = world.node.configure("group", two_locks, world.now);
    assert_eq!(configured, Ok(()));
    world.produce(full, 2);
    let given = world.fetch(A, &Fetch::of("a", 0).adding(&[full]).waiting(9));
    assert_eq!(given.row().acquired, [(0, 1, 1)]);
    world.holds_states = true;
    let fetch = Fetch::of("b", 0).adding(&[full, place(1, 1)]);
    world.feed(B, &fetch.waiting(5_000).frame(1));
    refuse(&mut world);
    assert_eq!(world.frame(B), None);
    world.close(A);
    let given = world.answer(B, 78).unwrap();
    assert_eq!(given.offsets(), [(full, 0, 2), (full, 1, 2)]);
}

#[test]
fn who_does_not_wait_is_answered_at_once() {
    let limits = Limits {
        answers: 1,
        ..Limits::default()
    };
    let (mut world, id) = (World::with(limits, &[A, B]), place(1, 0));
    for (epoch, max_wait_ms) in [(0, 0), (1, -1), (2, i32::MIN)] {
        let mut fetch = Fetch::of("a", epoch).waiting(max_wait_ms);
        fetch.added.push(id);
        assert_eq!(world.fetch(A, &fetch).offsets(), []);
    }
    world.produce(id, 4);
    world.warm(id);
    world.holds_bytes = true;
    world.feed(A, &Fetch::of("a", 3).frame(1));
    assert_eq!(world.answer(A, 78).unwrap().offsets().len(), 4);
    // There is no room for another answer with records, and it does not wait for any.
    let none = world.fetch(B, &Fetch::of("b", 0).adding(&[id]));
    assert_eq!(none.offsets(), []);
    let [.., starved, _] = world.node.remains();
    assert_eq!(starved, 0);
}
