//! Acknowledge with a persister that answers at once (Kafka's `SharePartition.acknowledge` with an inline `Persister`).
//!
//! The usual request is written before anything changes in memory, so that nothing of it is ever pending: its records are looked
//! up once, and no list of writes is kept. For all else this is [`SharePartition::acknowledge`] and [`SharePartition::settle`].

use super::SharePartition;
use super::acknowledge::{AcknowledgeBatch, check_form, is_held_whole, usual};
use super::changes::{completed, count_settled};
use super::error::AcknowledgeError;
use super::settle::Settlement;
use super::writes::WriteAnswer;
use crate::in_flight::{Change, InFlightRun, InFlightStore, LockChange, MemberIndex};
use crate::inline_persister::InlinePersister;
use crate::kafka_code::KafkaCode;
use crate::offset::OffsetRange;
use crate::persister::WriteStateRef;
use crate::record_state::{RecordState, Trigger, transition};
use crate::state_batch::StateBatch;
use crate::time::LockTime;

/// A run as a write has changed it.
struct Written {
    records: u64,
    to: RecordState,
    at_limit: bool,
    answer: KafkaCode,
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
        check_form(member, batches)?;
        self.observe(now);
        let member = self.member(member);
        if let (Some(member), Some((range, trigger))) = (member, usual(batches, self.start_offset))
            && let Some(settlement) = self.write_run(range, trigger, member, persister)
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
            let at_limit = run.delivery_count >= self.config.delivery_count_limit;
            let effective = trigger.effective(false, at_limit);
            let dead_letter = self.config.dead_letter_queue;
            let row = transition(run.state, run.phase, effective, dead_letter)?;
            let settled = transition(row.to, row.to_phase, Trigger::Written, dead_letter)?;
            if row.to == RecordState::Archiving {
                // The dead-letter queue has to hear of it.
                return None;
            }
            let records = range.len();
            let completed = completed(*count, records, run.state, row.to);
            let batch = StateBatch {
                first_offset: range.first,
                last_offset: range.last,
                delivery_state: row.to.id(),
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
                to: settled.to,
                at_limit: effective == Trigger::DeliveryLimit,
                answer,
            });
            if answer != KafkaCode::None {
                return None;
            }
            *count = completed;
            Some(Change {
                state: settled.to,
                delivery_count: run.delivery_count,
                phase: settled.to_phase,
                lock: LockChange::End,
            })
        });
        let Written {
            records,
            to,
            at_limit,
            answer,
        } = written?;
        activity.writes.pass_by();
        let tally = &mut activity.tally;
        tally.write_batches(1);
        if at_limit {
            tally.rest.make().delivery_limit_reached += records;
        }
        if answer == KafkaCode::None {
            count_settled(tally, to, records);
            activity.front.doubt(|front| range.contains(front));
            self.advance_start_offset();
        } else {
            tally.rest.make().writes_refused += 1;
        }
        self.unblock();
        let mut settlement = Settlement::default();
        settlement.add(true, answer, WriteAnswer::of(answer));
        Some(settlement)
    }
}
