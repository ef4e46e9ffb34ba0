//! Initialisation: turns the persisted state into an active share partition (`SharePartition.maybeInitialize`).
//!
//! Steps:
//! 1. [`SharePartition::begin_initialize`] says what to read;
//! 2. [`SharePartition::initialize`] takes the answer. A state without a start offset waits for
//!    [`SharePartition::resolve_start_offset`];
//! 3. the state is checked whole; each of its batches becomes an in-flight batch, and holes between them are to be read again;
//! 4. the start offset passes what is done at the front.

use crate::delivery::StateBatch;
use crate::kafka_code::KafkaCode;
use crate::offset::{OffsetRange, after_saturating};
use crate::partition::in_flight::InFlightStore;
use crate::partition::record_state::RecordState;
use crate::partition::share_partition::change::changes::GivenUp;
use crate::partition::share_partition::error::{CorruptField, InitializeError};
use crate::partition::share_partition::{
    DeadLetterCause, GapWindow, SharePartition, Status, member_code,
};
use crate::persister::{ReadState, ReadStateResult};
use crate::settings::limits::AutoOffsetReset;

/// Progress of an initialisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initialized {
    /// The share partition is active.
    Active,
    /// The state has no start offset yet: find it by this strategy and call [`SharePartition::resolve_start_offset`].
    NeedsStartOffset(AutoOffsetReset),
}

impl<S: InFlightStore> SharePartition<S> {
    /// Begins the initialisation: what to read from the persister.
    ///
    /// # Errors
    /// It has begun already, or the share partition has failed or is fenced.
    pub fn begin_initialize(&mut self) -> Result<ReadState, InitializeError> {
        if self.status != Status::Empty {
            return Err(InitializeError::Status(self.status));
        }
        self.status = Status::Initializing;
        Ok(ReadState {
            leader_epoch: self.leader_epoch,
        })
    }

    /// Loads the persisted state, whole or not at all.
    ///
    /// Batches may come in any order; they are sorted. Each becomes an in-flight batch. Holes between the start offset and the
    /// last batch are read again ([`GapWindow`]).
    ///
    /// An active share partition stays as it is.
    ///
    /// # Errors
    /// The share partition has failed or is fenced, or the state is corrupt; then it has failed.
    pub fn initialize(&mut self, read: ReadStateResult) -> Result<Initialized, InitializeError> {
        if self.status == Status::Active {
            return Ok(Initialized::Active);
        }
        if !matches!(self.status, Status::Empty | Status::Initializing) {
            return Err(InitializeError::Status(self.status));
        }
        self.status = Status::Initializing;
        if read.start_offset == -1 {
            self.activity.make().occasional.make().unresolved = Some(read);
            return Ok(Initialized::NeedsStartOffset(self.config.auto_offset_reset));
        }
        self.load(read)
    }

    /// Completes the initialisation of a state that had no start offset. The offset is not written back before the first
    /// write of another cause.
    ///
    /// # Errors
    /// No start offset was asked for, or it is negative; the share partition has been initialised, fenced or given up since;
    /// or the state is corrupt.
    pub fn resolve_start_offset(
        &mut self,
        start_offset: i64,
    ) -> Result<Initialized, InitializeError> {
        if start_offset < 0 {
            return Err(InitializeError::Unresolvable { start_offset });
        }
        let unresolved = self
            .occasional_mut()
            .and_then(|occasional| occasional.unresolved.take());
        let Some(read) = unresolved else {
            return Err(InitializeError::Unresolvable { start_offset });
        };
        if self.status != Status::Initializing {
            return Err(InitializeError::Status(self.status));
        }
        self.load(ReadStateResult {
            start_offset,
            ..read
        })
    }

    /// Takes the persister's refusal to read: the share partition has failed. The error carries the code for the member by
    /// [`crate::share_partition::member_code`].
    pub const fn initialize_failed(&mut self, answer: KafkaCode) -> InitializeError {
        self.status = Status::Failed;
        InitializeError::Persister(member_code(answer))
    }

    fn load(&mut self, mut read: ReadStateResult) -> Result<Initialized, InitializeError> {
        if let Err(error) = check(&read) {
            self.status = Status::Failed;
            return Err(error);
        }
        read.state_batches.sort_by_key(|batch| batch.first_offset);
        self.state_epoch = read.state_epoch;
        self.start_offset = read.start_offset;
        self.end_offset = read.start_offset;
        let first_gap = first_gap(&read);
        if first_gap.is_some() {
            // Where batches begin shows while there are gaps to read again.
            self.store.merge_done_batches(false);
        }
        for batch in &read.state_batches {
            let (Some(range), Some(state)) = (
                OffsetRange::new(batch.first_offset, batch.last_offset),
                RecordState::from_id(batch.delivery_state),
            ) else {
                continue;
            };
            self.load_batch(range, state, batch.delivery_count);
            self.end_offset = range.last;
        }
        if let Some(gap_start_offset) = first_gap {
            self.activity.make().occasional.make().gap_window = Some(GapWindow {
                end_offset: self.end_offset,
                gap_start_offset,
            });
        }
        self.status = Status::Active;
        self.advance_start_offset();
        Ok(Initialized::Active)
    }

    fn load_batch(&mut self, range: OffsetRange, state: RecordState, delivery_count: i16) {
        self.store.insert_batch(range, state, delivery_count, None);
        if state.is_terminal() {
            self.delivery_complete_count += range.len();
        }
        if state == RecordState::Archiving {
            // The leader before has not finished with the dead-letter queue. It did not write down why the records were given
            // up; the delivery count is the best witness.
            let cause = if delivery_count >= self.config.delivery_count_limit {
                DeadLetterCause::DeliveryCountExceeded
            } else {
                DeadLetterCause::ClientReject
            };
            self.give_up([GivenUp {
                range,
                delivery_count,
                cause,
            }]);
        }
    }
}

/// Offset of the first hole before a batch; the batches are sorted.
fn first_gap(read: &ReadStateResult) -> Option<i64> {
    let mut expected = read.start_offset;
    read.state_batches.iter().find_map(|batch| {
        let gap_start = expected;
        expected = after_saturating(batch.last_offset);
        (batch.first_offset > gap_start).then_some(gap_start)
    })
}

fn check(read: &ReadStateResult) -> Result<(), InitializeError> {
    let corrupt = |field, index, value| {
        Err(InitializeError::Corrupt {
            field,
            index,
            value,
        })
    };
    if read.state_epoch < 0 {
        return corrupt(CorruptField::StateEpoch, None, i64::from(read.state_epoch));
    }
    if read.start_offset < 0 {
        return corrupt(CorruptField::StartOffset, None, read.start_offset);
    }
    for (index, batch) in read.state_batches.iter().enumerate() {
        if let Some((field, value)) = corrupt_field(batch, read.start_offset) {
            return corrupt(field, Some(index), value);
        }
    }
    // Overlap is a matter of two batches, so it needs the order; the index is the batch's place in the answer.
    let mut order: Vec<usize> = (0..read.state_batches.len()).collect();
    order.sort_by_key(|index| read.state_batches[*index].first_offset);
    for pair in order.windows(2) {
        let (a, b) = (&read.state_batches[pair[0]], &read.state_batches[pair[1]]);
        if b.first_offset <= a.last_offset {
            return corrupt(CorruptField::Overlap, Some(pair[1]), b.first_offset);
        }
    }
    Ok(())
}

fn corrupt_field(batch: &StateBatch, start_offset: i64) -> Option<(CorruptField, i64)> {
    let state = RecordState::from_id(batch.delivery_state);
    if batch.last_offset < batch.first_offset || batch.last_offset == i64::MAX {
        Some((CorruptField::LastOffset, batch.last_offset))
    } else if batch.first_offset < start_offset {
        Some((CorruptField::FirstOffset, batch.first_offset))
    } else if matches!(state, None | Some(RecordState::Acquired)) {
        Some((CorruptField::DeliveryState, i64::from(batch.delivery_state)))
    } else if batch.delivery_count < i16::from(state != Some(RecordState::Archived)) {
        // Only a record that was never delivered, and then archived, has the count 0.
        Some((CorruptField::DeliveryCount, i64::from(batch.delivery_count)))
    } else {
        None
    }
}
