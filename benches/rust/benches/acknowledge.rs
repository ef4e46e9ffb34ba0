//! Acknowledge one record after the other, through the whole of `SharePartition::acknowledge`.
//!
//! * `acknowledge_in_order`: single accepts in the order of the offsets, in one batch of 10,000 records acquired at once
//!   (Kafka's clients do that with small polls; its structure pays 50 µs each). Every hundred writes are polled and
//!   confirmed while the clock stands still, so up to a hundred are under way.
//! * `acknowledge_unanswered_in_order`: the same, and no write is answered: 10,000 pile up, with what the operating system
//!   takes to provide their memory.
//! * `acknowledge_and_write_in_order`: the same, and each write is polled and confirmed before the next acknowledgement, so
//!   the start offset advances as well.
//! * `acknowledge_alternate`: every second record, the worst fragmentation, each write confirmed.
//! * `acknowledge_types`: one acknowledgement with a type for each of 500 records, all accepts: one run, one state batch.

use std::time::{Duration, Instant};

use criterion::{BatchSize, BenchmarkId, Criterion, SamplingMode, Throughput};
use criterion::{criterion_group, criterion_main};
use share_state_benches::{
    ACCEPT, MEMBER, acknowledge, acquire, acquired_at_once, active, confirm,
};
use share_state_core::in_flight::{InFlightStore, IntervalStore, TwinStore};
use share_state_core::share_partition::SharePartition;

const RECORDS: i64 = 10_000;
/// The twin walks the batch for every record, so it gets only this many of the same batch.
const RECORDS_OF_TWIN: i64 = 100;

fn single_acks<S: InFlightStore>(
    c: &mut Criterion,
    group: &str,
    store: &str,
    offsets: impl Iterator<Item = i64> + Clone,
    work: impl Fn(&mut SharePartition<S>, i64),
) {
    let mut group = c.benchmark_group(group);
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(offsets.clone().count() as u64));
    group.bench_function(BenchmarkId::new(store, RECORDS), |b| {
        b.iter_batched(
            || acquired_at_once::<S>(RECORDS),
            |mut partition| {
                for offset in offsets.clone() {
                    work(&mut partition, offset);
                }
                partition
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn ack<S: InFlightStore>(partition: &mut SharePartition<S>, offset: i64) {
    acknowledge(partition, MEMBER, offset, offset, ACCEPT);
}

fn ack_and_confirm<S: InFlightStore>(partition: &mut SharePartition<S>, offset: i64) {
    ack(partition, offset);
    assert_eq!(confirm(partition), 1);
}

/// The writes are answered while the clock stands still.
fn single_acks_only<S: InFlightStore>(c: &mut Criterion, store: &str, records: i64) {
    const ANSWERED_TOGETHER: usize = 100;
    let mut group = c.benchmark_group("acknowledge_in_order");
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(records as u64));
    group.bench_function(BenchmarkId::new(store, RECORDS), |b| {
        b.iter_custom(|iterations| {
            let mut spent = Duration::ZERO;
            for _ in 0..iterations {
                let mut partition = acquired_at_once::<S>(RECORDS);
                for first in (0..records).step_by(ANSWERED_TOGETHER) {
                    let started = Instant::now();
                    for offset in (first..records).take(ANSWERED_TOGETHER) {
                        ack(&mut partition, offset);
                    }
                    spent += started.elapsed();
                    confirm(&mut partition);
                }
            }
            spent
        });
    });
    group.finish();
}

fn in_order(c: &mut Criterion) {
    single_acks_only::<IntervalStore>(c, "tree", RECORDS);
    single_acks_only::<TwinStore>(c, "twin", RECORDS_OF_TWIN);
}

fn in_order_and_unanswered(c: &mut Criterion) {
    let group = "acknowledge_unanswered_in_order";
    single_acks::<IntervalStore>(c, group, "tree", 0..RECORDS, ack);
    single_acks::<TwinStore>(c, group, "twin", 0..RECORDS_OF_TWIN, ack);
}

fn in_order_and_written(c: &mut Criterion) {
    let group = "acknowledge_and_write_in_order";
    single_acks::<IntervalStore>(c, group, "tree", 0..RECORDS, ack_and_confirm);
    single_acks::<TwinStore>(c, group, "twin", 0..RECORDS_OF_TWIN, ack_and_confirm);
}

fn alternate(c: &mut Criterion) {
    let group = "acknowledge_alternate";
    let odd = |n: i64| (1..n).step_by(2);
    single_acks::<IntervalStore>(c, group, "tree", odd(RECORDS), ack_and_confirm);
    single_acks::<TwinStore>(c, group, "twin", odd(RECORDS_OF_TWIN), ack_and_confirm);
}

fn types<S: InFlightStore>(c: &mut Criterion, store: &str) {
    const LEN: i64 = 500;
    let mut group = c.benchmark_group("acknowledge_types");
    group.throughput(Throughput::Elements(LEN as u64));
    let accepts = [1; LEN as usize];
    group.bench_function(BenchmarkId::new(store, LEN), |b| {
        let mut partition = active::<S>();
        let mut first = 0;
        b.iter(|| {
            acquire(&mut partition, MEMBER, first, first + LEN - 1);
            acknowledge(&mut partition, MEMBER, first, first + LEN - 1, &accepts);
            assert_eq!(confirm(&mut partition), 1);
            first += LEN;
        });
    });
    group.finish();
}

fn one_type_each(c: &mut Criterion) {
    types::<IntervalStore>(c, "tree");
    types::<TwinStore>(c, "twin");
}

criterion_group!(
    benches,
    in_order,
    in_order_and_unanswered,
    in_order_and_written,
    alternate,
    one_type_each
);
criterion_main!(benches);
