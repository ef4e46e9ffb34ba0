//! The only offset arithmetic of the project.
//!
//! Kafka writes ranges with both ends inclusive, so a range may end at `i64::MAX` and `last + 1` may not
//! exist (deliberate difference M2). Nothing outside this file adds one to an offset.

use core::fmt;

/// A non-empty range of offsets, both ends inclusive.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct OffsetRange {
    /// First offset of the range.
    pub first: i64,
    /// Last offset of the range, never below `first`.
    pub last: i64,
}

impl OffsetRange {
    /// The range `first..=last`, or `None` when it would be empty or inverted.
    #[must_use]
    pub const fn new(first: i64, last: i64) -> Option<Self> {
        if first <= last {
            Some(Self { first, last })
        } else {
            None
        }
    }

    /// Every offset there is.
    pub const ALL: Self = Self {
        first: i64::MIN,
        last: i64::MAX,
    };

    /// The range that holds one offset.
    #[must_use]
    pub const fn single(offset: i64) -> Self {
        Self {
            first: offset,
            last: offset,
        }
    }

    /// Number of offsets in the range; `u64` because a range may span more than `i64::MAX`.
    #[must_use]
    pub const fn len(self) -> u64 {
        self.first.abs_diff(self.last).saturating_add(1)
    }

    /// A range is never empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        false
    }

    /// Returns `true` if `offset` lies in the range.
    #[must_use]
    pub const fn contains(self, offset: i64) -> bool {
        self.first <= offset && offset <= self.last
    }

    /// Returns `true` if every offset of `other` lies in the range.
    #[must_use]
    pub const fn covers(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    /// The offsets that both ranges hold.
    #[must_use]
    pub fn intersection(self, other: Self) -> Option<Self> {
        Self::new(self.first.max(other.first), self.last.min(other.last))
    }

    /// The offsets of the range after `offset`; all of them when it lies before the range.
    #[must_use]
    pub fn after(self, offset: i64) -> Option<Self> {
        Self::new(self.first.max(after(offset)?), self.last)
    }

    /// Returns `true` if `next` begins right after this range.
    #[must_use]
    pub fn is_followed_by(self, next: i64) -> bool {
        after(self.last) == Some(next)
    }
}

impl fmt::Debug for OffsetRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

impl fmt::Display for OffsetRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

/// The offset after `offset`, or `None` at the end of the offset space.
#[must_use]
pub const fn after(offset: i64) -> Option<i64> {
    offset.checked_add(1)
}

/// The offset after `offset`, which stays at `i64::MAX` there: a share partition that reaches it is full.
#[must_use]
pub const fn after_saturating(offset: i64) -> i64 {
    offset.saturating_add(1)
}

/// The offset before `offset`, or `None` at `i64::MIN`.
#[must_use]
pub const fn before(offset: i64) -> Option<i64> {
    offset.checked_sub(1)
}

/// The offset before `offset`, which stays at `i64::MIN` there.
#[must_use]
pub const fn before_saturating(offset: i64) -> i64 {
    offset.saturating_sub(1)
}

/// `offset + n`, which stays at `i64::MAX` when the sum does not exist.
#[must_use]
pub const fn plus_saturating(offset: i64, n: u64) -> i64 {
    offset.saturating_add_unsigned(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_knows_its_length_up_to_the_whole_offset_space() {
        assert_eq!(OffsetRange::new(3, 2), None);
        assert_eq!(OffsetRange::single(7).len(), 1);
        assert_eq!(OffsetRange { first: 0, last: 9 }.len(), 10);
        assert_eq!(
            OffsetRange {
                first: i64::MIN,
                last: i64::MAX
            }
            .len(),
            u64::MAX
        );
    }

    #[test]
    fn nothing_wraps_at_the_ends_of_the_offset_space() {
        assert_eq!(after(i64::MAX), None);
        assert_eq!(after_saturating(i64::MAX), i64::MAX);
        assert_eq!(before(i64::MIN), None);
        assert_eq!(plus_saturating(i64::MAX - 1, 5), i64::MAX);
        assert_eq!(plus_saturating(-5, 5), 0);
        let end = OffsetRange {
            first: 0,
            last: i64::MAX,
        };
        assert!(!end.is_followed_by(i64::MIN));
    }

    #[test]
    fn ranges_intersect_only_where_both_hold_the_offset() {
        let a = OffsetRange { first: 0, last: 9 };
        let b = OffsetRange { first: 5, last: 20 };
        assert_eq!(a.intersection(b), OffsetRange::new(5, 9));
        assert_eq!(a.intersection(OffsetRange::single(10)), None);
        assert!(a.covers(OffsetRange { first: 0, last: 9 }) && !a.covers(b));
        assert!(a.is_followed_by(10) && !a.is_followed_by(9));
        assert_eq!(a.after(4), OffsetRange::new(5, 9));
        assert_eq!((a.after(-7), a.after(9)), (Some(a), None));
        assert_eq!(a.after(i64::MAX), None);
    }
}
