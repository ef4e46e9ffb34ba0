//! A trigger is pulled over records: THE TABLE says what becomes of each run, and what it means is noted.

use crate::offset::OffsetRange;
use crate::partition::in_flight::{
    Change, Holder, InFlightRun, InFlightStore, LockChange, RunChange,
};
use crate::partition::record_state::{
    Circumstance, LockRule, Phase, RecordState, Transition, Trigger, decide,
};
use crate::partition::share_partition::change::changes::{Changes, cut};
use crate::partition::share_partition::{DeadLetterCause, SharePartition};
use crate::settings::limits::ShareGroupConfig;

/// A trigger, and the circumstances that all its records share.
#[derive(Clone, Copy, Debug)]
pub(in crate::partition::share_partition) struct Rule {
    trigger: Trigger,
    circumstance: Circumstance,
    delivery_count_limit: i16,
}

impl Rule {
    pub fn new(trigger: Trigger, below_start_offset: bool, config: &ShareGroupConfig) -> Self {
        Self {
            trigger,
            circumstance: Circumstance {
                below_start_offset,
                attempts_over: false,
                dead_letter_queue: config.dead_letter_queue,
            },
            delivery_count_limit: config.delivery_count_limit,
        }
    }

    /// Returns the row of the table for the records of a run.
    #[inline(always)]
    pub fn row(&self, run: &InFlightRun) -> Option<&'static Transition> {
        let circumstance = Circumstance {
            attempts_over: run.delivery_count >= self.delivery_count_limit,
            ..self.circumstance
        };
        decide(run.state, run.phase, self.trigger, circumstance)
    }

    /// The change that follows from the row: as it says, before a write is answered or without one; or once its write is
    /// confirmed, when the record stays in the state of its row and nobody holds it.
    #[inline(always)]
    pub fn change(&self, run: &InFlightRun, stage: Stage) -> Option<Change> {
        let row = self.row(run)?;
        let (phase, ends_lock) = match stage {
            // Who takes a lock is not known here (`SharePartition::take_lock`).
            Stage::Unwritten => (row.to_phase, row.lock == LockRule::End),
            Stage::Confirmed => (Phase::Stable, true),
        };
        Some(Change {
            state: row.to,
            phase,
            lock: if ends_lock {
                LockChange::End
            } else {
                LockChange::Keep
            },
        })
    }
}

/// Stage of the write of a change when the records change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::partition::share_partition) enum Stage {
    /// It is still to be made.
    Unwritten,
    /// It is confirmed.
    Confirmed,
}

/// A trigger while it is pulled, or looked at.
pub(in crate::partition::share_partition) struct Pull<'a> {
    pub rule: Rule,
    pub stage: Stage,
    pub changes: &'a mut Changes,
}

impl RunChange for Pull<'_> {
    #[inline(always)]
    fn decide(&mut self, run: &InFlightRun) -> Option<Change> {
        self.rule.change(run, self.stage)
    }

    #[inline(always)]
    fn note(&mut self, run: &InFlightRun, change: Change, ranges: &[OffsetRange]) {
        let (changes, to) = (&mut *self.changes, change.state);
        debug_assert!(
            to != RecordState::Acquired,
            "nothing is written as acquired: {run:?}"
        );
        let records = changes.add_all(ranges, to, run.delivery_count);
        if change.phase != Phase::PendingFinal {
            changes.to[to as usize] += records;
        }
        if to.is_terminal()
            && !run.state.is_terminal()
            && !self.rule.circumstance.below_start_offset
        {
            changes.completed += records;
        }
        // What was not delivered so often needs no second look at the table.
        if run.delivery_count >= self.rule.delivery_count_limit
            && self
                .rule
                .row(run)
                .is_some_and(Transition::reaches_delivery_limit)
        {
            changes.at_limit += records;
        }
        if to == RecordState::Archiving {
            let cause = if self.rule.trigger == Trigger::Reject {
                DeadLetterCause::ClientReject
            } else {
                DeadLetterCause::DeliveryCountExceeded
            };
            for range in ranges {
                changes.give_up(*range, run.delivery_count, cause);
            }
        }
    }
}

/// The parts of `ranges`, which ascend, below `start_offset`, and those at or after it.
pub(in crate::partition::share_partition) fn cut_all<R: Iterator<Item = OffsetRange> + Clone>(
    ranges: R,
    start_offset: i64,
) -> (
    impl Iterator<Item = OffsetRange> + Clone,
    impl Iterator<Item = OffsetRange> + Clone,
) {
    let below = ranges.clone().map_while(move |r| cut(r, start_offset)[0]);
    let rest = ranges.filter_map(move |r| OffsetRange::new(r.first.max(start_offset), r.last));
    (below, rest)
}

impl<S: InFlightStore> SharePartition<S> {
    /// Pulls `trigger` over the records of `holder` in `ranges`, which ascend, and adds what changes to `changes`.
    pub(in crate::partition::share_partition) fn pull(
        &mut self,
        ranges: impl Iterator<Item = OffsetRange> + Clone,
        holder: Holder,
        trigger: Trigger,
        changes: &mut Changes,
    ) {
        let (below, rest) = cut_all(ranges, self.start_offset);
        let rule = Rule::new(trigger, true, &self.config);
        let mut pull = Pull {
            rule,
            stage: Stage::Unwritten,
            changes,
        };
        self.store.update(below, holder, &mut pull);
        let rule = Rule::new(trigger, false, &self.config);
        let mut pull = Pull {
            rule,
            stage: Stage::Unwritten,
            changes,
        };
        self.store.update(rest, holder, &mut pull);
    }

    /// As [`Self::pull`], of a change that shows at once.
    pub(in crate::partition::share_partition) fn pull_at_once(
        &mut self,
        range: OffsetRange,
        trigger: Trigger,
    ) -> Changes {
        let mut changes = Changes::default();
        let ranges = core::iter::once(range);
        self.pull(ranges, Holder::Anybody, trigger, &mut changes);
        self.count(&changes);
        self.count_stable(&changes);
        changes
    }
}
