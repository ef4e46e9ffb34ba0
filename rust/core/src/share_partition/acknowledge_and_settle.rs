//! Acknowledge with a persister that answers at once (Kafka's `SharePartition.acknowledge` with an inline `Persister`).
//!
//! The usual request is written before anything changes in memory, so that nothing of it is ever pending: one run is looked up
//! once, many ranges are passed twice, to see what is to be written and to change it, and no list of writes is kept. For all else
//! this is [`SharePartition::acknowledge`] and [`SharePartition::settle`].

use super::SharePartition;
use super::acknowledge::{AcknowledgeBatch, is_held_whole, usual};
use super::activity::Activity;
use super::changes::{Changes, completed, count_settled, settled};
use super::counters::Tally;
use super::error::AcknowledgeError;
use super::parts::Parts;
use super::settle::Settlement;
use crate::in_flight::{
    Change, HeldChange, Holder, InFlightRun, InFlightStore, LockChange, MemberIndex,
};
use crate::inline_persister::InlinePersister;
use crate::kafka_code::KafkaCode;
use crate::limits::ShareGroupConfig;
use crate::offset::OffsetRange;
use crate::persister::WriteStateRef;
use crate::record_state::{AcknowledgeType, Circumstance, Phase, RecordState, Trigger, decide};
use crate::state_batch::StateBatch;
use crate::time::LockTime;

/// What becomes of acquired records once their acknowledgement is written.
#[derive(Clone, Copy)]
struct Outcome {
    to: RecordState,
    at_limit: bool,
}

impl Outcome {
    /// `None` where this is not the usual case: nothing is to be written, or the dead-letter queue has to hear of it.
    #[inline(always)]
    fn of(run: &InFlightRun, trigger: Trigger, config: &ShareGroupConfig) -> Option<Self> {
        let circumstance = Circumstance {
            below_start_offset: false,
            attempts_over: run.delivery_count >= config.delivery_count_limit,
            dead_letter_queue: config.dead_letter_queue,
        };
        let row = decide(run.state, run.phase, trigger, circumstance)?;
        let is_usual = row.to_phase == Phase::Pending && row.to != RecordState::Archiving;
        is_usual.then_some(Self {
            to: row.to,
            at_limit: row.reaches_delivery_limit(),
        })
    }
}

/// A run as a write has changed it.
struct Written {
    records: u64,
    to: RecordState,
    at_limit: bool,
    answer: KafkaCode,
}

/// Records of many ranges that are written, while they change.
struct Settling<'a> {
    trigger: Trigger,
    config: &'a ShareGroupConfig,
    tally: &'a mut Tally,
}

impl HeldChange for Settling<'_> {
    fn decide(&mut self, run: &InFlightRun) -> Option<Change> {
        let outcome = Outcome::of(run, self.trigger, self.config)?;
        Some(settled(run, outcome.to))
    }

    fn note(&mut self, _: &InFlightRun, change: Change, ranges: &[OffsetRange]) {
        let records = ranges.iter().map(|range| range.len()).sum();
        count_settled(self.tally, change.state, records);
    }
}

impl<S: InFlightStore> SharePartition<S> {
    /// What [`SharePartition::acknowledge`] and then [`SharePartition::settle`] do, in one call and at less cost.
    ///
    /// # Errors
    /// As [`SharePartition::acknowledge`]. Locks that have just run out may have left writes then: call
    /// [`SharePartition::settle`].
    pub fn acknowledge_and_settle(
        &mut self,
        member: &str,
        batches: &[AcknowledgeBatch<'_>],
        now: LockTime,
        persister: &mut impl InlinePersister,
    ) -> Result<Settlement, AcknowledgeError> {
        self.check_request(member, batches)?;
        self.observe(now);
        let member = self.member(member);
        if let (Some(member), Some((range, trigger))) = (member, usual(batches, self.start_offset))
            && let Some(settlement) = self.write_run(range, trigger, member, persister)
        {
            return Ok(settlement);
        }
        if let Some(member) = member
            && let Some(settlement) = self.write_parts(batches, member, persister)
        {
            return Ok(settlement);
        }
        self.acknowledge_formed(batches, member)?;
        Ok(self.settle(persister))
    }

    /// Writes a change of one whole run that `member` holds, and makes it. `None` when it is anything else, or when other
    /// writes are not answered, and then nothing has changed.
    fn write_run(
        &mut self,
        range: OffsetRange,
        trigger: Trigger,
        member: MemberIndex,
        persister: &mut impl InlinePersister,
    ) -> Option<Settlement> {
        let activity = self.activity.get_mut()?;
        if activity.writes.under_way() > 0 {
            return None;
        }
        let mut written = None;
        let count = &mut self.delivery_complete_count;
        self.store.update_run(range, |run: &InFlightRun| {
            if !is_held_whole(run, range, member) {
                return None;
            }
            let Outcome { to, at_limit } = Outcome::of(run, trigger, &self.config)?;
            let records = range.len();
            let completed = completed(*count, records, run.state, to);
            let batch = StateBatch {
                first_offset: range.first,
                last_offset: range.last,
                delivery_state: to.id(),
                delivery_count: run.delivery_count,
            };
            let state = WriteStateRef {
                state_epoch: self.state_epoch,
                leader_epoch: self.leader_epoch,
                start_offset: self.start_offset,
                delivery_complete_count: i32::try_from(completed).unwrap_or(i32::MAX),
                state_batches: std::slice::from_ref(&batch),
            };
            let answer = persister.write_state(&self.key, state);
            written = Some(Written {
                records,
                to,
                at_limit,
                answer,
            });
            if answer != KafkaCode::None {
                return None;
            }
            *count = completed;
            Some(Change {
                state: to,
                delivery_count: run.delivery_count,
                phase: Phase::Settled,
                lock: LockChange::End,
            })
        });
        let Written {
            records,
            to,
            at_limit,
            answer,
        } = written?;
        answered(
            activity,
            range,
            (1, if at_limit { records } else { 0 }),
            answer,
        );
        if answer == KafkaCode::None {
            count_settled(&mut activity.tally, to, records);
            self.advance_start_offset();
        }
        self.unblock();
        Some(self.settled_by(answer))
    }

    /// Writes changes of records that `member` holds, whatever their runs and types, and makes them. `None` when not all of the
    /// request is so, when it is not the usual case, or when other writes are not answered, and then nothing has changed.
    #[inline(never)]
    fn write_parts(
        &mut self,
        batches: &[AcknowledgeBatch<'_>],
        member: MemberIndex,
        persister: &mut impl InlinePersister,
    ) -> Option<Settlement> {
        let activity = self.activity.get()?;
        // A renewal is not written, so it need not be looked at here.
        let kind = Parts::new(batches, self.start_offset).next_type()?;
        if kind == AcknowledgeType::Renew || activity.writes.under_way() > 0 {
            return None;
        }
        let span = OffsetRange::new(batches.first()?.first, batches.last()?.last)?;
        let mut changes = Changes::default();
        let mut complete = self.delivery_complete_count;
        let mut at_limit = 0;
        let is_usual = self.all_held(batches, member, |kind, run, ranges| {
            let Some(outcome) = Outcome::of(run, kind.trigger(), &self.config) else {
                return false;
            };
            let records = changes.add_all(ranges, outcome.to, run.delivery_count);
            complete = completed(complete, records, run.state, outcome.to);
            at_limit += if outcome.at_limit { records } else { 0 };
            true
        });
        if !is_usual {
            return None;
        }
        let state_batches = changes.batches.as_slice();
        let state = WriteStateRef {
            state_epoch: self.state_epoch,
            leader_epoch: self.leader_epoch,
            start_offset: self.start_offset,
            delivery_complete_count: i32::try_from(complete).unwrap_or(i32::MAX),
            state_batches,
        };
        let answer = persister.write_state(&self.key, state);
        let activity = self.activity.make();
        let written = (state_batches.len() as u64, at_limit);
        answered(activity, span, written, answer);
        if answer == KafkaCode::None {
            self.delivery_complete_count = complete;
            let mut parts = Parts::new(batches, self.start_offset);
            while let Some(kind) = parts.next_type() {
                let mut settling = Settling {
                    trigger: kind.trigger(),
                    config: &self.config,
                    tally: &mut activity.tally,
                };
                let ranges = parts.of_type(kind);
                self.store
                    .update_held(ranges, Holder::Anybody, &mut settling);
            }
            self.advance_start_offset();
        }
        self.unblock();
        Some(self.settled_by(answer))
    }
}

/// Takes note of the answer to a write inside `span`: of so many state batches, and with so many records that were given up at the
/// delivery limit.
#[inline(always)]
fn answered(
    activity: &mut Activity,
    span: OffsetRange,
    (batches, at_limit): (u64, u64),
    answer: KafkaCode,
) {
    activity.writes.pass_by();
    activity.tally.write_batches(batches);
    if at_limit > 0 {
        activity.tally.rest.make().delivery_limit_reached += at_limit;
    }
    if answer == KafkaCode::None {
        activity.front.doubt(|front| span.contains(front));
    } else {
        activity.tally.rest.make().writes_refused += 1;
    }
}
