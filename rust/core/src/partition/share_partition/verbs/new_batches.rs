//! Offsets that were not in flight become in-flight batches (`SharePartition.acquireNewBatchRecords`, `createBatches`).
//!
//! Steps:
//! 1. the range begins at or after the start offset and ends before the next in-flight batch;
//! 2. its end follows the log batch of the last record asked for, or the record itself in record_limit mode;
//! 3. it is cut where log batches begin, into pieces of at least the batch size;
//! 4. each piece is added under a lock of the member, and the window reaches to its end.

use crate::offset::{OffsetRange, before, plus_saturating};
use crate::partition::in_flight::{InFlightQuestions, InFlightStore};
use crate::partition::record_state::{Circumstance, Phase, RecordState, Trigger, decide};
use crate::partition::share_partition::SharePartition;
use crate::partition::share_partition::verbs::acquire::{Acquisition, first_n};
use crate::partition::share_partition::verbs::acquire_request::{AcquireMode, FetchedBatch};

impl<S: InFlightStore> SharePartition<S> {
    /// Acquires new records in `range`, which no in-flight batch touches, from the start offset on (deliberate difference K6).
    ///
    /// In batch_optimized mode the end is moved to where the log batch ends that holds the last record asked for, and what is
    /// larger than the batch size is cut where log batches begin. In record_limit mode the same offsets become one batch, of
    /// which only the records asked for are acquired; the others wait in it with delivery count 0.
    pub(in crate::partition::share_partition) fn acquire_new(
        &mut self,
        acquisition: &mut Acquisition<'_>,
        range: OffsetRange,
    ) {
        let wanted = acquisition.remaining();
        let cached = self.store.bounds();
        let floor = match cached {
            None => self.end_offset,
            Some(_) => self.start_offset,
        };
        let first = range.first.max(floor);
        let Some(range) = OffsetRange::new(first, range.last) else {
            return;
        };
        let fetched = acquisition.request.fetched;
        let range = if wanted < range.len() {
            let mut last = log_batch_end(fetched, plus_saturating(first, wanted - 1));
            if self.gap_window().is_some() {
                // An in-flight batch follows the gap, whatever the log batch holds.
                last = last.min(range.last);
            }
            let next_batch = self.store.batch_ceiling(first);
            let end = next_batch.and_then(|batch| before(batch.first));
            OffsetRange {
                first,
                last: last.min(end.unwrap_or(i64::MAX)),
            }
        } else {
            range
        };
        let batch_size = u64::try_from(acquisition.request.batch_size).unwrap_or(1);
        let mode = acquisition.request.mode;
        if mode == AcquireMode::BatchOptimized && batch_size < range.len() {
            for piece in cut_at_log_batches(range, fetched, batch_size) {
                self.insert_held(piece, piece, acquisition);
            }
        } else {
            let held = match mode {
                AcquireMode::BatchOptimized => range,
                AcquireMode::RecordLimit => first_n(range, wanted).unwrap_or(range),
            };
            self.insert_held(range, held, acquisition);
        }
        if cached.is_none_or(|cached| first < cached.first) {
            // What lies between the start offset and the first batch holds no record.
            self.start_offset = self.start_offset.max(first);
        }
        self.end_offset = self.end_offset.max(range.last);
    }

    /// Adds a batch whose first records, mostly all, are delivered for the first time; the others wait in it.
    #[inline(always)]
    fn insert_held(
        &mut self,
        batch: OffsetRange,
        held: OffsetRange,
        acquisition: &mut Acquisition<'_>,
    ) {
        let member = acquisition.member;
        let (state, phase) = (RecordState::Available, Phase::Stable);
        match decide(state, phase, Trigger::Acquire, Circumstance::default()) {
            Some(row) if held == batch => {
                let lock = Some(self.new_lock(member));
                self.store.insert_batch(batch, row.to, 1, lock);
            }
            _ => {
                self.store.insert_batch(batch, state, 0, None);
                self.take_lock(held, member, Trigger::Acquire);
            }
        }
        let activity = self.activity.make();
        activity.front.doubt(|front| batch.first < front);
        acquisition.take(held, 1);
    }
}

/// The last offset of the log batch that holds `offset`; `offset` itself when none does.
fn log_batch_end(fetched: &[FetchedBatch], offset: i64) -> i64 {
    let index = fetched.partition_point(|batch| batch.last_offset < offset);
    fetched
        .get(index)
        .filter(|batch| batch.base_offset <= offset)
        .map_or(offset, |batch| batch.last_offset)
}

/// Cuts `range` at the beginnings of log batches into pieces of at least `batch_size` offsets, the last excepted.
fn cut_at_log_batches(
    range: OffsetRange,
    fetched: &[FetchedBatch],
    batch_size: u64,
) -> impl Iterator<Item = OffsetRange> {
    let mut rest = Some(range);
    core::iter::from_fn(move || {
        let piece = rest?;
        let far_enough = plus_saturating(piece.first, batch_size);
        let cut = if piece.contains(far_enough) {
            let next = fetched.partition_point(|batch| batch.base_offset < far_enough);
            fetched.get(next).map(|batch| batch.base_offset)
        } else {
            None
        };
        let cut = cut.filter(|cut| *cut <= piece.last);
        rest = cut.map(|first| OffsetRange { first, ..piece });
        let last = cut.and_then(before).unwrap_or(piece.last);
        Some(OffsetRange { last, ..piece })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(batches: &[(i64, i64)]) -> Vec<FetchedBatch> {
        batches
            .iter()
            .map(|(a, b)| FetchedBatch::plain(*a, *b))
            .collect()
    }

    #[test]
    fn pieces_end_where_log_batches_end() {
        let fetched = log(&[(0, 9), (10, 19), (20, 29)]);
        let all = OffsetRange { first: 0, last: 29 };
        let cut = |size| {
            cut_at_log_batches(all, &fetched, size)
                .map(|p| (p.first, p.last))
                .collect::<Vec<_>>()
        };
        assert_eq!(cut(500), [(0, 29)]);
        assert_eq!(cut(10), [(0, 9), (10, 19), (20, 29)]);
        assert_eq!(cut(15), [(0, 19), (20, 29)]);
        assert_eq!(cut(1), [(0, 9), (10, 19), (20, 29)]);
    }

    #[test]
    fn the_last_record_asked_for_brings_its_log_batch() {
        let fetched = log(&[(0, 9), (15, 19)]);
        assert_eq!(log_batch_end(&fetched, 3), 9);
        assert_eq!(log_batch_end(&fetched, 12), 12);
        assert_eq!(log_batch_end(&fetched, 19), 19);
        assert_eq!(log_batch_end(&fetched, 25), 25);
    }
}
