//! A trigger while it is pulled: what becomes of a run, and what is noted of it.

use super::DeadLetterCause;
use super::activity::{Activity, FirstUnsettled};
use super::changes::{Changes, completed, count_settled, lock_change};
use crate::in_flight::{Change, InFlightRun};
use crate::limits::ShareGroupConfig;
use crate::offset::OffsetRange;
use crate::record_state::{Circumstance, Phase, RecordState, Transition, Trigger, decide};

/// A trigger while it is pulled.
pub(super) struct Pull<'a> {
    trigger: Trigger,
    /// Of all records; whether the attempts are over hangs on the run.
    circumstance: Circumstance,
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
            trigger,
            circumstance: Circumstance {
                below_start_offset: is_below,
                dead_letter_queue: config.dead_letter_queue,
                attempts_over: false,
            },
            delivery_limit: config.delivery_count_limit,
            changes,
        }
    }

    #[inline(always)]
    fn row(&self, run: &InFlightRun) -> Option<&'static Transition> {
        let circumstance = Circumstance {
            attempts_over: run.delivery_count >= self.delivery_limit,
            ..self.circumstance
        };
        decide(run.state, run.phase, self.trigger, circumstance)
    }

    /// What becomes of a run.
    #[inline(always)]
    pub(super) fn decide(&self, run: &InFlightRun) -> Option<Change> {
        let row = self.row(run)?;
        Some(Change {
            state: row.to,
            delivery_count: run.delivery_count,
            phase: row.to_phase,
            lock: lock_change(row.lock),
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
        if !self.circumstance.below_start_offset {
            *count = completed(*count, records, run.state, to);
        }
        if to == RecordState::Archiving {
            let cause = if self.trigger == Trigger::Reject {
                DeadLetterCause::ClientReject
            } else {
                DeadLetterCause::DeliveryCountExceeded
            };
            for range in ranges {
                self.changes.give_up(*range, run.delivery_count, cause);
            }
        }
        if self
            .row(run)
            .is_some_and(Transition::reaches_delivery_limit)
        {
            tally.rest.make().delivery_limit_reached += records;
        }
        if change.phase == Phase::Settled {
            count_settled(tally, to, records);
            *front = FirstUnsettled::UNKNOWN;
        }
    }
}
