//! Writes to the persister: handed out as plain data, answered later, in any order.
//!
//! A change that a member waits for is *confirmed*: pending until its write is answered, undone when it is refused. A change
//! that shows at once (a lock time-out, the end of a dead letter) is *noted*: whatever the answer, memory keeps it, and the
//! start offset may advance only then (`SharePartition.writeShareGroupState` and its callers).

use super::SharePartition;
use super::changes::{Changes, GivenUp};
use super::error::UnknownToken;
use super::few::Few;
use super::pending_writes::UnderWay;
use crate::in_flight::InFlightStore;
use crate::kafka_code::KafkaCode;
use crate::offset::OffsetRange;
use crate::persister::{MAX_STATE_BATCHES_PER_WRITE, WriteState, WriteToken};
use crate::record_state::Trigger;
use crate::state_batch::StateBatch;
use crate::time::LockTime;

/// A write to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingWrite {
    /// Names the write in [`SharePartition::handle_write_result`].
    pub token: WriteToken,
    /// What to write.
    pub state: WriteState,
}

/// A write to be made, as [`PendingWrite`], lent for as long as it takes to encode it; the fields are those of
/// [`WriteState`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LentWrite<'a> {
    /// Names the write in [`SharePartition::handle_write_result`].
    pub token: WriteToken,
    /// Epoch of the state that the writer has read.
    pub state_epoch: i32,
    /// Epoch of the leader that writes.
    pub leader_epoch: i32,
    /// Start offset at the time of the change.
    pub start_offset: i64,
    /// Terminal records at or behind the start offset at the time of the change.
    pub delivery_complete_count: i32,
    /// What changed.
    pub state_batches: &'a [StateBatch],
}

impl LentWrite<'_> {
    /// The write as data of its own.
    #[must_use]
    pub fn to_pending_write(&self) -> PendingWrite {
        PendingWrite {
            token: self.token,
            state: WriteState {
                state_epoch: self.state_epoch,
                leader_epoch: self.leader_epoch,
                start_offset: self.start_offset,
                delivery_complete_count: self.delivery_complete_count,
                state_batches: self.state_batches.to_vec(),
            },
        }
    }
}

/// What the answer to a write means for those around the share partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteAnswer {
    /// The code for the member that waits for the write.
    pub member_code: KafkaCode,
    /// The leader must fence and drop the share partition and read its state anew
    /// (`SharePartitionManager.handleFencedSharePartitionException`).
    pub fences: bool,
}

/// Whether a refusal undoes the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteKind {
    Confirmed,
    Noted,
}

/// What a write changes.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// One run, as most do.
    Run(StateBatch),
    /// Anything else.
    Runs(Box<(Vec<StateBatch>, Vec<GivenUp>)>),
}

impl Content {
    fn of(changes: Changes) -> Self {
        match changes.batches {
            Few::One(batch) if changes.given_up.is_empty() => Self::Run(batch),
            Few::One(batch) => Self::Runs(Box::new((vec![batch], changes.given_up))),
            Few::Many(batches) => Self::Runs(Box::new((batches, changes.given_up))),
        }
    }

    pub(super) fn batches(&self) -> &[StateBatch] {
        match self {
            Self::Run(batch) => std::slice::from_ref(batch),
            Self::Runs(runs) => &runs.0,
        }
    }

    fn into_given_up(self) -> Vec<GivenUp> {
        match self {
            Self::Run(_) => Vec::new(),
            Self::Runs(runs) => runs.1,
        }
    }
}

/// The offsets of `batches`, neighbours joined.
fn ranges(batches: &[StateBatch]) -> impl Iterator<Item = OffsetRange> {
    let touch = |a: &StateBatch, b: &StateBatch| {
        let a = OffsetRange::new(a.first_offset, a.last_offset);
        a.is_some_and(|a| a.is_followed_by(b.first_offset))
    };
    batches
        .chunk_by(touch)
        .filter_map(|run| OffsetRange::new(run.first()?.first_offset, run.last()?.last_offset))
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
        self.lend_write().map(|write| write.to_pending_write())
    }

    /// The next write to make, oldest first, lent instead of copied; it counts as handed out, as with
    /// [`SharePartition::poll_write`].
    pub fn lend_write(&mut self) -> Option<LentWrite<'_>> {
        let (state_epoch, leader_epoch) = (self.state_epoch, self.leader_epoch);
        let write = self.activity.get_mut()?.writes.hand_out()?;
        Some(LentWrite {
            token: write.token,
            state_epoch,
            leader_epoch,
            start_offset: write.start_offset,
            delivery_complete_count: write.delivery_complete_count,
            state_batches: write.content.batches(),
        })
    }

    /// Number of writes waiting to be handed out.
    #[must_use]
    pub fn writes_to_poll(&self) -> usize {
        self.writes.queue.len()
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
        let unknown = UnknownToken(token.0);
        if !self.activity.get().is_some_and(|a| a.writes.knows(token)) {
            return Err(unknown);
        }
        self.observe(now);
        let activity = self.activity.make();
        let write = activity.writes.answered(token).ok_or(unknown)?;
        let refused = answer != KafkaCode::None;
        if refused {
            activity.tally.rest.make().writes_refused += 1;
        }
        let undone = refused && write.kind == WriteKind::Confirmed;
        if write.kind == WriteKind::Confirmed {
            let trigger = if undone {
                Trigger::Refused
            } else {
                Trigger::Written
            };
            for range in ranges(write.content.batches()) {
                self.end_pending(range, trigger, write.delivery_limit);
            }
        }
        if !undone {
            let given_up = write.content.into_given_up();
            if !given_up.is_empty() {
                self.rare.make().dead_letters.extend(given_up);
            }
            self.advance_start_offset();
        }
        self.unblock();
        Ok(WriteAnswer::of(answer))
    }

    /// Queues the changes as one write, or as several when they exceed what one write may carry. Returns the token of the
    /// last, or `None` when nothing changed.
    pub(super) fn queue_write(
        &mut self,
        mut changes: Changes,
        kind: WriteKind,
    ) -> Option<WriteToken> {
        let mut token = None;
        while !changes.batches.as_slice().is_empty() {
            let rest = changes.split(MAX_STATE_BATCHES_PER_WRITE);
            token = Some(self.queue_one(changes, kind));
            changes = rest.unwrap_or_default();
        }
        token
    }

    fn queue_one(&mut self, changes: Changes, kind: WriteKind) -> WriteToken {
        let activity = self.activity.make();
        let batches = changes.batches.as_slice().len();
        activity.tally.state_batches_written += batches as u64;
        activity.writes.queue(|token| UnderWay {
            token,
            content: Content::of(changes),
            start_offset: self.start_offset,
            delivery_complete_count: i32::try_from(self.delivery_complete_count)
                .unwrap_or(i32::MAX),
            delivery_limit: self.config.delivery_count_limit,
            kind,
            is_answered: false,
        })
    }
}
