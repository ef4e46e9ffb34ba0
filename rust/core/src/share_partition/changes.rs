//! The one place where records change state: a trigger is pulled over a range, the table says what becomes of each record,
//! and the change is noted for the persister.
//!
//! `delivery_complete_count` is kept here too: it follows from the states before and after, and from nothing else.

use super::activity::Activity;
use super::counters::Tally;
use super::few::Few;
use super::{DeadLetterCause, SharePartition};
use crate::in_flight::{Change, InFlightRun, InFlightStore, LockChange};
use crate::limits::ShareGroupConfig;
use crate::offset::{OffsetRange, before};
use crate::record_state::{LockRule, Phase, RecordState, Trigger, transition};
use crate::state_batch::StateBatch;

/// Records given up to the dead-letter queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GivenUp {
    pub range: OffsetRange,
    pub delivery_count: i16,
    pub cause: DeadLetterCause,
}

/// What a command changed, in ascending order of offsets, neighbours joined.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub batches: Few<StateBatch>,
    pub given_up: Vec<GivenUp>,
    pub records: u64,
}

impl Changes {
    fn add(&mut self, range: OffsetRange, state: RecordState, delivery_count: i16) {
        self.records += range.len();
        match self.batches.last_mut() {
            Some(last)
                if last.delivery_state == state.id()
                    && last.delivery_count == delivery_count
                    && before(range.first) == Some(last.last_offset) =>
            {
                last.last_offset = range.last;
            }
            _ => self.batches.push(StateBatch {
                first_offset: range.first,
                last_offset: range.last,
                delivery_state: state.id(),
                delivery_count,
            }),
        }
    }

    fn give_up(&mut self, range: OffsetRange, delivery_count: i16, cause: DeadLetterCause) {
        match self.given_up.last_mut() {
            Some(last)
                if last.delivery_count == delivery_count
                    && last.cause == cause
                    && last.range.is_followed_by(range.first) =>
            {
                last.range.last = range.last;
            }
            _ => self.given_up.push(GivenUp {
                range,
                delivery_count,
                cause,
            }),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.batches.as_slice().is_empty()
    }

    /// Cuts off the part up to the `allowed`th state batch, when there are more.
    pub(super) fn split(&mut self, allowed: usize) -> Option<Self> {
        let from = self.batches.as_slice().get(allowed)?.first_offset;
        let mut rest = Self {
            batches: self.batches.split_off(allowed),
            ..Self::default()
        };
        for g in core::mem::take(&mut self.given_up) {
            let [head, tail] = cut(g.range, from);
            self.given_up
                .extend(head.map(|range| GivenUp { range, ..g }));
            rest.given_up
                .extend(tail.map(|range| GivenUp { range, ..g }));
        }
        Some(rest)
    }
}

/// The parts of `range` before and from `offset` on.
pub(super) fn cut(range: OffsetRange, offset: i64) -> [Option<OffsetRange>; 2] {
    let head = before(offset).and_then(|end| OffsetRange::new(range.first, range.last.min(end)));
    let tail = OffsetRange::new(range.first.max(offset), range.last);
    [head, tail]
}

const fn lock_change(rule: LockRule) -> LockChange {
    match rule {
        LockRule::End => LockChange::End,
        // A new lock is made by the caller, who knows the member and the time.
        LockRule::Keep | LockRule::Take => LockChange::Keep,
    }
}

/// How `delivery_complete_count` changes when `records` records at or behind the start offset change state.
pub(super) fn completed(count: u64, records: u64, from: RecordState, to: RecordState) -> u64 {
    match (from.is_terminal(), to.is_terminal()) {
        (false, true) => count + records,
        (true, false) => count - records,
        _ => count,
    }
}

/// The change of a run whose write was answered, counted.
#[inline]
pub(super) fn settled(
    run: &InFlightRun,
    to: RecordState,
    is_below: bool,
    count: &mut u64,
    tally: &mut Tally,
) -> Change {
    let records = run.range.len();
    if !is_below {
        *count = completed(*count, records, run.state, to);
    }
    count_settled(tally, to, records);
    Change {
        state: to,
        delivery_count: run.delivery_count,
        phase: Phase::Settled,
        lock: if to == RecordState::Acquired {
            LockChange::Keep
        } else {
            LockChange::End
        },
    }
}

#[inline]
pub(super) fn count_settled(tally: &mut Tally, state: RecordState, records: u64) {
    match state {
        RecordState::Available => tally.rest.make().made_available += records,
        RecordState::Acknowledged => tally.acknowledged += records,
        RecordState::Archived => tally.rest.make().archived += records,
        RecordState::Acquired | RecordState::Archiving => {}
    }
}

/// A trigger while it is pulled.
pub(super) struct Pull<'a> {
    is_below: bool,
    trigger: Trigger,
    dead_letter: bool,
    delivery_limit: i16,
    changes: &'a mut Changes,
}

impl<'a> Pull<'a> {
    #[inline]
    pub(super) fn new(
        is_below: bool,
        trigger: Trigger,
        config: &ShareGroupConfig,
        changes: &'a mut Changes,
    ) -> Self {
        Self {
            is_below,
            trigger,
            dead_letter: config.dead_letter_queue,
            delivery_limit: config.delivery_count_limit,
            changes,
        }
    }

    /// What becomes of a run, noted for the persister and in the counts.
    #[inline(always)]
    pub(super) fn decide(
        &mut self,
        run: &InFlightRun,
        count: &mut u64,
        activity: &mut Activity,
    ) -> Option<Change> {
        let Activity { tally, front, .. } = activity;
        let at_limit = run.delivery_count >= self.delivery_limit;
        let effective = self.trigger.effective(self.is_below, at_limit);
        let row = transition(run.state, run.phase, effective, self.dead_letter)?;
        let records = run.range.len();
        if !self.is_below {
            *count = completed(*count, records, run.state, row.to);
        }
        self.changes.add(run.range, row.to, run.delivery_count);
        if row.to == RecordState::Archiving {
            let cause = if effective == Trigger::Reject {
                DeadLetterCause::ClientReject
            } else {
                DeadLetterCause::DeliveryCountExceeded
            };
            self.changes.give_up(run.range, run.delivery_count, cause);
        }
        if effective == Trigger::DeliveryLimit {
            tally.rest.make().delivery_limit_reached += records;
        }
        let (phase, lock) = if self.trigger.shown_before_written() {
            (Phase::Settled, LockChange::End)
        } else {
            (row.to_phase, lock_change(row.lock))
        };
        if phase == Phase::Settled {
            count_settled(tally, row.to, records);
            *front = None;
        }
        Some(Change {
            state: row.to,
            delivery_count: run.delivery_count,
            phase,
            lock,
        })
    }
}

impl<S: InFlightStore> SharePartition<S> {
    /// Pulls `trigger` over the records of `range` that are `eligible` and for which the table has a row.
    pub(super) fn pull(
        &mut self,
        range: OffsetRange,
        trigger: Trigger,
        eligible: impl Fn(&InFlightRun) -> bool,
        changes: &mut Changes,
    ) {
        if range.first >= self.start_offset {
            return self.pull_behind_start(range, trigger, eligible, changes);
        }
        let [below, rest] = cut(range, self.start_offset);
        if let Some(below) = below {
            self.pull_part(below, true, trigger, &eligible, changes);
        }
        if let Some(rest) = rest {
            self.pull_part(rest, false, trigger, &eligible, changes);
        }
    }

    /// [`Self::pull`] over a range at or behind the start offset.
    #[inline]
    pub(super) fn pull_behind_start(
        &mut self,
        range: OffsetRange,
        trigger: Trigger,
        eligible: impl Fn(&InFlightRun) -> bool,
        changes: &mut Changes,
    ) {
        self.pull_part(range, false, trigger, &eligible, changes);
    }

    fn pull_part(
        &mut self,
        part: OffsetRange,
        is_below: bool,
        trigger: Trigger,
        eligible: &impl Fn(&InFlightRun) -> bool,
        changes: &mut Changes,
    ) {
        let mut pull = Pull::new(is_below, trigger, &self.config, changes);
        let count = &mut self.delivery_complete_count;
        let activity = self.activity.make();
        self.store.update(part, |run| {
            eligible(run).then(|| pull.decide(run, count, activity))?
        });
    }

    /// Ends the pending phase of the records of `range`: confirmed, or given back to the member. A record whose lock ran out
    /// meanwhile is not given back: it is treated as timed out, with the delivery limit of the time of the change, and
    /// without the dead-letter queue (`InFlightState.completeStateTransition`).
    pub(super) fn end_pending(&mut self, range: OffsetRange, answer: Trigger, delivery_limit: i16) {
        let activity = self.activity.make();
        activity.doubt_front(|front| range.contains(front));
        if range.first >= self.start_offset {
            return self.end_pending_part(range, false, answer, delivery_limit);
        }
        let [below, rest] = cut(range, self.start_offset);
        if let Some(below) = below {
            self.end_pending_part(below, true, answer, delivery_limit);
        }
        if let Some(rest) = rest {
            self.end_pending_part(rest, false, answer, delivery_limit);
        }
    }

    fn end_pending_part(
        &mut self,
        part: OffsetRange,
        is_below: bool,
        answer: Trigger,
        delivery_limit: i16,
    ) {
        let count = &mut self.delivery_complete_count;
        let tally = &mut self.activity.make().tally;
        self.store.update(part, |run| {
            let mut row = transition(run.state, run.phase, answer, false)?;
            if row.to == RecordState::Acquired && run.lock.is_none_or(|lock| lock.expired) {
                let at_limit = run.delivery_count >= delivery_limit;
                let effective = Trigger::LockTimeout.effective(is_below, at_limit);
                row = transition(RecordState::Acquired, Phase::Settled, effective, false)?;
            }
            Some(settled(run, row.to, is_below, count, tally))
        });
    }
}
