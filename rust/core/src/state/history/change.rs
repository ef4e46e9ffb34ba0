//! Offsets that a record touches, and the meaning of its changes.

use super::oddity::Oddity;
use super::row::{Cause, Delivery};
use super::segments::Pair;
use crate::offset::{OffsetRange, before};
use crate::records::ShareValue;
use crate::state::group_offset::ShareGroupOffset;
use crate::state::state_batch::StateBatch;

/// Kind of record that begins a key's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// The state goes on.
    No,
    /// It is made, or made again.
    Initialised,
    /// The log does not tell what was before.
    Found,
}

impl Beginning {
    /// Compares a record with the state before it.
    #[must_use]
    pub fn of(value: &ShareValue, state: Option<&ShareGroupOffset>) -> Self {
        match (value, state) {
            (ShareValue::Snapshot(first), None) if first.snapshot_epoch == 0 => Self::Initialised,
            (ShareValue::Tombstone, _) | (ShareValue::Update(_), Some(_)) => Self::No,
            (_, None) => Self::Found,
            (ShareValue::Snapshot(_), Some(state)) if state.incomplete => Self::Found,
            (ShareValue::Snapshot(next), Some(state)) if next.state_epoch != state.state_epoch => {
                Self::Initialised
            }
            (ShareValue::Snapshot(_), Some(_)) => Self::No,
        }
    }
}

/// A change of the start offset, and what kind of record made it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    /// Start offset before the record; -1 when there was none.
    pub from: i64,
    /// Start offset after the record.
    pub to: i64,
    /// Set for a first snapshot: it tells of offsets of which nothing was known, and what it tells was so before it.
    pub is_first_snapshot: bool,
}

impl Move {
    /// Cause of the difference of `pair`; `None` when nothing happened to it.
    pub fn cause(self, pair: Pair) -> Option<Cause> {
        let Pair { range, from, to } = pair;
        if from == to {
            let moved = between(self.from, self.to)?.covers(range);
            return moved.then_some(if self.from < self.to {
                Cause::Passed
            } else {
                Cause::StartOffsetWentBack
            });
        }
        Some(match (from, to) {
            (_, None) if self.to != -1 && range.last < self.to => Cause::Passed,
            (_, None) => Cause::Forgotten,
            (None, Some(_)) if self.is_first_snapshot => Cause::Found,
            (Some(from), Some(to)) if (to.count, to.state) < (from.count, from.state) => {
                Cause::WentBack
            }
            (_, Some(to)) => arrived(to),
        })
    }
}

/// Returns what brought a record into a delivery state.
const fn arrived(to: Delivery) -> Cause {
    match to.state {
        0 => Cause::Released,
        2 => Cause::Accepted,
        3 => Cause::Archiving,
        4 => Cause::Archived,
        _ => Cause::OtherState,
    }
}

/// The offsets that a move of the start offset, in either direction, went over; -1 is no place.
fn between(from: i64, to: i64) -> Option<OffsetRange> {
    if from == -1 || to == -1 {
        return None;
    }
    OffsetRange::new(from.min(to), before(from.max(to))?)
}

/// Appends every offset of which the fold may say something else after the record than before it.
pub(super) fn touched(
    value: &ShareValue,
    state: Option<&ShareGroupOffset>,
    ranges: &mut Vec<OffsetRange>,
) {
    let whole = |batch: &StateBatch| OffsetRange::new(batch.first_offset, batch.last_offset);
    match (value, state) {
        (ShareValue::Tombstone, _) => {}
        (ShareValue::Snapshot(snapshot), state) => {
            ranges.extend(snapshot.state_batches.iter().filter_map(whole));
            if let Some(state) = state {
                ranges.extend(state.state_batches.bounds());
                ranges.extend(between(state.start_offset, snapshot.start_offset));
            }
        }
        (ShareValue::Update(update), None) => {
            ranges.extend(update.state_batches.iter().filter_map(whole));
        }
        (ShareValue::Update(update), Some(state)) => {
            let start = match update.start_offset {
                -1 => state.start_offset,
                start => start,
            };
            ranges.extend(between(state.start_offset, start));
            let Some(below) = before(start).filter(|_| start != -1) else {
                return ranges.extend(update.state_batches.iter().filter_map(whole));
            };
            let known = state.state_batches.bounds();
            ranges.extend(known.and_then(|known| OffsetRange::new(known.first, below)));
            ranges.extend(update.state_batches.iter().filter_map(|batch| {
                OffsetRange::new(batch.first_offset.max(start), batch.last_offset)
            }));
        }
    }
}

/// The cause that an oddity is told as; a tombstone of nothing changes nothing.
pub(super) const fn odd(oddity: Oddity) -> Option<Cause> {
    match oddity {
        Oddity::UpdateOfOtherSnapshot { .. } => Some(Cause::UpdateOfOtherSnapshot),
        Oddity::SnapshotEpochNotRising { .. } => Some(Cause::SnapshotEpochNotRising),
        Oddity::TombstoneOfUnknownKey => None,
    }
}
