//! W1, W4 and W13 with as many writes as can wait for a disk.

use super::{Builder, Random};
use crate::oplog::{OpKind, OpLog};

const ACCEPT: u8 = 1;

/// As W1: batches of `size` records acquired and acknowledged whole, 20 in flight.
pub(super) fn whole_batches(size: u64, _: u64, writes: u64) -> OpLog {
    const WINDOW: i64 = 20;
    let len = size as i64;
    let mut b = Builder::new(1, 1);
    b.begin();
    for window in 0..writes as i64 / WINDOW {
        let batches = || (0..WINDOW).map(|i| (window * WINDOW + i) * len);
        for first in batches() {
            b.acquire(0, 0, first, first + len - 1);
        }
        for first in batches() {
            b.acknowledge(0, 0, (first, first + len - 1), ACCEPT);
        }
    }
    b.end();
    b.plain(OpKind::Check, 0);
    b.finish(writes)
}

/// As W4: single accepts of every second record in a window of `size`.
pub(super) fn alternate(size: u64, _: u64, writes: u64) -> OpLog {
    let writes = writes.min(size / 2);
    let mut b = Builder::new(1, 1);
    b.begin();
    b.acquire(0, 0, 0, size as i64 - 1);
    for offset in (0..writes as i64).map(|i| 2 * i + 1) {
        b.acknowledge(0, 0, (offset, offset), ACCEPT);
    }
    b.end();
    b.plain(OpKind::Check, 0);
    b.finish(writes)
}

/// As W13: a batch of ten acquired and accepted in one of `size` share partitions, a hundred acquired before they are accepted.
pub(super) fn many(size: u64, seed: u64, writes: u64) -> OpLog {
    const LEN: i64 = 10;
    const BURST: u64 = 100;
    const MEMBERS: u64 = 64;
    let mut random = Random::new(seed);
    let mut next = vec![0; size as usize];
    let mut b = Builder::new(size as u32, MEMBERS as u32);
    b.begin();
    for _ in 0..writes / BURST {
        let burst: Vec<(u32, u32, i64)> = (0..BURST)
            .map(|_| {
                let partition = random.below(size);
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
    }
    b.end();
    for partition in 0..size.min(100) {
        b.plain(OpKind::Check, partition as u32);
    }
    b.finish(writes)
}
