//! Counts of requests, of partitions and of records.

use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::IsolationLevel;
use share_state_gateway::node::{ByTopic, Figures, Limits, SourceKey};

use crate::client::{Acknowledge, Fetch, framed, place};
use crate::scene::{A, B};
use crate::world::World;

fn world() -> World {
    World::with(Limits::default(), &[A, B])
}

#[test]
fn requests_that_are_refused_as_a_whole_are_counted_by_their_code() {
    let mut world = world();
    world.fetch(A, &Fetch::of("", 0));
    world.fetch(A, &Fetch::of("m", 1));
    world.fetch(A, &Fetch::of("m", 2));
    world.acknowledge(A, &Acknowledge::of("m", 1, &[]));
    let counted = &world.node.counts().request_errors;
    let expected = [((78, 42), 1), ((78, 122), 2), ((79, 122), 1)];
    assert!(
        counted
            .iter()
            .map(|(key, count)| (*key, *count))
            .eq(expected)
    );
    // A later request of the member has overtaken it.
    world.fetch(A, &Fetch::of("m", 0).adding(&[place(1, 0)]));
    world.feed(A, &Fetch::of("m", 1).waiting(500).frame(1));
    world.fetch(B, &Fetch::of("m", 2));
    assert_eq!(world.node.counts().request_errors[&(78, 123)], 1);
    assert_eq!(world.node.counts().malformed, 0);
    world.feed(A, &framed(78, 2, 1, &[1]));
    assert_eq!(world.node.counts().malformed, 1);
}

#[test]
fn partitions_that_fetches_are_for_are_counted_by_topic_and_by_group() {
    let (mut world, id) = (world(), place(1, 0));
    let strange = [id, place(2, 1), place(1, 5), place(7, 0)];
    world.fetch(A, &Fetch::of("m", 0).adding(&strange));
    world.feed(A, &Fetch::of("m", 1).waiting(5_000).frame(1));
    world.pass(40);
    world.produce(id, 1);
    assert_eq!(world.answer(A, 78).unwrap().offsets().len(), 2);
    let counts = world.node.counts();
    let by_topic = [1, 2, 7].map(|topic| {
        let topic = place(topic, 0).topic_id;
        let of = |counted: &ByTopic| counted.get(&topic).copied();
        (of(&counts.fetched), of(&counts.fetch_failed))
    });
    // Nobody knows the third topic, whose id a client may have made up.
    assert_eq!(
        by_topic,
        [(Some(2), Some(2)), (Some(2), None), (None, None)]
    );
    let group = &counts.groups["group"];
    assert_eq!((group.asked_partitions, group.acquired_partitions), (4, 1));
    assert_eq!(
        (group.acquire_times.buckets[6], group.acquire_times.total_ms),
        (1, 40)
    );
    assert_eq!(counts.expired_fetches, 0);
    world.node.keep_counts(|group| group == "group");
    assert_eq!(world.node.counts().groups.len(), 1);
    world.node.keep_counts(|_| false);
    assert_eq!(world.node.counts().groups.len(), 0);
}

#[test]
fn a_fetch_has_expired_that_waited_to_its_end_and_got_nothing() {
    let (mut world, id) = (world(), place(1, 0));
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]));
    for (epoch, is_replaced) in [(1, true), (2, false)] {
        world.feed(A, &Fetch::of("m", epoch).waiting(500).frame(1));
        if is_replaced {
            world.acknowledge(B, &Acknowledge::of("m", 2, &[]));
            world.fetch(B, &Fetch::of("m", 3));
            assert_eq!(world.answer(A, 78).unwrap().error, 123);
        }
    }
    let expired = |world: &World| world.node.counts().expired_fetches;
    assert_eq!(expired(&world), 0);
    world.feed(A, &Fetch::of("m", 4).waiting(500).frame(1));
    world.pass(500);
    assert_eq!(expired(&world), 1);
    let mut fetch = Fetch::of("m", 5).waiting(500);
    fetch.min_bytes = 1 << 20;
    world.feed(A, &fetch.frame(1));
    world.produce(id, 1);
    world.pass(500);
    assert_eq!(expired(&world), 1, "it took what there was");
}

#[test]
fn records_are_counted_by_the_type_of_their_acknowledgement_before_it_is_checked() {
    let (mut world, id) = (world(), place(1, 0));
    world.produce(id, 2);
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]).waiting(9));
    let batches = [
        (id, 0, 1, 1),
        (id, 2, 2, 2),
        (id, 3, 3, 0),
        (place(1, 7), 5, 4, 3),
        (place(1, 7), 0, 9, 3),
        (place(7, 0), i64::MIN, i64::MAX, 4),
        (place(7, 0), 0, 0, 4),
    ];
    world.acknowledge(A, &Acknowledge::of("m", 1, &batches));
    let counts = world.node.counts();
    let most = i64::MAX as u64;
    assert_eq!(counts.acknowledged_records, [1, 2, 1, 10, most + 1]);
    let topic = id.topic_id;
    assert_eq!(
        (counts.acknowledged.len(), counts.acknowledged[&topic]),
        (1, 2)
    );
    assert_eq!(counts.acknowledge_failed[&topic], 1);
}

#[test]
fn errors_that_clients_do_not_survive_are_counted_by_their_cause() {
    let (mut world, id) = (world(), place(1, 0));
    world.produce(id, 1);
    world.holds_rounds = true;
    world.feed(A, &Fetch::of("m", 0).adding(&[id]).waiting(500).frame(1));
    assert!(world.settle(Some(KafkaCode::KafkaStorageError)));
    assert_eq!(world.answer(A, 78).unwrap().row().error, -1);
    world.holds_rounds = false;
    world.refuses_states = Some(KafkaCode::UnknownTopicOrPartition);
    world.fetch(A, &Fetch::of("m", 1).waiting(500));
    world.refuses_states = None;
    world.fetch(A, &Fetch::of("m", 2).waiting(500));
    let source = SourceKey {
        id,
        isolation: IsolationLevel::ReadUncommitted,
    };
    world.node.upstream_lost(source);
    assert_eq!(world.fetch(A, &Fetch::of("m", 3)).row().error, -1);
    let hidden = &world.node.counts().hidden;
    let expected = [("KAFKA_STORAGE_ERROR", 1), ("upstream_unavailable", 1)];
    assert!(
        hidden
            .iter()
            .map(|(cause, count)| (*cause, *count))
            .eq(expected)
    );
}

#[test]
fn figures_tell_of_what_is_in_memory() {
    let mut world = world();
    world.fetch(A, &Fetch::of("m", 0).adding(&[place(1, 0), place(1, 1)]));
    world.fetch(B, &Fetch::of("n", 0).adding(&[place(1, 0)]));
    world.feed(A, &Fetch::of("m", 1).waiting(500).frame(1));
    let mut expected = Figures {
        waiting_fetches: 1,
        sessions: 2,
        session_partitions: 3,
        answer_bytes: 0,
    };
    assert_eq!(world.node.figures(), expected);
    world.holds_bytes = true;
    world.pass(500);
    (expected.waiting_fetches, expected.answer_bytes) = (0, world.frame(A).unwrap().len());
    assert_eq!(world.node.figures(), expected);
}
