//! A persisted stretch of records in one state, and how such stretches merge.
//!
//! Overlaps are merged offset by offset: the higher delivery count wins, then the higher state id (Kafka:
//! `PersisterStateBatchCombiner`). A merge is therefore a maximum: commutative, associative and idempotent, and neither
//! order nor recency matters. [`StateBatches`] keeps the result as ordered, disjoint runs without equal neighbours,
//! which is the form that Kafka writes since 4.4 (KAFKA-20691); lists of older brokers with equal neighbours read the same.

mod batches;
#[cfg(test)]
mod fits_tests;
#[cfg(test)]
mod tests;

pub use crate::delivery::StateBatch;
pub use batches::StateBatches;

use crate::offset::after;

/// Merges two lists of batches and drops what lies below `start_offset`; -1 drops nothing
/// (`PersisterStateBatchCombiner.combineStateBatches`).
///
/// Both lists may be unsorted and overlapping and may reach `i64::MAX` (deliberate difference M2). A batch whose last
/// offset is below its first covers no offset, so it leaves no trace (deliberate difference M1; a write with such a
/// batch is refused before it comes here).
#[must_use]
pub fn combine(current: &[StateBatch], new: &[StateBatch], start_offset: i64) -> Vec<StateBatch> {
    if current.is_empty() && is_canonical(new, start_offset) {
        debug_assert_eq!(StateBatches::from_batches(new).to_vec(), new);
        return new.to_vec();
    }
    let mut batches = StateBatches::new();
    batches.merge(current, start_offset);
    batches.merge(new, start_offset);
    batches.to_vec()
}

/// Returns `true` if merging the list alone gives the list: an honest leader's writes are of this kind.
fn is_canonical(batches: &[StateBatch], start_offset: i64) -> bool {
    let in_place = |b: &StateBatch| {
        b.first_offset <= b.last_offset && (start_offset == -1 || b.first_offset >= start_offset)
    };
    let apart = |pair: &[StateBatch]| match pair {
        [a, b] if a.last_offset < b.first_offset => {
            let equal =
                (a.delivery_state, a.delivery_count) == (b.delivery_state, b.delivery_count);
            !(equal && after(a.last_offset) == Some(b.first_offset))
        }
        _ => false,
    };
    batches.iter().all(in_place) && batches.windows(2).all(apart)
}
