//! The operation log: one binary file a workload, which every runner replays. `benches/README.md` describes the bytes.
//!
//! Operations have a fixed length, so that a reader in another language maps the file and views it as a table.

use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use share_state_core::state_batch::StateBatch;

/// First bytes of a file, and the version of the format.
pub const MAGIC: [u8; 8] = *b"SSOPLOG1";
/// Bytes of the header.
pub const HEADER_LEN: usize = 96;
/// Bytes of an operation.
pub const OP_LEN: usize = 32;

/// What an operation does. The comments say what the fields mean where they are used; all others are 0.
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
    /// What is timed begins.
    Begin = 11,
    /// What is timed ends.
    End = 12,
    /// From here on the persister answers as `arg` says, see [`Answer`].
    Persister = 13,
    /// The writes that the oldest `value` operations left open are answered with success.
    Complete = 14,
    /// Another leader: a new share partition is made from what was persisted.
    Reopen = 15,
    /// A delta for the fold: start offset in `first`, and `last` state batches at `value` in the blob.
    Fold = 16,
    /// The state that the deltas come to is encoded as a snapshot and decoded again.
    Snapshot = 17,
    /// A WriteShareGroupState request (version 1) of start offset `first` and the `last` state batches at `value` in the blob
    /// is encoded.
    Encode = 18,
}

impl OpKind {
    /// All of them, in the order of their codes from 1 on.
    pub const ALL: [Self; 18] = [
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
        Self::Persister,
        Self::Complete,
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
            Self::Persister => "persister",
            Self::Complete => "complete",
            Self::Reopen => "reopen",
            Self::Fold => "fold",
            Self::Snapshot => "snapshot",
            Self::Encode => "encode",
        }
    }
}

/// How the persister answers a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Answer {
    /// With success, at once.
    #[default]
    Inline = 0,
    /// Not before [`OpKind::Complete`].
    Later = 1,
    /// With an error (COORDINATOR_NOT_AVAILABLE), at once.
    Refused = 2,
}

impl Answer {
    /// The answer with this code.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Inline),
            1 => Some(Self::Later),
            2 => Some(Self::Refused),
            _ => None,
        }
    }
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// Type id, or answer.
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

/// What all operations have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The workload, at most 16 bytes.
    pub workload: String,
    /// Seed of the generator.
    pub seed: u64,
    /// The parameter that the workload sweeps.
    pub size: u64,
    /// What the timed sections do, in the unit in which results are given.
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

/// A workload in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpLog {
    /// What all operations have in common.
    pub header: Header,
    /// The operations.
    pub ops: Vec<Op>,
    /// Types of acknowledgements and state batches that operations refer to. Signed, as type ids are.
    pub blob: Vec<i8>,
}

/// Bytes of a state batch in the blob: first and last offset, state, a byte of 0, delivery count, four bytes of 0.
pub const BATCH_LEN: usize = 24;

impl OpLog {
    /// The types from `at` on in the blob; none where it ends before.
    #[must_use]
    pub fn types(&self, at: usize, len: usize) -> &[i8] {
        at.checked_add(len)
            .and_then(|end| self.blob.get(at..end))
            .unwrap_or(&[])
    }

    /// The state batches of an [`OpKind::Fold`].
    #[must_use]
    pub fn batches(&self, op: &Op) -> Vec<StateBatch> {
        let at = usize::try_from(op.value).unwrap_or(usize::MAX);
        let count = usize::try_from(op.last).unwrap_or(0);
        self.types(at, count.saturating_mul(BATCH_LEN))
            .chunks_exact(BATCH_LEN)
            .filter_map(|chunk| {
                let bytes: Vec<u8> = chunk.iter().map(|byte| byte.cast_unsigned()).collect();
                Some(StateBatch {
                    first_offset: i64::from_le_bytes(self::at(&bytes, 0)?),
                    last_offset: i64::from_le_bytes(self::at(&bytes, 8)?),
                    delivery_state: chunk[16],
                    delivery_count: i16::from_le_bytes(self::at(&bytes, 18)?),
                })
            })
            .collect()
    }

    /// Puts state batches into the blob; where they are.
    pub fn add_batches(&mut self, batches: &[StateBatch]) -> i64 {
        let at = self.blob.len() as i64;
        for batch in batches {
            let mut bytes = [0; BATCH_LEN];
            bytes[..8].copy_from_slice(&batch.first_offset.to_le_bytes());
            bytes[8..16].copy_from_slice(&batch.last_offset.to_le_bytes());
            bytes[16] = batch.delivery_state.cast_unsigned();
            bytes[18..20].copy_from_slice(&batch.delivery_count.to_le_bytes());
            self.blob.extend(bytes.map(u8::cast_signed));
        }
        at
    }

    /// Writes the file.
    ///
    /// # Errors
    /// What the disk says.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut file = BufWriter::new(std::fs::File::create(path)?);
        let mut header = [0; HEADER_LEN];
        let h = &self.header;
        let name = h.workload.as_bytes();
        header[..8].copy_from_slice(&MAGIC);
        header
            .get_mut(8..8 + name.len())
            .filter(|_| name.len() <= 16)
            .ok_or_else(|| invalid("the name of the workload is too long"))?
            .copy_from_slice(name);
        let wide = [
            h.seed,
            h.size,
            self.ops.len() as u64,
            self.blob.len() as u64,
            h.elements,
        ];
        for (i, value) in wide.into_iter().enumerate() {
            header[24 + 8 * i..32 + 8 * i].copy_from_slice(&value.to_le_bytes());
        }
        let narrow = [
            h.partitions,
            h.members,
            h.max_record_locks,
            h.lock_ms,
            h.delivery_limit,
        ];
        for (i, value) in narrow.into_iter().enumerate() {
            header[64 + 4 * i..68 + 4 * i].copy_from_slice(&value.to_le_bytes());
        }
        file.write_all(&header)?;
        for op in &self.ops {
            file.write_all(&op.to_bytes())?;
        }
        let blob: Vec<u8> = self.blob.iter().map(|byte| byte.cast_unsigned()).collect();
        file.write_all(&blob)?;
        file.flush()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// What the disk says, or that the file is no operation log.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.read_to_end(&mut bytes)?;
        Self::from_bytes(&bytes).ok_or_else(|| invalid("not an operation log"))
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (header, rest) = bytes.split_at_checked(HEADER_LEN)?;
        if header[..8] != MAGIC {
            return None;
        }
        let wide = |i: usize| at(header, 24 + 8 * i).map(u64::from_le_bytes);
        let narrow = |i: usize| at(header, 64 + 4 * i).map(u32::from_le_bytes);
        let name: Vec<u8> = header[8..24]
            .iter()
            .copied()
            .take_while(|byte| *byte != 0)
            .collect();
        let count = usize::try_from(wide(2)?).ok()?;
        let (ops, blob) = rest.split_at_checked(count.checked_mul(OP_LEN)?)?;
        if blob.len() as u64 != wide(3)? {
            return None;
        }
        Some(Self {
            header: Header {
                workload: String::from_utf8(name).ok()?,
                seed: wide(0)?,
                size: wide(1)?,
                elements: wide(4)?,
                partitions: narrow(0)?,
                members: narrow(1)?,
                max_record_locks: narrow(2)?,
                lock_ms: narrow(3)?,
                delivery_limit: narrow(4)?,
            },
            ops: ops
                .chunks_exact(OP_LEN)
                .map(Op::from_bytes)
                .collect::<Option<_>>()?,
            blob: blob.iter().map(|byte| byte.cast_signed()).collect(),
        })
    }
}

/// The name of a member: 22 characters, as a UUID in Kafka's base64 has.
#[must_use]
pub fn member_name(index: u32) -> String {
    format!("qL0uXW2hS3mJpW3Zt{index:05}")
}

fn at<const N: usize>(bytes: &[u8], from: usize) -> Option<[u8; N]> {
    bytes.get(from..from + N)?.try_into().ok()
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let log = OpLog {
            header: Header {
                workload: "W9".into(),
                seed: 7,
                size: 8,
                elements: 9,
                partitions: 10,
                members: 11,
                max_record_locks: 12,
                lock_ms: 13,
                delivery_limit: 14,
            },
            ops: OpKind::ALL
                .into_iter()
                .map(|kind| Op {
                    arg: 1,
                    member: 2,
                    partition: 3,
                    first: -4,
                    last: i64::MAX,
                    value: i64::MIN,
                    ..Op::of(kind)
                })
                .collect(),
            blob: vec![1, 2, 3],
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("w9.oplog");
        log.write(&path).unwrap();
        assert_eq!(OpLog::read(&path).unwrap(), log);
        let bytes = std::fs::read(&path).unwrap();
        let batches = [StateBatch {
            first_offset: 1,
            last_offset: i64::MAX,
            delivery_state: 4,
            delivery_count: -2,
        }];
        let mut log = log;
        let op = Op {
            value: log.add_batches(&batches),
            last: 1,
            ..Op::of(OpKind::Fold)
        };
        assert_eq!(log.batches(&op), batches);
        for cut in [0, 8, HEADER_LEN, bytes.len() - 1] {
            assert_eq!(OpLog::from_bytes(&bytes[..cut]), None, "{cut}");
        }
    }

    #[test]
    fn codes_are_the_places_in_the_list() {
        for (i, kind) in OpKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, i + 1);
            assert_eq!(OpKind::from_code(kind as u8), Some(kind));
        }
        assert_eq!(OpKind::from_code(0), None);
        assert_eq!(OpKind::from_code(19), None);
    }
}
