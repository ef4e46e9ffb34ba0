//! Settings of a share coordinator (Kafka: `ShareCoordinatorConfig`).

use core::fmt;

/// Settings that the rules depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoordinatorConfig {
    /// Updates of a key before its next write becomes a snapshot, 0 to 500; 0 makes every write a snapshot
    /// (`share.coordinator.snapshot.update.records.per.snapshot`).
    pub snapshot_update_records_per_snapshot: u32,
    /// Age in ms at which a snapshot is written again, so that the log below it can be pruned; at least 1
    /// (`share.coordinator.cold.partition.snapshot.interval.ms`).
    pub cold_partition_snapshot_interval_ms: i64,
}

impl CoordinatorConfig {
    /// Highest value of [`Self::snapshot_update_records_per_snapshot`]; Kafka's bound since 4.3.
    pub const MAX_SNAPSHOT_UPDATE_RECORDS: u32 = 500;

    pub(super) const fn check(&self) -> Result<(), ConfigError> {
        if self.snapshot_update_records_per_snapshot > Self::MAX_SNAPSHOT_UPDATE_RECORDS {
            return Err(ConfigError {
                name: "share.coordinator.snapshot.update.records.per.snapshot",
                value: self.snapshot_update_records_per_snapshot as i64,
                min: 0,
                max: Self::MAX_SNAPSHOT_UPDATE_RECORDS as i64,
            });
        }
        if self.cold_partition_snapshot_interval_ms < 1 {
            return Err(ConfigError {
                name: "share.coordinator.cold.partition.snapshot.interval.ms",
                value: self.cold_partition_snapshot_interval_ms,
                min: 1,
                max: i64::MAX,
            });
        }
        Ok(())
    }
}

impl Default for CoordinatorConfig {
    /// Kafka's defaults.
    fn default() -> Self {
        Self {
            snapshot_update_records_per_snapshot: 500,
            cold_partition_snapshot_interval_ms: 300_000,
        }
    }
}

/// A setting is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Kafka's name of the setting.
    pub name: &'static str,
    /// The value given.
    pub value: i64,
    /// Lowest legal value.
    pub min: i64,
    /// Highest legal value.
    pub max: i64,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} is {}, which is not in {}..={}",
            self.name, self.value, self.min, self.max
        )
    }
}

impl core::error::Error for ConfigError {}
