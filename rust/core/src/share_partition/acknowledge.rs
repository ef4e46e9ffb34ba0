//! Acknowledge: a member says what became of the records it holds (`SharePartition.acknowledge`,
//! `KafkaApis.validateAcknowledgementBatches`).
//!
//! Steps:
//! 1. the form of the request (`acknowledge_check.rs`), and locks that are due run out;
//! 2. the look: are all records the member's, and what changes ([`SharePartition::plan_acknowledge`]);
//! 3. renewals count at once (KIP-1222), nothing is written for them;
//! 4. the other records change and are written (`pipeline.rs`).

use super::SharePartition;
use super::changes::Changes;
use super::error::AcknowledgeError;
use super::parts::Parts;
use super::pipeline::Stage;
use super::pull::{Pull, Rule};
use super::settle::Settlement;
use crate::in_flight::{Holder, InFlightRun, InFlightStore, MemberIndex};
use crate::inline_persister::InlinePersister;
use crate::persister::{MAX_STATE_BATCHES_PER_WRITE, WriteToken};
use crate::record_state::{AcknowledgeType, Trigger};
use crate::time::LockTime;

/// What a member says about a range of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcknowledgeBatch<'a> {
    /// First offset.
    pub first: i64,
    /// Last offset.
    pub last: i64,
    /// One [`AcknowledgeType`] id for all offsets, or one for each.
    pub types: &'a [i8],
}

/// What an acknowledgement that is in order will do.
struct Plan {
    changes: Changes,
    /// The member, if records are to be renewed.
    renewer: Option<MemberIndex>,
}

impl<S: InFlightStore> SharePartition<S> {
    /// Acknowledges records that `member` holds. Offsets below the start offset are ignored.
    ///
    /// Returns the token of the write that the member's answer waits for; `None` when there is nothing to write (renewals,
    /// offsets below the start offset).
    ///
    /// # Errors
    /// The request is malformed, a record is not held by the member, or the share partition is not active; then nothing has
    /// changed.
    pub fn acknowledge(
        &mut self,
        member: &str,
        batches: &[AcknowledgeBatch<'_>],
        now: LockTime,
    ) -> Result<Option<WriteToken>, AcknowledgeError> {
        let plan = self.plan_acknowledge(member, batches, now)?;
        self.renew(batches, plan.renewer);
        self.change_acknowledged(batches, Stage::Pending);
        Ok(self.queue_pending(plan.changes))
    }

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
        let plan = self.plan_acknowledge(member, batches, now)?;
        self.renew(batches, plan.renewer);
        if self.may_write_inline(&plan.changes) {
            let change = |sp: &mut Self| sp.change_acknowledged(batches, Stage::Confirmed);
            return Ok(self.write_inline(plan.changes, persister, change));
        }
        self.change_acknowledged(batches, Stage::Pending);
        self.queue_pending(plan.changes);
        Ok(self.settle(persister))
    }

    /// Checks the request whole, and says what it will do.
    fn plan_acknowledge(
        &mut self,
        member: &str,
        batches: &[AcknowledgeBatch<'_>],
        now: LockTime,
    ) -> Result<Plan, AcknowledgeError> {
        self.check_request(member, batches)?;
        self.observe(now);
        let member = self.member(member);
        let mut plan = Plan {
            changes: Changes::default(),
            renewer: None,
        };
        let ascends = batches.is_sorted_by(|a, b| a.last < b.first);
        let below = batches.first().is_some_and(|b| b.first < self.start_offset);
        let in_order =
            ascends && member.is_some_and(|m| self.look(batches, m, &mut plan)) && !below;
        if !in_order {
            self.check_each(batches, member)?;
        }
        let asked = plan.changes.batches.as_slice().len();
        if asked > MAX_STATE_BATCHES_PER_WRITE {
            return Err(AcknowledgeError::TooManyStateBatches {
                asked,
                allowed: MAX_STATE_BATCHES_PER_WRITE,
            });
        }
        Ok(plan)
    }

    /// Whether each offset of the request from the start offset on is a record that `member` may give its type. Holes and what
    /// other members hold are left out of the plan.
    fn look(&self, batches: &[AcknowledgeBatch<'_>], member: MemberIndex, plan: &mut Plan) -> bool {
        let holder = Holder::Member(member);
        let mut all = true;
        let mut parts = Parts::new(batches, self.start_offset);
        while let Some(kind) = parts.next_type() {
            let rule = Rule::new(kind.trigger(), false, &self.config);
            let ranges = parts.of_type(kind);
            all &= if kind == AcknowledgeType::Renew {
                plan.renewer = Some(member);
                let mut renewed = |run: &InFlightRun| rule.change(run);
                self.store.look(ranges, holder, &mut renewed)
                    && self.config.renew_acknowledge_enable
            } else {
                let changes = &mut plan.changes;
                self.store.look(ranges, holder, &mut Pull { rule, changes })
            };
        }
        all
    }

    /// Changes what the request acknowledges, renewals excepted.
    fn change_acknowledged(&mut self, batches: &[AcknowledgeBatch<'_>], stage: Stage) {
        let mut parts = Parts::new(batches, self.start_offset);
        while let Some(kind) = parts.next_type() {
            let ranges = parts.of_type(kind);
            if kind == AcknowledgeType::Renew {
                ranges.for_each(drop);
            } else {
                self.change(ranges, Holder::Anybody, (kind.trigger(), false), stage);
            }
        }
    }

    /// Locks the records that are to be renewed for another full lock duration.
    fn renew(&mut self, batches: &[AcknowledgeBatch<'_>], member: Option<MemberIndex>) {
        let Some(member) = member else { return };
        let mut renewed = 0;
        let mut parts = Parts::new(batches, self.start_offset);
        while let Some(kind) = parts.next_type() {
            for range in parts.of_type(kind) {
                if kind == AcknowledgeType::Renew {
                    renewed += self.take_lock(range, member, Trigger::Renew);
                }
            }
        }
        self.activity.make().tally.rest.make().renewed += renewed;
    }
}
