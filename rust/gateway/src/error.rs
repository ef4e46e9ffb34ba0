//! Errors by which a read is not taken into a ring.

use core::fmt;

use share_state_wire::WireError;

/// A read that a ring refuses; the ring is as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendError {
    /// No log has such an offset.
    AskedOffset {
        /// The offset.
        asked_offset: i64,
    },
    /// The records are no part of the buffer.
    Part {
        /// Place where they are said to begin.
        start: usize,
        /// Place where they are said to end.
        end: usize,
        /// Bytes of the buffer.
        size: usize,
    },
    /// There are bytes, but not those of one whole batch from the offset asked for on.
    NoWholeBatch {
        /// The offset.
        asked_offset: i64,
    },
    /// The record batches are malformed or out of order.
    Batches(WireError),
}

impl fmt::Display for AppendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AskedOffset { asked_offset } => {
                write!(f, "asked_offset is {asked_offset}, no offset of a log")
            }
            Self::Part { start, end, size } => {
                write!(
                    f,
                    "records from {start} to {end} are no part of {size} bytes"
                )
            }
            Self::NoWholeBatch { asked_offset } => {
                write!(f, "no whole batch from offset {asked_offset} on")
            }
            Self::Batches(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for AppendError {}

impl From<WireError> for AppendError {
    fn from(error: WireError) -> Self {
        Self::Batches(error)
    }
}
