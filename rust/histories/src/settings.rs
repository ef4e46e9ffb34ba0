//! Settings of a check, beside the history.

use crate::event::Nanos;

/// Nanoseconds of a millisecond.
pub const MILLI: Nanos = 1_000_000;

/// Limits that the checks measure with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The most deliveries of a record (`group.share.delivery.count.limit`).
    pub delivery_limit: i64,
    /// Largest difference between the clocks of two members.
    pub skew: Nanos,
    /// Time that an available record may wait while members poll and nothing is locked.
    pub within: Nanos,
}

impl Default for Settings {
    /// Kafka's delivery limit, 50 ms and a minute.
    fn default() -> Self {
        Self {
            delivery_limit: 5,
            skew: 50 * MILLI,
            within: 60_000 * MILLI,
        }
    }
}
