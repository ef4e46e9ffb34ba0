//! Questions that are put upstream before a request goes on: topics that nobody knows here, and starts of logs.

use std::sync::Arc;

use share_state_core::limits::IsolationLevel;
use share_state_gateway::node::{Limits, Need, SourceKey, Topic};

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B};
use crate::world::World;

const SOURCE: SourceKey = SourceKey {
    id: place(1, 0),
    isolation: IsolationLevel::ReadUncommitted,
};

/// A world with records at hand that were read so long ago, and a member that has not fetched them.
fn after(ms: i64) -> World {
    let (mut world, id) = (World::with(Limits::default(), &[A, B]), place(1, 0));
    world.produce(id, 2);
    world.warm(id);
    world.pass(ms);
    world.holds_states = true;
    world
}

#[test]
fn a_request_waits_for_a_topic_that_is_made_known_meanwhile() {
    let mut world = World::with(Limits::default(), &[A]);
    world.holds_states = true;
    let new = place(7, 0);
    world.feed(A, &Fetch::of("m", 0).adding(&[place(1, 0), new]).frame(1));
    assert_eq!(world.frame(A), None);
    let need = Need::Topics {
        connection: A,
        topic_ids: vec![new.topic_id],
    };
    assert_eq!(world.held(), Some(need));
    let topic = |number: u8| {
        let topic = Topic {
            name: Arc::from(format!("topic-{number}")),
            partitions: 1,
            is_internal: false,
        };
        (place(number, 0).topic_id, topic)
    };
    let topics = [1, 7].into_iter().map(topic).collect();
    world.node.set_topics(topics);
    world.holds_states = false;
    world.node.looked_up(A, world.now);
    world.drive();
    let answer = world.answer(A, 78).unwrap();
    assert_eq!((answer.error, answer.rows), (0, Vec::new()));
    assert_eq!(world.held(), None);
}

#[test]
fn a_topic_that_nobody_finds_is_unknown_and_looked_for_again_with_the_next_request() {
    let mut world = World::with(Limits::default(), &[A]);
    world.holds_states = true;
    let new = place(7, 0);
    world.feed(A, &Fetch::of("m", 0).adding(&[new]).frame(1));
    assert!(matches!(world.held(), Some(Need::Topics { .. })));
    world.node.looked_up(A, world.now);
    world.drive();
    assert_eq!(world.answer(A, 78).unwrap().row().error, 100);
    // A request that does not name it has nothing to wait for.
    world.feed(A, &Fetch::of("m", 1).frame(2));
    assert_eq!(world.answer(A, 78).unwrap().row().error, 100);
    world.feed(A, &Acknowledge::of("m", 2, &[(new, 0, 0, 1)]).frame(3));
    assert_eq!(world.frame(A), None);
    world.node.looked_up(A, world.now);
    world.drive();
    assert_eq!(world.answer(A, 79).unwrap().row().acknowledged, 100);
}

#[test]
fn a_member_that_goes_while_its_topics_are_looked_for_leaves_nothing() {
    let mut world = World::with(Limits::default(), &[A]);
    world.holds_states = true;
    world.feed(A, &Fetch::of("m", 0).adding(&[place(7, 0)]).frame(1));
    world.close(A);
    world.node.looked_up(A, world.now);
    world.drive();
    assert_eq!(world.frame(A), None);
    assert_eq!(world.node.sizes(), (0, 0, 0));
}

#[test]
fn records_that_came_a_moment_ago_are_given_without_a_question() {
    let mut world = after(200);
    let given = world.fetch(A, &Fetch::of("m", 0).adding(&[SOURCE.id]));
    assert_eq!(given.row().acquired, [(0, 3, 2)]);
    assert_eq!(world.held(), None);
}

#[test]
fn records_that_were_deleted_meanwhile_are_not_given() {
    let mut world = after(201);
    for (connection, member) in [(A, "m"), (B, "n")] {
        let fetch = Fetch::of(member, 0).adding(&[SOURCE.id]);
        world.feed(connection, &fetch.frame(1));
        assert_eq!(world.frame(connection), None);
    }
    // Upstream is asked once for both.
    assert_eq!(world.held(), Some(Need::LogStart { source: SOURCE }));
    assert_eq!(world.held(), None);
    world.node.log_starts_told(&[(SOURCE, Some(2))], world.now);
    world.drive();
    assert_eq!(world.answer(A, 78).unwrap().row().acquired, [(2, 3, 2)]);
    assert_eq!(world.answer(B, 78).unwrap().offsets(), []);
}

#[test]
fn a_fetch_waits_for_the_start_of_a_log_for_a_second_beyond_its_time() {
    for max_wait_ms in [0, 300] {
        let mut world = after(201);
        let fetch = Fetch::of("m", 0).adding(&[SOURCE.id]).waiting(max_wait_ms);
        world.feed(A, &fetch.frame(1));
        world.pass(i64::from(max_wait_ms) + 999);
        assert_eq!(world.frame(A), None);
        world.pass(1);
        assert_eq!(world.answer(A, 78).unwrap().offsets(), []);
        let expired = world.node.counts().expired_fetches;
        assert_eq!(expired, u64::from(max_wait_ms > 0));
        // Upstream was silent: what is at hand is given out.
        world.node.log_starts_told(&[(SOURCE, None)], world.now);
        let fetch = Fetch::of("m", 1);
        world.feed(A, &fetch.frame(1));
        assert_eq!(world.answer(A, 78).unwrap().row().acquired, [(0, 3, 2)]);
    }
}

#[test]
fn reading_goes_on_ahead_of_a_member_until_enough_is_at_hand() {
    let (mut world, id) = (World::with(Limits::default(), &[A]), SOURCE.id);
    // A fetch takes two batches of 0.4 MB, and a read brings four.
    world.value = 200_000;
    world.produce(id, 40);
    let given = world.fetch(A, &Fetch::of("m", 0).adding(&[id]).waiting(9));
    assert_eq!(given.row().acquired, [(0, 3, 1)]);
    let mut reads = vec![world.reads];
    for epoch in 1..4 {
        world.fetch(A, &Fetch::of("m", epoch));
        reads.push(world.reads);
    }
    // At hand are 2.4, 3.2, 2.4 and again 3.2 MB.
    assert_eq!(reads, [2, 3, 3, 4]);
}

#[test]
fn a_fetch_asks_once_for_the_start_of_each_log_however_slow_upstream_is() {
    let (mut world, ids) = (
        World::with(Limits::default(), &[A, B]),
        [place(1, 0), place(1, 1)],
    );
    for id in ids {
        world.produce(id, 1);
        world.warm(id);
        world.pass(1_000);
    }
    world.holds_states = true;
    let source = |id| SourceKey { id, ..SOURCE };
    // Each is told 300 ms after it was asked for, and the second one 250 ms after the first.
    world.feed(
        A,
        &Fetch::of("m", 0).adding(&ids[..1]).waiting(9_000).frame(1),
    );
    world.pass(250);
    world.feed(B, &Fetch::of("n", 0).adding(&ids).waiting(9_000).frame(1));
    world.pass(50);
    world
        .node
        .log_starts_told(&[(source(ids[0]), None)], world.now);
    world.drive();
    world.pass(250);
    world
        .node
        .log_starts_told(&[(source(ids[1]), None)], world.now);
    world.drive();
    assert_eq!(world.answer(A, 78).unwrap().row().acquired, [(0, 1, 2)]);
    // The first partition has nothing left for the second member.
    let given = world.answer(B, 78).unwrap().offsets();
    assert_eq!(given, [(ids[1], 0, 2), (ids[1], 1, 2)]);
    let asked = ids.map(|id| Some(Need::LogStart { source: source(id) }));
    assert_eq!([world.held(), world.held()], asked);
    assert_eq!(world.held(), None);
}

#[test]
fn a_fetch_without_time_does_not_wait_for_the_log_start_of_what_is_not_at_hand() {
    let mut world = after(0);
    world.holds_states = false;
    // Another group has had all that is at hand.
    let mut other = Fetch::of("n", 0).adding(&[SOURCE.id]);
    other.group = "other".to_owned();
    world.fetch(B, &other);
    other.epoch = 1;
    assert_eq!(world.fetch(B, &other).row().acquired, [(0, 3, 1)]);
    world.pass(201);
    world.holds_states = true;
    world.feed(
        A,
        &Fetch::of("m", 0)
            .adding(&[SOURCE.id])
            .waiting(9_000)
            .frame(1),
    );
    assert_eq!(world.held(), Some(Need::LogStart { source: SOURCE }));
    other.epoch = 2;
    world.feed(B, &other.frame(1));
    assert_eq!(world.answer(B, 78).unwrap().offsets(), []);
}

#[test]
fn those_whose_time_is_over_are_answered_when_the_log_start_is_told() {
    let mut world = after(201);
    for (connection, member, max_wait_ms) in [(A, "m", 5_000), (B, "n", 0)] {
        let fetch = Fetch::of(member, 0)
            .adding(&[SOURCE.id])
            .waiting(max_wait_ms);
        world.feed(connection, &fetch.frame(1));
        assert_eq!(world.frame(connection), None);
    }
    // Everything at hand was deleted: the first one waits for more.
    world.node.log_starts_told(&[(SOURCE, Some(20))], world.now);
    world.drive();
    assert_eq!(world.frame(A), None);
    assert_eq!(world.answer(B, 78).unwrap().offsets(), []);
}
