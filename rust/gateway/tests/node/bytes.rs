//! Bytes of answers, and limits for them.

use share_state_gateway::node::Limits;

use crate::client::{Fetch, place};
use crate::world::World;

const A: u64 = 1;

#[test]
fn large_batches_of_several_partitions_do_not_add_up_in_one_answer() {
    let mut world = World::new(Limits::default());
    world.open(A);
    let places = [place(1, 0), place(1, 1), place(1, 2)];
    // Batches of 40 KiB, each of them worth no second answer by itself.
    world.value = 20 << 10;
    for id in places {
        world.produce(id, 1);
        world.warm(id);
    }
    let mut fetch = Fetch::of("m", 0).adding(&places);
    (fetch.max_bytes, fetch.max_records) = (1, 100);
    let given = world.fetch(A, &fetch);
    let with_records = given.rows.iter().filter(|row| !row.acquired.is_empty());
    assert_eq!(with_records.count(), 1);
}
