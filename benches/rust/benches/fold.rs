//! The fold of a delta of one run into the durable state of a share partition.
//!
//! * `fold_replacing`: the delta replaces one of the runs, in an order without a pattern. The number of runs stays.
//! * `fold_cutting`: the delta lies inside one of the runs and cuts it; 1,000 deltas on a fresh copy.
//!
//! The twin is what Kafka's combiner does: the whole list is merged again for each delta.

use criterion::{BatchSize, BenchmarkId, Criterion, SamplingMode, Throughput};
use criterion::{criterion_group, criterion_main};
use share_state_benches::shuffled;
use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::records::{ShareSnapshot, ShareUpdate, ShareValue};
use share_state_core::state_batch::{StateBatch, combine};

/// Offsets of a run.
const WIDTH: i64 = 10;
const ACKNOWLEDGED: i8 = 2;

/// Even runs have even counts and odd runs odd ones, so neighbours never join.
fn run(i: i64, count: i16) -> StateBatch {
    StateBatch {
        first_offset: i * WIDTH,
        last_offset: (i + 1) * WIDTH - 1,
        delivery_state: ACKNOWLEDGED,
        delivery_count: count + (i % 2) as i16,
    }
}

fn update(delta: StateBatch) -> ShareValue {
    ShareValue::Update(ShareUpdate {
        snapshot_epoch: 0,
        leader_epoch: 0,
        start_offset: 0,
        delivery_complete_count: 0,
        state_batches: vec![delta],
        unknown_tagged_fields: Vec::new(),
    })
}

fn state(runs: i64) -> Option<ShareGroupOffset> {
    let mut state = None;
    let snapshot = ShareSnapshot {
        snapshot_epoch: 0,
        state_epoch: 0,
        leader_epoch: 0,
        start_offset: 0,
        delivery_complete_count: 0,
        create_timestamp: 0,
        write_timestamp: 0,
        state_batches: (0..runs).map(|i| run(i, 0)).collect(),
        unknown_tagged_fields: Vec::new(),
    };
    ShareGroupOffset::fold(&mut state, &ShareValue::Snapshot(snapshot));
    assert_eq!(len(state.as_ref()), runs);
    state
}

fn len(state: Option<&ShareGroupOffset>) -> i64 {
    state.map_or(0, |state| state.state_batches.len() as i64)
}

fn replacing(c: &mut Criterion) {
    let mut group = c.benchmark_group("fold_replacing");
    for runs in [1_000, 100_000] {
        let order = shuffled(runs);
        group.bench_function(BenchmarkId::new("tree", runs), |b| {
            let mut state = state(runs);
            let (mut count, mut next) = (0, order.iter());
            let mut value = update(run(0, 0));
            b.iter(|| {
                let at = next.next().unwrap_or_else(|| {
                    next = order.iter();
                    &0
                });
                // Each delta is above what is there, and neighbours never join.
                if *at == 0 {
                    count += 2;
                }
                if let ShareValue::Update(update) = &mut value {
                    update.state_batches[0] = run(*at, count);
                }
                ShareGroupOffset::fold(&mut state, &value);
            });
            assert_eq!(len(state.as_ref()), runs);
        });
        let mut list: Vec<StateBatch> = (0..runs).map(|i| run(i, 0)).collect();
        group.bench_function(BenchmarkId::new("twin", runs), |b| {
            let mut next = order.iter().cycle();
            b.iter(|| {
                let at = next.next().copied().unwrap_or(0);
                list = combine(&list, &[run(at, 2)], 0);
            });
        });
    }
    group.finish();
}

fn cutting(c: &mut Criterion) {
    const RUNS: i64 = 100_000;
    const DELTAS: usize = 1_000;
    let mut group = c.benchmark_group("fold_cutting");
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(DELTAS as u64));
    let whole = state(RUNS);
    let middle = |i: i64| StateBatch {
        first_offset: i * WIDTH + WIDTH / 2,
        last_offset: i * WIDTH + WIDTH / 2,
        ..run(i, 2)
    };
    let deltas: Vec<ShareValue> = shuffled(RUNS)[..DELTAS]
        .iter()
        .map(|i| update(middle(*i)))
        .collect();
    group.bench_function(BenchmarkId::new("tree", RUNS), |b| {
        b.iter_batched(
            || whole.clone(),
            |mut state| {
                for delta in &deltas {
                    ShareGroupOffset::fold(&mut state, delta);
                }
                assert_eq!(len(state.as_ref()), RUNS + 2 * DELTAS as i64);
                state
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, replacing, cutting);
criterion_main!(benches);
