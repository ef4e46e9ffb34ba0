//! The one way of a change that a member waits for: look at the records, then change and write.
//!
//! 1. The look (`InFlightStore::look`) gathers the [`Changes`] and leaves the records as they are.
//! 2. Either the records change as *pending*, and the write is queued: its answer settles them
//!    ([`SharePartition::handle_write_result`]). Or an inline persister is asked first, and the records change as *settled* if
//!    it confirms the write: a refusal leaves everything as it was.
//!
//! An inline write is made only while no other write is under way: the persister sees the writes in the order of the changes.

use super::SharePartition;
use super::changes::Changes;
use super::pending_writes::WriteKind;
use super::pull::Rule;
use super::settle::Settlement;
use crate::in_flight::{Holder, InFlightRun, InFlightStore};
use crate::inline_persister::InlinePersister;
use crate::kafka_code::KafkaCode;
use crate::offset::OffsetRange;
use crate::persister::{MAX_STATE_BATCHES_PER_WRITE, WriteToken};
use crate::record_state::{RecordState, Trigger};

/// How far a change goes when the records change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its write is queued.
    Pending,
    /// Its write is confirmed.
    Confirmed,
}

impl<S: InFlightStore> SharePartition<S> {
    /// Whether an inline persister may be asked for these changes: it takes one write, after all others.
    pub(super) fn may_write_inline(&self, changes: &Changes) -> bool {
        let batches = changes.batches.as_slice().len();
        (1..=MAX_STATE_BATCHES_PER_WRITE).contains(&batches) && self.writes_under_way() == 0
    }

    /// Changes the records of `holder` in `ranges`, which were looked at, lie on one side of the start offset and ascend.
    #[inline]
    pub(super) fn change(
        &mut self,
        ranges: impl Iterator<Item = OffsetRange>,
        holder: Holder,
        (trigger, below_start_offset): (Trigger, bool),
        stage: Stage,
    ) {
        let rule = Rule::new(trigger, below_start_offset, &self.config);
        let store = &mut self.store;
        match stage {
            Stage::Pending => {
                store.update(ranges, holder, &mut |run: &InFlightRun| rule.change(run));
            }
            Stage::Confirmed => {
                let mut change = |run: &InFlightRun| rule.confirmed_change(run);
                store.update(ranges, holder, &mut change);
            }
        }
    }

    /// Queues the write of changes that were made as pending.
    pub(super) fn queue_pending(&mut self, changes: Changes) -> Option<WriteToken> {
        self.count(&changes);
        self.queue_write(changes, WriteKind::Confirmed)
    }

    /// Has `persister` write `changes`, which were not made yet, and then makes them with `change`.
    pub(super) fn write_inline(
        &mut self,
        mut changes: Changes,
        persister: &mut impl InlinePersister,
        change: impl FnOnce(&mut Self),
    ) -> Settlement {
        let given_up = core::mem::take(&mut changes.given_up);
        let complete = self.delivery_complete_count + changes.completed;
        let write = self.under_way(core::mem::take(&mut changes.batches), complete);
        let answer = persister.write_state(&self.key, write.state(self.epochs()));
        let activity = self.activity.make();
        activity.writes.pass_by();
        activity
            .tally
            .write_batches(write.batches.as_slice().len() as u64);
        changes.batches = write.batches;
        if answer == KafkaCode::None {
            change(self);
            self.count(&changes);
            self.count_settled(&changes);
            if !given_up.is_empty() {
                self.give_up(given_up);
            }
            self.advance_start_offset();
        } else {
            let rest = activity.tally.rest.make();
            rest.writes_refused += 1;
            rest.delivery_limit_reached += changes.at_limit;
        }
        self.unblock();
        self.settled_by(answer)
    }

    /// Counts changes that are made, whether or not their write is answered.
    pub(super) fn count(&mut self, changes: &Changes) {
        self.delivery_complete_count += changes.completed;
        if changes.at_limit > 0 {
            let rest = self.activity.make().tally.rest.make();
            rest.delivery_limit_reached += changes.at_limit;
        }
    }

    /// Counts changes that no refusal undoes any more.
    pub(super) fn count_settled(&mut self, changes: &Changes) {
        let activity = self.activity.make();
        for state in RecordState::ALL {
            activity.tally.settle(state, changes.to[state as usize]);
        }
        let settled = RecordState::ALL.into_iter().filter(|s| s.is_terminal());
        // What was unsettled and is not terminal now still stops the start offset.
        if settled.map(|s| changes.to[s as usize]).sum::<u64>() > 0
            && let Some(span) = changes.span()
        {
            activity.front.doubt(|front| span.contains(front));
        }
    }
}
