//! Reading a log, and where it is damaged, what a repair would cost: how much of it would be cut off, and what lies there.

use std::collections::BTreeSet;

use share_state_wire::record_batch::{DecodedBatch, Limits};

use super::recovery::{Checked, Found, Keep, Log};
use super::segment_path;
use crate::batch_reader::{BatchReader, Step};
use crate::budget::Budget;
use crate::corrupt::{CorruptKind, CorruptLog};
use crate::damage::{Damage, Loss};
use crate::disk::{At, IoFailure};
use crate::error::OpenError;
use crate::meta::Torn;
use crate::tail::{self, After};

/// Names what a record is of, by its key.
pub(crate) type NameOf = fn(&[u8]) -> Option<String>;

/// A log that was read.
pub(crate) enum Loaded<T> {
    /// It passed, or what was damaged of it is to be cut off.
    Passed {
        /// Result of reading it.
        read: T,
        /// Parts that are to be made good.
        checked: Checked,
        /// Damage that a repair cuts off.
        repaired: Option<Damage>,
    },
    /// A repair would make it pass.
    Damaged(Damage),
}

/// Reads a log through `read`; where it is damaged, once more from the beginning what stands before the damage, which a `repair`
/// keeps.
///
/// # Errors
/// Damage that no repair mends.
pub(crate) fn load<T>(
    log: &Log<'_>,
    found: &Found,
    repair: bool,
    name_of: NameOf,
    mut read: impl FnMut(Option<Keep>) -> Result<(T, Checked), OpenError>,
) -> Result<Loaded<T>, OpenError> {
    let corrupt = match read(None) {
        Err(OpenError::Corrupt(corrupt)) => corrupt,
        whole => {
            return whole.map(|(read, checked)| Loaded::Passed {
                read,
                checked,
                repaired: None,
            });
        }
    };
    let Some(keep) = keep_before(log, found, &corrupt) else {
        return Err(OpenError::Corrupt(corrupt));
    };
    let (read, checked) = match read(Some(keep)) {
        // What would be left is no log.
        Err(OpenError::Corrupt(_)) => return Err(OpenError::Corrupt(corrupt)),
        kept => kept?,
    };
    let loss = survey(log, found, keep, checked.next_offset, name_of)?;
    let damage = Damage {
        partition: log.partition,
        corrupt,
        loss,
    };
    Ok(if repair {
        Loaded::Passed {
            read,
            checked,
            repaired: Some(damage),
        }
    } else {
        Loaded::Damaged(damage)
    })
}

/// Loss of a cut after `keep`: what lies there, and what is missing there.
fn survey(
    log: &Log<'_>,
    found: &Found,
    keep: Keep,
    next_offset: i64,
    name_of: NameOf,
) -> Result<Loss, IoFailure> {
    let mut cut = Cut::default();
    for (base, length) in &found.segments {
        let from = keep.of(*base);
        if from < *length {
            cut.bytes += length - from;
            cut.read(log, *base, from, name_of)?;
        }
    }
    let missing = log.expected.end.map_or(0, |end| {
        u64::try_from(end.next_offset.saturating_sub(next_offset)).unwrap_or(0)
    });
    // Only a log that was closed had nothing after the noted end.
    let is_exact = log.expected.torn == Torn::Nothing && log.expected.end.is_some();
    Ok(Loss {
        bytes: cut.bytes,
        records: if is_exact {
            missing
        } else {
            missing.max(cut.records)
        },
        is_exact,
        keys: cut.keys.into_iter().collect(),
    })
}

/// Part before the damage; `None` if it is in no segment.
fn keep_before(log: &Log<'_>, found: &Found, corrupt: &CorruptLog) -> Option<Keep> {
    if matches!(corrupt.kind, CorruptKind::EndsElsewhere { .. }) {
        // All that is there can be read. What was appended by whomever is kept too: to cut it mends nothing.
        return Some(Keep::ALL);
    }
    let mut bases = found.segments.iter().map(|(base, _)| *base);
    let segment = bases.find(|base| segment_path(log.dir, *base) == corrupt.segment)?;
    Some(Keep {
        segment,
        bytes: corrupt.position,
    })
}

/// Contents of the bytes that are cut off, as far as they can be read.
#[derive(Debug, Default)]
struct Cut {
    bytes: u64,
    records: u64,
    keys: BTreeSet<String>,
}

impl Cut {
    /// Reads a segment from a byte on, past whatever is bad in it.
    fn read(
        &mut self,
        log: &Log<'_>,
        base: i64,
        from: u64,
        name_of: NameOf,
    ) -> Result<(), IoFailure> {
        let path = segment_path(log.dir, base);
        let source = log.disk.open_read(&path).at("open", &path)?;
        let mut reader = BatchReader::new(source, Limits::default()).at("read", &path)?;
        let mut budget = Budget::for_file(reader.raw()).at("read", &path)?;
        reader.resume_at(from).at("read", &path)?;
        loop {
            match reader.step().at("read", &path)? {
                Step::End => return Ok(()),
                Step::Whole => {
                    if reader.decode().is_err() {
                        reader.believe();
                    }
                    if let Ok(batch) = reader.decode() {
                        self.note(&batch, name_of);
                        reader.accept();
                        continue;
                    }
                }
                Step::Bad(_) => {}
            }
            let position = reader.position();
            match tail::next_batch(reader.raw(), position, 0, &mut budget).at("read", &path)? {
                After::Batch(position) => reader.resume_at(position).at("read", &path)?,
                After::Nothing | After::Unclear => return Ok(()),
            }
        }
    }

    fn note(&mut self, batch: &DecodedBatch<'_>, name_of: NameOf) {
        for record in batch.records() {
            self.records += 1;
            self.keys.extend(record.key.and_then(name_of));
        }
    }
}
