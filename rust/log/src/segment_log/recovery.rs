//! Reading a state partition's directory before anything is written to it: all of it is checked, and what a crash
//! left is only noted. Repair is [`super::SegmentLog::open`]'s, after every partition has passed.

use std::path::{Path, PathBuf};

use share_state_core::offset::after;
use share_state_wire::record_batch::{DecodedBatch, Limits};

use super::{LEADER_EPOCH, segment_path};
use crate::batch_reader::{Bad, BatchReader, Step};
use crate::corrupt::{CorruptKind, CorruptLog, TornTail};
use crate::disk::{At, DRAFT_SUFFIX, Disk};
use crate::layout::{looks_like_segment, parse_segment_name};
use crate::meta::Torn;
use crate::store::OpenError;
use crate::tail::{self, Verdict};

/// What lies in the directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Base offsets with the lengths of the files, ascending.
    pub segments: Vec<(i64, u64)>,
    /// Segments that did not get their name before a crash.
    pub drafts: Vec<PathBuf>,
}

/// A log that passed, and what is to be made good.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checked {
    /// Base offsets of the segments that stay.
    pub segments: Vec<i64>,
    /// Bytes of the last of them that stay.
    pub size: u64,
    /// Whether that is fewer than there are.
    pub cut: bool,
    /// A segment of which nothing stays.
    pub remove: Option<PathBuf>,
    /// See [`Found::drafts`].
    pub drafts: Vec<PathBuf>,
    /// Offset of the next record.
    pub next_offset: i64,
    /// What is cut.
    pub torn: Option<TornTail>,
}

/// What the loader does with each batch; it is also told where the batch begins, in which segment, and how many bytes
/// have been read.
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
            return Err(corrupt(&path, 0, CorruptKind::SegmentName));
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

/// Reads every batch of the log through `visit`.
pub(crate) fn check(
    disk: &dyn Disk,
    dir: &Path,
    partition: u32,
    found: Found,
    log_start: i64,
    torn: Torn,
    visit: &mut Visit<'_>,
) -> Result<Checked, OpenError> {
    let mut next_offset = log_start;
    match found.segments.first() {
        // Segments below the log start are there when a prune was interrupted.
        Some((base, _)) if *base <= log_start => next_offset = *base,
        None if log_start == 0 => {}
        _ => {
            let kind = CorruptKind::MissingSegment {
                log_start_offset: log_start,
            };
            return Err(corrupt(dir, 0, kind));
        }
    }
    let mut checked = Checked {
        drafts: found.drafts,
        next_offset,
        ..Checked::default()
    };
    let mut segments = found.segments.iter().peekable();
    while let Some((base, length)) = segments.next() {
        let path = segment_path(dir, *base);
        if *length == 0 {
            return Err(corrupt(&path, 0, CorruptKind::EmptySegment));
        }
        if let Some(kind) = out_of_order(checked.next_offset, *base) {
            return Err(corrupt(&path, 0, kind));
        }
        let source = disk.open_read(&path).at("open", &path)?;
        let mut reader = BatchReader::new(source, Limits::default()).at("read", &path)?;
        let bad = read_segment(&path, &mut reader, &mut checked.next_offset, visit)?;
        let kept = reader.position();
        if let Some(bad) = bad {
            let is_last = segments.peek().is_none();
            // With nothing before it and nothing in it, the log would begin again below offsets that were given out.
            let is_all = kept == 0 && log_start > 0 && checked.segments.is_empty();
            let verdict = if is_last && !is_all {
                tail::judge(reader.raw(), &bad, checked.next_offset, torn).at("read", &path)?
            } else {
                Verdict::Damage(tail::kind(&bad))
            };
            match verdict {
                Verdict::Damage(kind) => return Err(corrupt(&path, bad.position, kind)),
                Verdict::Torn => {
                    checked.torn = Some(TornTail {
                        partition,
                        segment: path.clone(),
                        position: bad.position,
                        bytes: bad.remaining,
                    });
                    if kept == 0 {
                        checked.remove = Some(path);
                        continue;
                    }
                    checked.cut = true;
                }
            }
        }
        checked.segments.push(*base);
        checked.size = kept;
    }
    if checked.next_offset < log_start {
        let kind = CorruptKind::MissingSegment {
            log_start_offset: log_start,
        };
        return Err(corrupt(dir, 0, kind));
    }
    Ok(checked)
}

/// Reads a segment up to its end or to the first bytes that are not a batch.
fn read_segment(
    path: &Path,
    reader: &mut BatchReader,
    next_offset: &mut i64,
    visit: &mut Visit<'_>,
) -> Result<Option<Bad>, OpenError> {
    loop {
        match reader.step().at("read", path)? {
            Step::End => return Ok(None),
            Step::Bad(bad) => return Ok(Some(bad)),
            Step::Whole => {}
        }
        let batch = match reader.decode() {
            Ok(batch) => batch,
            Err(bad) => return Ok(Some(bad)),
        };
        let position = reader.position();
        *next_offset =
            follows(&batch, *next_offset).map_err(|kind| corrupt(path, position, kind))?;
        visit(path, position, &batch)?;
        reader.accept();
    }
}

/// Checks what lies outside the checksum, and returns the offset behind the batch.
fn follows(batch: &DecodedBatch<'_>, next_offset: i64) -> Result<i64, CorruptKind> {
    let header = &batch.header;
    if let Some(kind) = out_of_order(next_offset, header.base_offset) {
        return Err(kind);
    }
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

/// What is wrong when `found` comes where `expected` should.
pub(crate) fn out_of_order(expected: i64, found: i64) -> Option<CorruptKind> {
    match found.cmp(&expected) {
        std::cmp::Ordering::Less => Some(CorruptKind::OffsetBack { expected, found }),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(CorruptKind::OffsetGap { expected, found }),
    }
}

fn corrupt(segment: &Path, position: u64, kind: CorruptKind) -> OpenError {
    OpenError::Corrupt(CorruptLog {
        segment: segment.to_owned(),
        position,
        kind,
    })
}
