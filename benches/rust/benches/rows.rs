//! Replays operation logs with criterion, which keeps what it measured and tells what a change of the code did.
//!
//! `python -m benches.criterion` makes the logs, of the rows that `benches/plan.py` has for the smaller tools.

#![allow(
    clippy::expect_used,
    reason = "a benchmark that cannot be set up must stop"
)]

use std::path::PathBuf;
use std::time::Duration;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use share_state_benches::fold::{self, is_fold};
use share_state_benches::oplog::OpLog;
use share_state_benches::replay::{Spent, time};
use share_state_core::in_flight::IntervalStore;

/// The time in the timed sections of one replay.
fn replay(log: &OpLog) -> Duration {
    if is_fold(log) {
        return fold::replay(log, None, Duration::MAX).expect("a fold without a limit");
    }
    let mut spent = Spent::default();
    time::<IntervalStore, false>(log, Duration::MAX, &mut spent);
    spent.total
}

fn rows(c: &mut Criterion) {
    let directory = std::env::var_os("SHARE_STATE_OPLOGS")
        .expect("SHARE_STATE_OPLOGS is set: start this with `python -m benches.criterion`");
    let mut logs: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    logs.sort();
    for path in logs {
        let log = OpLog::read(&path).expect("an operation log");
        let row = format!("{}-{}", log.header.workload, log.header.size);
        let mut group = c.benchmark_group(row);
        group.sampling_mode(SamplingMode::Flat);
        group.throughput(Throughput::Elements(log.header.elements));
        group.bench_function("tree", |b| {
            b.iter_custom(|replays| (0..replays).map(|_| replay(&log)).sum());
        });
        group.finish();
    }
}

criterion_group!(benches, rows);
criterion_main!(benches);
