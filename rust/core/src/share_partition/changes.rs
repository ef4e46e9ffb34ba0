//! The one place where records change state: a trigger is pulled over a range, the table says what becomes of each record,
//! and the change is noted for the persister.
//!
//! `delivery_complete_count` is kept here too: it follows from the states before and after, and from nothing else.

use super::counters::Tally;
use super::few::Few;
use super::pull::Pull;
use super::{DeadLetterCause, SharePartition};
use crate::in_flight::{Change, InFlightRun, InFlightStore, LockChange};
use crate::offset::{OffsetRange, before};
use crate::record_state::{Circumstance, LockRule, Phase, RecordState, Trigger, decide};
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

/// Makes `next` a part of `last`, if it lies right behind and is equal; returns whether it does.
#[inline]
fn join_batches(last: &mut StateBatch, next: &StateBatch) -> bool {
    let joins = last.delivery_state == next.delivery_state
        && last.delivery_count == next.delivery_count
        && before(next.first_offset) == Some(last.last_offset);
    if joins {
        last.last_offset = next.last_offset;
    }
    joins
}

/// As [`join_batches`], of records given up.
fn join_given_up(last: &mut GivenUp, next: &GivenUp) -> bool {
    let joins = last.delivery_count == next.delivery_count
        && last.cause == next.cause
        && last.range.is_followed_by(next.range.first);
    if joins {
        last.range.last = next.range.last;
    }
    joins
}

impl Changes {
    /// Nothing yet, with room for so many batches.
    pub(super) fn with_room(batches: usize) -> Self {
        Self {
            batches: Few::with_room(batches),
            ..Self::default()
        }
    }

    /// Adds ranges, which ascend, and returns the number of their records.
    #[inline(always)]
    pub(super) fn add_all(
        &mut self,
        ranges: &[OffsetRange],
        state: RecordState,
        delivery_count: i16,
    ) -> u64 {
        let batch = |range: &OffsetRange| StateBatch {
            first_offset: range.first,
            last_offset: range.last,
            delivery_state: state.id(),
            delivery_count,
        };
        let mut records = 0;
        if let [range] = ranges {
            records = range.len();
            let (next, last) = (batch(range), self.batches.last_mut());
            if !last.is_some_and(|last| join_batches(last, &next)) {
                self.batches.push(next);
            }
        } else {
            let mut list = core::mem::take(&mut self.batches).into_list();
            list.reserve(ranges.len());
            for range in ranges {
                records += range.len();
                let (next, last) = (batch(range), list.last_mut());
                if !last.is_some_and(|last| join_batches(last, &next)) {
                    list.push(next);
                }
            }
            self.batches = Few::Many(list);
        }
        self.records += records;
        records
    }

    pub(super) fn give_up(
        &mut self,
        range: OffsetRange,
        delivery_count: i16,
        cause: DeadLetterCause,
    ) {
        let next = GivenUp {
            range,
            delivery_count,
            cause,
        };
        let last = self.given_up.last_mut();
        if !last.is_some_and(|last| join_given_up(last, &next)) {
            self.given_up.push(next);
        }
    }

    /// The same changes, added in any order, as they would be had they been added in ascending order.
    pub(super) fn in_order(mut self) -> Self {
        if let Few::Many(batches) = &mut self.batches
            && !batches.is_sorted_by_key(|batch| batch.first_offset)
        {
            batches.sort_unstable_by_key(|batch| batch.first_offset);
            batches.dedup_by(|next, last| join_batches(last, next));
            self.given_up.sort_unstable_by_key(|g| g.range.first);
            self.given_up
                .dedup_by(|next, last| join_given_up(last, next));
        }
        self
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

pub(super) const fn lock_change(rule: LockRule) -> LockChange {
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

/// The change of a run whose write was answered.
pub(super) const fn settled(run: &InFlightRun, to: RecordState) -> Change {
    Change {
        state: to,
        delivery_count: run.delivery_count,
        phase: Phase::Settled,
        lock: match to {
            RecordState::Acquired => LockChange::Keep,
            _ => LockChange::End,
        },
    }
}

#[inline]
pub(super) fn count_settled(tally: &mut Tally, state: RecordState, records: u64) {
    match state {
        RecordState::Available => tally.rest.make().made_available += records,
        RecordState::Acknowledged => tally.acknowledge(records),
        RecordState::Archived => tally.rest.make().archived += records,
        RecordState::Acquired | RecordState::Archiving => {}
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
            let change = eligible(run).then(|| pull.decide(run))??;
            pull.note(run, change, &[run.range], (count, activity));
            Some(change)
        });
    }

    /// Ends the pending phase of the records of `range`: confirmed, or given back to the member. A record whose lock ran out
    /// meanwhile is not given back: it is treated as timed out, with the delivery limit of the time of the change, and
    /// without the dead-letter queue (`InFlightState.completeStateTransition`).
    pub(super) fn end_pending(&mut self, range: OffsetRange, answer: Trigger, delivery_limit: i16) {
        let activity = self.activity.make();
        activity.front.doubt(|front| range.contains(front));
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
            let circumstance = Circumstance {
                below_start_offset: is_below,
                attempts_over: run.delivery_count >= delivery_limit,
                dead_letter_queue: false,
            };
            let mut row = decide(run.state, run.phase, answer, circumstance)?;
            if row.to == RecordState::Acquired && run.lock.is_none_or(|lock| lock.expired) {
                row = decide(row.to, row.to_phase, Trigger::LockTimeout, circumstance)?;
            }
            let records = run.range.len();
            if !is_below {
                *count = completed(*count, records, run.state, row.to);
            }
            count_settled(tally, row.to, records);
            Some(settled(run, row.to))
        });
    }
}
