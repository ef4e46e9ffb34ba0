//! What a run is, and what the tree must know about its value.

use crate::offset::OffsetRange;

/// The value of a run, and how values of neighbouring offsets relate.
///
/// For every value, `v.joins(v.tail())` and `v.tail().tail() == v.tail()` hold: cutting a run and changing nothing gives
/// the run back. `a.joins(b)` implies that `a.tail()` equals `b`, so that a joined run can be cut anywhere again.
pub trait RunValue: Copy + Eq {
    /// The value of a part of the run that does not hold its first offset. A value that marks its first offset (an
    /// in-flight batch begins here) drops the mark.
    #[must_use]
    fn tail(self) -> Self {
        self
    }

    /// Whether a run of `next` that begins right behind a run of `self` becomes one run with it.
    #[must_use]
    fn joins(self, next: Self) -> bool {
        self == next
    }

    /// The classes the value belongs to, one bit each; `next_with` and `prev_with` search by class.
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
        let value = if range.first == self.range.first {
            self.value
        } else {
            self.value.tail()
        };
        Some(Self { range, value })
    }

    /// Whether `next` lies right behind this run and becomes one run with it.
    #[must_use]
    pub fn joins(self, next: Self) -> bool {
        self.range.is_followed_by(next.range.first) && self.value.joins(next.value)
    }
}
