//! Writes to the persister: handed out as plain data, answered later, in any order.
//!
//! A change that a member waits for is *confirmed*: pending until its write is answered, undone when it is refused. A change
//! that shows at once (a lock time-out, the end of a dead letter) is *noted*: whatever the answer, memory keeps it, and the
//! start offset may advance only then (`SharePartition.writeShareGroupState` and its callers).

use crate::delivery::StateBatch;
use crate::kafka_code::KafkaCode;
use crate::offset::OffsetRange;
use crate::partition::in_flight::InFlightStore;
use crate::partition::record_state::Trigger;
use crate::partition::share_partition::SharePartition;
use crate::partition::share_partition::change::changes::Changes;
use crate::partition::share_partition::change::pending_writes::{
    Epochs, UnderWay, WriteHead, WriteKind,
};
use crate::partition::share_partition::error::UnknownToken;
use crate::persister::{LentWrite, MAX_STATE_BATCHES_PER_WRITE, WriteState, WriteToken};
use crate::time::LockTime;

/// A write to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingWrite {
    /// Names the write in [`SharePartition::handle_write_result`].
    pub token: WriteToken,
    /// Contents of the write.
    pub state: WriteState,
}

/// Meaning of the answer to a write for those around the share partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteAnswer {
    /// The code for the member that waits for the write.
    pub member_code: KafkaCode,
    /// The share partition is fenced by it: drop it, and read the state again with another
    /// (`SharePartitionManager.handleFencedSharePartitionException`).
    pub fences: bool,
}

/// The offsets of state batches, neighbours joined.
#[derive(Clone)]
struct Ranges<'a>(&'a [StateBatch]);

impl Iterator for Ranges<'_> {
    type Item = OffsetRange;

    fn next(&mut self) -> Option<OffsetRange> {
        let (first, mut later) = self.0.split_first()?;
        let mut range = OffsetRange::new(first.first_offset, first.last_offset)?;
        while let Some((next, others)) = later.split_first()
            && range.is_followed_by(next.first_offset)
        {
            (range.last, later) = (next.last_offset, others);
        }
        self.0 = later;
        Some(range)
    }

    /// Nearly every write has one batch, and stores ask for that.
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.0.len()))
    }
}

/// The code that a member sees for an error of the persister (`SharePartition.fetchPersisterError`).
#[must_use]
pub const fn member_code(persister: KafkaCode) -> KafkaCode {
    match persister {
        KafkaCode::None => KafkaCode::None,
        KafkaCode::NotCoordinator
        | KafkaCode::CoordinatorNotAvailable
        | KafkaCode::CoordinatorLoadInProgress => KafkaCode::CoordinatorNotAvailable,
        KafkaCode::GroupIdNotFound => KafkaCode::GroupIdNotFound,
        KafkaCode::UnknownTopicOrPartition => KafkaCode::UnknownTopicOrPartition,
        KafkaCode::FencedLeaderEpoch | KafkaCode::FencedStateEpoch => {
            KafkaCode::NotLeaderOrFollower
        }
        _ => KafkaCode::UnknownServerError,
    }
}

impl WriteAnswer {
    const fn of(persister: KafkaCode) -> Self {
        let member_code = member_code(persister);
        Self {
            member_code,
            fences: matches!(
                member_code,
                KafkaCode::NotLeaderOrFollower
                    | KafkaCode::GroupIdNotFound
                    | KafkaCode::UnknownTopicOrPartition
            ),
        }
    }
}

impl<S: InFlightStore> SharePartition<S> {
    /// The next write to make, oldest first.
    pub fn poll_write(&mut self) -> Option<PendingWrite> {
        self.lend_write().map(|write| PendingWrite {
            token: write.token,
            state: write.state.to_write_state(),
        })
    }

    /// The next write to make, oldest first, lent instead of copied; it counts as handed out, as with
    /// [`SharePartition::poll_write`].
    pub fn lend_write(&mut self) -> Option<LentWrite<'_>> {
        let epochs = self.epochs();
        let write = self.activity.get_mut()?.writes.hand_out()?;
        Some(LentWrite {
            token: write.token,
            is_awaited: write.kind == WriteKind::Confirmed,
            key: &self.key,
            state: write.write(epochs),
        })
    }

    pub(in crate::partition::share_partition) const fn epochs(&self) -> Epochs {
        Epochs {
            state_epoch: self.state_epoch,
            leader_epoch: self.leader_epoch,
        }
    }

    /// Number of writes waiting to be handed out.
    #[inline]
    #[must_use]
    pub fn writes_to_poll(&self) -> usize {
        self.activity.get().map_or(0, |a| a.writes.to_hand_out())
    }

    /// Number of writes handed out or waiting to be, and not answered.
    #[must_use]
    pub fn writes_under_way(&self) -> usize {
        self.activity.get().map_or(0, |a| a.writes.under_way())
    }

    /// Takes the persister's answer to a write: [`KafkaCode::None`], or the error.
    ///
    /// # Errors
    /// No such write is under way.
    pub fn handle_write_result(
        &mut self,
        token: WriteToken,
        answer: KafkaCode,
        now: LockTime,
    ) -> Result<WriteAnswer, UnknownToken> {
        if self.place(token).is_some() {
            self.observe(now);
        }
        self.take_answer(token, answer)
    }

    fn place(&self, token: WriteToken) -> Option<usize> {
        self.activity.get()?.writes.place(token)
    }

    /// As [`Self::handle_write_result`], as of the latest time seen.
    pub(in crate::partition::share_partition) fn take_answer(
        &mut self,
        token: WriteToken,
        answer: KafkaCode,
    ) -> Result<WriteAnswer, UnknownToken> {
        let unknown = UnknownToken(token.0);
        let place = self.place(token).ok_or(unknown)?;
        let activity = self.activity.make();
        let (kind, delivery_limit, batches) = activity.writes.answer(place).ok_or(unknown)?;
        let refused = answer != KafkaCode::None;
        if refused {
            activity.note_refusal(token, answer);
        }
        let undone = refused && kind == WriteKind::Confirmed;
        if kind == WriteKind::Confirmed {
            let trigger = if undone {
                Trigger::Refused
            } else {
                Trigger::Written
            };
            self.end_pending(Ranges(batches.as_slice()), trigger, delivery_limit);
        }
        if let Some(occasional) = self.occasional_mut() {
            occasional.dead_letters.written(token, undone);
        }
        if !undone {
            self.advance_start_offset();
        }
        self.unblock();
        Ok(self.answered(answer))
    }

    /// Returns what the answer to a write means; one by which another leader or state shows itself fences the share
    /// partition, as Kafka's manager does with it (deliberate difference S9).
    #[inline]
    pub(in crate::partition::share_partition) const fn answered(
        &mut self,
        persister: KafkaCode,
    ) -> WriteAnswer {
        let answer = WriteAnswer::of(persister);
        if answer.fences {
            self.fence();
        }
        answer
    }

    /// Queues the changes as one write, or as several when they exceed what one write may carry. Returns the token of the
    /// last, or `None` when nothing changed.
    pub(in crate::partition::share_partition) fn queue_write(
        &mut self,
        mut changes: Changes,
        kind: WriteKind,
    ) -> Option<WriteToken> {
        while let Some(rest) = changes.split(MAX_STATE_BATCHES_PER_WRITE) {
            self.queue_one(changes, kind);
            changes = rest;
        }
        (!changes.is_empty()).then(|| self.queue_one(changes, kind))
    }

    fn queue_one(&mut self, changes: Changes, kind: WriteKind) -> WriteToken {
        let head = WriteHead::new(self.start_offset, self.delivery_complete_count);
        let activity = self.activity.make();
        let batches = changes.batches.as_slice().len();
        debug_assert!(
            (1..=MAX_STATE_BATCHES_PER_WRITE).contains(&batches),
            "{batches} state batches in one write"
        );
        debug_assert!(
            changes.ascend(),
            "the state batches of a write ascend and are disjoint"
        );
        activity.tally.write_batches(batches as u64);
        let token = activity.writes.queue(UnderWay {
            token: WriteToken(0),
            batches: changes.batches,
            start_offset: head.start_offset,
            delivery_complete_count: head.delivery_complete_count,
            delivery_limit: self.config.delivery_count_limit,
            kind,
            is_answered: false,
        });
        if !changes.given_up.is_empty() {
            let dead_letters = &mut activity.occasional.make().dead_letters;
            dead_letters.wait_for(token, changes.given_up);
        }
        token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_range_and_there_are_no_more_than_batches() {
        let batch = |first_offset, last_offset, delivery_state| StateBatch {
            first_offset,
            last_offset,
            delivery_state,
            delivery_count: 1,
        };
        let batches = [batch(0, 4, 2), batch(5, 9, 4), batch(11, 14, 2)];
        let ranges = Ranges(&batches);
        assert_eq!(ranges.size_hint(), (0, Some(3)));
        let ends: Vec<_> = ranges.map(|range| (range.first, range.last)).collect();
        assert_eq!(ends, [(0, 9), (11, 14)]);
    }
}
