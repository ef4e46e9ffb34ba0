//! The first form: control records of the types 5 and 6 in the log of the data partition, beside the records of the producers.
//!
//! The share-partition leader writes them itself, so they need no key of a share partition: the log is that of the partition, and
//! the group stands in the record. A delta holds states and nothing else; the start offset follows from them.

mod codec;
mod recovery;
mod writer;

use share_state_core::state_batch::StateBatch;

pub use codec::{decode, encode_key, encode_value};
pub use recovery::{ControlRecovery, LoggedControl, clean};
pub use writer::ControlWriter;

/// Type of the control record that holds the whole state.
pub const SHARE_CHECKPOINT: i16 = 5;
/// Type of the control record that holds a change.
pub const SHARE_DELTA: i16 = 6;

/// A control record of a share group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlRecord {
    /// Id of the share group.
    pub group: String,
    /// Epoch of the checkpoint; of a delta, the checkpoint that it applies to.
    pub checkpoint_epoch: u32,
    /// The rest.
    pub body: ControlBody,
}

/// Statement of a control record about the share partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlBody {
    /// `SHARE_CHECKPOINT`: the state is this.
    Checkpoint {
        /// Start offset of the share partition (SPSO).
        start_offset: i64,
        /// The offset after the last record of which something is known (SPEO).
        end_offset: i64,
        /// States of the records between, as far as they are known.
        states: Vec<StateBatch>,
    },
    /// `SHARE_DELTA`: the state has changed by this.
    Delta {
        /// States that changed.
        states: Vec<StateBatch>,
    },
}
