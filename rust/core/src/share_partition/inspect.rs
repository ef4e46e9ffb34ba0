//! What a caller sees of the window: which records are in which state, who holds them, since when and until when.

use super::SharePartition;
use crate::in_flight::{InFlightRun, InFlightStore, StateCounts};
use crate::offset::OffsetRange;
use crate::record_state::{Phase, RecordState};
use crate::time::LockTime;

/// A run of in-flight records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight<'a> {
    /// The offsets.
    pub range: OffsetRange,
    /// State; while `phase` is pending, the state that is being written.
    pub state: RecordState,
    /// How often the records were delivered.
    pub delivery_count: i16,
    /// Whether a write is under way.
    pub phase: Phase,
    /// The member that holds the records, since when, and until when.
    pub holder: Option<(&'a str, LockTime, LockTime)>,
}

impl<S: InFlightStore> SharePartition<S> {
    /// Every in-flight record, in ascending order; neighbours that look the same are joined.
    pub fn in_flight(&self) -> impl Iterator<Item = InFlight<'_>> {
        let mut next = self.store.run_in(OffsetRange::ALL);
        core::iter::from_fn(move || {
            let mut shown = self.show(&next?);
            next = None;
            while let Some(run) = self.run_behind(shown.range) {
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

    fn run_behind(&self, range: OffsetRange) -> Option<InFlightRun> {
        self.store.run_in(OffsetRange::ALL.behind(range.last)?)
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

    /// In-flight records by state.
    #[must_use]
    pub fn state_counts(&self) -> StateCounts {
        self.store.counts()
    }
}
