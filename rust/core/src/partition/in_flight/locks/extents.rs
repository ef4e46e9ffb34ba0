//! Ranges that cover the records of several leases.

use crate::offset::{OffsetRange, after_saturating};

fn touch(a: OffsetRange, b: OffsetRange) -> bool {
    a.first <= after_saturating(b.last) && b.first <= after_saturating(a.last)
}

/// Extents while they are gathered. Neighbours in a list mostly cover neighbouring offsets: those are one, and cost no entry of
/// their own.
#[derive(Default)]
pub(super) struct Extents {
    /// The latest.
    row: Option<OffsetRange>,
    before: Vec<OffsetRange>,
}

impl Extents {
    #[inline(always)]
    pub fn add(&mut self, extent: OffsetRange) {
        match &mut self.row {
            Some(row) if row.is_followed_by(extent.first) => row.last = extent.last,
            Some(row) if touch(*row, extent) => {
                row.first = row.first.min(extent.first);
                row.last = row.last.max(extent.last);
            }
            row => {
                if let Some(row) = row.replace(extent) {
                    self.before.push(row);
                }
            }
        }
    }

    /// The extents, ascending and disjoint.
    pub fn merged(self) -> Vec<OffsetRange> {
        let mut extents = self.before;
        if let Some(row) = self.row {
            extents.push(row);
        }
        extents.sort_unstable_by_key(|extent| extent.first);
        extents.dedup_by(|next, last| {
            let touches = touch(*last, *next);
            if touches {
                last.last = last.last.max(next.last);
            }
            touches
        });
        debug_assert!(
            extents.windows(2).all(|pair| pair[0].last < pair[1].first),
            "extents ascend and are disjoint: {extents:?}"
        );
        extents
    }
}
