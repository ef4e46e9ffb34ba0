//! The second form: records of the internal topic `__share_group_state`, which a share coordinator writes and compaction cleans.
//!
//! Compaction keeps the latest record of a key. So that it keeps several deltas of a share partition, each has an index in its
//! key. The index has no part in the choice of the topic's partition: that is by share partition alone.

mod codec;
mod key;
mod replay;
mod writer;

use share_state_core::state_batch::StateBatch;

pub use codec::{CheckpointEpochWidth, decode, encode_value};
pub use key::{StateKey, decode_key, encode_key};
pub use replay::{LoggedState, StateReplay, compact};
pub use writer::StateWriter;

/// A record of the topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRecord {
    /// Its key: of a `ShareCheckpoint`, or of a `ShareDelta` with its index.
    pub key: StateKey,
    /// Its value; `None` is a tombstone: what the key held is gone.
    pub value: Option<StateValue>,
}

/// Value of a `ShareCheckpoint` and of a `ShareDelta`: the fields are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateValue {
    /// Set when the state is initialised.
    pub state_epoch: u32,
    /// Epoch of the checkpoint; of a delta, the checkpoint that it applies to.
    pub checkpoint_epoch: u32,
    /// Start offset of the share partition; -1 in a delta leaves it as it was.
    pub start_offset: i64,
    /// The states: all of them, or those that changed.
    pub states: Vec<StateBatch>,
}
