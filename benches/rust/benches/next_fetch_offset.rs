//! The next offset to fetch while everything before it is held: 1,000,000 records acquired one by one, each with a lock
//! and an in-flight batch of its own. Kafka looks at every one of them.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use share_state_benches::acquired_singly;
use share_state_core::in_flight::{InFlightStore, IntervalStore, TwinStore};

/// The twin cannot be filled with a million records by acquiring them in reasonable time.
const RECORDS: [i64; 2] = [10_000, 1_000_000];
const RECORDS_OF_TWIN: [i64; 1] = [10_000];

fn behind<S: InFlightStore>(c: &mut Criterion, store: &str, sizes: &[i64]) {
    let mut group = c.benchmark_group("next_fetch_offset_behind_acquired");
    for &records in sizes {
        let partition = acquired_singly::<S>(records, 1);
        assert_eq!(partition.next_fetch_offset(), records);
        group.bench_function(BenchmarkId::new(store, records), |b| {
            b.iter(|| partition.next_fetch_offset());
        });
    }
    group.finish();
}

fn stores(c: &mut Criterion) {
    behind::<IntervalStore>(c, "tree", &RECORDS);
    behind::<TwinStore>(c, "twin", &RECORDS_OF_TWIN);
}

criterion_group!(benches, stores);
criterion_main!(benches);
