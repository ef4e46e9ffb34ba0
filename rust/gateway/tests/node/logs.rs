//! Logs upstream that lose their beginning, become other logs, or cannot be reached.

use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::IsolationLevel;
use share_state_core::persister::ReadStateResult;
use share_state_gateway::node::{Limits, Need, SourceKey};

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B};
use crate::world::World;

const SOURCE: SourceKey = SourceKey {
    id: place(1, 0),
    isolation: IsolationLevel::ReadUncommitted,
};

fn world() -> World {
    World::with(Limits::default(), &[A, B])
}

/// A fetch of the one partition, in a group of its own, that opens a session.
fn of(group: &str) -> Fetch {
    let mut fetch = Fetch::of("m", 0).adding(&[SOURCE.id]).waiting(500);
    fetch.group = group.to_owned();
    fetch
}

#[test]
fn a_share_partition_begins_no_earlier_than_its_log() {
    for (log_start, begins) in [(-1, 4), (0, 4), (4, 4), (6, 6)] {
        let mut world = world();
        world.produce(SOURCE.id, 4);
        world.holds_states = true;
        world.feed(A, &of("group").frame(1));
        // It is told while the state is read.
        world.node.log_start_moved(SOURCE, log_start, world.now);
        let Some(Need::State { served, .. }) = world.held() else {
            panic!("a state is asked for")
        };
        let read = Ok(ReadStateResult::starting_at(4));
        world.node.state_read(served, read, world.now);
        world.drive();
        let given = world.answer(A, 78).unwrap();
        assert_eq!(given.row().acquired[0].0, begins, "{log_start}");
    }
}

#[test]
fn a_log_that_starts_later_moves_every_group_that_reads_it() {
    let mut world = world();
    for (connection, group) in [(A, "group"), (B, "other")] {
        world.feed(connection, &of(group).frame(1));
    }
    let wanted = |world: &mut World| match world.node.poll_need() {
        Some(Need::Records { offset, .. }) => Some(offset),
        _ => None,
    };
    assert_eq!(wanted(&mut world), None, "both wait for offset 0");
    world.node.log_start_moved(SOURCE, 2, world.now);
    assert_eq!(wanted(&mut world), Some(2), "they are woken");
    // Neither an earlier start nor the same again is news.
    for log_start in [2, 1] {
        world.node.log_start_moved(SOURCE, log_start, world.now);
        assert_eq!(wanted(&mut world), None);
    }
    // What was read before it is of no use to either.
    world.produce(SOURCE.id, 4);
    for connection in [A, B] {
        let given = world.answer(connection, 78).unwrap();
        assert_eq!(given.row().acquired, [(2, 5, 1)]);
    }
}

#[test]
fn records_before_the_start_of_their_log_are_over() {
    let mut world = world();
    world.produce(SOURCE.id, 2);
    let given = world.fetch(A, &of("group"));
    assert_eq!(given.row().acquired, [(0, 3, 1)]);
    world.node.log_start_moved(SOURCE, 2, world.now);
    world.drive();
    // What is before it was settled by nobody, and is nobody's any more.
    let told = world.acknowledge(A, &Acknowledge::of("m", 1, &[(SOURCE.id, 0, 1, 2)]));
    assert_eq!(told.row().acknowledged, 0);
    world.close(A);
    let mut late = of("group");
    late.member = "late".to_owned();
    let given = world.fetch(B, &late);
    assert_eq!(given.row().acquired, [(2, 3, 2)]);
}

#[test]
fn a_log_that_is_another_is_read_again() {
    let mut world = world();
    world.produce(SOURCE.id, 8);
    world.warm(SOURCE.id);
    let reads = world.reads;
    world.node.history_changed(SOURCE, world.now);
    world.drive();
    let mut fetch = of("group");
    fetch.max_records = 2;
    assert_eq!(world.fetch(A, &fetch).row().acquired, [(0, 1, 2)]);
    assert_eq!(world.reads, 2 * reads, "nothing was at hand");
}

#[test]
fn who_waits_asks_for_another_log_at_once_and_what_the_old_one_had_is_dropped() {
    let mut world = world();
    world.feed(A, &of("group").frame(1));
    world.node.history_changed(SOURCE, world.now);
    let Some(Need::Records { life, offset, .. }) = world.node.poll_need() else {
        panic!("records are needed")
    };
    assert_eq!((life > 1, offset), (true, 0));
    // The one read under way is that of the first life.
    world.produce(SOURCE.id, 1);
    assert_eq!((world.frame(A), world.node.poll_need()), (None, None));
    world.read(SOURCE, life, 0);
    world.drive();
    assert_eq!(world.answer(A, 78).unwrap().row().acquired, [(0, 1, 1)]);
}

#[test]
fn an_upstream_that_is_lost_is_told_until_a_read_comes() {
    let (mut world, sound) = (world(), place(1, 1));
    let fetch = of("group").adding(&[sound]).waiting(0);
    world.fetch(A, &fetch);
    world.node.upstream_lost(SOURCE);
    for epoch in [1, 2] {
        let told = world.fetch(A, &Fetch::of("m", epoch));
        let codes: Vec<_> = told.rows.iter().map(|row| (row.id, row.error)).collect();
        assert_eq!(codes, [(SOURCE.id, -1)]);
    }
    // A fetch that waits is told once its time is over: records may come yet.
    world.feed(A, &Fetch::of("m", 3).waiting(500).frame(1));
    world.pass(499);
    assert_eq!(world.frame(A), None);
    world.pass(1);
    assert_eq!(world.answer(A, 78).unwrap().row().error, -1);
    world.produce(SOURCE.id, 1);
    let given = world.fetch(A, &Fetch::of("m", 4));
    assert_eq!((given.row().error, given.offsets().len()), (0, 2));
    let none = world.fetch(A, &Fetch::of("m", 5));
    assert_eq!(none.rows, []);
}

#[test]
fn records_at_hand_are_given_although_upstream_is_lost() {
    let mut world = world();
    world.produce(SOURCE.id, 2);
    world.warm(SOURCE.id);
    world.node.upstream_lost(SOURCE);
    // A client drops the records of a partition that has an error.
    let given = world.fetch(A, &of("group"));
    assert_eq!((given.row().error, given.offsets().len()), (0, 4));
}

#[test]
fn a_share_partition_that_failed_is_told_why_although_upstream_is_lost() {
    let mut world = world();
    world.feed(B, &of("other").frame(1));
    world.node.upstream_lost(SOURCE);
    world.refuses_states = Some(KafkaCode::UnknownTopicOrPartition);
    let told = world.fetch(A, &of("group"));
    assert_eq!(told.row().error, 3);
}
