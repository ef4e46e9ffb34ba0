//! Questions to a store that follow from those it answers itself.

use super::{InFlightRun, InFlightStore, Sought};
use crate::offset::{OffsetRange, after};

/// Further questions to an in-flight store.
pub trait InFlightQuestions: InFlightStore {
    /// No batch is in flight.
    fn is_empty(&self) -> bool {
        self.bounds().is_none()
    }

    /// Every run, in ascending order.
    fn runs(&self) -> impl Iterator<Item = InFlightRun> {
        let mut rest = OffsetRange::new(i64::MIN, i64::MAX);
        core::iter::from_fn(move || {
            let run = self.run_in(rest?)?;
            rest = after(run.range.last).and_then(|from| OffsetRange::new(from, i64::MAX));
            Some(run)
        })
    }

    /// The first offset at or after `from` that is available with no write under way.
    #[inline]
    fn first_available(&self, from: i64) -> Option<i64> {
        self.first(from, Sought::Available)
    }

    /// The first offset at or after `from` that is not terminal, or whose write is under way.
    #[inline]
    fn first_outstanding(&self, from: i64) -> Option<i64> {
        self.first(from, Sought::Outstanding)
    }

    /// The first offset at or after `from` that no batch holds; `i64::MAX` when all are held.
    fn first_hole(&self, from: i64) -> i64 {
        self.first(from, Sought::Hole).unwrap_or(i64::MAX)
    }

    /// The batch with the smallest first offset at or after `offset`.
    fn batch_ceiling(&self, offset: i64) -> Option<OffsetRange> {
        self.batch_floor(self.first(offset, Sought::BatchStart)?)
    }

    /// The first batch whose last offset is at least `offset`.
    fn batch_reaching(&self, offset: i64) -> Option<OffsetRange> {
        self.batch_floor(offset)
            .filter(|batch| batch.last >= offset)
            .or_else(|| self.batch_ceiling(offset))
    }

    /// The first run that `range` touches and that is available with no write under way, clipped to it.
    fn available_in(&self, range: OffsetRange) -> Option<InFlightRun> {
        let first = self.first_available(range.first)?;
        self.run_in(OffsetRange::new(first, range.last)?)
    }

    /// Number of offsets of `range` that a batch holds.
    fn held_in(&self, range: OffsetRange) -> u64 {
        let mut held = 0;
        let mut next = Some(range);
        while let Some(run) = next.and_then(|rest| self.run_in(rest)) {
            held += run.range.len();
            next = after(run.range.last).and_then(|from| OffsetRange::new(from, range.last));
        }
        held
    }
}

impl<S: InFlightStore> InFlightQuestions for S {}
