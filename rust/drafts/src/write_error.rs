//! Why a writer makes no record.

use core::fmt;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_epoch_has_no_successor() {
        assert_eq!(next_epoch(65_534, 65_535), Ok(65_535));
        let exhausted = next_epoch(65_535, 65_535).unwrap_err();
        assert_eq!(exhausted.to_string(), "checkpoint epoch 65535 is the last");
        assert!(next_epoch(u32::MAX, u32::MAX).is_err());
    }
}
