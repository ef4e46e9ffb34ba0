//! View of the window for a caller: the state of each record, its holder, and the beginning and end of its lock.

use crate::offset::{OffsetRange, before};
use crate::partition::in_flight::{InFlightRun, InFlightStore, StateCounts};
use crate::partition::record_state::{Phase, RecordState};
use crate::partition::share_partition::SharePartition;
use crate::time::LockTime;

/// A run of in-flight records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight<'a> {
    /// The offsets.
    pub range: OffsetRange,
    /// State; while `phase` is pending, the state that is being written.
    pub state: RecordState,
    /// Number of deliveries of each record.
    pub delivery_count: i16,
    /// Phase of the write of the last change.
    pub phase: Phase,
    /// The member that holds the records, since when, and until when.
    pub holder: Option<(&'a str, LockTime, LockTime)>,
}

impl<S: InFlightStore> SharePartition<S> {
    /// Every in-flight record, in ascending order; neighbours that look the same are joined, but not across the start offset.
    pub fn in_flight(&self) -> impl Iterator<Item = InFlight<'_>> {
        let passed = self.passed().into_iter();
        passed
            .chain(OffsetRange::new(self.start_offset, i64::MAX))
            .flat_map(|part| self.in_flight_in(part))
    }

    /// The offsets that the start offset has passed.
    fn passed(&self) -> Option<OffsetRange> {
        OffsetRange::new(0, before(self.start_offset)?)
    }

    fn in_flight_in(&self, part: OffsetRange) -> impl Iterator<Item = InFlight<'_>> {
        let run_behind = move |last: i64| part.after(last).and_then(|rest| self.store.run_in(rest));
        let mut next = self.store.run_in(part);
        core::iter::from_fn(move || {
            let mut shown = self.show(&next?);
            next = None;
            while let Some(run) = run_behind(shown.range.last) {
                let candidate = self.show(&run);
                let joins = shown.range.is_followed_by(candidate.range.first)
                    && candidate
                        == InFlight {
                            range: candidate.range,
                            ..shown
                        };
                if !joins {
                    next = Some(run);
                    break;
                }
                shown.range.last = candidate.range.last;
            }
            Some(shown)
        })
    }

    fn show(&self, run: &InFlightRun) -> InFlight<'_> {
        // While a write is under way the member is not shown as holder: it has said what it had to say.
        let lock = run.lock.filter(|_| run.state == RecordState::Acquired);
        InFlight {
            range: run.range,
            state: run.state,
            delivery_count: run.delivery_count,
            phase: run.phase,
            holder: lock.map(|lock| {
                let member = self
                    .activity
                    .get()
                    .map_or("", |a| a.members.name(lock.member));
                (member, lock.acquired_at, lock.deadline)
            }),
        }
    }

    /// In-flight records of the window by state.
    #[must_use]
    pub fn state_counts(&self) -> StateCounts {
        let mut counts = self.store.counts();
        let below = self.state_counts_below_start_offset();
        for (count, below) in counts.iter_mut().zip(below) {
            *count -= below;
        }
        counts
    }

    /// In-flight records that the start offset has passed, by state: members held them when the log start moved. Walks their runs.
    #[must_use]
    pub fn state_counts_below_start_offset(&self) -> StateCounts {
        let mut counts = StateCounts::default();
        let mut rest = self.passed();
        while let Some(run) = rest.and_then(|rest| self.store.run_in(rest)) {
            if let Some(count) = counts.get_mut(run.state as usize) {
                *count += run.range.len();
            }
            rest = self
                .passed()
                .and_then(|passed| passed.after(run.range.last));
        }
        counts
    }
}
