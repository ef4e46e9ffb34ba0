//! The operation log: one binary file a workload, which every runner replays. `benches/README.md` describes the bytes.
//!
//! Operations have a fixed length, so that a reader in another language maps the file and views it as a table.

mod file;

pub use file::{BATCH_LEN, OpLog};

/// First bytes of a file, and the version of the format.
pub const MAGIC: [u8; 8] = *b"SSOPLOG1";
/// Bytes of the header.
pub const HEADER_LEN: usize = 96;
/// Bytes of an operation.
pub const OP_LEN: usize = 32;

/// Kind of an operation. The comments say what the fields mean where they are used; all others are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OpKind {
    /// A log batch `first..=last` that comes before that of the next [`OpKind::Acquire`] in the same fetch.
    Fetched = 1,
    /// `member` is given what it may have of the log batch `first..=last` and of those before it. `value` holds the most
    /// records in its low 32 bits and the batch size in its high ones.
    Acquire = 2,
    /// A range of the next [`OpKind::Acknowledge`] or [`OpKind::AcknowledgeEach`]: `first..=last`, type id in `arg`.
    Range = 3,
    /// `member` acknowledges `first..=last` with the type id in `arg`, and the ranges before it, in one request.
    Acknowledge = 4,
    /// The same with a type for each record: that of the first is at `value` in the blob.
    AcknowledgeEach = 5,
    /// `member` has left: what it holds is given back.
    Release = 6,
    /// The time is `value` (milliseconds), and what is due runs out.
    Tick = 7,
    /// The leader asks where to fetch next.
    NextFetchOffset = 8,
    /// The log of the partition starts at `first` now.
    LogStart = 9,
    /// The state of the partition is compared.
    Check = 10,
    /// Beginning of a timed section.
    Begin = 11,
    /// End of a timed section.
    End = 12,
    /// Another leader: a new share partition is made from what was persisted.
    Reopen = 13,
    /// A delta for the fold: start offset in `first`, and `last` state batches at `value` in the blob.
    Fold = 14,
    /// The state that the deltas come to is encoded as a snapshot and decoded again.
    Snapshot = 15,
    /// A WriteShareGroupState request (version 1) of start offset `first` and the `last` state batches at `value` in the blob
    /// is encoded.
    Encode = 16,
}

impl OpKind {
    /// All of them, in the order of their codes from 1 on.
    pub const ALL: [Self; 16] = [
        Self::Fetched,
        Self::Acquire,
        Self::Range,
        Self::Acknowledge,
        Self::AcknowledgeEach,
        Self::Release,
        Self::Tick,
        Self::NextFetchOffset,
        Self::LogStart,
        Self::Check,
        Self::Begin,
        Self::End,
        Self::Reopen,
        Self::Fold,
        Self::Snapshot,
        Self::Encode,
    ];

    /// The operation with this code.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code).checked_sub(1)?).copied()
    }

    /// Returns true if it is an acknowledgement or a part of one.
    #[must_use]
    pub const fn is_request(self) -> bool {
        matches!(
            self,
            Self::Range | Self::Acknowledge | Self::AcknowledgeEach
        )
    }

    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fetched => "fetched",
            Self::Acquire => "acquire",
            Self::Range => "range",
            Self::Acknowledge => "acknowledge",
            Self::AcknowledgeEach => "acknowledge_each",
            Self::Release => "release",
            Self::Tick => "tick",
            Self::NextFetchOffset => "next_fetch_offset",
            Self::LogStart => "log_start",
            Self::Check => "check",
            Self::Begin => "begin",
            Self::End => "end",
            Self::Reopen => "reopen",
            Self::Fold => "fold",
            Self::Snapshot => "snapshot",
            Self::Encode => "encode",
        }
    }
}

/// Operation of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Kind of the operation.
    pub kind: OpKind,
    /// Type id.
    pub arg: u8,
    /// Index of the member.
    pub member: u16,
    /// Index of the share partition.
    pub partition: u32,
    /// First offset.
    pub first: i64,
    /// Last offset.
    pub last: i64,
    /// See [`OpKind`].
    pub value: i64,
}

impl Op {
    /// An operation of which only the kind is set.
    #[must_use]
    pub const fn of(kind: OpKind) -> Self {
        Self {
            kind,
            arg: 0,
            member: 0,
            partition: 0,
            first: 0,
            last: 0,
            value: 0,
        }
    }

    fn to_bytes(self) -> [u8; OP_LEN] {
        let mut bytes = [0; OP_LEN];
        bytes[0] = self.kind as u8;
        bytes[1] = self.arg;
        bytes[2..4].copy_from_slice(&self.member.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.partition.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.first.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.last.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.value.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            kind: OpKind::from_code(*bytes.first()?)?,
            arg: *bytes.get(1)?,
            member: u16::from_le_bytes(at(bytes, 2)?),
            partition: u32::from_le_bytes(at(bytes, 4)?),
            first: i64::from_le_bytes(at(bytes, 8)?),
            last: i64::from_le_bytes(at(bytes, 16)?),
            value: i64::from_le_bytes(at(bytes, 24)?),
        })
    }
}

/// Facts that all operations have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The workload, at most 16 bytes.
    pub workload: String,
    /// Seed of the generator.
    pub seed: u64,
    /// The parameter that the workload sweeps.
    pub size: u64,
    /// Number of elements in the timed sections, in the unit in which results are given.
    pub elements: u64,
    /// Share partitions.
    pub partitions: u32,
    /// Members.
    pub members: u32,
    /// `share.partition.max.record.locks`.
    pub max_record_locks: u32,
    /// Duration of locks, milliseconds.
    pub lock_ms: u32,
    /// `share.delivery.count.limit`.
    pub delivery_limit: u32,
}

/// The name of a member: 22 characters, as a UUID in Kafka's base64 has.
#[must_use]
pub fn member_name(index: u32) -> String {
    format!("qL0uXW2hS3mJpW3Zt{index:05}")
}

fn at<const N: usize>(bytes: &[u8], from: usize) -> Option<[u8; N]> {
    bytes.get(from..from + N)?.try_into().ok()
}
