//! The error of the codecs: a field, a position and a kind.

use core::fmt;

/// Bytes that cannot be read, or a record that cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftError {
    /// The field that is wrong.
    pub field: Field,
    /// Index of the byte where the fault begins, in the key or the value; 0 for a record that cannot be written.
    pub position: usize,
    /// The fault.
    pub kind: DraftErrorKind,
}

/// A field of a key or a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Version of a key.
    KeyVersion,
    /// Type of a control record.
    ControlType,
    /// Id of the share group.
    GroupId,
    /// Id of the topic.
    TopicId,
    /// Partition of the topic.
    Partition,
    /// Index of a delta in its key.
    DeltaIndex,
    /// Epoch of the state.
    StateEpoch,
    /// Epoch of the checkpoint.
    CheckpointEpoch,
    /// Start offset.
    StartOffset,
    /// End offset.
    EndOffset,
    /// The list of states.
    States,
    /// First offset of a state.
    BaseOffset,
    /// Last offset of a state.
    LastOffset,
    /// Id of the state.
    State,
    /// Delivery count of a state.
    DeliveryCount,
    /// What follows the last field.
    End,
}

impl Field {
    /// Its name in the drafts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeyVersion => "Version",
            Self::ControlType => "Type",
            Self::GroupId => "GroupId",
            Self::TopicId => "TopicId",
            Self::Partition => "Partition",
            Self::DeltaIndex => "DeltaIndex",
            Self::StateEpoch => "StateEpoch",
            Self::CheckpointEpoch => "CheckpointEpoch",
            Self::StartOffset => "StartOffset",
            Self::EndOffset => "EndOffset",
            Self::States => "States",
            Self::BaseOffset => "BaseOffset",
            Self::LastOffset => "LastOffset",
            Self::State => "State",
            Self::DeliveryCount => "DeliveryCount",
            Self::End => "end of the record",
        }
    }
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
        /// How many.
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
    /// For a record that cannot be written.
    pub(crate) const fn unwritable(field: Field, kind: DraftErrorKind) -> Self {
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
        let (field, position) = (self.field.name(), self.position);
        write!(f, "{field}, byte {position}: {}", self.kind)
    }
}

impl core::error::Error for DraftError {}
