//! Lists of share partitions and of rings.

use share_state_core::limits::{IsolationLevel, ShareGroupConfig};
use share_state_gateway::node::{Limits, SourceKey};

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B, bytes, config};
use crate::world::World;

const UNCOMMITTED: SourceKey = SourceKey {
    id: place(1, 0),
    isolation: IsolationLevel::ReadUncommitted,
};
const COMMITTED: SourceKey = SourceKey {
    isolation: IsolationLevel::ReadCommitted,
    ..UNCOMMITTED
};

#[test]
fn share_partitions_are_listed_with_their_numbers() {
    let (mut world, id) = (World::with(Limits::default(), &[A, B]), place(1, 0));
    assert_eq!(world.node.list().count(), 0);
    world.produce(id, 2);
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]).waiting(9));
    world.acknowledge(A, &Acknowledge::of("m", 1, &[(id, 0, 0, 1), (id, 2, 2, 3)]));
    world.pass(500);
    world.feed(A, &Fetch::of("m", 2).waiting(900).frame(1));
    world.holds_states = true;
    let mut other = Fetch::of("n", 0).adding(&[id, place(2, 1)]).waiting(900);
    other.group = "other".to_owned();
    world.feed(B, &other.frame(1));
    let mut listed: Vec<_> = world.node.list().collect();
    listed.sort_by_key(|one| one.key.clone());
    let shown = listed.iter().map(|one| {
        let key = (&*one.key.group, one.key.partition);
        (key, one.is_ready, one.waiting, one.start_offset)
    });
    let expected = [
        (("group", 0), true, 1, 1),
        (("other", 0), false, 1, 0),
        (("other", 1), false, 1, 0),
    ];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    // Available, acquired, acknowledged, archiving, archived.
    assert_eq!(listed[0].state_counts, [0, 2, 0, 0, 1]);
    assert_eq!(
        (listed[0].lock_timeouts, listed[0].source),
        (0, UNCOMMITTED)
    );
    // The locks run out, and the member that waits gets the records.
    world.holds_states = false;
    world.pass(500);
    assert_eq!(world.answer(A, 78).unwrap().offsets().len(), 2);
    let timeouts = world.node.list().map(|one| one.lock_timeouts);
    assert_eq!(timeouts.max(), Some(2));
    // One whose write is under way when it is dropped is in memory still.
    world.holds_rounds = true;
    world.feed(A, &Acknowledge::of("m", 3, &[(id, 1, 1, 1)]).frame(2));
    world.node.state_changed(None, id.topic_id, world.now);
    world
        .node
        .state_changed(None, place(2, 1).topic_id, world.now);
    assert_eq!(world.node.list().count(), 0);
}

#[test]
fn rings_are_listed_with_their_bytes() {
    let (mut world, id) = (World::with(Limits::default(), &[A, B]), place(1, 0));
    assert_eq!(world.node.rings().count(), 0);
    let committed = ShareGroupConfig {
        isolation_level: IsolationLevel::ReadCommitted,
        ..config()
    };
    world.node.configure("other", committed, world.now).unwrap();
    world.produce(id, 2);
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]).waiting(9));
    let mut other = Fetch::of("n", 0).adding(&[id]);
    other.group = "other".to_owned();
    world.holds_states = true;
    world.fetch(B, &other);
    let size = bytes(0, world.value).len();
    let mut rings: Vec<_> = world.node.rings().collect();
    rings.sort_by_key(|ring| ring.nbytes);
    let shown = rings
        .iter()
        .map(|ring| (ring.source, ring.nbytes, ring.held_bytes));
    let expected = [(COMMITTED, 0, 0), (UNCOMMITTED, 2 * size, 2 * size)];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}
