//! State that a share-partition leader makes of the control records of its log, record by record, and the records that the log
//! cleaner may take: those below the Earliest Share Offset.
//!
//! A group that writes no checkpoint holds the offset back for all groups of the partition, and with it every control record
//! after. That is a weakness of this form: control records outlive the records that they are about.

use std::collections::BTreeMap;

use super::{ControlBody, ControlRecord};
use crate::effective::EffectiveState;

/// The share groups of one data partition, as its control records tell them.
#[derive(Clone, Debug, Default)]
pub struct ControlRecovery {
    groups: BTreeMap<String, Group>,
}

#[derive(Clone, Debug)]
struct Group {
    /// Share Checkpoint Offset: where the latest checkpoint stands in the log.
    checkpoint_offset: i64,
    checkpoint_epoch: u32,
    state: EffectiveState,
}

impl ControlRecovery {
    /// State without any record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the record at `offset` of the log, which is above those before it. Returns `false` for a delta without effect: no
    /// checkpoint of its group and its epoch is the latest.
    pub fn replay(&mut self, offset: i64, record: &ControlRecord) -> bool {
        match &record.body {
            ControlBody::Checkpoint {
                start_offset,
                states,
                ..
            } => {
                let group = Group {
                    checkpoint_offset: offset,
                    checkpoint_epoch: record.checkpoint_epoch,
                    state: EffectiveState::new(*start_offset, states),
                };
                self.groups.insert(record.group.clone(), group);
                true
            }
            ControlBody::Delta { states } => {
                let group = self.groups.get_mut(&record.group);
                let group = group.filter(|g| g.checkpoint_epoch == record.checkpoint_epoch);
                let Some(group) = group else {
                    return false;
                };
                group.state.apply(-1, states);
                true
            }
        }
    }

    /// The state of a share group.
    #[must_use]
    pub fn state(&self, group: &str) -> Option<&EffectiveState> {
        self.groups.get(group).map(|group| &group.state)
    }

    /// Epoch of the latest checkpoint of a group.
    #[must_use]
    pub fn checkpoint_epoch(&self, group: &str) -> Option<u32> {
        self.groups.get(group).map(|group| group.checkpoint_epoch)
    }

    /// Share Checkpoint Offset of a group: recovery begins there.
    #[must_use]
    pub fn share_checkpoint_offset(&self, group: &str) -> Option<i64> {
        self.groups.get(group).map(|group| group.checkpoint_offset)
    }

    /// Earliest Share Offset: the lowest Share Checkpoint Offset. No group needs a control record below it.
    #[must_use]
    pub fn earliest_share_offset(&self) -> Option<i64> {
        let offsets = self.groups.values().map(|group| group.checkpoint_offset);
        offsets.min()
    }
}

/// A control record with its offset in the log of the data partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedControl {
    /// Its offset.
    pub offset: i64,
    /// The record.
    pub record: ControlRecord,
}

/// Takes from `log`, which is in the order of the offsets, what no group needs. Returns the number of records taken.
///
/// Only records below the Earliest Share Offset go. Within what stays, older checkpoints and deltas of other groups remain.
pub fn clean(log: &mut Vec<LoggedControl>) -> usize {
    let mut recovery = ControlRecovery::new();
    for LoggedControl { offset, record } in &*log {
        recovery.replay(*offset, record);
    }
    let before = log.len();
    if let Some(earliest) = recovery.earliest_share_offset() {
        log.retain(|logged| logged.offset >= earliest);
    }
    before - log.len()
}
