//! Reading a state partition's directory before anything is written to it: all of it is checked, and what a crash
//! left is only noted. Repair is [`super::SegmentLog::open`]'s, after every partition has passed.

use std::path::{Path, PathBuf};

use share_state_core::offset::after;
use share_state_wire::record_batch::{DecodedBatch, Limits};

use super::{LEADER_EPOCH, segment_path};
use crate::batch_reader::{Bad, BatchReader, Step};
use crate::corrupt::{CorruptKind, CorruptLog, TornTail};
use crate::disk::{At, DRAFT_SUFFIX, Disk};
use crate::end_note::LogEnd;
use crate::error::OpenError;
use crate::layout::{looks_like_segment, parse_segment_name};
use crate::mark::Mark;
use crate::meta::Expected;
use crate::tail::{self, Verdict};

/// Segments and drafts in the directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Base offsets with the lengths of the files, ascending.
    pub segments: Vec<(i64, u64)>,
    /// Segments that did not get their name before a crash.
    pub drafts: Vec<PathBuf>,
}

/// A log, and what is known of it before it is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log<'a> {
    pub disk: &'a dyn Disk,
    pub dir: &'a Path,
    pub partition: u32,
    /// The offset with which it begins.
    pub log_start: i64,
    pub expected: Expected,
}

/// Part of a damaged log that stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keep {
    /// Base offset of the last segment of which something may stay.
    pub segment: i64,
    /// Bytes of it.
    pub bytes: u64,
}

impl Keep {
    pub const ALL: Self = Self {
        segment: i64::MAX,
        bytes: u64::MAX,
    };

    /// Bytes that may stay of the segment that begins at `base`.
    pub const fn of(self, base: i64) -> u64 {
        if base < self.segment {
            u64::MAX
        } else if base == self.segment {
            self.bytes
        } else {
            0
        }
    }
}

/// A log that passed, and what is to be made good.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checked {
    /// Base offsets of the segments that stay.
    pub segments: Vec<i64>,
    /// Bytes of the last of them that stay.
    pub size: u64,
    /// Set if that is fewer than there are.
    pub cut: bool,
    /// Segments of which nothing stays, the last one first.
    pub remove: Vec<PathBuf>,
    /// See [`Found::drafts`].
    pub drafts: Vec<PathBuf>,
    /// Offset of the next record.
    pub next_offset: i64,
    /// Tail that is cut without being asked for.
    pub torn: Option<TornTail>,
    /// Byte of the last segment from which on the last sync may have failed.
    pub unsure_from: Option<u64>,
}

impl Checked {
    /// End of the log.
    pub fn end(&self) -> LogEnd {
        LogEnd {
            segment: self.segments.last().copied().unwrap_or(self.next_offset),
            bytes: self.size,
            next_offset: self.next_offset,
        }
    }
}

/// Visit of the loader to each batch; it is also told where the batch begins, in which segment, and how many bytes have
/// been read.
pub(crate) type Visit<'a> = dyn FnMut(&Path, u64, &DecodedBatch<'_>) -> Result<(), OpenError> + 'a;

/// Lists the segments.
pub(crate) fn find(disk: &dyn Disk, dir: &Path) -> Result<Found, OpenError> {
    let mut found = Found::default();
    for entry in disk.list(dir).at("list", dir)? {
        let path = dir.join(&entry.name);
        if let Some(base) = parse_segment_name(&entry.name) {
            let source = disk.open_read(&path).at("open", &path)?;
            let length = source.length().at("read", &path)?;
            found.segments.push((base, length));
        } else if looks_like_segment(&entry.name) {
            return Err(OpenError::corrupt(&path, 0, CorruptKind::SegmentName));
        } else if entry
            .name
            .strip_suffix(DRAFT_SUFFIX)
            .is_some_and(|name| parse_segment_name(name).is_some())
        {
            found.drafts.push(path);
        }
    }
    Ok(found)
}

/// Reads every batch of the log through `visit`; with `keep` only what is to stay of it, and then it need not end where that
/// was noted.
pub(crate) fn check(
    log: &Log<'_>,
    found: &Found,
    keep: Option<Keep>,
    visit: &mut Visit<'_>,
) -> Result<Checked, OpenError> {
    let mut checked = Checked {
        drafts: found.drafts.clone(),
        // Segments below the log start are there when a prune was interrupted.
        next_offset: found.segments.first().map_or(0, |(base, _)| *base),
        ..Checked::default()
    };
    if checked.next_offset > log.log_start {
        return Err(log.without_beginning());
    }
    let mut segments = found.segments.iter().peekable();
    while let Some((base, length)) = segments.next() {
        let path = segment_path(log.dir, *base);
        let limit = keep.unwrap_or(Keep::ALL).of(*base);
        if limit == 0 {
            checked.remove.insert(0, path);
            continue;
        }
        if *length == 0 {
            return Err(OpenError::corrupt(&path, 0, CorruptKind::EmptySegment));
        }
        if let Some(kind) = out_of_order(checked.next_offset, *base) {
            return Err(OpenError::corrupt(&path, 0, kind));
        }
        let source = log.disk.open_read(&path).at("open", &path)?;
        let mut reader = BatchReader::new(source, Limits::default()).at("read", &path)?;
        let mut last_batch = 0;
        let mut noting = |path: &Path, position: u64, batch: &DecodedBatch<'_>| {
            last_batch = position;
            visit(path, position, batch)
        };
        let place = (limit, log.expected.mark);
        let next_offset = &mut checked.next_offset;
        let bad = read_segment(&path, &mut reader, place, next_offset, &mut noting)?;
        let kept = reader.position();
        checked.unsure_from = log.expected.unsure_from(*base, last_batch);
        if let Some(bad) = bad {
            let verdict = if segments.peek().is_none() {
                let expected = log.expected;
                tail::judge(reader.raw(), &bad, checked.next_offset, expected).at("read", &path)?
            } else {
                Verdict::Damage(tail::kind(&bad))
            };
            match verdict {
                Verdict::Damage(kind) => return Err(OpenError::corrupt(&path, bad.position, kind)),
                // A segment gets its name when its first batch is durable, so no crash tears that one.
                Verdict::Torn if kept == 0 => {
                    return Err(OpenError::corrupt(&path, 0, tail::kind(&bad)));
                }
                Verdict::Room => {}
                Verdict::Torn => {
                    checked.torn = Some(TornTail {
                        partition: log.partition,
                        segment: path.clone(),
                        position: bad.position,
                        bytes: bad.remaining,
                    });
                }
            }
        }
        checked.cut = kept < *length;
        checked.segments.push(*base);
        checked.size = kept;
    }
    if checked.next_offset < log.log_start || (checked.segments.is_empty() && log.log_start > 0) {
        return Err(log.without_beginning());
    }
    match log.expected.end {
        Some(end) if keep.is_none() && !log.expected.is_met(checked.end()) => Err(
            OpenError::Corrupt(ends_elsewhere(log.dir, end, checked.end())),
        ),
        _ => Ok(checked),
    }
}

impl Log<'_> {
    fn without_beginning(&self) -> OpenError {
        let kind = CorruptKind::MissingSegment {
            log_start_offset: self.log_start,
        };
        OpenError::corrupt(self.dir, 0, kind)
    }
}

/// Damage of a log that ends elsewhere than noted, with the first byte at which the two differ.
pub(crate) fn ends_elsewhere(dir: &Path, noted: LogEnd, found: LogEnd) -> CorruptLog {
    let (segment, position) = match noted.segment.cmp(&found.segment) {
        std::cmp::Ordering::Less => (found.segment, 0),
        std::cmp::Ordering::Equal => (noted.segment, noted.bytes.min(found.bytes)),
        std::cmp::Ordering::Greater => (noted.segment, 0),
    };
    CorruptLog {
        segment: segment_path(dir, segment),
        position,
        kind: CorruptKind::EndsElsewhere {
            noted: noted.next_offset,
            found: found.next_offset,
        },
    }
}

/// Reads a segment up to its end, to a limit or to the first bytes that are not a batch. Its batches have the mark.
fn read_segment(
    path: &Path,
    reader: &mut BatchReader,
    (limit, mark): (u64, Option<Mark>),
    next_offset: &mut i64,
    visit: &mut Visit<'_>,
) -> Result<Option<Bad>, OpenError> {
    while reader.position() < limit {
        match reader.step().at("read", path)? {
            Step::End => return Ok(None),
            Step::Bad(bad) => return Ok(Some(bad)),
            Step::Whole => {}
        }
        let batch = match reader.decode() {
            Ok(batch) => batch,
            Err(bad) => return Ok(Some(bad)),
        };
        let found = batch.header.base_offset;
        if found != *next_offset {
            return Ok(Some(reader.out_of_order(*next_offset, found)));
        }
        let position = reader.position();
        mark.map_or(Ok(()), |mark| mark.check(found, batch.header.base_sequence))
            .map_err(|kind| OpenError::corrupt(path, position, kind))?;
        *next_offset = follows(&batch).map_err(|kind| OpenError::corrupt(path, position, kind))?;
        visit(path, position, &batch)?;
        reader.accept();
    }
    Ok(None)
}

/// Checks what lies outside the checksum, and returns the offset after the batch.
fn follows(batch: &DecodedBatch<'_>) -> Result<i64, CorruptKind> {
    let header = &batch.header;
    if header.partition_leader_epoch != LEADER_EPOCH {
        return Err(CorruptKind::LeaderEpoch {
            found: header.partition_leader_epoch,
        });
    }
    if header.records_count < 1
        || header.records_count.checked_sub(1) != Some(header.last_offset_delta)
    {
        return Err(CorruptKind::RecordCount {
            records: header.records_count,
            last_offset_delta: header.last_offset_delta,
        });
    }
    header
        .last_offset()
        .and_then(after)
        .ok_or(CorruptKind::OffsetEnd)
}

/// Damage when `found` comes where `expected` should; `None` if they are equal.
pub(crate) fn out_of_order(expected: i64, found: i64) -> Option<CorruptKind> {
    match found.cmp(&expected) {
        std::cmp::Ordering::Less => Some(CorruptKind::OffsetBack { expected, found }),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(CorruptKind::OffsetGap { expected, found }),
    }
}
