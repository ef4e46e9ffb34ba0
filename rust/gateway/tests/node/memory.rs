//! Memory of rings: a budget for all of them, and what becomes of those that nobody uses.

use share_state_core::limits::IsolationLevel;
use share_state_core::share_session::TopicIdPartition;
use share_state_core::time::LockTime;
use share_state_gateway::node::{Limits, SourceKey};
use share_state_gateway::{Buffer, Read};
use share_state_wire::record_batch::Checksums;

use crate::client::{Fetch, place};
use crate::scene::{A, B, C, PER_BATCH, bytes};
use crate::world::World;

const PLACES: [TopicIdPartition; 3] = [place(1, 0), place(1, 1), place(1, 2)];

/// A world whose rings have room for so many reads of four batches.
fn world(reads: usize) -> World {
    let limits = Limits {
        rings: reads * 4 * bytes(0, 5).len(),
        ..Limits::default()
    };
    World::with(limits, &[A, B, C])
}

/// Has a member of its own read the first batches of a partition.
fn read(world: &mut World, connection: u64, id: TopicIdPartition, wait_ms: i32, min_bytes: i32) {
    world.produce(id, 4);
    let mut fetch = Fetch::of(&format!("{connection}"), 0)
        .adding(&[id])
        .waiting(wait_ms);
    fetch.min_bytes = min_bytes;
    world.feed(connection, &fetch.frame(1));
    world.pass(1);
}

fn source(id: TopicIdPartition) -> SourceKey {
    SourceKey {
        id,
        isolation: IsolationLevel::ReadUncommitted,
    }
}

/// A read whose frame has so many other bytes.
fn frame(asked_offset: i64, mut bytes: Vec<u8>, others: usize) -> Read<'static> {
    let end = bytes.len();
    bytes.resize(end + others, 0);
    Read {
        asked_offset,
        buffer: Buffer::new(bytes),
        start: 0,
        end,
        aborted: &[],
        checksums: Checksums::Checked,
    }
}

/// Has a partition loaded, and the read of its first batches that is wanted handed in, in a frame with so many other bytes.
fn hand_in(world: &mut World, id: TopicIdPartition, life: u64, others: usize) {
    let member = format!("{life}");
    world.fetch(A, &Fetch::of(&member, 0).adding(&[id]));
    world.fetch(A, &Fetch::of(&member, 1));
    let batches = (0..4).flat_map(|batch| bytes(batch * PER_BATCH, 5));
    let read = frame(0, batches.collect(), others);
    let appended = world.node.records_read(source(id), life, read, world.now);
    assert_eq!(appended.unwrap().unwrap().next_offset, 8);
    world.drive();
}

/// Bytes that the rings of the three partitions hold.
fn held(world: &World) -> [usize; 3] {
    PLACES.map(|id| {
        let mut rings = world.node.rings().filter(|ring| ring.source.id == id);
        rings.next().map_or(0, |ring| ring.held_bytes)
    })
}

#[test]
fn the_rings_that_were_used_longest_ago_make_room_for_others() {
    let mut world = world(2);
    let size = 4 * bytes(0, 5).len();
    for (connection, id) in [(A, PLACES[0]), (B, PLACES[1])] {
        read(&mut world, connection, id, 9, 1);
    }
    assert_eq!(held(&world), [size, size, 0]);
    world.answer(A, 78).unwrap();
    world.fetch(A, &Fetch::of("1", 1));
    read(&mut world, C, PLACES[2], 9, 1);
    assert_eq!(held(&world), [size, 0, size]);
    // What is wanted of the emptied one is read again.
    world.answer(B, 78).unwrap();
    let again = world.fetch(B, &Fetch::of("2", 1).waiting(9));
    assert_eq!(again.row().acquired, [(4, 7, 1)]);
}

#[test]
fn a_fetch_that_waits_for_more_has_its_ring_read_again() {
    let mut world = world(2);
    let size = 4 * bytes(0, 5).len();
    let enough = i32::try_from(size + 1).unwrap();
    read(&mut world, A, PLACES[0], 5_000, enough);
    for (connection, id) in [(B, PLACES[1]), (C, PLACES[2])] {
        read(&mut world, connection, id, 9, 1);
    }
    // The first made room for the third, and then the second for the first.
    assert_eq!(held(&world), [size, 0, size]);
    world.produce(PLACES[0], 1);
    assert_eq!(world.answer(A, 78).unwrap().offsets()[0].1, 0);
}

#[test]
fn rings_are_looked_at_once_a_sixteenth_of_the_budget_has_come() {
    // Each read is a third of that, and the frame of the first is as large as the budget.
    let (mut world, size) = (world(48), 4 * bytes(0, 5).len());
    hand_in(&mut world, PLACES[0], 1, 48 * size);
    world.pass(1);
    hand_in(&mut world, PLACES[1], 2, 0);
    assert_eq!(held(&world), [49 * size, size, 0]);
    world.pass(1);
    hand_in(&mut world, PLACES[2], 3, 0);
    assert_eq!(held(&world), [0, size, size]);
    hand_in(&mut world, PLACES[0], 4, 48 * size);
    assert_eq!(held(&world), [49 * size, size, size]);
}

#[test]
fn what_has_just_come_is_kept_however_small_the_budget_is() {
    let (mut world, size) = (world(0), 4 * bytes(0, 5).len());
    hand_in(&mut world, PLACES[0], 1, 0);
    assert_eq!(held(&world), [size, 0, 0]);
}

#[test]
fn a_ring_that_nobody_has_used_for_a_minute_is_emptied_whatever_is_still_read_for_it() {
    let (mut world, size) = (world(64), 4 * bytes(0, 5).len());
    read(&mut world, A, PLACES[0], 9, 1);
    assert_eq!(world.node.remains()[3], 1);
    for (pass_ms, expected) in [(59_999, size), (2, 0)] {
        world.pass(pass_ms);
        world.node.sweep(LockTime(0), world.now);
        assert_eq!(held(&world)[0], expected);
    }
    // Nothing is wanted of the life that is over.
    assert_eq!(world.node.remains()[3], 0);
}

#[test]
fn what_is_left_of_a_large_frame_is_copied_when_it_stays() {
    let (mut world, size) = (world(64), 4 * bytes(0, 5).len());
    hand_in(&mut world, PLACES[0], 1, 9 * size);
    for expected in [10 * size, size] {
        world.node.sweep(LockTime(0), world.now);
        assert_eq!(held(&world)[0], expected);
    }
}
