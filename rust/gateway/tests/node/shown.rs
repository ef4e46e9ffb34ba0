//! Parts of states that are shown, and start offsets that are kept for that.

use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::IsolationLevel;
use share_state_core::persister::WriteState;
use share_state_gateway::node::{Limits, Shown, SourceKey};

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B, LEADER_EPOCH};
use crate::world::World;

fn key() -> SharePartitionKey {
    let id = place(1, 0);
    SharePartitionKey::new("group", id.topic_id, id.partition)
}

/// The log of the partition begins at an offset.
fn begin_log(world: &mut World, offset: i64) {
    let source = SourceKey {
        id: place(1, 0),
        isolation: IsolationLevel::ReadUncommitted,
    };
    world.node.log_start_moved(source, offset, world.now);
    world.drive();
}

const fn start(start_offset: i64) -> WriteState {
    WriteState {
        state_epoch: 0,
        leader_epoch: LEADER_EPOCH,
        start_offset,
        delivery_complete_count: 0,
        state_batches: Vec::new(),
    }
}

#[test]
fn only_a_share_partition_that_serves_shows_its_state() {
    let (mut world, id) = (World::with(Limits::default(), &[A, B]), place(1, 0));
    assert_eq!(
        (world.node.shown(&key()), world.node.keep_start(&key())),
        (None, None)
    );
    world.holds_states = true;
    world.produce(id, 2);
    world.feed(A, &Fetch::of("m", 0).adding(&[id]).waiting(9).frame(1));
    assert_eq!(
        (world.node.shown(&key()), world.node.keep_start(&key())),
        (None, None)
    );
    world.holds_states = false;
    world.drive();
    assert_eq!(world.answer(A, 78).unwrap().offsets().len(), 4);
    let mut expected = Shown {
        start_offset: 0,
        delivery_complete_count: 0,
        leader_epoch: LEADER_EPOCH,
        state_epoch: 0,
        has_writes: false,
    };
    assert_eq!(world.node.shown(&key()), Some(expected));
    world.holds_rounds = true;
    world.feed(A, &Acknowledge::of("m", 1, &[(id, 1, 2, 1)]).frame(1));
    let has_writes = |world: &World| world.node.shown(&key()).unwrap().has_writes;
    assert!(has_writes(&world));
    assert!(world.settle(None));
    expected.delivery_complete_count = 2;
    assert_eq!(world.node.shown(&key()), Some(expected));
}

#[test]
fn a_start_offset_that_moved_without_a_write_is_kept_when_it_is_asked_for() {
    let mut world = World::holding();
    begin_log(&mut world, 3);
    assert_eq!(world.node.shown(&key()).unwrap().start_offset, 3);
    assert!(!world.node.has_writes());
    let tickets = [(); 2].map(|()| world.node.keep_start(&key()).unwrap());
    assert!(world.node.has_writes());
    world.drive();
    let expected = tickets.map(|ticket| (ticket, Some(start(3))));
    assert_eq!(world.starts, expected);
    // Another process has it.
    world.restart(true);
    world.open(B);
    let fetch = Fetch::of("n", 0).adding(&[place(1, 0)]).waiting(9);
    assert_eq!(world.fetch(B, &fetch).row().acquired, [(3, 3, 1)]);
}

#[test]
fn a_start_offset_is_kept_after_the_round_that_is_under_way_and_not_beside_a_change() {
    let (mut world, id) = (World::holding(), place(1, 0));
    world.holds_rounds = true;
    world.feed(A, &Acknowledge::of("m", 1, &[(id, 0, 0, 1)]).frame(1));
    let alone = world.node.keep_start(&key()).unwrap();
    world.drive();
    assert_eq!(world.starts, []);
    assert!(world.settle(None));
    assert!(world.node.shown(&key()).unwrap().has_writes);
    world.feed(A, &Acknowledge::of("m", 2, &[(id, 1, 1, 1)]).frame(1));
    let beside = world.node.keep_start(&key()).unwrap();
    assert!(world.settle(None));
    assert_eq!(world.starts, [(alone, Some(start(1))), (beside, None)]);
    assert!(world.settle(None));
    assert_eq!(world.node.shown(&key()).unwrap().start_offset, 2);
}

#[test]
fn a_start_offset_is_not_kept_that_the_store_refuses_or_whose_share_partition_is_dropped() {
    let (mut world, id) = (World::holding(), place(1, 0));
    world.holds_rounds = true;
    let refused = world.node.keep_start(&key()).unwrap();
    world.drive();
    assert!(world.settle(Some(KafkaCode::CoordinatorNotAvailable)));
    assert_eq!(world.starts, [(refused, None)]);
    // One of a round, and one that waits for the next.
    let kept = world.node.keep_start(&key()).unwrap();
    world.drive();
    let dropped = world.node.keep_start(&key()).unwrap();
    world.node.state_changed(None, id.topic_id, world.now);
    world.drive();
    assert_eq!(world.starts[1..], [(dropped, None)]);
    // The state is read again after the write.
    world.holds_states = true;
    world.feed(A, &Fetch::of("m", 1).waiting(9).frame(1));
    assert_eq!(world.held(), None);
    assert!(world.settle(None));
    assert_eq!(world.starts[2..], [(kept, Some(start(0)))]);
    assert!(world.held().is_some());
}
