//! Errors: of the codecs, with a field, a position and a kind, and of a writer that makes no record.

use core::fmt;

/// Bytes that cannot be read, or a record that cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftError {
    /// Name of the field that is wrong, in the drafts.
    pub field: &'static str,
    /// Index of the byte where the fault begins, in the key or the value; 0 for a record that cannot be written.
    pub position: usize,
    /// The fault.
    pub kind: DraftErrorKind,
}

/// The fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftErrorKind {
    /// The input ends too early.
    Truncated {
        /// Bytes that the field needs.
        needed: usize,
        /// Bytes that are left.
        remaining: usize,
    },
    /// Bytes are left over after the end.
    TrailingBytes {
        /// Number of the bytes.
        count: usize,
    },
    /// A key of a version other than 0.
    Version {
        /// The version.
        version: i16,
    },
    /// A length that no group id has.
    Length {
        /// The length.
        length: i64,
    },
    /// A string is not UTF-8.
    Utf8,
    /// A list announces more elements than the rest of the input can hold, or a list is too long to be written.
    Count {
        /// Elements announced.
        count: i64,
        /// Elements that fit at most.
        possible: usize,
    },
    /// A number that the field cannot hold.
    TooLarge {
        /// The number.
        value: u32,
        /// The greatest that fits.
        max: u32,
    },
}

impl DraftError {
    /// Error of a record that cannot be written.
    pub(crate) const fn unwritable(field: &'static str, kind: DraftErrorKind) -> Self {
        Self {
            field,
            position: 0,
            kind,
        }
    }
}

impl fmt::Display for DraftErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated { needed, remaining } => {
                write!(f, "{needed} bytes needed, {remaining} left")
            }
            Self::TrailingBytes { count } => write!(f, "{count} bytes left over"),
            Self::Version { version } => write!(f, "unsupported version {version}"),
            Self::Length { length } => write!(f, "length is {length}; expected 1 to 32767"),
            Self::Utf8 => f.write_str("string is not UTF-8"),
            Self::Count { count, possible } => {
                write!(f, "expected 0 to {possible} elements, got {count}")
            }
            Self::TooLarge { value, max } => write!(f, "{value} is above {max}"),
        }
    }
}

impl fmt::Display for DraftError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (field, position) = (self.field, self.position);
        write!(f, "{field}, byte {position}: {}", self.kind)
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
