//! Writes to the persister: handed out as plain data, answered later, in any order.
//!
//! A change that a member waits for is *confirmed*: pending until its write is answered, undone when it is refused. A change
//! that shows at once (a lock time-out, the end of a dead letter) is *noted*: whatever the answer, memory keeps it, and the
//! start offset may advance only then (`SharePartition.writeShareGroupState` and its callers).

use std::collections::{BTreeMap, VecDeque};

use super::SharePartition;
use super::changes::{Changes, GivenUp};
use super::error::UnknownToken;
use crate::in_flight::InFlightStore;
use crate::kafka_code::KafkaCode;
use crate::offset::OffsetRange;
use crate::persister::{MAX_STATE_BATCHES_PER_WRITE, WriteState, WriteToken};
use crate::record_state::Trigger;
use crate::time::LockTime;

/// A write to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingWrite {
    /// Names the write in [`SharePartition::handle_write_result`].
    pub token: WriteToken,
    /// What to write.
    pub state: WriteState,
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

#[derive(Clone, Debug)]
struct UnderWay {
    kind: WriteKind,
    ranges: Vec<OffsetRange>,
    given_up: Vec<GivenUp>,
    /// The limit when the change was made counts for its roll-back too.
    delivery_limit: i16,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    next_token: u64,
    queue: VecDeque<PendingWrite>,
    under_way: BTreeMap<WriteToken, UnderWay>,
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
        self.writes.queue.pop_front()
    }

    /// Number of writes waiting to be handed out.
    #[must_use]
    pub fn writes_to_poll(&self) -> usize {
        self.writes.queue.len()
    }

    /// Number of writes handed out or waiting to be, and not answered.
    #[must_use]
    pub fn writes_under_way(&self) -> usize {
        self.writes.under_way.len()
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
        if !self.writes.under_way.contains_key(&token) {
            return Err(UnknownToken(token.0));
        }
        self.observe(now);
        let Some(write) = self.writes.under_way.remove(&token) else {
            return Err(UnknownToken(token.0));
        };
        let refused = answer != KafkaCode::None;
        if refused {
            self.counters.writes_refused += 1;
        }
        let undone = refused && write.kind == WriteKind::Confirmed;
        if write.kind == WriteKind::Confirmed {
            let trigger = if undone {
                Trigger::Refused
            } else {
                Trigger::Written
            };
            for range in &write.ranges {
                self.end_pending(*range, trigger, write.delivery_limit);
            }
        }
        if !undone {
            self.dead_letters.extend(write.given_up);
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
        while !changes.batches.is_empty() {
            let rest = changes.split(MAX_STATE_BATCHES_PER_WRITE);
            token = Some(self.queue_one(changes, kind));
            changes = rest.unwrap_or_default();
        }
        token
    }

    fn queue_one(&mut self, changes: Changes, kind: WriteKind) -> WriteToken {
        let token = WriteToken(self.writes.next_token);
        self.writes.next_token += 1;
        self.counters.writes += 1;
        self.counters.state_batches_written += changes.batches.len() as u64;
        self.writes.queue.push_back(PendingWrite {
            token,
            state: WriteState {
                state_epoch: self.state_epoch,
                leader_epoch: self.leader_epoch,
                start_offset: self.start_offset,
                delivery_complete_count: i32::try_from(self.delivery_complete_count)
                    .unwrap_or(i32::MAX),
                state_batches: changes.batches,
            },
        });
        let under_way = UnderWay {
            kind,
            ranges: changes.ranges,
            given_up: changes.given_up,
            delivery_limit: self.config.delivery_count_limit,
        };
        self.writes.under_way.insert(token, under_way);
        token
    }
}
