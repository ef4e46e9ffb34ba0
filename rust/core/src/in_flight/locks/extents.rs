//! Ranges that cover the records of several leases.

use crate::offset::{OffsetRange, after_saturating};

fn touch(a: OffsetRange, b: OffsetRange) -> bool {
    a.first <= after_saturating(b.last) && b.first <= after_saturating(a.last)
}

/// Adds an extent. Neighbours in a list mostly cover neighbouring offsets, and then cost no entry of their own.
#[inline]
pub(super) fn gather(extents: &mut Vec<OffsetRange>, extent: OffsetRange) {
    match extents.last_mut() {
        Some(last) if last.is_followed_by(extent.first) => last.last = extent.last,
        Some(last) if touch(*last, extent) => {
            last.first = last.first.min(extent.first);
            last.last = last.last.max(extent.last);
        }
        _ => extents.push(extent),
    }
}

/// The extents, ascending and disjoint.
pub(super) fn merged(mut extents: Vec<OffsetRange>) -> Vec<OffsetRange> {
    extents.sort_unstable_by_key(|extent| extent.first);
    extents.dedup_by(|next, last| {
        let touches = touch(*last, *next);
        if touches {
            last.last = last.last.max(next.last);
        }
        touches
    });
    extents
}
