//! Findings of a reader, which it tells besides the records.

use core::fmt;
use std::path::PathBuf;

use crate::corrupt::{CorruptLog, TornTail};
use crate::disk::IoFailure;
use crate::progress::Progress;

/// Something that could not be read, or that should not be so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The log ends in an unfinished batch: a crash, or an active writer.
    TornTail(TornTail),
    /// Damage. Reading continued after it where there was something.
    Damage {
        /// State partition.
        partition: u32,
        /// Damage and its place.
        corrupt: CorruptLog,
    },
    /// Records are missing between batches of a broker's log, each of which is whole: as where compaction was set by mistake.
    /// A store's log has none, so there it is damage.
    Hole {
        /// State partition.
        partition: u32,
        /// Place and number of the missing records.
        corrupt: CorruptLog,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TornTail(torn) => torn.fmt(f),
            Self::Damage { corrupt, .. } => corrupt.fmt(f),
            Self::Hole { corrupt, .. } => write!(
                f,
                "{corrupt}, as where the state topic was compacted (cleanup.policy) or a segment was left out"
            ),
        }
    }
}

/// Reason for which a path was not read, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanError {
    /// There is nothing of the state topic: no `__share_group_state-N` folder, and not a `.log` file.
    NoStateLog {
        /// The path.
        path: PathBuf,
    },
    /// The progress callback asked to stop.
    Interrupted(Progress),
    /// The disk failed, or the path does not exist.
    Io(IoFailure),
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStateLog { path } => write!(
                f,
                "{}: expected a directory with __share_group_state-N folders, one such folder, or a segment",
                path.display()
            ),
            Self::Interrupted(progress) => write!(
                f,
                "interrupted after {} of {} bytes",
                progress.bytes_done, progress.bytes_total
            ),
            Self::Io(failure) => failure.fmt(f),
        }
    }
}

impl core::error::Error for ScanError {}

impl From<IoFailure> for ScanError {
    fn from(failure: IoFailure) -> Self {
        Self::Io(failure)
    }
}
