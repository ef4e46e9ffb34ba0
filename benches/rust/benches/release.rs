//! Release by member, when the member has left: its locks among those of others.
//!
//! * `release_held`: 256 members hold 1,000,000 records in turn, one by one; one member is released.
//! * `release_nothing_held`: a member that holds nothing leaves, 100,000 records are held by another.

use criterion::{BatchSize, BenchmarkId, Criterion, SamplingMode, Throughput};
use criterion::{criterion_group, criterion_main};
use share_state_benches::{MEMBER, NOW, acquired_singly};
use share_state_core::in_flight::{InFlightStore, IntervalStore, TwinStore};

const MEMBERS: i64 = 256;

fn held<S: InFlightStore>(c: &mut Criterion, store: &str, records: i64) {
    let of_one = (records / MEMBERS) as u64;
    let mut group = c.benchmark_group("release_held");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.throughput(Throughput::Elements(of_one));
    // The last member's share is exact also when the turns do not come out even.
    let last = format!("{MEMBER}{}", MEMBERS - 1);
    group.bench_function(BenchmarkId::new(store, records), |b| {
        b.iter_batched(
            || acquired_singly::<S>(records, MEMBERS),
            |mut partition| {
                assert_eq!(partition.release(&last, NOW), of_one);
                partition
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn nothing_held<S: InFlightStore>(c: &mut Criterion, store: &str, records: i64) {
    let mut group = c.benchmark_group("release_nothing_held");
    let mut partition = acquired_singly::<S>(records, 1);
    group.bench_function(BenchmarkId::new(store, records), |b| {
        b.iter(|| assert_eq!(partition.release("another", NOW), 0));
    });
    group.finish();
}

fn stores(c: &mut Criterion) {
    held::<IntervalStore>(c, "tree", 2_560);
    held::<IntervalStore>(c, "tree", 1_000_000);
    held::<TwinStore>(c, "twin", 2_560);
    nothing_held::<IntervalStore>(c, "tree", 1_000);
    nothing_held::<IntervalStore>(c, "tree", 100_000);
    nothing_held::<TwinStore>(c, "twin", 1_000);
}

criterion_group!(benches, stores);
criterion_main!(benches);
