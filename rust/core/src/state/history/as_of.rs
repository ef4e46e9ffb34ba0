//! Prefix of a log, up to an offset or a time, for a look at an earlier state.

use std::collections::HashMap;

use super::At;

/// A prefix of every state partition; by default all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsOf {
    /// Last offset that counts, of each state partition that [`Self::offsets`] does not name.
    pub offset: Option<i64>,
    /// Last offset that counts, by state partition.
    pub offsets: HashMap<u32, i64>,
    /// A state partition ends before its first record of a later time, in ms since the epoch. What stands after that record
    /// is not looked at, whatever its time.
    pub timestamp: Option<i64>,
}

impl AsOf {
    /// Prefix of a state partition that counts.
    #[must_use]
    pub fn of(&self, partition: u32) -> Prefix {
        Prefix {
            last_offset: self.offsets.get(&partition).copied().or(self.offset),
            latest: self.timestamp,
        }
    }
}

/// A prefix of one state partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The last offset that counts, where that is known.
    last_offset: Option<i64>,
    /// The latest time that counts, in ms since the epoch.
    latest: Option<i64>,
}

impl Prefix {
    /// The last offset that counts, where that is known.
    #[must_use]
    pub const fn last_offset(self) -> Option<i64> {
        self.last_offset
    }

    /// Returns `true` if the prefix goes as far as a record.
    #[must_use]
    pub fn reaches(self, at: At) -> bool {
        self.last_offset.is_none_or(|last| at.offset <= last)
            && self.latest.is_none_or(|latest| at.timestamp <= latest)
    }

    /// Returns `true` if nothing after this offset can count.
    #[must_use]
    pub fn ends_with(self, offset: i64) -> bool {
        self.last_offset.is_some_and(|last| offset >= last)
    }
}
