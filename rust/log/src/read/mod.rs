//! Reading a state log without locking or changing it, beside a writer if need be.
//!
//! A path is a directory with `__share_group_state-N` folders (a broker's log directory, with whatever else is in it, or
//! a store), one such folder, or one segment, from any Kafka 4.2 to 4.4 broker or from a store, in any compression.
//! Everything readable is shown first; what is torn or damaged is told afterwards.

mod ends;
mod finding;
mod fold;
mod history;
mod locate;
mod noted;
mod segment;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use share_state_core::history::{AsOf, At};
use share_state_wire::WireError;
use share_state_wire::record_batch::RecordView;
use share_state_wire::state_record::{Decoded, decode};

pub use ends::{LogEnds, log_ends};
pub use finding::{Finding, ScanError};
pub use fold::{Folded, FoldedState, Note, NoteKind, fold, fold_as_of};
pub use history::{HistoryFilter, HistoryScan, LoggedRow, history, history_as_of};

use crate::disk::{Disk, RealDisk};
use crate::layout::parse_segment_name;
use crate::progress::Progress;
use locate::Target;
use segment::{OpenSegment, Outcome};

/// Record of a state log, as it stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRecord {
    /// State partition: the number in the folder's name, or 0 for a segment outside such a folder.
    pub partition: u32,
    /// Name of the segment's file.
    pub segment: Arc<str>,
    /// Byte of the segment at which its batch begins.
    pub position: u64,
    /// Offset.
    pub offset: i64,
    /// Milliseconds since the epoch.
    pub timestamp: i64,
    /// The key; null in no record that a coordinator writes.
    pub key: Option<Vec<u8>>,
    /// The value; null in a tombstone.
    pub value: Option<Vec<u8>>,
}

impl LogRecord {
    /// The record in words; `None` if it has no key.
    ///
    /// # Errors
    /// Key or value cannot be read.
    pub fn decode(&self) -> Result<Option<Decoded>, WireError> {
        self.key
            .as_ref()
            .map(|key| decode(key, self.value.as_deref()))
            .transpose()
    }
}

/// The records under a path, ordered by state partition and offset.
///
/// Records below the log start offset that are still on disk are among them. Memory is bounded by one batch. After the
/// last record [`Self::findings`] tells what could not be read. An item that is an error ends the iteration.
#[derive(Debug)]
pub struct Scan {
    disk: Arc<dyn Disk>,
    targets: VecDeque<Target>,
    current: Option<OpenSegment>,
    /// Records of the batch that was read last.
    batch: VecDeque<LogRecord>,
    /// The offset that should come next in this partition, where that is known.
    expected: Option<i64>,
    findings: Vec<Finding>,
    progress: Progress,
    as_of: AsOf,
    /// Nothing more of the current state partition counts.
    cut: bool,
    failed: bool,
}

/// Begins to read the log at `path`.
///
/// # Errors
/// There is no such path, or nothing of the state topic under it.
pub fn scan(path: impl AsRef<Path>) -> Result<Scan, ScanError> {
    Scan::on(Arc::new(RealDisk), path.as_ref())
}

impl Scan {
    fn on(disk: Arc<dyn Disk>, path: &Path) -> Result<Self, ScanError> {
        let mut findings = Vec::new();
        let (targets, partitions_total) = locate::locate(disk.as_ref(), path, &mut findings)?;
        let progress = Progress {
            partitions_total,
            bytes_total: targets.iter().map(|target| target.length).sum(),
            ..Progress::default()
        };
        Ok(Self {
            disk,
            targets: targets.into(),
            current: None,
            batch: VecDeque::new(),
            expected: None,
            findings,
            progress,
            as_of: AsOf::default(),
            cut: false,
            failed: false,
        })
    }

    /// Reads only a prefix of each state partition; nothing after it is a finding. To be said before the first record is read.
    #[must_use]
    pub fn as_of(self, as_of: AsOf) -> Self {
        Self { as_of, ..self }
    }

    /// Findings so far: what could not be read.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The findings, when the records are done with.
    #[must_use]
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// Progress of the reading, by whole segments. The totals are those at the beginning: a writer may add to them.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let within = self.current.as_ref().map_or(0, OpenSegment::bytes_done);
        Progress {
            bytes_done: self.progress.bytes_done + within,
            ..self.progress
        }
    }

    /// The segment that the last record came from.
    fn path(&self) -> Option<&Path> {
        self.current
            .as_ref()
            .map(|open| open.target().path.as_path())
    }

    /// Reads one batch into `self.batch`, or goes on to the next segment; `false` at the end of all.
    fn advance(&mut self) -> Result<bool, ScanError> {
        let mut batch = std::mem::take(&mut self.batch);
        let more = self.visit_batch(|target, position, record| {
            batch.push_back(LogRecord {
                partition: target.partition,
                segment: target.name.clone(),
                position,
                offset: record.offset,
                timestamp: record.timestamp,
                key: record.key.map(<[u8]>::to_vec),
                value: record.value.map(<[u8]>::to_vec),
            });
        });
        self.batch = batch;
        more
    }

    /// Shows the records of one batch with their state partition, or goes on to the next segment; `false` at the end of all.
    /// Nothing is copied, as it is by the iterator, whose next record comes after the last one shown here.
    ///
    /// # Errors
    /// The disk failed.
    pub fn visit(&mut self, mut visit: impl FnMut(u32, RecordView<'_>)) -> Result<bool, ScanError> {
        self.visit_batch(|target, _, record| visit(target.partition, record))
    }

    /// Shows the records of one batch that count, with the segment and the byte at which the batch begins, or goes on to the
    /// next segment; `false` at the end of all. Nothing is copied; [`Self::advance`] is for those who want to keep it.
    fn visit_batch(
        &mut self,
        mut visit: impl FnMut(&Target, u64, RecordView<'_>),
    ) -> Result<bool, ScanError> {
        if self.cut {
            self.leave_partition();
            return Ok(true);
        }
        let Some(open) = &mut self.current else {
            return self.open_next();
        };
        let prefix = self.as_of.of(open.target().partition);
        let cut = &mut self.cut;
        let visit = |target: &Target, position, record: RecordView<'_>| {
            if *cut {
                return;
            }
            let at = At {
                offset: record.offset,
                timestamp: record.timestamp,
            };
            let reached = prefix.reaches(at);
            *cut = !reached || prefix.ends_with(at.offset);
            if reached {
                visit(target, position, record);
            }
        };
        let disk = self.disk.as_ref();
        match open.next_batch(disk, &mut self.expected, &mut self.findings, visit)? {
            Outcome::Batch(records) => self.progress.records += records as u64,
            Outcome::Passed => {}
            Outcome::End => {
                self.progress.bytes_done += open.target().length;
                if open.target().is_last {
                    open.check_end(disk, self.expected, &mut self.findings);
                    self.progress.partitions_done += 1;
                }
                self.current = None;
            }
        }
        Ok(true)
    }

    fn open_next(&mut self) -> Result<bool, ScanError> {
        let Some(target) = self.targets.pop_front() else {
            return Ok(false);
        };
        let (partition, base_offset) = (target.partition, parse_segment_name(&target.name));
        // All that counts of the partition lies in segments before this one.
        let prefix = self.as_of.of(partition);
        if base_offset.is_some_and(|base| prefix.ends_with(base.saturating_sub(1))) {
            self.targets.push_front(target);
            self.leave_partition();
            return Ok(true);
        }
        if target.is_first {
            self.expected = None;
        }
        // A segment is named by the offset with which it begins; it was not compacted.
        self.expected = self.expected.or(base_offset);
        let (length, is_last) = (target.length, target.is_last);
        self.current = OpenSegment::open(self.disk.as_ref(), target, &mut self.findings)?;
        if self.current.is_none() {
            // A writer pruned it since the names were read; what follows begins again.
            self.expected = None;
            self.progress.bytes_done += length;
            self.progress.partitions_done += u32::from(is_last);
        }
        Ok(true)
    }

    /// Passes over the rest of the current state partition, or of that whose turn it is.
    fn leave_partition(&mut self) {
        self.cut = false;
        let mut at_end = false;
        if let Some(open) = self.current.take() {
            self.progress.bytes_done += open.target().length;
            at_end = open.target().is_last;
        }
        while !at_end && let Some(target) = self.targets.pop_front() {
            self.progress.bytes_done += target.length;
            at_end = target.is_last;
        }
        self.progress.partitions_done += u32::from(at_end);
    }
}

impl Iterator for Scan {
    type Item = Result<LogRecord, ScanError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(record) = self.batch.pop_front() {
                return Some(Ok(record));
            }
            if self.failed {
                return None;
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.failed = true;
                    return Some(Err(error));
                }
            }
        }
    }
}
