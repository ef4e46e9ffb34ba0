//! Run of offsets with one value, and the facts about the value that the tree needs.

use crate::offset::OffsetRange;

/// The value of a run. Neighbouring offsets with equal values are one run.
pub trait RunValue: Copy + Eq {
    /// The classes the value belongs to, one bit each; [`super::IntervalTree::next_with`] searches by class.
    #[must_use]
    fn classes(self) -> u8 {
        0
    }
}

/// A maximal stretch of offsets with one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run<V> {
    /// The offsets.
    pub range: OffsetRange,
    /// Their value.
    pub value: V,
}

impl<V: RunValue> Run<V> {
    /// The part of the run inside `range`.
    #[must_use]
    pub fn clipped(self, range: OffsetRange) -> Option<Self> {
        let range = self.range.intersection(range)?;
        Some(Self { range, ..self })
    }

    /// Returns `true` if `next` lies right after this run and becomes one run with it.
    #[must_use]
    pub fn joins(self, next: Self) -> bool {
        self.range.is_followed_by(next.range.first) && self.value == next.value
    }
}
