//! A workload in memory and on disk.

use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use share_state_core::state_batch::StateBatch;

use super::{HEADER_LEN, Header, MAGIC, OP_LEN, Op, at};

/// A workload in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpLog {
    /// Facts that all operations have in common.
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

    /// The state batches of an [`OpKind::Fold`](super::OpKind::Fold).
    #[must_use]
    pub fn batches(&self, op: &Op) -> Vec<StateBatch> {
        let from = usize::try_from(op.value).unwrap_or(usize::MAX);
        let count = usize::try_from(op.last).unwrap_or(0);
        self.types(from, count.saturating_mul(BATCH_LEN))
            .chunks_exact(BATCH_LEN)
            .filter_map(|chunk| {
                let bytes: Vec<u8> = chunk.iter().map(|byte| byte.cast_unsigned()).collect();
                Some(StateBatch {
                    first_offset: i64::from_le_bytes(at(&bytes, 0)?),
                    last_offset: i64::from_le_bytes(at(&bytes, 8)?),
                    delivery_state: chunk[16],
                    delivery_count: i16::from_le_bytes(at(&bytes, 18)?),
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

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oplog::OpKind;

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
        assert_eq!(OpKind::from_code(17), None);
    }
}
