//! Agreement of a store with what a share partition knows as stable.
//!
//! From the start offset of the share partition on, offset by offset: what is stable is held with its state and delivery count;
//! of what a member has acquired, an earlier delivery is held, or nothing; of what was never delivered, nothing is. A write under
//! way may have reached the store or not, so its records are not compared. What the log turned out not to have any more is archived
//! in memory alone, as in Kafka: of that, no other end is held.

use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::in_flight::InFlightStore;
use share_state_core::offset::{OffsetRange, after_saturating, before_saturating};
use share_state_core::record_state::{Phase, RecordState};
use share_state_core::share_partition::{SharePartition, Status};
use share_state_core::state_batch::StateBatch;

/// Returns true if the share partition serves.
pub fn is_comparable<S: InFlightStore>(partition: &SharePartition<S>) -> bool {
    partition.status() == Status::Active
}

/// Compares.
///
/// # Errors
/// The first range that differs.
pub fn compare<S: InFlightStore>(
    held: &ShareGroupOffset,
    partition: &SharePartition<S>,
    gone: &[OffsetRange],
) -> Result<(), String> {
    let start = partition.start_offset();
    if held.state_epoch != partition.state_epoch() || held.start_offset > start {
        return Err(format!(
            "the store holds epoch {} from {} on, the share partition is at epoch {} and {start}",
            held.state_epoch,
            held.start_offset,
            partition.state_epoch()
        ));
    }
    let mut next = start;
    for run in partition.in_flight() {
        let Some(range) = OffsetRange::new(run.range.first.max(start), run.range.last) else {
            continue;
        };
        if let Some(hole) = OffsetRange::new(next, before_saturating(range.first)) {
            nothing(held, hole)?;
        }
        next = after_saturating(range.last);
        if run.phase != Phase::Stable {
            continue;
        }
        let (state, count) = (run.state, run.delivery_count);
        match state {
            RecordState::Acquired => {
                let is_earlier = |batch: &StateBatch| {
                    batch.delivery_state == RecordState::Available.id()
                        && batch.delivery_count < count
                };
                if !held
                    .state_batches
                    .within(range)
                    .all(|batch| is_earlier(&batch))
                {
                    return Err(differs(held, range, "acquired", count));
                }
            }
            RecordState::Available if count == 0 => nothing(held, range)?,
            _ => {
                for found in gone.iter().filter_map(|gone| gone.intersection(range)) {
                    let is_other_end = |batch: StateBatch| {
                        ![RecordState::Available.id(), state.id()].contains(&batch.delivery_state)
                    };
                    if held.state_batches.within(found).any(is_other_end) {
                        return Err(differs(held, found, "gone from the log", count));
                    }
                }
                for range in without(range, gone) {
                    let expected = StateBatch {
                        first_offset: range.first,
                        last_offset: range.last,
                        delivery_state: state.id(),
                        delivery_count: count,
                    };
                    if !held.state_batches.within(range).eq([expected]) {
                        return Err(differs(held, range, state.name(), count));
                    }
                }
            }
        }
    }
    match OffsetRange::new(next, i64::MAX) {
        Some(rest) => nothing(held, rest),
        None => Ok(()),
    }
}

/// Parts of a range that are left.
pub fn without(range: OffsetRange, gone: &[OffsetRange]) -> Vec<OffsetRange> {
    let mut left = vec![range];
    for gone in gone {
        let cut = |range: OffsetRange| {
            let below =
                OffsetRange::new(range.first, range.last.min(before_saturating(gone.first)));
            let above = OffsetRange::new(range.first.max(after_saturating(gone.last)), range.last);
            [below, above].into_iter().flatten()
        };
        left = left.into_iter().flat_map(cut).collect();
    }
    left
}

fn nothing(held: &ShareGroupOffset, range: OffsetRange) -> Result<(), String> {
    if held.state_batches.within(range).next().is_none() {
        return Ok(());
    }
    Err(differs(held, range, "never delivered", 0))
}

fn differs(held: &ShareGroupOffset, range: OffsetRange, known: &str, count: i16) -> String {
    let held: Vec<StateBatch> = held.state_batches.within(range).collect();
    format!(
        "{} to {} is {known} with count {count}, and the store holds {held:?}",
        range.first, range.last
    )
}
