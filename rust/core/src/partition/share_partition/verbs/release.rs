//! A member is gone: everything it holds becomes available again (`SharePartition.releaseAcquiredRecords`).
//!
//! Steps:
//! 1. locks that are due run out;
//! 2. the look at what the member holds: records below the start offset are archived, those whose attempts are over are given up,
//!    the others become available;
//! 3. the change and its write (`pipeline.rs`).

use crate::offset::OffsetRange;
use crate::partition::in_flight::{Holder, InFlightStore, MemberIndex};
use crate::partition::record_state::Trigger;
use crate::partition::share_partition::SharePartition;
use crate::partition::share_partition::change::changes::Changes;
use crate::partition::share_partition::change::pull::{Pull, Rule, Stage, cut_all};
use crate::partition::share_partition::change::settle::Settlement;
use crate::persister::WritePersister;
use crate::time::LockTime;

/// Plan of a release.
struct Plan {
    member: MemberIndex,
    /// They cover what the member holds.
    ranges: Vec<OffsetRange>,
    changes: Changes,
}

impl<S: InFlightStore> SharePartition<S> {
    /// Releases every record that `member` holds, when its share session ends or its connection is lost. Records below the
    /// start offset are archived, those at the delivery limit are given up; a record whose acknowledgement is under way is
    /// left to it. Returns the number of records.
    ///
    /// The change is confirmed by its write: until then the records are available to nobody.
    pub fn release(&mut self, member: &str, now: LockTime) -> u64 {
        let Some(plan) = self.plan_release(member, now) else {
            return 0;
        };
        let records = plan.changes.records;
        self.change_released(&plan, Stage::Unwritten);
        self.queue_pending(plan.changes);
        records
    }

    /// Does what [`SharePartition::release`] and then [`SharePartition::settle`] do, in one call and at less cost.
    /// Returns the number of records, and what came of the write.
    pub fn release_and_settle(
        &mut self,
        member: &str,
        now: LockTime,
        persister: &mut impl WritePersister,
    ) -> (u64, Settlement) {
        let Some(mut plan) = self.plan_release(member, now) else {
            return (0, self.settle(persister));
        };
        let records = plan.changes.records;
        if self.may_write_inline(&plan.changes) {
            let mut changes = core::mem::take(&mut plan.changes);
            let change = |sp: &mut Self, stage| sp.change_released(&plan, stage);
            return (records, self.write_inline(&mut changes, persister, change));
        }
        self.change_released(&plan, Stage::Unwritten);
        self.queue_pending(plan.changes);
        (records, self.settle(persister))
    }

    fn plan_release(&mut self, member: &str, now: LockTime) -> Option<Plan> {
        self.observe(now);
        let member = self.member(member)?;
        let (ranges, holder) = (self.store.held_by(member), Holder::Member(member));
        let mut changes = Changes::default();
        let (below, rest) = cut_all(ranges.iter().copied(), self.start_offset);
        let rule = |is_below| Rule::new(Trigger::SessionRelease, is_below, &self.config);
        let mut pull = Pull {
            rule: rule(true),
            stage: Stage::Unwritten,
            changes: &mut changes,
        };
        self.store.look(below, holder, &mut pull);
        pull.rule = rule(false);
        self.store.look(rest, holder, &mut pull);
        Some(Plan {
            member,
            ranges,
            changes,
        })
    }

    fn change_released(&mut self, plan: &Plan, stage: Stage) {
        let (below, rest) = cut_all(plan.ranges.iter().copied(), self.start_offset);
        let holder = Holder::Member(plan.member);
        self.change(below, holder, (Trigger::SessionRelease, true), stage);
        self.change(rest, holder, (Trigger::SessionRelease, false), stage);
    }
}
