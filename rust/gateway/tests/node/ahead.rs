//! Reading ahead of the fastest group, as long as what is at hand does not last long.

use share_state_core::limits::IsolationLevel;
use share_state_core::share_session::TopicIdPartition;
use share_state_gateway::node::{Limits, SourceKey};

use crate::client::{Fetch, place};
use crate::scene::{A, B};
use crate::world::World;

const ID: TopicIdPartition = place(1, 0);

/// A log of so many batches, each of 0.4 MB, of which the first two were given out. A read brings four.
fn world(limits: Limits, batches: i64) -> World {
    let mut world = World::with(limits, &[A, B]);
    world.value = 200_000;
    world.produce(ID, batches);
    world.warm(ID);
    world
}

/// A fetch of so many records in a group of its own.
fn of(group: &str, max_records: i32) -> Fetch {
    let mut fetch = Fetch::of("m", 0).adding(&[ID]).waiting(9);
    fetch.group = group.to_owned();
    (fetch.max_bytes, fetch.max_records) = (1 << 26, max_records);
    fetch
}

#[test]
fn reading_goes_on_where_everything_was_given_out() {
    let mut world = world(Limits::default(), 8);
    // At hand are 2.4 MB.
    assert_eq!(world.reads, 2);
    let given = world.fetch(A, &of("group", 100));
    assert_eq!(given.row().batches.len(), 8);
    // The end is read before anybody asks for more.
    world.produce(ID, 1);
    assert_eq!(world.reads, 3);
}

#[test]
fn a_group_behind_the_fastest_one_does_not_hold_it_up() {
    let mut world = world(Limits::default(), 8);
    world.fetch(A, &of("group", 100));
    let behind = world.fetch(B, &of("other", 4));
    assert_eq!(behind.row().acquired, [(0, 3, 1)]);
    assert_eq!(world.reads, 2);
    // For the fastest one the 1.6 MB of the next read are not enough.
    world.produce(ID, 8);
    assert_eq!(world.reads, 4);
}

#[test]
fn nothing_is_read_ahead_of_a_hole() {
    // What comes takes the room of what the fastest group wants.
    let limits = Limits {
        ring: 1_700_000,
        ..Limits::default()
    };
    let mut world = world(limits, 16);
    assert_eq!(world.reads, 2);
    let given = world.fetch(A, &of("group", 4));
    assert_eq!(given.row().acquired[0].0, 0, "it is read again");
}

#[test]
fn another_log_is_read_ahead_of_from_its_beginning() {
    let mut world = world(Limits::default(), 8);
    world.fetch(A, &of("group", 100));
    let source = SourceKey {
        id: ID,
        isolation: IsolationLevel::ReadUncommitted,
    };
    world.node.history_changed(source, world.now);
    world.drive();
    assert_eq!(world.reads, 2);
    world.fetch(B, &of("other", 4));
    assert_eq!(world.reads, 4);
}
