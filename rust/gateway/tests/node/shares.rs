//! Shares of an answer: bytes and records that its partitions divide among themselves.

use share_state_core::share_session::TopicIdPartition;
use share_state_gateway::node::Limits;

use crate::answers::Answer;
use crate::client::{Fetch, place};
use crate::scene::{A, B, bytes};
use crate::world::World;

const PLACES: [TopicIdPartition; 3] = [place(1, 0), place(1, 1), place(1, 2)];

/// A world with four batches of two records at hand in each of three partitions.
fn world(limits: Limits) -> World {
    let mut world = World::with(limits, &[A, B]);
    for id in PLACES {
        world.produce(id, 4);
        world.warm(id);
    }
    world
}

/// Bytes of one of those batches.
fn size() -> usize {
    bytes(0, 5).len()
}

/// A fetch of all partitions, whose limits are so wide that none of them matters.
fn fetch() -> Fetch {
    let mut fetch = Fetch::of("m", 0).adding(&PLACES);
    fetch.max_records = 1_000;
    fetch
}

/// Numbers of batches by partition.
fn batches(answer: &Answer) -> Vec<usize> {
    let of = |id| answer.rows.iter().find(|row| row.id == id);
    PLACES
        .iter()
        .map(|id| of(*id).map_or(0, |row| row.batches.len()))
        .collect()
}

#[test]
fn partitions_share_the_bytes_of_an_answer() {
    for (max_bytes, expected) in [
        (1 << 20, [4, 4, 4]),
        (3 * 2 * size(), [2, 2, 2]),
        // A batch is not split, and one is given whatever its size.
        (3 * 2 * size() - 1, [1, 1, 1]),
        (1, [1, 1, 1]),
    ] {
        let mut world = world(Limits::default());
        // A partition that is being loaded has no share.
        world.holds_states = true;
        let mut fetch = fetch().adding(&[place(2, 0)]);
        fetch.max_bytes = max_bytes as i32;
        assert_eq!(batches(&world.fetch(A, &fetch)), expected, "{max_bytes}");
    }
}

#[test]
fn partitions_give_records_one_after_the_other_until_there_are_enough() {
    for (max_records, expected) in [(1, 1), (8, 8), (11, 11), (16, 16), (100, 24)] {
        let mut world = world(Limits::default());
        let mut fetch = fetch();
        fetch.max_records = max_records;
        let given = world.fetch(A, &fetch);
        assert_eq!(given.offsets().len(), expected);
        // Whoever comes later gives nothing while the one before it has more.
        let partitions = given.rows.iter().filter(|row| !row.acquired.is_empty());
        assert_eq!(partitions.count(), expected.div_ceil(8));
    }
}

#[test]
fn an_answer_has_no_more_bytes_than_the_node_allows() {
    let few = Limits {
        fetch_max_bytes: 3 * 2 * size(),
        ..Limits::default()
    };
    assert_eq!(batches(&world(few).fetch(A, &fetch())), [2, 2, 2]);
    // A quarter of what clients may leave unread, shared by three.
    let mut world = World::with(
        Limits {
            answers: 12 * (90 << 10),
            ..Limits::default()
        },
        &[A],
    );
    world.value = 20 << 10;
    for id in PLACES {
        world.produce(id, 4);
        world.warm(id);
    }
    let mut fetch = fetch();
    fetch.max_bytes = i32::MAX;
    assert_eq!(batches(&world.fetch(A, &fetch)), [2, 2, 2]);
}

#[test]
fn small_batches_go_beside_a_large_one() {
    let mut world = World::with(Limits::default(), &[A]);
    // The session begins with its first partition. A batch there has 100 KiB, and those of the others have few bytes.
    for (id, value) in PLACES.into_iter().zip([50 << 10, 5, 5]) {
        world.value = value;
        world.produce(id, 4);
        world.warm(id);
    }
    let mut fetch = fetch();
    fetch.max_bytes = 100;
    let given = world.fetch(A, &fetch);
    assert_eq!(
        batches(&given),
        [1, 0, 0],
        "it is beyond the limit by itself"
    );
    (fetch.epoch, fetch.added, fetch.max_bytes) = (1, Vec::new(), 120 << 10);
    assert_eq!(batches(&world.fetch(A, &fetch)), [1, 4, 4]);
}

#[test]
fn least_bytes_are_those_of_all_partitions() {
    let mut world = World::with(Limits::default(), &[A]);
    world.fetch(A, &Fetch::of("m", 0).adding(&PLACES));
    let mut fetch = fetch().waiting(500);
    (fetch.epoch, fetch.added, fetch.min_bytes) = (1, Vec::new(), 3 * size() as i32);
    world.feed(A, &fetch.frame(1));
    world.produce(PLACES[0], 1);
    world.produce(PLACES[1], 1);
    assert_eq!(world.frame(A), None);
    world.produce(PLACES[1], 1);
    let given = world.answer(A, 78).unwrap();
    assert_eq!(batches(&given), [1, 2, 0]);
}

#[test]
fn bytes_below_zero_are_an_error_of_each_partition_that_could_give_and_records_are_none() {
    for (max_records, max_bytes, code) in [(9, -1, -1), (-1, i32::MIN, -1), (-1, 100, 0)] {
        let mut world = world(Limits::default());
        let mut fetch = Fetch::of("m", 0).adding(&PLACES[..2]).waiting(500);
        (fetch.max_records, fetch.max_bytes) = (max_records, max_bytes);
        let told = world.fetch(A, &fetch);
        let codes: Vec<_> = told.rows.iter().map(|row| row.error).collect();
        assert_eq!((told.offsets(), codes), (Vec::new(), vec![code; 2]));
    }
}

#[test]
fn a_read_that_is_larger_than_the_ring_is_kept() {
    let limits = Limits {
        ring: 1,
        ..Limits::default()
    };
    let (mut world, id) = (World::with(limits, &[A]), place(1, 0));
    world.produce(id, 4);
    let given = world.fetch(A, &Fetch::of("m", 0).adding(&[id]).waiting(9));
    assert_eq!(given.row().acquired, [(0, 3, 1)]);
    let given = world.fetch(A, &Fetch::of("m", 1));
    assert_eq!((given.row().acquired[0], world.reads), ((4, 7, 1), 1));
}
