//! Reading one segment, with what is bad in it told and passed over.

use std::io;

use core::fmt;

use share_state_core::offset::after;
use share_state_wire::record_batch::{Limits, RecordView};

use super::locate::Target;
use super::{Finding, ScanError};
use crate::batch_reader::{Bad, BatchReader, Step};
use crate::budget::Budget;
use crate::corrupt::{CorruptKind, CorruptLog, TornTail};
use crate::disk::{At, Disk, IoFailure};
use crate::end_note::LogEnd;
use crate::layout::parse_segment_name;
use crate::meta::Expected;
use crate::segment_log::{ends_elsewhere, out_of_order};
use crate::tail::{self, After, Verdict};

/// Outcome of a step.
pub(super) enum Outcome {
    /// Number of records of a batch.
    Batch(usize),
    /// Something without records: a batch of markers, or damage.
    Passed,
    /// The segment is done.
    End,
}

/// Looks at one place, beside a writer. A batch is put in its place in one go, so two are enough as a rule.
const RETRIES: u32 = 8;

/// A segment that is being read.
pub(super) struct OpenSegment {
    target: Target,
    reader: BatchReader,
    /// Budget for searches after damage, over the whole segment.
    budget: Budget,
    /// The place that was last looked at again because a writer had added to it, and how often.
    retried: (u64, u32),
    /// Set once it was told that a batch is of another store: seldom is one alone.
    is_foreign: bool,
}

impl fmt::Debug for OpenSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSegment")
            .field("target", &self.target)
            .field("position", &self.reader.position())
            .finish_non_exhaustive()
    }
}

impl OpenSegment {
    /// `None` if the file is gone.
    pub fn open(
        disk: &dyn Disk,
        target: Target,
        findings: &mut Vec<Finding>,
    ) -> Result<Option<Self>, ScanError> {
        let path = &target.path;
        let source = match disk.open_read(path) {
            Ok(source) => source,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(IoFailure::new("open", path, &error).into()),
        };
        let mut reader = BatchReader::new(source, Limits::default()).at("read", path)?;
        let budget = Budget::for_file(reader.raw()).at("read", path)?;
        reader.resume_at(0).at("read", path)?;
        let segment = Self {
            target,
            reader,
            budget,
            retried: (0, 0),
            is_foreign: false,
        };
        // The last one may be empty: a broker makes it so.
        if segment.target.length == 0 && !segment.target.is_last {
            segment.damage(0, CorruptKind::EmptySegment, findings);
        }
        Ok(Some(segment))
    }

    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Reads on, and shows the records of a batch with the byte at which it begins.
    pub fn next_batch(
        &mut self,
        disk: &dyn Disk,
        expected: &mut Option<i64>,
        findings: &mut Vec<Finding>,
        mut visit: impl FnMut(&Target, u64, RecordView<'_>),
    ) -> Result<Outcome, ScanError> {
        match self.reader.step().at("read", &self.target.path)? {
            Step::End => return Ok(Outcome::End),
            Step::Bad(bad) => return self.bad(disk, &bad, expected, findings),
            Step::Whole => {}
        }
        let position = self.reader.position();
        let batch = match self.reader.decode() {
            Ok(batch) => batch,
            Err(bad) => return self.bad(disk, &bad, expected, findings),
        };
        let base_offset = batch.header.base_offset;
        if let Some(kind) = expected.and_then(|expected| out_of_order(expected, base_offset)) {
            let is_hole = matches!(kind, CorruptKind::OffsetGap { .. })
                && self.target.noted.expected.mark.is_none();
            let (partition, corrupt) = (self.target.partition, self.corrupt(position, kind));
            findings.push(if is_hole {
                Finding::Hole { partition, corrupt }
            } else {
                Finding::Damage { partition, corrupt }
            });
        }
        let mut foreign = false;
        if !self.is_foreign
            && let Some(mark) = self.target.noted.expected.mark
            && let Err(kind) = mark.check(base_offset, batch.header.base_sequence)
            && self.target.noted.is_current(disk)
        {
            self.damage(position, kind, findings);
            foreign = true;
        }
        *expected = batch.header.last_offset().and_then(after);
        let outcome = if batch.is_control {
            Outcome::Passed
        } else {
            let records = batch.records();
            let count = records.len();
            records.for_each(|record| visit(&self.target, position, record));
            Outcome::Batch(count)
        };
        self.is_foreign |= foreign;
        self.reader.accept();
        Ok(outcome)
    }

    /// Tells where the log, which has been read to its end, does not end as noted. `expected` is the offset after it, if the
    /// bytes before were no damage.
    pub fn check_end(&self, disk: &dyn Disk, expected: Option<i64>, findings: &mut Vec<Finding>) {
        let Target { path, noted, .. } = &self.target;
        let base_offset = parse_segment_name(&self.target.name);
        let bytes = self.reader.position();
        let next_offset = expected.or(base_offset.filter(|_| self.target.length == 0));
        let (Some(segment), Some(next_offset), Some(dir)) =
            (base_offset, next_offset, path.parent())
        else {
            return;
        };
        let found = LogEnd {
            segment,
            bytes,
            next_offset,
        };
        if let Some(end) = noted.missed(disk, found) {
            findings.push(Finding::Damage {
                partition: self.target.partition,
                corrupt: ends_elsewhere(dir, end, found),
            });
        }
    }

    /// Bytes of the segment that have been read, of those that it had when its name was read.
    pub fn bytes_done(&self) -> u64 {
        self.reader.position().min(self.target.length)
    }

    /// Tells what bad bytes are, and continues at the next whole batch after them, if there is one.
    fn bad(
        &mut self,
        disk: &dyn Disk,
        bad: &Bad,
        expected: &mut Option<i64>,
        findings: &mut Vec<Finding>,
    ) -> Result<Outcome, ScanError> {
        if self.has_changed(bad)? {
            return Ok(Outcome::Passed);
        }
        let Self { target, reader, .. } = self;
        let path = &target.path;
        let least = expected.unwrap_or(0);
        let mut known = target.noted.expected;
        if !known.may_be_torn(least) && !target.noted.is_current(disk) {
            known = Expected::ANYTHING;
        }
        if bad.position > 0
            && bad.remaining >= tail::OVERHEAD
            && known.may_be_torn(least)
            && tail::only_zeros(reader.raw(), bad.position).at("read", path)?
        {
            // Space that a broker reserved ahead (`log.preallocate`). Fewer zeros may be the first bytes of an offset.
            return Ok(Outcome::End);
        }
        let verdict = if target.is_last {
            tail::judge(reader.raw(), bad, least, known).at("read", path)?
        } else {
            Verdict::Damage(tail::kind(bad))
        };
        // A writer may have come between the two looks.
        if self.has_changed(bad)? {
            return Ok(Outcome::Passed);
        }
        let Self {
            target,
            reader,
            budget,
            ..
        } = self;
        let path = &target.path;
        match verdict {
            Verdict::Room => Ok(Outcome::End),
            Verdict::Torn => {
                findings.push(Finding::TornTail(TornTail {
                    partition: target.partition,
                    segment: path.clone(),
                    position: bad.position,
                    bytes: bad.remaining,
                }));
                Ok(Outcome::End)
            }
            Verdict::Damage(kind) => {
                let after =
                    tail::next_batch(reader.raw(), bad.position, least, budget).at("read", path)?;
                // What is missing is told once, as damage.
                *expected = None;
                let outcome = match after {
                    After::Batch(position) => {
                        reader.resume_at(position).at("read", path)?;
                        Outcome::Passed
                    }
                    After::Nothing | After::Unclear => Outcome::End,
                };
                self.damage(bad.position, kind, findings);
                Ok(outcome)
            }
        }
    }

    /// Looks again at bad bytes of the last segment. Where a writer has changed them, they are read again: a few times at most, in case
    /// somebody changes them without end.
    fn has_changed(&mut self, bad: &Bad) -> Result<bool, ScanError> {
        let path = &self.target.path;
        let (position, times) = self.retried;
        let times = if position == bad.position { times } else { 0 };
        if !self.target.is_last || times >= RETRIES {
            return Ok(false);
        }
        // The judge has read elsewhere.
        self.reader.resume_at(bad.position).at("read", path)?;
        let has_changed = self.reader.has_changed().at("read", path)?;
        if has_changed {
            self.retried = (bad.position, times + 1);
            self.reader.resume_at(bad.position).at("read", path)?;
        }
        Ok(has_changed)
    }

    fn damage(&self, position: u64, kind: CorruptKind, findings: &mut Vec<Finding>) {
        findings.push(Finding::Damage {
            partition: self.target.partition,
            corrupt: self.corrupt(position, kind),
        });
    }

    fn corrupt(&self, position: u64, kind: CorruptKind) -> CorruptLog {
        CorruptLog {
            segment: self.target.path.clone(),
            position,
            kind,
        }
    }
}
