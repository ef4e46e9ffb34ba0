//! Records that no coordinator should have written after those before them.

use crate::records::ShareValue;
use crate::state::group_offset::ShareGroupOffset;

/// Anomaly of a record of the state topic. The record is folded as Kafka does all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// An update of another snapshot epoch than the current one.
    UpdateOfOtherSnapshot {
        /// Epoch in the record.
        found: i32,
        /// Epoch of the snapshot before it.
        current: i32,
    },
    /// A snapshot whose epoch does not rise.
    SnapshotEpochNotRising {
        /// Epoch in the record.
        found: i32,
        /// Epoch of the snapshot before it.
        current: i32,
    },
    /// A tombstone of a key that has no state.
    TombstoneOfUnknownKey,
}

impl Oddity {
    /// Compares a record with the state before it.
    #[must_use]
    pub fn of(value: &ShareValue, state: Option<&ShareGroupOffset>) -> Option<Self> {
        match (value, state) {
            (ShareValue::Tombstone, None) => Some(Self::TombstoneOfUnknownKey),
            (ShareValue::Update(update), Some(state)) => (update.snapshot_epoch
                != state.snapshot_epoch)
                .then_some(Self::UpdateOfOtherSnapshot {
                    found: update.snapshot_epoch,
                    current: state.snapshot_epoch,
                }),
            (ShareValue::Snapshot(snapshot), Some(state)) => (!state.incomplete
                && snapshot.snapshot_epoch <= state.snapshot_epoch)
                .then_some(Self::SnapshotEpochNotRising {
                    found: snapshot.snapshot_epoch,
                    current: state.snapshot_epoch,
                }),
            _ => None,
        }
    }
}
