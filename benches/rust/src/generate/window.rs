//! W6 and W15: requests far after the start offset, and a log start that jumps.

use super::Builder;
use crate::oplog::{Op, OpKind, OpLog};

const ACCEPT: u8 = 1;
const RELEASE: u8 = 2;

/// W6: the record at the start offset is out for good. After it the window grows to `size`: one fetch of 100 records for
/// each hundred single acknowledgements; from 10^7 on of 500, acknowledged as a batch. An element is an acknowledgement.
pub(super) fn poison(size: u64, _: u64) -> OpLog {
    let (size, whole) = (size as i64, size >= 10_000_000);
    let len = if whole { 500 } else { 100 };
    let mut b = Builder::new(1, 2);
    b.acquire(0, 1, 0, 0);
    b.begin();
    let mut acknowledged = 0;
    for first in (1..=size - len).step_by(len as usize) {
        b.plain(OpKind::NextFetchOffset, 0);
        b.acquire(0, 0, first, first + len - 1);
        if whole {
            b.acknowledge(0, 0, (first, first + len - 1), ACCEPT);
            acknowledged += 1;
        } else {
            for offset in first..first + len {
                b.acknowledge(0, 0, (offset, offset), ACCEPT);
            }
            acknowledged += len;
        }
    }
    b.end();
    b.plain(OpKind::Check, 0);
    b.finish(acknowledged as u64)
}

/// W6: where to fetch next, when the only available record lies after `size` records that were acquired one by one. An
/// element is a question; releasing the record and acquiring it again are not timed.
pub(super) fn next_behind(size: u64, _: u64) -> OpLog {
    behind(size, |b, offset| {
        b.acknowledge(0, 0, (offset, offset), RELEASE);
        b.begin();
        b.plain(OpKind::NextFetchOffset, 0);
        b.end();
        b.acquire(0, 0, offset, offset);
    })
}

/// The same, and all of it is timed: the release and its write, the question, the acquisition.
pub(super) fn cycle_behind(size: u64, _: u64) -> OpLog {
    behind(size, |b, offset| {
        b.begin();
        b.acknowledge(0, 0, (offset, offset), RELEASE);
        b.plain(OpKind::NextFetchOffset, 0);
        b.acquire(0, 0, offset, offset);
        b.end();
    })
}

fn behind(size: u64, ask: impl Fn(&mut Builder, i64)) -> OpLog {
    let size = size as i64;
    let questions = (200_000_000 / size).clamp(200, 2_000).min(size);
    let mut b = Builder::new(1, 1);
    for offset in 0..size {
        b.acquire(0, 0, offset, offset);
    }
    for offset in (size - questions..size).rev() {
        ask(&mut b, offset);
    }
    b.plain(OpKind::Check, 0);
    b.finish(questions as u64)
}

/// W15: `size` records in acquisitions of 500, every second one accepted; the log start jumps past all of them, then the
/// locks of those that are still out end. An element is a record.
pub(super) fn log_start_jump(size: u64, _: u64) -> OpLog {
    let size = size as i64;
    let mut b = Builder::new(1, 1);
    for first in (0..size).step_by(500) {
        b.acquire(0, 0, first, (first + 499).min(size - 1));
    }
    for offset in (1..size).step_by(2) {
        b.acknowledge(0, 0, (offset, offset), ACCEPT);
    }
    b.begin();
    b.push(Op {
        first: size,
        ..Op::of(OpKind::LogStart)
    });
    b.plain(OpKind::NextFetchOffset, 0);
    b.tick(0, 30_000);
    b.end();
    b.plain(OpKind::Check, 0);
    b.finish(size as u64)
}

/// W15: a compacted log in which half of `size` offsets are missing. Fetches bring 50 log batches of ten records with ten
/// missing offsets between them; each record is acknowledged. An element is an acknowledgement.
pub(super) fn half_missing(size: u64, _: u64) -> OpLog {
    const LOG_BATCHES: i64 = 50;
    const STEP: i64 = 20;
    let fetches = (size as i64 / (LOG_BATCHES * STEP)).max(1);
    let mut b = Builder::new(1, 1);
    b.begin();
    for fetch in 0..fetches {
        let firsts: Vec<i64> = (0..LOG_BATCHES)
            .map(|i| (fetch * LOG_BATCHES + i) * STEP)
            .collect();
        if let Some((last, before)) = firsts.split_last() {
            for first in before {
                b.push(Op {
                    first: *first,
                    last: first + 9,
                    ..Op::of(OpKind::Fetched)
                });
            }
            b.acquire_limited(0, 0, (*last, last + 9), (i32::MAX, 10));
        }
        for first in firsts {
            for offset in first..first + 10 {
                b.acknowledge(0, 0, (offset, offset), ACCEPT);
            }
        }
        b.plain(OpKind::NextFetchOffset, 0);
    }
    b.end();
    b.plain(OpKind::Check, 0);
    b.finish((fetches * LOG_BATCHES * 10) as u64)
}
