//! The one way of a change that a member waits for: look at the records, then change and write.
//!
//! 1. The look (`InFlightStore::look`) gathers the [`Changes`] and leaves the records as they are.
//! 2. Either the records change as *pending*, and the write is queued: its answer settles them
//!    ([`SharePartition::handle_write_result`]). Or an inline persister is asked first, and the records change as *stable* if
//!    it confirms the write: a refusal leaves everything as it was. If it answers later, they change as pending.
//!
//! An inline write is made only while no other write is under way: the persister sees the writes in the order of the changes.

use crate::kafka_code::KafkaCode;
use crate::offset::OffsetRange;
use crate::partition::in_flight::{Holder, InFlightRun, InFlightStore, MemberIndex};
use crate::partition::record_state::Trigger;
use crate::partition::share_partition::SharePartition;
use crate::partition::share_partition::change::changes::Changes;
use crate::partition::share_partition::change::pending_writes::{WriteHead, WriteKind};
use crate::partition::share_partition::change::pull::{Pull, Rule, Stage};
use crate::partition::share_partition::change::settle::Settlement;
use crate::partition::share_partition::records::activity::Activity;
use crate::persister::{LentWrite, WritePersister, WriteToken};

impl<S: InFlightStore> SharePartition<S> {
    /// Returns `true` if an inline persister may be asked for these changes: it takes one write, after all others.
    pub(in crate::partition::share_partition) fn may_write_inline(
        &self,
        changes: &Changes,
    ) -> bool {
        !changes.is_empty() && changes.fit_one_write() && self.writes_under_way() == 0
    }

    /// Changes the records of `holder` in `ranges`, which were looked at, lie on one side of the start offset and ascend.
    #[inline]
    pub(in crate::partition::share_partition) fn change(
        &mut self,
        ranges: impl Iterator<Item = OffsetRange>,
        holder: Holder,
        (trigger, below_start_offset): (Trigger, bool),
        stage: Stage,
    ) {
        let rule = Rule::new(trigger, below_start_offset, &self.config);
        let mut change = |run: &InFlightRun| rule.change(run, stage);
        self.store.update(ranges, holder, &mut change);
    }

    /// As a look and [`Self::change`] of one range at or after the start offset, by one search where it is one run that `member`
    /// holds. Returns whether all of it was the member's and fits one write; otherwise nothing has changed.
    #[inline]
    pub(in crate::partition::share_partition) fn change_one(
        &mut self,
        (range, trigger): (OffsetRange, Trigger),
        member: MemberIndex,
        changes: &mut Changes,
    ) -> bool {
        let mut pull = Pull {
            rule: Rule::new(trigger, false, &self.config),
            stage: Stage::Unwritten,
            changes,
        };
        let mut is_made = false;
        let confirm = |pull: &mut Pull<'_>, all: bool| {
            is_made = all && pull.changes.fit_one_write();
            is_made
        };
        let holder = Holder::Member(member);
        self.store.update_if(range, holder, &mut pull, confirm);
        is_made
    }

    /// As [`Self::change_one`], with the write between the look and the change. Returns the outcome of the write, if there was one. Of a
    /// write that is answered later nothing is known yet.
    #[inline]
    pub(in crate::partition::share_partition) fn write_one_inline(
        &mut self,
        (range, trigger): (OffsetRange, Trigger),
        member: MemberIndex,
        changes: &mut Changes,
        persister: &mut impl WritePersister,
    ) -> Option<Settlement> {
        let mut pull = Pull {
            rule: Rule::new(trigger, false, &self.config),
            stage: Stage::Confirmed,
            changes,
        };
        let (complete, epochs) = (self.delivery_complete_count, self.epochs());
        let (key, start_offset) = (&self.key, self.start_offset);
        let token = self.next_token();
        let mut taken = None;
        let confirm = |pull: &mut Pull<'_>, all: bool| {
            if !all || !pull.changes.fit_one_write() {
                return false;
            }
            let batches = pull.changes.batches.as_slice();
            let head = WriteHead::new(start_offset, complete + pull.changes.completed);
            let answer = persister.take(LentWrite {
                token,
                is_awaited: true,
                key,
                state: head.write(epochs, batches),
            });
            taken = Some(answer);
            answer == Some(KafkaCode::None)
        };
        let holder = Holder::Member(member);
        self.store.update_if(range, holder, &mut pull, confirm);
        match taken? {
            Some(answer) => Some(self.conclude(answer, changes)),
            None => {
                *changes = Changes::default();
                self.change_one((range, trigger), member, changes);
                Some(self.leave_under_way(token, changes))
            }
        }
    }

    /// Token of the write that is made next.
    fn next_token(&self) -> WriteToken {
        WriteToken(self.activity.get().map_or(0, |a| a.writes.made()))
    }

    /// Queues the write of changes that were made as pending, for a persister that has it already and answers later.
    fn leave_under_way(&mut self, token: WriteToken, changes: &mut Changes) -> Settlement {
        let queued = self.queue_pending(core::mem::take(changes));
        let lent = self.lend_write().map(|write| write.token);
        debug_assert_eq!((queued, lent), (Some(token), Some(token)));
        Settlement::default()
    }

    /// Queues the write of changes that were made as pending.
    pub(in crate::partition::share_partition) fn queue_pending(
        &mut self,
        changes: Changes,
    ) -> Option<WriteToken> {
        self.count(&changes);
        self.queue_write(changes, WriteKind::Confirmed)
    }

    /// Has `persister` write `changes`, which were not made yet, and then makes them with `change`.
    #[inline]
    pub(in crate::partition::share_partition) fn write_inline(
        &mut self,
        changes: &mut Changes,
        persister: &mut impl WritePersister,
        change: impl FnOnce(&mut Self, Stage),
    ) -> Settlement {
        let head = WriteHead::new(
            self.start_offset,
            self.delivery_complete_count + changes.completed,
        );
        let token = self.next_token();
        let Some(answer) = persister.take(LentWrite {
            token,
            is_awaited: true,
            key: &self.key,
            state: head.write(self.epochs(), changes.batches.as_slice()),
        }) else {
            change(self, Stage::Unwritten);
            return self.leave_under_way(token, changes);
        };
        if answer == KafkaCode::None {
            change(self, Stage::Confirmed);
        }
        self.conclude(answer, changes)
    }

    /// Counts changes whose write was answered inside the call, and what follows from them.
    #[inline]
    fn conclude(&mut self, answer: KafkaCode, changes: &mut Changes) -> Settlement {
        let activity = self.activity.make();
        let token = WriteToken(activity.writes.made());
        activity.writes.pass_by();
        let batches = changes.batches.as_slice().len();
        activity.tally.write_batches(batches as u64);
        activity.count_at_limit(changes);
        if answer == KafkaCode::None {
            self.delivery_complete_count += changes.completed;
            activity.count_stable(changes);
            if !changes.given_up.is_empty() {
                self.give_up(core::mem::take(&mut changes.given_up));
            }
            self.advance_start_offset();
        } else {
            activity.note_refusal(token, answer);
        }
        self.unblock();
        self.settled_by(answer)
    }

    /// Counts changes that are made, whether or not their write is answered.
    pub(in crate::partition::share_partition) fn count(&mut self, changes: &Changes) {
        self.delivery_complete_count += changes.completed;
        self.activity.make().count_at_limit(changes);
    }

    /// Counts changes that no refusal undoes any more.
    pub(in crate::partition::share_partition) fn count_stable(&mut self, changes: &Changes) {
        self.activity.make().count_stable(changes);
    }
}

impl Activity {
    #[inline]
    fn count_at_limit(&mut self, changes: &Changes) {
        if changes.at_limit > 0 {
            self.tally.rest.make().delivery_limit_reached += changes.at_limit;
        }
    }

    #[inline]
    fn count_stable(&mut self, changes: &Changes) {
        self.tally.count_stable(&changes.to);
        let [.., acknowledged, _, archived] = changes.to;
        // What was outstanding and is not terminal now still stops the start offset.
        if acknowledged + archived > 0
            && self.front.is_known()
            && let Some(span) = changes.span()
        {
            self.front.doubt(|front| span.contains(front));
        }
    }
}
