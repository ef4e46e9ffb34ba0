//! Torn tail or damage: what the bytes at the end of a log can be.
//!
//! One group commit is one batch, and the next is written only after its sync. So a crash can leave at most one
//! unfinished batch, the last; and of that one any pages may be missing, not just the last ones. Whatever else is wrong
//! was durable once and has been damaged since. So has what lies before the end that the meta file notes, and all of a log that
//! was closed. And a batch that is whole but for its header was written whole ([`wrong_header`]), unless a page explains the
//! header.

use std::io::{self, Read, Seek, SeekFrom};

use crate::batch_reader::{Bad, BadCause};
use crate::budget::Budget;
use crate::corrupt::CorruptKind;
use crate::meta::{Expected, Torn};
use crate::page::{PAGE, by_page};
use crate::wrong_header::{self, LENGTH};

/// Verdict on bad bytes at the end of the last segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A crash can have left them.
    Torn,
    /// Room that was reserved after the last batch, or bytes that were lost as if they had been.
    Room,
    /// A crash cannot.
    Damage(CorruptKind),
}

const WINDOW: usize = 1 << 16;
const FIRST_WINDOW: usize = 1 << 10;
/// Base offset (8), length (4), leader epoch (4), format (1).
const PREFIX: usize = 17;
/// Base offset and length; a batch of which this much is there has a length, and that is not 0.
pub(crate) const OVERHEAD: u64 = 12;
const MIN_LENGTH: u64 = 49;
const CRC_POSITION: u64 = 17;
const CHECKED_FROM: u64 = 21;

/// Judges bad bytes of the last segment. `next_offset` is the offset that should have come.
pub(crate) fn judge(
    source: &mut (impl Read + Seek),
    bad: &Bad,
    next_offset: i64,
    expected: Expected,
) -> io::Result<Verdict> {
    let is_zeros = only_zeros(source, bad.position)?;
    if !expected.may_be_torn(next_offset) {
        return Ok(Verdict::Damage(if is_zeros {
            CorruptKind::ZeroFilled
        } else {
            kind(bad)
        }));
    }
    if is_zeros {
        // A segment gets its name only when its first batch is durable, so a crash cannot empty it. Fewer bytes than
        // tell a length may be zeros by right: those of the offset 0.
        let emptied = bad.position == 0 && bad.remaining >= OVERHEAD;
        let may_be_room = expected.torn == Torn::Unsynced && bad.remaining >= OVERHEAD;
        return Ok(if emptied {
            Verdict::Damage(CorruptKind::ZeroFilled)
        } else if may_be_room {
            Verdict::Room
        } else {
            Verdict::Torn
        });
    }
    let damage = || Ok(Verdict::Damage(kind(bad)));
    if !bad.may_be_unwritten() {
        return damage();
    }
    // Asked before all that reads to the end of the file: a file of many bad batches would be read as often.
    if expected.torn == Torn::LastBatch {
        let mut budget = Budget::for_file(source)?;
        if next_batch(source, bad.position, next_offset, &mut budget)? != After::Nothing {
            return damage();
        }
    }
    if let Some(whole) = wrong_header::find(source, bad.position, next_offset)? {
        // What follows was written after the sync of this batch, if every batch is synced.
        let is_last = whole.end == source.seek(SeekFrom::End(0))?;
        return if whole.is_unwritten && (is_last || expected.torn == Torn::Unsynced) {
            Ok(Verdict::Torn)
        } else {
            damage()
        };
    }
    if matches!(bad.cause, BadCause::Order { .. }) {
        return damage();
    }
    match expected.torn {
        Torn::Nothing => damage(),
        // Without a sync after every batch, later pages may be there while earlier ones are not.
        Torn::Unsynced => Ok(Verdict::Torn),
        Torn::LastBatch => {
            let ends_here = bad.claimed.is_some_and(|size| size >= bad.remaining);
            if ends_here || length_is_unwritten(source, bad.position)? {
                Ok(Verdict::Torn)
            } else {
                damage()
            }
        }
    }
}

/// Says what is wrong, for bytes that are no torn tail.
pub(crate) fn kind(bad: &Bad) -> CorruptKind {
    match bad.cause {
        BadCause::CutOff => CorruptKind::CutOff {
            remaining: bad.remaining,
        },
        BadCause::Wire(error) => CorruptKind::Batch(error),
        BadCause::Order { expected, found } if found < expected => {
            CorruptKind::OffsetBack { expected, found }
        }
        BadCause::Order { expected, found } => CorruptKind::OffsetGap { expected, found },
    }
}

/// Returns `true` if there is nothing but zeros from `position` to the end, as in a file that was made longer than it is.
pub(crate) fn only_zeros(source: &mut (impl Read + Seek), position: u64) -> io::Result<bool> {
    source.seek(SeekFrom::Start(position))?;
    // Not on the stack: threads may have small ones.
    let mut window = vec![0; WINDOW];
    loop {
        match source.read(&mut window)? {
            0 => return Ok(true),
            n if window.iter().take(n).any(|byte| *byte != 0) => return Ok(false),
            _ => {}
        }
    }
}

/// Returns `true` if some of a batch's length is missing, or lies on a page that was never written. The length of a
/// batch that begins at the end of a page lies on two, and of these either one may be there without the other.
fn length_is_unwritten(source: &mut (impl Read + Seek), position: u64) -> io::Result<bool> {
    source.seek(SeekFrom::Start(position))?;
    let mut bytes = Vec::new();
    source
        .by_ref()
        .take(OVERHEAD + PAGE)
        .read_to_end(&mut bytes)?;
    let is_unwritten = |(begins, page): (usize, &[u8])| {
        begins < LENGTH.end
            && begins + page.len() > LENGTH.start
            && page.iter().all(|byte| *byte == 0)
    };
    Ok(bytes.len() < LENGTH.end || by_page(position, &bytes).any(is_unwritten))
}

/// Contents of the file after bad bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// No whole batch.
    Nothing,
    /// A batch with a right checksum, at this byte.
    Batch(u64),
    /// Too many bytes that look like headers to follow them all.
    Unclear,
}

/// The first whole batch with a right checksum anywhere after `position`, at an offset from `next_offset` on.
pub(crate) fn next_batch(
    source: &mut (impl Read + Seek),
    position: u64,
    next_offset: i64,
    budget: &mut Budget,
) -> io::Result<After> {
    let end = source.seek(SeekFrom::End(0))?;
    let mut at = position + 1;
    let mut window = Vec::new();
    // The next batch is near, as a rule.
    let mut wanted = FIRST_WINDOW;
    while at + PREFIX as u64 <= end {
        window.clear();
        source.seek(SeekFrom::Start(at))?;
        source
            .by_ref()
            .take(wanted as u64)
            .read_to_end(&mut window)?;
        wanted = WINDOW;
        for (i, prefix) in window.windows(PREFIX).enumerate() {
            let start = at + i as u64;
            let Some(size) = plausible_size(prefix, next_offset)
                .filter(|size| start.checked_add(*size).is_some_and(|stop| stop <= end))
            else {
                continue;
            };
            if !budget.spend(size) {
                return Ok(After::Unclear);
            }
            if checksum_fits(source, start, size)? {
                return Ok(After::Batch(start));
            }
        }
        // The last bytes of a window cannot hold a prefix; they begin the next one.
        at += (window.len() + 1).saturating_sub(PREFIX).max(1) as u64;
    }
    Ok(After::Nothing)
}

fn plausible_size(prefix: &[u8], next_offset: i64) -> Option<u64> {
    let (base_offset, rest) = prefix.split_first_chunk::<8>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let magic = *rest.get(4)?;
    let length = u64::try_from(i32::from_be_bytes(*length)).ok()?;
    (magic == 2 && length >= MIN_LENGTH && i64::from_be_bytes(*base_offset) >= next_offset)
        .then_some(OVERHEAD + length)
}

fn checksum_fits(source: &mut (impl Read + Seek), start: u64, size: u64) -> io::Result<bool> {
    source.seek(SeekFrom::Start(start + CRC_POSITION))?;
    let mut stored = [0; 4];
    source.read_exact(&mut stored)?;
    let mut left = source.by_ref().take(size - CHECKED_FROM);
    let mut chunk = [0; 4096];
    let mut computed = 0;
    loop {
        match left.read(&mut chunk)? {
            0 => return Ok(computed == u32::from_be_bytes(stored)),
            n => computed = crc32c::crc32c_append(computed, chunk.get(..n).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests;
