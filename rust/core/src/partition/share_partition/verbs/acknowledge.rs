//! Acknowledge: a member says what became of the records it holds (`SharePartition.acknowledge`,
//! `KafkaApis.validateAcknowledgementBatches`).
//!
//! Steps:
//! 1. the form of the request (`acknowledge_check.rs`), and locks that are due run out;
//! 2. the look: are all records the member's, and what changes;
//! 3. renewals count at once (KIP-1222), nothing is written for them;
//! 4. the other records change and are written (`pipeline.rs`).

use crate::offset::OffsetRange;
use crate::partition::in_flight::{Holder, InFlightRun, InFlightStore, MemberIndex};
use crate::partition::record_state::{AcknowledgeType, Trigger};
use crate::partition::share_partition::SharePartition;
use crate::partition::share_partition::change::changes::Changes;
use crate::partition::share_partition::change::pull::{Pull, Rule, Stage};
use crate::partition::share_partition::change::settle::Settlement;
use crate::partition::share_partition::error::AcknowledgeError;
use crate::partition::share_partition::verbs::parts::{AcknowledgeBatch, Parts, equal_at_front};
use crate::persister::{MAX_STATE_BATCHES_PER_WRITE, WritePersister, WriteToken};
use crate::time::LockTime;

/// The type and the range of a request of one batch at or after the start offset, all of one type that is not RENEW: nearly
/// every request is so, and its range is mostly one run, which one search finds for the look and the change.
#[inline]
fn one_part(batches: &[AcknowledgeBatch<'_>], start_offset: i64) -> Option<(OffsetRange, Trigger)> {
    let [AcknowledgeBatch { first, last, types }] = *batches else {
        return None;
    };
    let is_one = types.len() == 1 || equal_at_front(types) == types.len();
    if first < start_offset || !is_one {
        return None;
    }
    let kind = AcknowledgeType::from_id(*types.first()?)?;
    let range = OffsetRange::new(first, last)?;
    (kind != AcknowledgeType::Renew).then_some((range, kind.trigger()))
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
        self.check_request(member, batches)?;
        self.observe(now);
        let member = self.member(member);
        let mut changes = Changes::default();
        if let Some((member, part)) = member.zip(one_part(batches, self.start_offset)) {
            if self.change_one(part, member, &mut changes) {
                return Ok(self.queue_pending(changes));
            }
            changes = Changes::default();
        }
        let parts = self.plan(batches, member, &mut changes)?;
        self.change_acknowledged(parts, Stage::Unwritten);
        Ok(self.queue_pending(changes))
    }

    /// Does what [`SharePartition::acknowledge`] and then [`SharePartition::settle`] do, in one call and at less cost.
    ///
    /// # Errors
    /// As [`SharePartition::acknowledge`]. Locks that have just run out may have left writes then: call
    /// [`SharePartition::settle`].
    pub fn acknowledge_and_settle(
        &mut self,
        member: &str,
        batches: &[AcknowledgeBatch<'_>],
        now: LockTime,
        persister: &mut impl WritePersister,
    ) -> Result<Settlement, AcknowledgeError> {
        self.check_request(member, batches)?;
        self.observe(now);
        let member = self.member(member);
        let mut changes = Changes::default();
        if let Some((member, part)) = member.zip(one_part(batches, self.start_offset))
            && self.writes_under_way() == 0
        {
            let done = self.write_one_inline(part, member, &mut changes, persister);
            if let Some(settlement) = done {
                return Ok(settlement);
            }
            changes = Changes::default();
        }
        let parts = self.plan(batches, member, &mut changes)?;
        if self.may_write_inline(&changes) {
            let change = |sp: &mut Self, stage| sp.change_acknowledged(parts, stage);
            return Ok(self.write_inline(&mut changes, persister, change));
        }
        self.change_acknowledged(parts, Stage::Unwritten);
        self.queue_pending(changes);
        Ok(self.settle(persister))
    }

    /// Checks the records of the request, renews what is to be renewed, and gathers the other changes. Returns the parts of the
    /// request.
    fn plan<'b>(
        &mut self,
        batches: &'b [AcknowledgeBatch<'b>],
        member: Option<MemberIndex>,
        changes: &mut Changes,
    ) -> Result<Parts<'b>, AcknowledgeError> {
        let parts = Parts::new(batches, self.start_offset);
        let in_order = batches.is_sorted_by(|a, b| a.last < b.first)
            && member.is_some_and(|member| self.look(parts.clone(), member, changes));
        if !in_order {
            self.check_each(batches, member)?;
        }
        if !changes.fit_one_write() {
            return Err(AcknowledgeError::TooManyStateBatches {
                asked: changes.batches.as_slice().len(),
                allowed: MAX_STATE_BATCHES_PER_WRITE,
            });
        }
        if let Some(member) = member
            && changes.renews
        {
            self.renew(parts.clone(), member);
        }
        Ok(parts)
    }

    /// Returns `true` if each offset of the request from the start offset on is a record that `member` may give its
    /// type. Holes and what other members hold are left out of the changes.
    fn look(&self, mut parts: Parts<'_>, member: MemberIndex, changes: &mut Changes) -> bool {
        let holder = Holder::Member(member);
        let mut all = true;
        while let Some(kind) = parts.next_type() {
            let rule = Rule::new(kind.trigger(), false, &self.config);
            let stage = Stage::Unwritten;
            let ranges = parts.of_type(kind);
            all &= if kind == AcknowledgeType::Renew {
                changes.renews = true;
                let mut renewed = |run: &InFlightRun| rule.change(run, stage);
                self.config.renew_acknowledge_enable & self.store.look(ranges, holder, &mut renewed)
            } else {
                let mut pull = Pull {
                    rule,
                    stage,
                    changes,
                };
                self.store.look(ranges, holder, &mut pull)
            };
        }
        all
    }

    /// Changes what the request acknowledges, renewals excepted.
    fn change_acknowledged(&mut self, mut parts: Parts<'_>, stage: Stage) {
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
    #[inline(never)]
    fn renew(&mut self, mut parts: Parts<'_>, member: MemberIndex) {
        let mut renewed = 0;
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
