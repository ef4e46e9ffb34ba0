//! All acquisition locks run out at once.
//!
//! * `expiry_separate_locks`: 1,000,000 records, each acquired by itself; one `handle_timeout` gives them all back, in one
//!   write of one state batch.
//! * `expiry_after_alternate_acks`: 100,000 records in batches of 10,000, every second one accepted and written before the
//!   locks run out; again one write.

use criterion::{BatchSize, BenchmarkId, Criterion, SamplingMode, Throughput};
use criterion::{criterion_group, criterion_main};
use share_state_benches::{
    ACCEPT, LOCK_MS, MEMBER, NOW, acknowledge, acquire, acquired_singly, active, confirm,
};
use share_state_core::in_flight::{InFlightStore, IntervalStore, TwinStore};
use share_state_core::share_partition::SharePartition;

fn expire<S: InFlightStore>(
    c: &mut Criterion,
    (group, store, records): (&str, &str, i64),
    locked: u64,
    state_batches: u64,
    setup: impl Fn(i64) -> SharePartition<S>,
) {
    let mut group = c.benchmark_group(group);
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.throughput(Throughput::Elements(locked));
    group.bench_function(BenchmarkId::new(store, records), |b| {
        b.iter_batched(
            || setup(records),
            |mut partition| {
                let writes = partition.counters().writes;
                assert_eq!(partition.handle_timeout(NOW.plus(LOCK_MS)), locked);
                assert_eq!(partition.counters().writes - writes, 1);
                let write = partition.poll_write();
                let batches = write.map(|write| write.state.state_batches.len() as u64);
                assert_eq!(batches, Some(state_batches));
                partition
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn separate_locks(c: &mut Criterion) {
    let group = "expiry_separate_locks";
    let setup = |records| acquired_singly(records, 1);
    expire::<IntervalStore>(c, (group, "tree", 10_000), 10_000, 1, setup);
    expire::<IntervalStore>(c, (group, "tree", 1_000_000), 1_000_000, 1, setup);
    let setup = |records| acquired_singly(records, 1);
    expire::<TwinStore>(c, (group, "twin", 10_000), 10_000, 1, setup);
}

/// Batches of 10,000 as far as they go; the odd offsets are settled, so the window stays.
fn half_settled<S: InFlightStore>(records: i64) -> SharePartition<S> {
    const BATCH: i64 = 10_000;
    let mut partition = active();
    for first in (0..records).step_by(BATCH as usize) {
        acquire(
            &mut partition,
            MEMBER,
            first,
            (first + BATCH).min(records) - 1,
        );
    }
    for offset in (1..records).step_by(2) {
        acknowledge(&mut partition, MEMBER, offset, offset, ACCEPT);
    }
    confirm(&mut partition);
    partition
}

fn after_alternate_acks(c: &mut Criterion) {
    let group = "expiry_after_alternate_acks";
    for (records, locked) in [(1_000, 500), (100_000, 50_000)] {
        expire::<IntervalStore>(c, (group, "tree", records), locked, locked, half_settled);
    }
    expire::<TwinStore>(c, (group, "twin", 1_000), 500, 500, half_settled);
}

criterion_group!(benches, separate_locks, after_alternate_acks);
criterion_main!(benches);
