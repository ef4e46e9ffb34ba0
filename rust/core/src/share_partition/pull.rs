//! A trigger while it is pulled: what becomes of a run, and what is noted of it.

use super::DeadLetterCause;
use super::activity::{Activity, FirstUnsettled};
use super::changes::{Changes, completed, count_settled, lock_change};
use crate::in_flight::{Change, InFlightRun, LockChange};
use crate::limits::ShareGroupConfig;
use crate::offset::OffsetRange;
use crate::record_state::{Phase, RecordState, Trigger, transition};

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

    fn effective(&self, run: &InFlightRun) -> Trigger {
        let at_limit = run.delivery_count >= self.delivery_limit;
        self.trigger.effective(self.is_below, at_limit)
    }

    /// What becomes of a run.
    #[inline(always)]
    pub(super) fn decide(&self, run: &InFlightRun) -> Option<Change> {
        let effective = self.effective(run);
        let row = transition(run.state, run.phase, effective, self.dead_letter)?;
        let (phase, lock) = if self.trigger.shown_before_written() {
            (Phase::Settled, LockChange::End)
        } else {
            (row.to_phase, lock_change(row.lock))
        };
        Some(Change {
            state: row.to,
            delivery_count: run.delivery_count,
            phase,
            lock,
        })
    }

    /// Notes for the persister and in the counts what became of `ranges`, whose records were equal to `run`.
    #[inline(always)]
    pub(super) fn note(
        &mut self,
        run: &InFlightRun,
        change: Change,
        ranges: &[OffsetRange],
        (count, activity): (&mut u64, &mut Activity),
    ) {
        let Activity { tally, front, .. } = activity;
        let to = change.state;
        let records = self.changes.add_all(ranges, to, run.delivery_count);
        if !self.is_below {
            *count = completed(*count, records, run.state, to);
        }
        let effective = self.effective(run);
        if to == RecordState::Archiving {
            let cause = if effective == Trigger::Reject {
                DeadLetterCause::ClientReject
            } else {
                DeadLetterCause::DeliveryCountExceeded
            };
            for range in ranges {
                self.changes.give_up(*range, run.delivery_count, cause);
            }
        }
        if effective == Trigger::DeliveryLimit {
            tally.rest.make().delivery_limit_reached += records;
        }
        if change.phase == Phase::Settled {
            count_settled(tally, to, records);
            *front = FirstUnsettled::UNKNOWN;
        }
    }
}
