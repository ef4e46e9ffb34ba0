//! Settings of a share coordinator (Kafka: `ShareCoordinatorConfig`).

use crate::settings::limits::{ConfigError, IntConfig};

/// `share.coordinator.snapshot.update.records.per.snapshot`; its bound is Kafka's since 4.3.
const SNAPSHOT_UPDATE_RECORDS_PER_SNAPSHOT: IntConfig = IntConfig {
    name: "share.coordinator.snapshot.update.records.per.snapshot",
    default: 500,
    min: 0,
    max: 500,
};

/// `share.coordinator.cold.partition.snapshot.interval.ms`.
const COLD_PARTITION_SNAPSHOT_INTERVAL_MS: IntConfig = IntConfig {
    name: "share.coordinator.cold.partition.snapshot.interval.ms",
    default: 300_000,
    min: 1,
    max: i64::MAX,
};

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
    /// Highest value of [`Self::snapshot_update_records_per_snapshot`].
    pub const MAX_SNAPSHOT_UPDATE_RECORDS: u32 = SNAPSHOT_UPDATE_RECORDS_PER_SNAPSHOT.max as u32;

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let updates = i64::from(self.snapshot_update_records_per_snapshot);
        SNAPSHOT_UPDATE_RECORDS_PER_SNAPSHOT.check(updates)?;
        COLD_PARTITION_SNAPSHOT_INTERVAL_MS.check(self.cold_partition_snapshot_interval_ms)?;
        Ok(())
    }
}

impl Default for CoordinatorConfig {
    /// Kafka's defaults.
    fn default() -> Self {
        Self {
            snapshot_update_records_per_snapshot: SNAPSHOT_UPDATE_RECORDS_PER_SNAPSHOT.default
                as u32,
            cold_partition_snapshot_interval_ms: COLD_PARTITION_SNAPSHOT_INTERVAL_MS.default,
        }
    }
}
