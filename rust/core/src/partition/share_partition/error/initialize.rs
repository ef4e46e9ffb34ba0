//! Errors of an initialisation. The order of the variants is the order of the checks.

use core::fmt;

use crate::kafka_code::KafkaCode;

/// Part of a persisted state that is corrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorruptField {
    /// The state epoch is negative.
    StateEpoch,
    /// The start offset is below -1.
    StartOffset,
    /// The batch is inverted, or ends at the last offset there is.
    LastOffset,
    /// The batch begins before the start offset.
    FirstOffset,
    /// The batch overlaps the one before it.
    Overlap,
    /// The state is none that may be persisted.
    DeliveryState,
    /// The delivery count is negative, or 0 for records that are not archived.
    DeliveryCount,
}

impl CorruptField {
    /// Name of the field in the answer to ReadShareGroupState.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::StateEpoch => "state_epoch",
            Self::StartOffset => "start_offset",
            Self::LastOffset => "last_offset",
            Self::FirstOffset | Self::Overlap => "first_offset",
            Self::DeliveryState => "delivery_state",
            Self::DeliveryCount => "delivery_count",
        }
    }
}

/// Reason for which a share partition could not be initialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitializeError {
    /// It has been, or is fenced; the status is left as it was.
    Status(crate::partition::share_partition::Status),
    /// The persister answered with an error; the share partition has failed.
    Persister(KafkaCode),
    /// The persisted state is corrupt; the share partition has failed and nothing of the state was loaded.
    Corrupt {
        /// Part that is corrupt.
        field: CorruptField,
        /// Index of the batch in the answer, if it is a batch's.
        index: Option<usize>,
        /// The value found.
        value: i64,
    },
    /// No start offset is waiting to be resolved, or the offset given is negative.
    Unresolvable {
        /// The offset given.
        start_offset: i64,
    },
}

impl fmt::Display for InitializeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "the share partition is {}", status.name()),
            Self::Persister(code) => write!(f, "the persister answered {}", code.name()),
            Self::Corrupt {
                field,
                index: Some(index),
                value,
            } => write!(
                f,
                "state_batches[{index}].{} is {value}: corrupt state",
                field.name()
            ),
            Self::Corrupt {
                field,
                index: None,
                value,
            } => write!(f, "{} is {value}: corrupt state", field.name()),
            Self::Unresolvable { start_offset } => {
                write!(
                    f,
                    "start_offset is {start_offset}; expected >= 0, when one is asked for"
                )
            }
        }
    }
}

impl core::error::Error for InitializeError {}
