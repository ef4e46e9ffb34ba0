//! W11, W12 and the encoding: what a share coordinator does with state batches.

use share_state_core::state_batch::StateBatch;

use super::{Builder, Random};
use crate::oplog::{Op, OpKind, OpLog};

/// Offsets of a run.
const WIDTH: i64 = 10;
const ACKNOWLEDGED: i8 = 2;

/// Even runs have odd counts and odd runs even ones, so neighbours never join.
fn run(i: i64, count: i16) -> StateBatch {
    StateBatch {
        first_offset: i * WIDTH,
        last_offset: (i + 1) * WIDTH - 1,
        delivery_state: ACKNOWLEDGED,
        delivery_count: count + (i % 2) as i16,
    }
}

fn fold(b: &mut Builder, batches: &[StateBatch]) {
    let value = b.log().add_batches(batches);
    b.push(Op {
        last: batches.len() as i64,
        value,
        ..Op::of(OpKind::Fold)
    });
}

fn state(b: &mut Builder, runs: i64) {
    let all: Vec<StateBatch> = (0..runs).map(|i| run(i, 1)).collect();
    fold(b, &all);
}

/// W11: deltas of one run, each of which replaces one of `size` live runs, without a pattern. An element is a delta.
pub(super) fn deltas(size: u64, seed: u64) -> OpLog {
    let mut random = Random::new(seed);
    // So many that most leaves of a large state are touched, and so few that a peer that merges the whole list comes to an end.
    let deltas = (500_000_000 / size).clamp(5_000, 20_000);
    let mut b = Builder::new(1, 1);
    state(&mut b, size as i64);
    // The next count of each run: above what is there, and of its kind.
    let mut counts = vec![3_i16; size as usize];
    b.begin();
    for _ in 0..deltas {
        let i = random.below(size);
        let count = &mut counts[i as usize];
        fold(&mut b, &[run(i as i64, *count)]);
        *count += 2;
    }
    b.end();
    b.plain(OpKind::Check, 0);
    b.finish(deltas)
}

/// W12: a state of `size` runs is encoded as a snapshot and decoded again. An element is a run.
pub(super) fn snapshot(size: u64, _: u64) -> OpLog {
    let mut b = Builder::new(1, 1);
    state(&mut b, size as i64);
    b.begin();
    b.plain(OpKind::Snapshot, 0);
    b.end();
    b.plain(OpKind::Check, 0);
    b.finish(size)
}

/// WriteShareGroupState requests of `size` state batches. An element is a request.
pub(super) fn encode(size: u64, _: u64) -> OpLog {
    const REQUESTS: u64 = 1_000;
    let mut b = Builder::new(1, 1);
    let batches: Vec<StateBatch> = (0..size as i64).map(|i| run(i, 1)).collect();
    let value = b.log().add_batches(&batches);
    b.begin();
    for _ in 0..REQUESTS {
        b.push(Op {
            last: size as i64,
            value,
            ..Op::of(OpKind::Encode)
        });
    }
    b.end();
    b.finish(REQUESTS)
}
