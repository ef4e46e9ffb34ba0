//! The only change of a coordinator (Kafka: `ShareCoordinatorShard.replay`).

use super::ShareCoordinator;
use crate::ids::SharePartitionKey;
use crate::records::{ShareRecord, ShareValue};
use crate::state::group_offset::ShareGroupOffset;

/// Summary of the records of one key.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyState {
    /// The folded state. A key stays in the map only as long as it has one.
    pub state: Option<ShareGroupOffset>,
    /// Highest leader epoch of any record.
    pub leader_epoch: Option<i32>,
    /// Highest state epoch of any snapshot.
    pub state_epoch: Option<i32>,
    /// Updates since the last snapshot that was due.
    pub updates: u32,
}

impl ShareCoordinator {
    /// Applies the record at `offset` of the log. Every record replays: damage that no broker writes, such as an
    /// inverted batch, covers nothing, and a tombstone of an unknown key changes nothing.
    ///
    /// The epochs that fence are maxima over the records replayed; after a re-initialisation and a prune of the records
    /// below it, a coordinator loads with the lower leader epoch of the snapshot, until a leader reads.
    pub fn replay(&mut self, offset: i64, record: &ShareRecord) {
        self.replay_value(offset, &record.key, &record.value);
    }

    /// As [`ShareCoordinator::replay`], for a loader that keeps key and value apart.
    pub fn replay_value(&mut self, offset: i64, key: &SharePartitionKey, value: &ShareValue) {
        match value {
            ShareValue::Tombstone => {
                self.keys.remove(key);
                self.redundant.update(key, offset, true);
                return;
            }
            ShareValue::Snapshot(_) => self.redundant.update(key, offset, false),
            ShareValue::Update(_) => {}
        }
        let due = self.config.snapshot_update_records_per_snapshot;
        match self.keys.get_mut(key) {
            Some(known) => known.replay(value, due),
            None => {
                let mut known = KeyState::default();
                known.replay(value, due);
                self.keys.insert(key.clone(), known);
            }
        }
    }
}

impl KeyState {
    fn replay(&mut self, value: &ShareValue, due: u32) {
        match value {
            ShareValue::Snapshot(snapshot) => {
                self.leader_epoch = self.leader_epoch.max(Some(snapshot.leader_epoch));
                self.state_epoch = self.state_epoch.max(Some(snapshot.state_epoch));
                // A snapshot of an initialisation or of a cold key leaves the counter alone.
                if self.updates >= due {
                    self.updates = 0;
                }
            }
            ShareValue::Update(update) => {
                self.leader_epoch = self.leader_epoch.max(Some(update.leader_epoch));
                self.updates = self.updates.saturating_add(1);
            }
            ShareValue::Tombstone => {}
        }
        ShareGroupOffset::fold(&mut self.state, value);
    }
}
