//! Acquire, and the whole life of a record: acquired, accepted, written.
//!
//! * `acquire_new_batch`: a log batch of 1 or 500 records, 20 of them into an empty window.
//! * `cycle`: the same batch is acquired, accepted as a whole and its write confirmed; figures are a *batch*, not a record.

use criterion::{BatchSize, BenchmarkId, Criterion, SamplingMode, Throughput};
use criterion::{criterion_group, criterion_main};
use share_state_benches::{ACCEPT, MEMBER, acknowledge, acquire, active, confirm};
use share_state_core::in_flight::{InFlightStore, IntervalStore, TwinStore};

const WINDOW_BATCHES: i64 = 20;

fn new_batch<S: InFlightStore>(c: &mut Criterion, store: &str, len: i64) {
    let mut group = c.benchmark_group("acquire_new_batch");
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(WINDOW_BATCHES as u64));
    group.bench_function(BenchmarkId::new(store, len), |b| {
        b.iter_batched(
            active::<S>,
            |mut partition| {
                for batch in 0..WINDOW_BATCHES {
                    acquire(&mut partition, MEMBER, batch * len, (batch + 1) * len - 1);
                }
                partition
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn cycle<S: InFlightStore>(c: &mut Criterion, store: &str, len: i64) {
    let mut group = c.benchmark_group("cycle");
    group.bench_function(BenchmarkId::new(store, len), |b| {
        let mut partition = active::<S>();
        for batch in 0..WINDOW_BATCHES {
            acquire(&mut partition, MEMBER, batch * len, (batch + 1) * len - 1);
        }
        let mut oldest = 0;
        b.iter(|| {
            let new = oldest + WINDOW_BATCHES * len;
            acquire(&mut partition, MEMBER, new, new + len - 1);
            acknowledge(&mut partition, MEMBER, oldest, oldest + len - 1, ACCEPT);
            assert_eq!(confirm(&mut partition), 1);
            oldest += len;
        });
    });
    group.finish();
}

fn stores(c: &mut Criterion) {
    for len in [1, 500] {
        new_batch::<IntervalStore>(c, "tree", len);
        new_batch::<TwinStore>(c, "twin", len);
        cycle::<IntervalStore>(c, "tree", len);
        cycle::<TwinStore>(c, "twin", len);
    }
}

criterion_group!(benches, stores);
criterion_main!(benches);
