//! Damage: what was found, where, in words that lead to the byte.

use core::fmt;
use std::path::PathBuf;

use share_state_core::kafka_code::KafkaCode;
use share_state_wire::WireError;

/// A log that a crash cannot have left like this. Nothing of it was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptLog {
    /// The segment; for what concerns no single segment, the file or directory.
    pub segment: PathBuf,
    /// Byte of the segment at which the damage begins.
    pub position: u64,
    /// Damage that begins there.
    pub kind: CorruptKind,
}

/// Kind of damage of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CorruptKind {
    /// The bytes end within a batch, and this is not the end of the log.
    CutOff {
        /// Bytes that are left.
        remaining: u64,
    },
    /// Nothing but zeros to the end of the file.
    ZeroFilled,
    /// A empty segment. A store's segment gets its name only when its first batch is durable.
    EmptySegment,
    /// The batch cannot be read: length, format, checksum, compression or the frame of a record.
    Batch(WireError),
    /// The key or value of a record cannot be read.
    Record {
        /// Offset of the record.
        offset: i64,
        /// Fault of the key or value; positions count from its start.
        error: WireError,
    },
    /// A record without a key, which the state topic does not have.
    NullKey {
        /// Offset of the record.
        offset: i64,
    },
    /// Offsets are missing before this batch or segment.
    OffsetGap {
        /// The offset that should come next.
        expected: i64,
        /// The offset that does.
        found: i64,
    },
    /// Offsets come twice or go back.
    OffsetBack {
        /// The offset that should come next.
        expected: i64,
        /// The offset that does.
        found: i64,
    },
    /// The log reaches the end of the offsets.
    OffsetEnd,
    /// A header field outside the checksum does not hold what a store writes.
    LeaderEpoch {
        /// Value that it holds.
        found: i32,
    },
    /// Offsets and number of records of the batch do not belong together.
    RecordCount {
        /// Number of records.
        records: i32,
        /// Distance of the last offset from the first.
        last_offset_delta: i32,
    },
    /// The segment with which the log begins is not there.
    MissingSegment {
        /// The offset with which the log begins.
        log_start_offset: i64,
    },
    /// The log ends elsewhere than the meta file notes.
    EndsElsewhere {
        /// Offset of the next record when it was noted.
        noted: i64,
        /// Offset of the next record now; where it is the same, the bytes are not.
        found: i64,
    },
    /// A record of a share partition whose state another state partition keeps: the log is not in its place.
    StatePartition {
        /// Offset of the record.
        offset: i64,
        /// The state partition in which it belongs.
        partition: u32,
    },
    /// The batch was written by another store, or before this one had a mark: the log is not in its place.
    OtherStore {
        /// The mark in the batch; 0 if it has none.
        found: i32,
        /// The mark of the store.
        mark: i32,
    },
    /// The file is named like a segment but not by an offset in 20 digits.
    SegmentName,
    /// A state partition has no directory.
    MissingPartition,
    /// The file of log start offsets cannot be read.
    Checkpoint,
}

impl CorruptLog {
    /// `CORRUPT_MESSAGE`.
    #[must_use]
    pub const fn kafka_code(&self) -> KafkaCode {
        KafkaCode::CorruptMessage
    }
}

impl fmt::Display for CorruptKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutOff { remaining } => write!(f, "batch cut off after {remaining} bytes"),
            Self::ZeroFilled => f.write_str("only zeros from here on"),
            Self::EmptySegment => f.write_str("empty segment"),
            Self::Batch(error) => write!(f, "unreadable batch: {error}"),
            Self::Record { offset, error } => {
                write!(f, "unreadable record at offset {offset}: {error}")
            }
            Self::NullKey { offset } => write!(f, "record without key at offset {offset}"),
            Self::OffsetGap { expected, found } => {
                write!(
                    f,
                    "offset {found} follows where {expected} should: records are missing"
                )
            }
            Self::OffsetBack { expected, found } => {
                write!(
                    f,
                    "offset {found} follows where {expected} should: offsets go back"
                )
            }
            Self::OffsetEnd => f.write_str("no offsets are left"),
            Self::OtherStore { found: 0, mark } => {
                write!(f, "the batch has no mark, this store has {mark:08x}")
            }
            Self::OtherStore { found, mark } => write!(
                f,
                "the batch is of another store: mark {found:08x}, this one has {mark:08x}"
            ),
            Self::LeaderEpoch { found } => {
                write!(f, "partition leader epoch {found}, which no store writes")
            }
            Self::RecordCount {
                records,
                last_offset_delta,
            } => {
                write!(
                    f,
                    "{records} records with a last offset delta of {last_offset_delta}"
                )
            }
            Self::MissingSegment { log_start_offset } => {
                write!(
                    f,
                    "no segment holds the log start offset {log_start_offset}"
                )
            }
            Self::EndsElsewhere { noted, found } if noted == found => write!(
                f,
                "the log ends at offset {found} as it did when it was closed, but not at the same byte"
            ),
            Self::EndsElsewhere { noted, found } => write!(
                f,
                "the log ends at offset {found}, and the store noted its end at {noted}"
            ),
            Self::StatePartition { offset, partition } => write!(
                f,
                "the record at offset {offset} belongs into state partition {partition}"
            ),
            Self::SegmentName => f.write_str("not a segment's name"),
            Self::MissingPartition => f.write_str("the state partition has no directory"),
            Self::Checkpoint => f.write_str("malformed file of log start offsets"),
        }
    }
}

impl fmt::Display for CorruptLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at byte {}: {}",
            self.segment.display(),
            self.position,
            self.kind
        )
    }
}

impl core::error::Error for CorruptLog {}

/// The end of a log that a crash left half-written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// State partition.
    pub partition: u32,
    /// The segment.
    pub segment: PathBuf,
    /// Byte at which the unfinished batch begins.
    pub position: u64,
    /// Bytes from there to the end of the file.
    pub bytes: u64,
}

impl fmt::Display for TornTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            segment,
            position,
            bytes,
            ..
        } = self;
        write!(
            f,
            "{} at byte {position}: unfinished batch of {bytes} bytes",
            segment.display()
        )
    }
}
