//! The records of the state topic `__share_group_state` as plain data (`ShareSnapshotValue`, `ShareUpdateValue`).

use crate::delivery::StateBatch;
use crate::ids::SharePartitionKey;

/// A tagged field that this release does not know, kept so that rewriting a value loses nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaggedField {
    /// Number of the tag.
    pub tag: u32,
    /// Its bytes, unread.
    pub data: Vec<u8>,
}

/// The whole state of a share partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareSnapshot {
    /// Rises by one with each snapshot of the key; the first is 0.
    pub snapshot_epoch: i32,
    /// Set when the state is initialised; fences share-partition leaders that hold an older state.
    pub state_epoch: i32,
    /// Highest leader epoch that has read the state.
    pub leader_epoch: i32,
    /// Start offset of the share partition; -1 while not yet resolved.
    pub start_offset: i64,
    /// Terminal records at or after the start offset; -1 when unknown (KIP-1226).
    pub delivery_complete_count: i32,
    /// Wall clock, ms: when the content came to be.
    pub create_timestamp: i64,
    /// Wall clock, ms: when this record was made; later than `create_timestamp` only for a cold snapshot.
    pub write_timestamp: i64,
    /// Batches in the order of their offsets.
    pub state_batches: Vec<StateBatch>,
    /// Tagged fields of the value that are not known here.
    pub unknown_tagged_fields: Vec<TaggedField>,
}

/// A change of a share partition's state since its last record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareUpdate {
    /// Epoch of the snapshot that it follows.
    pub snapshot_epoch: i32,
    /// Leader epoch; -1 leaves it as it was.
    pub leader_epoch: i32,
    /// Start offset; -1 leaves it as it was.
    pub start_offset: i64,
    /// Terminal records at or after the start offset; -1 when unknown.
    pub delivery_complete_count: i32,
    /// Batches that changed.
    pub state_batches: Vec<StateBatch>,
    /// Tagged fields of the value that are not known here.
    pub unknown_tagged_fields: Vec<TaggedField>,
}

/// Value of a record of the state topic, about its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareValue {
    /// The state is this.
    Snapshot(ShareSnapshot),
    /// The state has changed by this.
    Update(ShareUpdate),
    /// The state is gone (a null value under the snapshot key).
    Tombstone,
}

/// Record of the state topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareRecord {
    /// The share partition.
    pub key: SharePartitionKey,
    /// Value, about the key.
    pub value: ShareValue,
}
