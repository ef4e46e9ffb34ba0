//! The program `examples/limits` at a small size: what it counts is right, and after twice as many rounds it takes no more memory.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail loudly"
)]

#[path = "../../examples/limits/day.rs"]
mod day;

use day::{Count, Day};

const PARTITIONS: usize = 100;
const LOCKS: usize = 10;
const ROUNDS: u64 = 60;

fn play(day: &mut Day) -> (usize, u64) {
    for _ in 0..ROUNDS {
        day.round(360_000).unwrap();
    }
    (day.store_bytes(), day.in_flight().unwrap())
}

#[test]
fn memory_is_the_same_after_twice_as_many_rounds() {
    let mut day = Day::new(PARTITIONS, LOCKS).unwrap();
    let first = play(&mut day);
    let each = PARTITIONS as u64 * ROUNDS;
    let expected = Count {
        delivered: 10 * each,
        accepted: 7 * each,
        released: each,
        rejected: each,
        timed_out: each,
        locks: (PARTITIONS * LOCKS) as u64,
    };
    assert_eq!(day.count, expected);
    assert!(first.0 > 0);
    assert!(first.1 <= (PARTITIONS * LOCKS) as u64 * 2, "{first:?}");
    let second = play(&mut day);
    assert_eq!(first, second);
}
