//! Errors: of the codecs, with a field and a position, and of a writer that makes no record.

use core::fmt;

/// Bytes that are not of the format, or a record that cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftError {
    /// Name of the field that is wrong, in the drafts.
    pub field: &'static str,
    /// Index of the byte where the fault begins, in the key or the value; 0 for a record that cannot be written.
    pub position: usize,
}

impl fmt::Display for DraftError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (field, position) = (self.field, self.position);
        write!(f, "{field}, byte {position}: not of the format")
    }
}

impl core::error::Error for DraftError {}

/// The next record has to be a checkpoint, and its epoch does not exist. The writer stays as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointEpochExhausted {
    /// Epoch of the last checkpoint.
    pub checkpoint_epoch: u32,
}

impl fmt::Display for CheckpointEpochExhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "checkpoint epoch {} is the last", self.checkpoint_epoch)
    }
}

impl core::error::Error for CheckpointEpochExhausted {}

/// The epoch after `epoch`, at most `last`.
///
/// Neither draft says what follows the last epoch. A wrapped epoch could meet deltas of its earlier use, so the writers stop.
pub(crate) fn next_epoch(epoch: u32, last: u32) -> Result<u32, CheckpointEpochExhausted> {
    let next = epoch.checked_add(1).filter(|next| *next <= last);
    next.ok_or(CheckpointEpochExhausted {
        checkpoint_epoch: epoch,
    })
}
