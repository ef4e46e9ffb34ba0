//! W7 to W9: locks that run out, are renewed, or lose their member; and the windows whose bytes are counted.

use super::{Builder, Random};
use crate::oplog::{OpKind, OpLog};

const ACCEPT: u8 = 1;
const RENEW: u8 = 4;
const LOCK_MS: i64 = 30_000;

fn acquire_singly(b: &mut Builder, size: i64, members: i64) {
    for offset in 0..size {
        b.acquire(0, (offset % members) as u32, offset, offset);
    }
}

/// W7: `size` locks on one record each run out together. An element is a lock.
pub(super) fn separate(size: u64, _: u64) -> OpLog {
    let mut b = Builder::new(1, 32);
    acquire_singly(&mut b, size as i64, 32);
    b.begin();
    b.tick(0, LOCK_MS);
    b.end();
    b.plain(OpKind::NextFetchOffset, 0);
    b.plain(OpKind::Check, 0);
    b.finish(size)
}

/// W7: `size` records in batches of 10,000, one record of each accepted, run out together. An element is a record that does.
pub(super) fn exploded(size: u64, _: u64) -> OpLog {
    const LEN: i64 = 10_000;
    let batches = (size as i64 / LEN).max(1);
    let mut b = Builder::new(1, 1);
    for first in (0..batches).map(|i| i * LEN) {
        b.acquire(0, 0, first, first + LEN - 1);
        b.acknowledge(0, 0, (first + 1, first + 1), ACCEPT);
    }
    b.begin();
    b.tick(0, LOCK_MS);
    b.end();
    b.plain(OpKind::NextFetchOffset, 0);
    b.plain(OpKind::Check, 0);
    b.finish((batches * (LEN - 1)) as u64)
}

/// W7: `size` records acquired one by one over 30 s, 90% of them accepted at once, the others run out over the next 30 s; the
/// time is told every 100 ms. An element is a record that runs out.
pub(super) fn jittered(size: u64, seed: u64) -> OpLog {
    const STEPS: i64 = 300;
    let mut random = Random::new(seed);
    let mut b = Builder::new(1, 32);
    let tick = |b: &mut Builder, step: i64| {
        b.begin();
        b.tick(0, step * 100);
        b.end();
    };
    let (mut offset, mut left) = (0, 0);
    for step in 0..STEPS {
        tick(&mut b, step);
        let end = size as i64 * (step + 1) / STEPS;
        while offset < end {
            let member = (offset % 32) as u32;
            b.acquire(0, member, offset, offset);
            if random.below(10) == 0 {
                left += 1;
            } else {
                b.acknowledge(0, member, (offset, offset), ACCEPT);
            }
            offset += 1;
        }
    }
    for step in STEPS..=2 * STEPS {
        tick(&mut b, step);
    }
    b.plain(OpKind::Check, 0);
    b.finish(left)
}

/// W8: `size` locks on one record each, renewed every 10 s of 30 s for a minute; one in a hundred is not renewed from some
/// time on, and lapses. An element is a renewal.
pub(super) fn heartbeat(size: u64, seed: u64) -> OpLog {
    const BEAT_MS: i64 = 10_000;
    let mut random = Random::new(seed);
    let mut b = Builder::new(1, 32);
    let size = size as i64;
    acquire_singly(&mut b, size, 32);
    // The beat from which on a record is renewed no more.
    let ends: Vec<i64> = (0..size)
        .map(|_| {
            if random.below(100) == 0 {
                1 + random.below(5) as i64
            } else {
                i64::MAX
            }
        })
        .collect();
    let mut renewals = 0;
    b.begin();
    for beat in 1..=6 {
        b.tick(0, beat * BEAT_MS);
        for offset in (0..size).filter(|offset| beat < ends[*offset as usize]) {
            b.acknowledge(0, (offset % 32) as u32, (offset, offset), RENEW);
            renewals += 1;
        }
    }
    b.end();
    b.plain(OpKind::NextFetchOffset, 0);
    b.plain(OpKind::Check, 0);
    b.finish(renewals)
}

/// W9: 256 members hold `size` records in turn, and eight of them leave. An element is a member that leaves.
pub(super) fn member_crash(size: u64, _: u64) -> OpLog {
    const LEAVE: u32 = 8;
    let mut b = Builder::new(1, 256);
    acquire_singly(&mut b, size as i64, 256);
    for member in 0..LEAVE {
        b.begin();
        b.release(0, member * 31);
        b.end();
    }
    b.plain(OpKind::NextFetchOffset, 0);
    b.plain(OpKind::Check, 0);
    b.finish(u64::from(LEAVE))
}

/// For the bytes: `size` records in acquisitions of 500, every second one accepted, so that each record is a run. An element
/// is a record.
pub(super) fn shredded(size: u64, _: u64) -> OpLog {
    let size = size as i64;
    let mut b = Builder::new(1, 1);
    for first in (0..size).step_by(500) {
        b.acquire(0, 0, first, (first + 499).min(size - 1));
    }
    for offset in (1..size).step_by(2) {
        b.acknowledge(0, 0, (offset, offset), ACCEPT);
    }
    b.finish(size as u64)
}

/// For the bytes: `size` records, each acquired by itself. An element is a record.
pub(super) fn singly(size: u64, _: u64) -> OpLog {
    let mut b = Builder::new(1, 1);
    acquire_singly(&mut b, size as i64, 1);
    b.finish(size)
}
