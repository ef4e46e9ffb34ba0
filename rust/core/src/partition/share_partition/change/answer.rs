//! The answer to a write ends the pending phase of its records (`InFlightState.completeStateTransition`).

use crate::offset::OffsetRange;
use crate::partition::in_flight::{
    Change, Holder, InFlightRun, InFlightStore, LockChange, RunChange, StateCounts,
};
use crate::partition::record_state::{Circumstance, LockRule, Trigger, decide};
use crate::partition::share_partition::SharePartition;
use crate::partition::share_partition::change::pull::cut_all;
use crate::partition::share_partition::records::counters::Tally;

/// An answer while it reaches the records.
struct Answered<'a> {
    /// [`Trigger::Written`] or [`Trigger::Refused`].
    answer: Trigger,
    /// Set for records whose lock ran out while the write was under way.
    is_run_out: bool,
    below_start_offset: bool,
    delivery_count_limit: i16,
    delivery_complete_count: &'a mut u64,
    tally: &'a mut Tally,
}

impl RunChange for Answered<'_> {
    fn decide(&mut self, run: &InFlightRun) -> Option<Change> {
        let circumstance = Circumstance {
            below_start_offset: self.below_start_offset,
            attempts_over: run.delivery_count >= self.delivery_count_limit,
            dead_letter_queue: false,
        };
        let mut row = decide(run.state, run.phase, self.answer, circumstance)?;
        if self.is_run_out {
            // Where the record would be given back, nobody holds it any more.
            let timed_out = decide(row.to, row.to_phase, Trigger::LockTimeout, circumstance);
            row = timed_out.unwrap_or(row);
        }
        Some(Change {
            state: row.to,
            phase: row.to_phase,
            lock: match row.lock {
                LockRule::End => LockChange::End,
                LockRule::Keep | LockRule::Take => LockChange::Keep,
            },
        })
    }

    fn note(&mut self, run: &InFlightRun, change: Change, ranges: &[OffsetRange]) {
        let records = ranges.iter().map(|range| range.len()).sum();
        let to = change.state;
        if !self.below_start_offset {
            match (run.state.is_terminal(), to.is_terminal()) {
                (false, true) => *self.delivery_complete_count += records,
                (true, false) => {
                    debug_assert!(
                        records <= *self.delivery_complete_count,
                        "{records} terminal records are given back, {} were counted",
                        self.delivery_complete_count
                    );
                    *self.delivery_complete_count -= records;
                }
                _ => {}
            }
        }
        let mut stable = StateCounts::default();
        stable[to as usize] = records;
        self.tally.count_stable(&stable);
    }
}

impl<S: InFlightStore> SharePartition<S> {
    /// Ends the pending phase of the records of `ranges`, which ascend: they stay as they were written, or are given back to
    /// their member. A record whose lock ran out meanwhile is not given back: it is treated as timed out, with the delivery limit
    /// of the time of the change, and without the dead-letter queue.
    pub(in crate::partition::share_partition) fn end_pending(
        &mut self,
        ranges: impl Iterator<Item = OffsetRange> + Clone,
        answer: Trigger,
        delivery_count_limit: i16,
    ) {
        let activity = self.activity.make();
        let mut all = ranges.clone();
        activity
            .front
            .doubt(|front| all.any(|range| range.contains(front)));
        let (below, rest) = cut_all(ranges, self.start_offset);
        let mut answered = Answered {
            answer,
            is_run_out: true,
            below_start_offset: true,
            delivery_count_limit,
            delivery_complete_count: &mut self.delivery_complete_count,
            tally: &mut activity.tally,
        };
        if answer == Trigger::Refused {
            self.store
                .update(below.clone(), Holder::RunOut, &mut answered);
            answered.below_start_offset = false;
            self.store
                .update(rest.clone(), Holder::RunOut, &mut answered);
            answered.below_start_offset = true;
        }
        answered.is_run_out = false;
        self.store.update(below, Holder::Anybody, &mut answered);
        answered.below_start_offset = false;
        self.store.update(rest, Holder::Anybody, &mut answered);
    }
}
