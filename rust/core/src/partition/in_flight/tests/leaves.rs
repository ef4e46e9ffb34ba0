//! Memory of a window, which is given back: few runs, codes, and runs again.

use super::*;

/// Acknowledges the records and has it written.
fn acknowledge<S: InFlightStore>(store: &mut S, offsets: OffsetRange) {
    update(store, offsets, |_| {
        Some(change(Acknowledged, Phase::Pending, LockChange::Keep))
    });
    update(store, offsets, |_| {
        Some(change(Acknowledged, Phase::Stable, LockChange::End))
    });
}

fn acquired<S: InFlightStore>(batches: i64, len: i64) -> S {
    let mut store = S::default();
    for first in (0..batches).map(|batch| batch * len) {
        let batch = range(first, first + len - 1);
        store.insert_batch(batch, Acquired, 1, Some(lock(MEMBER, 0, LOCK_MS)));
    }
    store
}

fn bytes_a_record(store: &IntervalStore, records: i64) -> f64 {
    store.check().unwrap();
    store.heap_bytes() as f64 / records as f64
}

#[test]
fn an_empty_store_is_two_words() {
    assert_eq!(size_of::<IntervalStore>(), 16);
}

#[test]
fn a_window_shredded_by_acknowledgements_takes_less_than_eight_bytes_a_record() {
    const RECORDS: i64 = 100_000;
    let mut alternate: IntervalStore = acquired(RECORDS / 500, 500);
    for offset in (1..RECORDS).step_by(2) {
        acknowledge(&mut alternate, range(offset, offset));
    }
    let bytes = bytes_a_record(&alternate, RECORDS);
    assert!(bytes <= 6.5, "{bytes}");
    for offset in (0..RECORDS).step_by(2) {
        acknowledge(&mut alternate, range(offset, offset));
    }
    let bytes = alternate.heap_bytes();
    assert!(bytes <= 4_096, "{bytes} bytes are left when all is done");
    assert_eq!(ranges(&alternate), [(0, RECORDS - 1)]);

    let mut scattered: IntervalStore = acquired(RECORDS / 500, 500);
    // A step that has no common divisor with the number of records meets each once, in no order.
    for offset in (0..RECORDS / 2).map(|at| at * 61_803 % RECORDS) {
        acknowledge(&mut scattered, range(offset, offset));
    }
    let bytes = bytes_a_record(&scattered, RECORDS);
    assert!(bytes <= 8.0, "{bytes}");
}

#[test]
fn after_a_poison_record_a_stretch_that_is_done_takes_no_memory() {
    let mut store: IntervalStore = acquired(1, 500);
    acknowledge(&mut store, range(1, 499));
    for batch in 1..20_000 {
        let batch = range(batch * 500, batch * 500 + 499);
        store.insert_batch(batch, Acquired, 1, Some(lock(MEMBER, 0, LOCK_MS)));
        acknowledge(&mut store, batch);
    }
    store.check().unwrap();
    assert_eq!(store.first_outstanding(0), Some(0));
    assert_eq!(store.counts(), [0, 1, 9_999_999, 0, 0]);
    let bytes = store.heap_bytes();
    assert!(bytes <= 1_024, "{bytes} bytes");
    let mut singly: IntervalStore = acquired(20_000, 1);
    for offset in 1..20_000 {
        acknowledge(&mut singly, range(offset, offset));
    }
    singly.check().unwrap();
    // The leases have been given back but for the slab, of which the poison record keeps the first slot.
    let leases = 20_000 * 48 * 17 / 16;
    let bytes = singly.heap_bytes();
    assert!(bytes <= leases + 8_192, "{bytes} bytes");
    // In the leaf of the poison record batches are still apart.
    let beyond = singly.batch_floor(20_000).unwrap();
    assert!(beyond.first <= 512 && beyond.last == 19_999, "{beyond}");
}

#[test]
fn batches_are_kept_apart_while_somebody_wants_to_know_where_each_began() {
    let mut store = IntervalStore::default();
    store.merge_done_batches(false);
    for first in [0, 10, 20] {
        store.insert_batch(range(first, first + 9), Archived, 1, None);
    }
    assert_eq!(store.batch_floor(15), Some(range(10, 19)));
    store.merge_done_batches(true);
    store.insert_batch(range(30, 39), Archived, 1, None);
    store.check().unwrap();
    assert_eq!(store.batch_floor(35).map(|batch| batch.last), Some(39));
    assert_eq!(store.batch_floor(5).map(|batch| batch.first), Some(0));
}

/// A delivery count that a loaded state may have, and that a code of four bytes cannot hold: such records are kept as runs, and
/// the others are codes again.
#[test]
fn large_counts_in_a_torn_window_are_kept() {
    const RECORDS: i64 = 4_000;
    for every in [3, 100] {
        let mut store: IntervalStore = acquired(RECORDS, 1);
        let codes = store.heap_bytes();
        let count = |offset: i64| {
            let large = offset % every == 0;
            1 + i16::from(large) * (31 + (offset % 1_000) as i16)
        };
        for offset in (0..RECORDS).step_by(every as usize) {
            let held = lock(MEMBER, 0, LOCK_MS);
            store.hold(range(offset, offset), held, |_| Some(count(offset)));
            store.check().unwrap();
        }
        for offset in 0..RECORDS {
            let run = store.run_in(range(offset, offset)).unwrap();
            assert_eq!(run.delivery_count, count(offset), "at {offset}");
        }
        let runs = store.heap_bytes();
        assert!(
            runs > codes && runs < codes + RECORDS as usize * 40,
            "{runs}"
        );
        acknowledge(&mut store, range(0, RECORDS - 1));
        store.check().unwrap();
        assert_eq!(store.counts(), [0, 0, RECORDS as u64, 0, 0]);
    }
}
