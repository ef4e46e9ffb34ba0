//! W1 to W4: batches that are acquired and acknowledged without anything else happening.

use super::Builder;
use crate::oplog::{Op, OpKind, OpLog};

const ACCEPT: u8 = 1;
/// Records that a log of single acknowledgements goes through, unless one batch has more or the batches are short.
const RECORDS: i64 = 20_000;
/// The most batches of such a log.
const BATCHES: i64 = 200;

/// W1: `size` records a batch, 20 batches acquired and then acknowledged whole, over and over.
pub(super) fn whole_batches(size: u64, _: u64) -> OpLog {
    cycles(size, 100_000)
}

/// W1 with so many writes.
pub(super) fn cycles(size: u64, writes: u64) -> OpLog {
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

/// W2: one request with a type for each of `size` records, all accepts. An element is a record.
pub(super) fn type_a_record(size: u64, _: u64) -> OpLog {
    let len = size as i64;
    let requests = 1_000_000 / len;
    let mut b = Builder::new(1, 1);
    b.log().blob = vec![1; size as usize];
    b.begin();
    for first in (0..requests).map(|i| i * len) {
        b.acquire(0, 0, first, first + len - 1);
        b.push(Op {
            first,
            last: first + len - 1,
            ..Op::of(OpKind::AcknowledgeEach)
        });
    }
    b.end();
    b.plain(OpKind::Check, 0);
    b.finish((requests * len) as u64)
}

/// W3: single accepts in the order of the offsets, in batches of `size`.
pub(super) fn in_order(size: u64, _: u64) -> OpLog {
    singles(size, |len| (0..len).collect())
}

/// W4: single accepts of every second record of a batch of `size`, then of the holes.
pub(super) fn alternate(size: u64, _: u64) -> OpLog {
    singles(size, |len| {
        (1..len).step_by(2).chain((0..len).step_by(2)).collect()
    })
}

/// W4 with so many writes: single accepts of every second record in a window of `size`.
pub(super) fn alternate_writes(size: u64, writes: u64) -> OpLog {
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

/// W4 with 500 ranges a request: accepts of every second record in a window of `size`. An element is a range.
pub(super) fn alternate_together(size: u64, _: u64) -> OpLog {
    let mut b = Builder::new(1, 1);
    b.begin();
    b.acquire(0, 0, 0, size as i64 - 1);
    for i in 1..=size as i64 / 2 {
        let is_last = i % 500 == 0 || i == size as i64 / 2;
        b.push(Op {
            arg: ACCEPT,
            first: 2 * i - 1,
            last: 2 * i - 1,
            ..Op::of(if is_last {
                OpKind::Acknowledge
            } else {
                OpKind::Range
            })
        });
    }
    b.end();
    b.plain(OpKind::Check, 0);
    b.finish(size / 2)
}

fn singles(size: u64, order: impl Fn(i64) -> Vec<i64>) -> OpLog {
    let len = size as i64;
    let batches = (RECORDS / len).clamp(1, BATCHES);
    let mut b = Builder::new(1, 1);
    b.begin();
    for base in (0..batches).map(|i| i * len) {
        b.acquire(0, 0, base, base + len - 1);
        for offset in order(len) {
            b.acknowledge(0, 0, (base + offset, base + offset), ACCEPT);
        }
        b.plain(OpKind::NextFetchOffset, 0);
    }
    b.end();
    b.plain(OpKind::Check, 0);
    b.finish((batches * len) as u64)
}
