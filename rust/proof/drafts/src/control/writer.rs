//! The leader's side: from what has changed to the control record to append.

use share_state_core::persister::WriteState;
use share_state_core::state_batch::StateBatch;

use super::{ControlBody, ControlRecord, ControlRecovery};
use crate::effective::EffectiveState;
use crate::error::{CheckpointEpochExhausted, next_epoch};
use crate::states::as_written;

/// Writes the control records of one share group in one data partition.
#[derive(Clone, Debug)]
pub struct ControlWriter {
    group: String,
    checkpoint_epoch: u32,
    state: EffectiveState,
    /// Deltas since the last checkpoint.
    deltas: u32,
    deltas_per_checkpoint: u32,
}

impl ControlWriter {
    /// Begins with a checkpoint of epoch 0, the record to append. `deltas_per_checkpoint` is how many deltas may follow a
    /// checkpoint; 0 makes every write a checkpoint.
    #[must_use]
    pub fn begin(
        group: &str,
        start_offset: i64,
        deltas_per_checkpoint: u32,
    ) -> (Self, ControlRecord) {
        let writer = Self {
            group: group.to_owned(),
            checkpoint_epoch: 0,
            state: EffectiveState::new(start_offset, &[]),
            deltas: 0,
            deltas_per_checkpoint,
        };
        let record = writer.checkpoint();
        (writer, record)
    }

    /// Goes on as a new leader after its recovery: with a checkpoint of the next epoch, so that no delta of the leader before counts
    /// from then on. `None` for a group without a checkpoint.
    ///
    /// # Errors
    /// The checkpoint has no epoch left.
    pub fn resume(
        recovery: &ControlRecovery,
        group: &str,
        deltas_per_checkpoint: u32,
    ) -> Result<Option<(Self, ControlRecord)>, CheckpointEpochExhausted> {
        let state = recovery.state(group);
        let Some((state, epoch)) = state.zip(recovery.checkpoint_epoch(group)) else {
            return Ok(None);
        };
        let writer = Self {
            group: group.to_owned(),
            checkpoint_epoch: next_epoch(epoch, u32::MAX)?,
            state: state.clone(),
            deltas: 0,
            deltas_per_checkpoint,
        };
        let record = writer.checkpoint();
        Ok(Some((writer, record)))
    }

    /// The record for a change: a delta, or a checkpoint when it is time or when the start offset moved further than the states
    /// tell. A delta cannot say that, for example after the log start has moved.
    ///
    /// # Errors
    /// A checkpoint has no epoch left. Nothing has changed.
    pub fn write(
        &mut self,
        change: &WriteState,
    ) -> Result<ControlRecord, CheckpointEpochExhausted> {
        let states = change.state_batches.iter().copied().map(as_written);
        let states: Vec<StateBatch> = states.collect();
        let mut next = self.state.clone();
        next.apply(-1, &states);
        let told = next.start_offset();
        next.apply(change.start_offset, &[]);
        if next.start_offset() == told && self.deltas < self.deltas_per_checkpoint {
            self.state = next;
            self.deltas += 1;
            return Ok(self.record(ControlBody::Delta { states }));
        }
        self.checkpoint_epoch = next_epoch(self.checkpoint_epoch, u32::MAX)?;
        self.state = next;
        self.deltas = 0;
        Ok(self.checkpoint())
    }

    fn checkpoint(&self) -> ControlRecord {
        self.record(ControlBody::Checkpoint {
            start_offset: self.state.start_offset(),
            end_offset: self.state.end_offset(),
            states: self.state.states(),
        })
    }

    fn record(&self, body: ControlBody) -> ControlRecord {
        ControlRecord {
            group: self.group.clone(),
            checkpoint_epoch: self.checkpoint_epoch,
            body,
        }
    }
}
