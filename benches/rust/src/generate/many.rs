//! W13 and W16: many share partitions in one process.

use super::{Builder, Random};
use crate::oplog::{OpKind, OpLog};

const ACCEPT: u8 = 1;
/// Records that a cycle acquires and accepts.
const LEN: i64 = 10;
const MEMBERS: u64 = 64;
/// Acquisitions that come before the acknowledgements of all of them, as a broker meets them that serves many members.
const BURST: u64 = 100;

/// Share partitions with a few live runs each, and where the next fetch of each begins.
fn with_live_runs(partitions: u64, random: &mut Random) -> (Builder, Vec<i64>) {
    let mut b = Builder::new(partitions as u32, MEMBERS as u32);
    let next = (0..partitions)
        .map(|partition| {
            let len = 1 + random.below(20) as i64;
            let (partition, member) = (partition as u32, random.below(MEMBERS) as u32);
            b.acquire(partition, member, 0, len - 1);
            for offset in (1..len).step_by(2) {
                b.acknowledge(partition, member, (offset, offset), ACCEPT);
            }
            len
        })
        .collect();
    (b, next)
}

fn cycles(partitions: u64, seed: u64, cycles: u64, pick: impl FnMut(&mut Random) -> u64) -> OpLog {
    let mut random = Random::new(seed);
    let (mut b, mut next) = with_live_runs(partitions, &mut random);
    play(&mut b, &mut next, &mut random, cycles, pick);
    // Enough to tell that they are all treated alike.
    for partition in (0..partitions).step_by((partitions / 100).max(1) as usize) {
        b.plain(OpKind::Check, partition as u32);
    }
    b.finish(cycles)
}

/// W13 with so many writes, in share partitions that begin with nothing in flight.
pub(super) fn durable(size: u64, seed: u64, writes: u64) -> OpLog {
    let (mut random, mut next) = (Random::new(seed), vec![0; size as usize]);
    let mut b = Builder::new(size as u32, MEMBERS as u32);
    play(&mut b, &mut next, &mut random, writes, |random| {
        random.below(size)
    });
    for partition in 0..size.min(100) {
        b.plain(OpKind::Check, partition as u32);
    }
    b.finish(writes)
}

/// Cycles in the share partitions that are picked; the next fetch of each begins at `next`.
fn play(
    b: &mut Builder,
    next: &mut [i64],
    random: &mut Random,
    cycles: u64,
    mut pick: impl FnMut(&mut Random) -> u64,
) {
    b.begin();
    let mut left = cycles;
    while left > 0 {
        let burst: Vec<(u32, u32, i64)> = (0..left.min(BURST))
            .map(|_| {
                let partition = pick(random);
                let first = next[partition as usize];
                next[partition as usize] += LEN;
                (partition as u32, random.below(MEMBERS) as u32, first)
            })
            .collect();
        for (partition, member, first) in &burst {
            b.acquire(*partition, *member, *first, first + LEN - 1);
        }
        for (partition, member, first) in &burst {
            b.acknowledge(*partition, *member, (*first, first + LEN - 1), ACCEPT);
        }
        left -= burst.len() as u64;
    }
    b.end();
}

/// W13: a batch acquired and accepted in one of `size` share partitions with 1 to 20 live runs, each as likely.
pub(super) fn uniform(size: u64, seed: u64) -> OpLog {
    cycles(size, seed, 5 * size, move |random| random.below(size))
}

/// W13: the same, where the share partition of rank r is taken in proportion to `r^-1.1`.
pub(super) fn zipf(size: u64, seed: u64) -> OpLog {
    let mut sums: Vec<f64> = Vec::with_capacity(size as usize);
    let mut sum = 0.0;
    for rank in 1..=size {
        sum += (rank as f64).powf(-1.1);
        sums.push(sum);
    }
    // Ranks lie anywhere in memory.
    let mut places: Vec<u64> = (0..size).collect();
    Random::new(seed ^ 1).shuffle(&mut places);
    cycles(size, seed, 5 * size, move |random| {
        let point = random.unit() * sum;
        let rank = sums.partition_point(|upper| *upper <= point);
        places[rank.min(places.len() - 1)]
    })
}

/// W16: `size` cycles, half of them in one hot share partition, the others in 64 cold ones. Runners replay the hot one and
/// the others in two threads as well.
pub(super) fn hot_and_cold(size: u64, seed: u64) -> OpLog {
    let mut turn = 0;
    cycles(65, seed, size, move |random| {
        turn += 1;
        if turn % 2 == 0 {
            0
        } else {
            1 + random.below(64)
        }
    })
}

/// For the bytes: `size` share partitions with nothing in flight.
pub(super) fn empty(size: u64, _: u64) -> OpLog {
    let mut b = Builder::new(size as u32, 1);
    b.plain(OpKind::Check, 0);
    b.finish(size)
}

/// For the bytes: `size` share partitions, in each of which one acquisition was torn into four runs. An element is a share
/// partition.
pub(super) fn live(size: u64, _: u64) -> OpLog {
    let mut b = Builder::new(size as u32, 1);
    for partition in 0..size as u32 {
        b.acquire(partition, 0, 0, 7);
        b.acknowledge(partition, 0, (2, 3), ACCEPT);
        b.acknowledge(partition, 0, (6, 7), ACCEPT);
    }
    b.finish(size)
}
