//! Records of transactions, for groups that read what was committed alone.

use share_state_core::ids::SharePartitionKey;
use share_state_core::limits::{IsolationLevel, ShareGroupConfig};
use share_state_core::share_partition::AbortedTransaction;
use share_state_gateway::node::{Limits, SourceKey};
use share_state_gateway::{Buffer, Read};
use share_state_wire::record_batch::Checksums;

use crate::client::{Fetch, place};
use crate::scene::{A, B, bytes, config};
use crate::world::World;

const PRODUCER: i64 = 7;
const SOURCE: SourceKey = SourceKey {
    id: place(1, 0),
    isolation: IsolationLevel::ReadCommitted,
};

/// A batch of a transaction; its checksum is that of a batch of none.
fn transactional(base_offset: i64) -> Vec<u8> {
    let mut batch = bytes(base_offset, 5);
    batch[21..23].copy_from_slice(&0x10_i16.to_be_bytes());
    batch[43..51].copy_from_slice(&PRODUCER.to_be_bytes());
    batch
}

/// A group that reads what was committed, so many records of it in flight at most, and a member that waits for them.
fn waiting(locks: u32) -> World {
    let mut world = World::with(Limits::default(), &[A, B]);
    let committed = ShareGroupConfig {
        isolation_level: IsolationLevel::ReadCommitted,
        partition_max_record_locks: locks,
        ..config()
    };
    assert_eq!(world.node.configure("group", committed, world.now), Ok(()));
    let mut fetch = Fetch::of("m", 0).adding(&[SOURCE.id]).waiting(500);
    fetch.max_records = 2;
    world.feed(A, &fetch.frame(1));
    world
}

/// Has batches come from the beginning of the log on; the transaction that begins at an offset was aborted.
fn read(world: &mut World, source: SourceKey, batches: &[Vec<u8>], first_offset: i64) {
    let batches = batches.concat();
    let end = batches.len();
    let read = Read {
        asked_offset: 0,
        buffer: Buffer::new(batches),
        start: 0,
        end,
        aborted: &[AbortedTransaction {
            producer_id: PRODUCER,
            first_offset,
        }],
        checksums: Checksums::Trusted,
    };
    world.node.records_read(source, 1, read, world.now).unwrap();
    world.drive();
}

#[test]
fn aborted_records_are_passed_over_and_what_follows_them_is_given() {
    let mut world = waiting(2_000);
    read(&mut world, SOURCE, &[transactional(0)], 0);
    assert_eq!(world.frame(A), None);
    let key = SharePartitionKey::new("group", SOURCE.id.topic_id, 0);
    let shown = world.node.shown(&key).unwrap();
    assert_eq!(shown.start_offset, 2, "nobody will be given them");
    world.produce(SOURCE.id, 2);
    assert_eq!(world.answer(A, 78).unwrap().row().acquired, [(2, 3, 1)]);
}

#[test]
fn a_fetch_that_finds_aborted_records_alone_waits_on() {
    // With the aborted records there are as many in flight as there may be.
    let mut world = waiting(4);
    read(&mut world, SOURCE, &[bytes(0, 5), transactional(2)], 2);
    assert_eq!(world.answer(A, 78).unwrap().row().acquired, [(0, 1, 1)]);
    let fetch = Fetch::of("n", 0).adding(&[SOURCE.id]).waiting(500);
    world.feed(B, &fetch.frame(2));
    assert_eq!(world.frame(B), None);
    world.close(A);
    assert_eq!(world.answer(B, 78).unwrap().row().acquired, [(0, 1, 2)]);
}

#[test]
fn a_group_that_reads_everything_is_given_aborted_records() {
    let mut world = World::with(Limits::default(), &[A]);
    let fetch = Fetch::of("m", 0).adding(&[SOURCE.id]).waiting(500);
    world.feed(A, &fetch.frame(1));
    let source = SourceKey {
        isolation: IsolationLevel::ReadUncommitted,
        ..SOURCE
    };
    read(&mut world, source, &[transactional(0)], 0);
    assert!(world.frame(A).is_some());
    // The list is for those who read what was committed, and a broker has no reason to send it here.
    let mut listed = world.node.list();
    assert_eq!(listed.next().unwrap().state_counts, [0, 2, 0, 0, 0]);
}
