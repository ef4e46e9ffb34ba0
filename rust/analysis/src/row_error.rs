//! Rows of the input that cannot be used: why, and where they stand.

use core::fmt;

use share_state_wire::{WireError, WireErrorKind};

use crate::input::Input;
use crate::table::{Cell, Cells, Column, Kind, Row};

/// Reason for which a row cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The row is of another topic.
    OtherTopic {
        /// Its name.
        topic: String,
    },
    /// A column of the input has another type than it should.
    WrongType {
        /// Column, and the type that it has.
        wrong: String,
    },
    /// A column that every record has is null.
    Missing {
        /// The column.
        column: &'static str,
    },
    /// The partition is negative.
    NegativePartition {
        /// The partition.
        partition: i32,
    },
    /// The offset is negative.
    NegativeOffset {
        /// The offset.
        offset: i64,
    },
    /// The row stands at the offset of the row before it.
    Repeated,
    /// The row stands before one that was read already.
    Unordered {
        /// The highest offset read of its state partition.
        previous: i64,
    },
    /// Rows of another state partition were read between those of this one.
    PartitionAgain,
    /// Key or value is no record of the state topic.
    Corrupt(WireError),
    /// The value has a version that this release does not know.
    UnsupportedVersion {
        /// The version.
        version: i16,
    },
}

impl Reason {
    /// A short word, the same for all facts.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::OtherTopic { .. } => "other_topic",
            Self::WrongType { .. } => "wrong_type",
            Self::Missing { .. } => "missing",
            Self::NegativePartition { .. } => "negative_partition",
            Self::NegativeOffset { .. } => "negative_offset",
            Self::Repeated => "repeated",
            Self::Unordered { .. } => "unordered",
            Self::PartitionAgain => "partition_again",
            Self::Corrupt(_) => "corrupt",
            Self::UnsupportedVersion { .. } => "unsupported_version",
        }
    }
}

impl From<WireError> for Reason {
    fn from(error: WireError) -> Self {
        match error.kind {
            WireErrorKind::UnsupportedVersion { version } => Self::UnsupportedVersion { version },
            _ => Self::Corrupt(error),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherTopic { topic } => write!(f, "it is of topic {topic:?}"),
            Self::WrongType { wrong } => f.write_str(wrong),
            Self::Missing { column } => write!(f, "its {column} is null"),
            Self::NegativePartition { partition } => write!(f, "its partition is {partition}"),
            Self::NegativeOffset { offset } => write!(f, "its offset is {offset}"),
            Self::Repeated => f.write_str("it has the same offset as the row before it"),
            Self::Unordered { previous } => {
                write!(
                    f,
                    "offset {previous} of its state partition was read before it"
                )
            }
            Self::PartitionAgain => {
                f.write_str("rows of another state partition were read between those of its own")
            }
            Self::Corrupt(error) => write!(f, "it is not a record of the state topic: {error}"),
            Self::UnsupportedVersion { version } => {
                write!(
                    f,
                    "its value has version {version}, which this release does not know"
                )
            }
        }
    }
}

/// A row that cannot be used, kept whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowError {
    /// Its number in the input, from 0.
    pub row: u64,
    /// Its state partition, where it has one.
    pub partition: Option<i32>,
    /// Its offset, where it has one.
    pub offset: Option<i64>,
    /// Its time, ms since the epoch, where it has one.
    pub timestamp: Option<i64>,
    /// Its key.
    pub key: Option<Vec<u8>>,
    /// Its value.
    pub value: Option<Vec<u8>>,
    /// Reason for which it cannot be used.
    pub reason: Reason,
}

impl RowError {
    /// Keeps `input`, which cannot be used.
    #[must_use]
    pub fn new(row: u64, input: &Input<'_>, reason: Reason) -> Self {
        Self {
            row,
            partition: input.partition,
            offset: input.offset,
            timestamp: input.timestamp,
            key: input.key.map(<[u8]>::to_vec),
            value: input.value.map(<[u8]>::to_vec),
            reason,
        }
    }
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}", self.row)?;
        match (self.partition, self.offset) {
            (Some(partition), Some(offset)) => {
                write!(f, " (state partition {partition}, offset {offset})")?;
            }
            (Some(partition), None) => write!(f, " (state partition {partition})")?,
            (None, Some(offset)) => write!(f, " (offset {offset})")?,
            (None, None) => {}
        }
        write!(f, " cannot be used: {}", self.reason)
    }
}

impl core::error::Error for RowError {}

impl Row for RowError {
    const COLUMNS: &'static [Column] = &[
        Column::new(
            "row",
            Kind::Int64,
            "Number of the row in the input of its task, from 0.",
        ),
        Column::nullable("partition", Kind::Int32, "Its state partition."),
        Column::nullable("offset", Kind::Int64, "Its offset there."),
        Column::nullable("timestamp", Kind::Timestamp, "Its time."),
        Column::new("reason", Kind::Text, "Why it cannot be used, a short word."),
        Column::new(
            "message",
            Kind::Text,
            "The same in a sentence, with the facts.",
        ),
        Column::nullable("key", Kind::Bytes, "Its key."),
        Column::nullable("value", Kind::Bytes, "Its value."),
    ];

    fn cells(&self, to: &mut impl Cells) {
        to.put(Cell::Int64(i64::try_from(self.row).unwrap_or(i64::MAX)));
        to.put(Cell::int32(self.partition));
        to.put(Cell::int64(self.offset));
        to.put(Cell::timestamp(self.timestamp));
        to.put(Cell::Word(self.reason.name()));
        to.put(Cell::Text(&self.reason.to_string()));
        to.put(Cell::bytes(self.key.as_deref()));
        to.put(Cell::bytes(self.value.as_deref()));
    }
}
