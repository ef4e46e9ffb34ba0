//! The configuration that a share partition works with.

use super::group::{DELIVERY_COUNT_LIMIT, PARTITION_MAX_RECORD_LOCKS, RECORD_LOCK_DURATION_MS};
use super::int::{ConfigError, int};
use super::offset_reset::AutoOffsetReset;

/// Name in errors of a setting that Kafka does not have.
const MAX_LOCK_TIMEOUTS: &str = "max_lock_timeouts_per_call";

/// `share.isolation.level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum IsolationLevel {
    /// Every record up to the high watermark.
    #[default]
    ReadUncommitted,
    /// Records of committed transactions, up to the last stable offset.
    ReadCommitted,
}

/// The configuration that a share partition works with. It may change at any time and counts from the next use on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareGroupConfig {
    /// `share.partition.max.record.locks`, in offsets from the start offset to the end of the window.
    pub partition_max_record_locks: u32,
    /// `share.delivery.count.limit`.
    pub delivery_count_limit: i16,
    /// `share.record.lock.duration.ms`.
    pub record_lock_duration_ms: i64,
    /// `share.renew.acknowledge.enable` (KIP-1222).
    pub renew_acknowledge_enable: bool,
    /// `share.auto.offset.reset`.
    pub auto_offset_reset: AutoOffsetReset,
    /// `share.isolation.level`.
    pub isolation_level: IsolationLevel,
    /// Set if `errors.deadletterqueue.topic.name` is set (KIP-1191).
    pub dead_letter_queue: bool,
    /// The most acquisition locks that run out in one call, of whichever verb; `u32::MAX` for all that are due. It bounds the
    /// time of a call where many locks end together. Those left over hold until the next call, and can be acknowledged until then.
    /// Kafka has no such setting: its timer ends each lock by itself.
    pub max_lock_timeouts_per_call: u32,
}

impl Default for ShareGroupConfig {
    fn default() -> Self {
        Self {
            partition_max_record_locks: 2_000,
            delivery_count_limit: 5,
            record_lock_duration_ms: 30_000,
            renew_acknowledge_enable: true,
            auto_offset_reset: AutoOffsetReset::default(),
            isolation_level: IsolationLevel::default(),
            dead_letter_queue: false,
            max_lock_timeouts_per_call: u32::MAX,
        }
    }
}

impl ShareGroupConfig {
    /// Checks what the engine itself needs of a configuration: positive limits that fit the persisted types.
    ///
    /// # Errors
    /// The first value that cannot be used.
    pub fn check(&self) -> Result<(), ConfigError> {
        let locks = int(
            PARTITION_MAX_RECORD_LOCKS.group.name,
            0,
            1,
            i64::from(u32::MAX),
        );
        let limit = int(DELIVERY_COUNT_LIMIT.group.name, 0, 1, i64::from(i16::MAX));
        let duration = int(
            RECORD_LOCK_DURATION_MS.group.name,
            0,
            1,
            i64::from(i32::MAX),
        );
        locks.check(i64::from(self.partition_max_record_locks))?;
        limit.check(i64::from(self.delivery_count_limit))?;
        duration.check(self.record_lock_duration_ms)?;
        int(MAX_LOCK_TIMEOUTS, 0, 1, i64::from(u32::MAX))
            .check(i64::from(self.max_lock_timeouts_per_call))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_partition_takes_only_positive_limits() {
        assert_eq!(ShareGroupConfig::default().check(), Ok(()));
        let zero = ShareGroupConfig {
            delivery_count_limit: 0,
            ..ShareGroupConfig::default()
        };
        assert_eq!(zero.check().unwrap_err().name, "share.delivery.count.limit");
    }
}
