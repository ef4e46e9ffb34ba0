//! The coordinator's side: from a write to the record to append.

use share_state_core::ids::SharePartitionKey;
use share_state_core::persister::WriteState;
use share_state_core::state_batch::StateBatch;

use super::{CheckpointEpochWidth, StateKey, StateRecord, StateReplay, StateValue};
use crate::effective::EffectiveState;
use crate::error::{CheckpointEpochExhausted, next_epoch};
use crate::states::as_written;

/// Writes the records of one share partition.
#[derive(Clone, Debug)]
pub struct StateWriter {
    share_partition: SharePartitionKey,
    width: CheckpointEpochWidth,
    state_epoch: u32,
    checkpoint_epoch: u32,
    state: EffectiveState,
    /// Index of the next delta; `None` when the indexes are used up.
    next_index: Option<u8>,
    deltas_per_checkpoint: u16,
}

impl StateWriter {
    /// Initialises the state with a checkpoint of epoch 0, the record to append. `deltas_per_checkpoint` is how many deltas may
    /// follow a checkpoint; 0 makes every write a checkpoint, and an index has room for no more than 256.
    #[must_use]
    pub fn begin(
        share_partition: SharePartitionKey,
        state_epoch: u32,
        start_offset: i64,
        width: CheckpointEpochWidth,
        deltas_per_checkpoint: u16,
    ) -> (Self, StateRecord) {
        let writer = Self {
            share_partition,
            width,
            state_epoch,
            checkpoint_epoch: 0,
            state: EffectiveState::new(start_offset, &[]),
            next_index: Some(0),
            deltas_per_checkpoint,
        };
        let record = writer.checkpoint();
        (writer, record)
    }

    /// Goes on as a new coordinator after its replay: with a checkpoint of the next epoch. `None` for a share partition without
    /// state.
    ///
    /// # Errors
    /// The checkpoint has no epoch left.
    pub fn resume(
        replay: &StateReplay,
        share_partition: SharePartitionKey,
        width: CheckpointEpochWidth,
        deltas_per_checkpoint: u16,
    ) -> Result<Option<(Self, StateRecord)>, CheckpointEpochExhausted> {
        let checkpoint = replay.checkpoint(&share_partition);
        let Some((state, checkpoint)) = replay.state(&share_partition).zip(checkpoint) else {
            return Ok(None);
        };
        let writer = Self {
            share_partition,
            width,
            state_epoch: checkpoint.state_epoch,
            checkpoint_epoch: next_epoch(checkpoint.checkpoint_epoch, width.last_epoch())?,
            state,
            next_index: Some(0),
            deltas_per_checkpoint,
        };
        let record = writer.checkpoint();
        Ok(Some((writer, record)))
    }

    /// The record for a change: a delta, or a checkpoint when it is time. The start offset is the one *after* the change, so what
    /// it passes is not written.
    ///
    /// # Errors
    /// A checkpoint has no epoch left. Nothing has changed.
    pub fn write(&mut self, change: &WriteState) -> Result<StateRecord, CheckpointEpochExhausted> {
        let states = change.state_batches.iter().copied().map(as_written);
        let states: Vec<StateBatch> = states.collect();
        let mut next = self.state.clone();
        next.apply(change.start_offset, &states);
        let index = self.next_index;
        let index = index.filter(|index| u16::from(*index) < self.deltas_per_checkpoint);
        let Some(index) = index else {
            self.checkpoint_epoch = next_epoch(self.checkpoint_epoch, self.width.last_epoch())?;
            self.state = next;
            self.next_index = Some(0);
            return Ok(self.checkpoint());
        };
        let start_offset = next.start_offset();
        let moved = start_offset != self.state.start_offset();
        let after = |state: StateBatch| {
            let first_offset = state.first_offset.max(start_offset);
            (first_offset <= state.last_offset).then_some(StateBatch {
                first_offset,
                ..state
            })
        };
        let value = StateValue {
            state_epoch: self.state_epoch,
            checkpoint_epoch: self.checkpoint_epoch,
            start_offset: if moved { start_offset } else { -1 },
            states: states.into_iter().filter_map(after).collect(),
        };
        self.state = next;
        self.next_index = index.checked_add(1);
        Ok(self.record(Some(index), value))
    }

    fn checkpoint(&self) -> StateRecord {
        let value = StateValue {
            state_epoch: self.state_epoch,
            checkpoint_epoch: self.checkpoint_epoch,
            start_offset: self.state.start_offset(),
            states: self.state.states(),
        };
        self.record(None, value)
    }

    fn record(&self, delta_index: Option<u8>, value: StateValue) -> StateRecord {
        StateRecord {
            key: StateKey {
                share_partition: self.share_partition.clone(),
                delta_index,
            },
            value: Some(value),
        }
    }
}
