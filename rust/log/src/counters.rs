//! Counters of a store, as plain numbers.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of a store since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Verbs that appended at least one record.
    pub writes: u64,
    /// Records appended.
    pub records: u64,
    /// Bytes appended to segments.
    pub bytes: u64,
    /// Record batches appended: the number of group commits.
    pub batches: u64,
    /// Syncs of segments and of their directories, also those at opening.
    pub fsyncs: u64,
    /// Segments deleted by pruning, or because a log was rewritten.
    pub pruned_segments: u64,
}

/// [`Counters`] while they are counted.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    writes: AtomicU64,
    records: AtomicU64,
    bytes: AtomicU64,
    batches: AtomicU64,
    fsyncs: AtomicU64,
    pruned_segments: AtomicU64,
}

fn add(counter: &AtomicU64, n: usize) {
    // Nothing is ordered by a counter.
    counter.fetch_add(n as u64, Ordering::Relaxed);
}

impl Tally {
    pub fn write(&self) {
        add(&self.writes, 1);
    }

    pub fn batches(&self, batches: usize, records: usize, bytes: usize) {
        add(&self.batches, batches);
        add(&self.records, records);
        add(&self.bytes, bytes);
    }

    pub fn fsync(&self) {
        add(&self.fsyncs, 1);
    }

    pub fn pruned(&self, segments: usize) {
        add(&self.pruned_segments, segments);
    }

    pub fn counters(&self) -> Counters {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            writes: get(&self.writes),
            records: get(&self.records),
            bytes: get(&self.bytes),
            batches: get(&self.batches),
            fsyncs: get(&self.fsyncs),
            pruned_segments: get(&self.pruned_segments),
        }
    }
}
