//! Share partitions that are dropped and loaded again.

use share_state_gateway::node::{Limits, Topics};

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::topics;
use crate::world::World;

const A: u64 = 1;
const B: u64 = 2;

#[test]
fn a_state_is_read_after_the_writes_of_the_share_partition_that_was_dropped() {
    let (mut world, id) = (World::new(Limits::default()), place(1, 0));
    world.open(A);
    world.open(B);
    world.produce(id, 2);
    let mut fetch = Fetch::of("a", 0).adding(&[id]).waiting(9);
    fetch.max_records = 2;
    assert_eq!(world.fetch(A, &fetch).row().acquired, [(0, 1, 1)]);
    world.holds_rounds = true;
    world.feed(A, &Acknowledge::of("a", 1, &[(id, 0, 1, 1)]).frame(1));
    world.node.set_topics(Topics::default(), world.now);
    world.node.set_topics(topics(), world.now);
    world.feed(B, &Fetch::of("b", 0).adding(&[id]).waiting(500).frame(2));
    assert_eq!(world.frame(B), None);
    assert!(world.settle(None));
    assert_eq!(world.answer(A, 79).unwrap().row().acknowledged, 0);
    let given = world.answer(B, 78).unwrap();
    assert_eq!(given.row().acquired, [(2, 3, 1)]);
}
