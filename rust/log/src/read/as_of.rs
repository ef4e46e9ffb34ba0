//! Where a log is cut, to be looked at as of earlier.

use std::collections::HashMap;

use super::LogRecord;

/// A prefix of every state partition; by default all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsOf {
    /// Last offset that counts, of each state partition that [`Self::offsets`] does not name.
    pub offset: Option<i64>,
    /// Last offset that counts, by state partition.
    pub offsets: HashMap<u32, i64>,
    /// A state partition ends before its first record of a later time, in ms since the epoch. What stands behind that record
    /// is not looked at, whatever its time.
    pub timestamp: Option<i64>,
}

impl AsOf {
    /// The last offset of a state partition that counts, where that is known.
    pub(super) fn last_offset(&self, partition: u32) -> Option<i64> {
        self.offsets.get(&partition).copied().or(self.offset)
    }

    /// Whether the prefix goes as far as a record.
    pub(super) fn reaches(&self, record: &LogRecord) -> bool {
        self.last_offset(record.partition)
            .is_none_or(|last| record.offset <= last)
            && self
                .timestamp
                .is_none_or(|latest| record.timestamp <= latest)
    }

    /// Whether nothing behind a record can count.
    pub(super) fn ends_with(&self, record: &LogRecord) -> bool {
        self.last_offset(record.partition)
            .is_some_and(|last| record.offset >= last)
    }

    /// Whether nothing of a segment counts, by the offset in its name.
    pub(super) fn ends_before(&self, partition: u32, base_offset: i64) -> bool {
        self.last_offset(partition)
            .is_some_and(|last| base_offset > last)
    }
}
