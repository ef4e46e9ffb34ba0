//! Settings of a store.

use core::fmt;

use share_state_core::coordinator::{self, CoordinatorConfig};
use share_state_wire::record_batch::Compression;

use crate::disk::Room;
use crate::meta::Torn;

/// Policy that says when appended bytes are made durable. Answers under `Always` survive a power failure. Answers under
/// the other two survive a kill of the process, but not a crash of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SyncPolicy {
    /// Durable before every answer that depends on them.
    #[default]
    Always,
    /// Durable at an interval, by a thread of the store (Kafka: `flush.ms`).
    Interval {
        /// Milliseconds between two syncs, at least 1.
        ms: u64,
    },
    /// Durable when the operating system writes them, at a roll, at [`flush`](crate::StateStore::flush) and at
    /// [`close`](crate::StateStore::close).
    Never,
}

impl From<SyncPolicy> for Torn {
    fn from(policy: SyncPolicy) -> Self {
        match policy {
            SyncPolicy::Always => Self::LastBatch,
            SyncPolicy::Interval { .. } | SyncPolicy::Never => Self::Unsynced,
        }
    }
}

impl From<SyncPolicy> for Room {
    fn from(policy: SyncPolicy) -> Self {
        match policy {
            SyncPolicy::Always => Self::AsAppended,
            SyncPolicy::Interval { .. } | SyncPolicy::Never => Self::Ahead,
        }
    }
}

/// Settings of a store. `StoreConfig::default()` is durable and like a broker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreConfig {
    /// Number of state partitions; `None` takes that of an existing store, or 1 for a new one.
    ///
    /// Kafka's hash distributes the keys, so the number is fixed when the store is created. A broker has 50, to
    /// distribute them over machines. Here one is usually best, because all writers then share each sync. With more, writers of
    /// different keys sync in parallel, which some disks do faster. A directory for a broker to load must have
    /// the broker's number.
    pub partitions: Option<u32>,
    /// Creates a store that does not exist. Default true.
    pub create: bool,
    /// Policy that says when appended bytes are made durable. Default always.
    pub sync: SyncPolicy,
    /// Maximum size of a segment in bytes, except for a single larger batch. Default 100 MiB, at least 1 KiB
    /// (`share.coordinator.state.topic.segment.bytes`).
    pub segment_bytes: u64,
    /// Compression of record batches. Default none (`share.coordinator.state.topic.compression.codec`).
    pub compression: Compression,
    /// Settings of the coordinators.
    pub coordinator: CoordinatorConfig,
    /// Cuts a damaged log where its damage begins, which loses confirmed records, instead of refusing it.
    /// [`Recovery::repaired`](crate::Recovery::repaired) reports the cuts. Default false.
    pub repair: bool,
}

/// The maximum number of state partitions of a store. Each has a directory and a lock.
pub const MAX_PARTITIONS: u32 = 10_000;

const MIN_SEGMENT_BYTES: u64 = 1 << 10;

impl Default for StoreConfig {
    fn default() -> Self {
        Self {
            partitions: None,
            create: true,
            sync: SyncPolicy::default(),
            segment_bytes: 100 << 20,
            compression: Compression::None,
            coordinator: CoordinatorConfig::default(),
            repair: false,
        }
    }
}

impl StoreConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let range = |name, value, min, max| {
            if (min..=max).contains(&value) {
                Ok(())
            } else {
                Err(ConfigError::Range {
                    name,
                    value,
                    min,
                    max,
                })
            }
        };
        if let Some(partitions) = self.partitions {
            range(
                "partitions",
                u64::from(partitions),
                1,
                u64::from(MAX_PARTITIONS),
            )?;
        }
        if let SyncPolicy::Interval { ms } = self.sync {
            range("sync interval", ms, 1, u64::MAX)?;
        }
        range(
            "segment_bytes",
            self.segment_bytes,
            MIN_SEGMENT_BYTES,
            u64::MAX,
        )
    }
}

/// A setting is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// A setting of the store.
    Range {
        /// Its name.
        name: &'static str,
        /// The value.
        value: u64,
        /// Lowest legal value.
        min: u64,
        /// Highest legal value.
        max: u64,
    },
    /// A setting of the coordinators.
    Coordinator(coordinator::ConfigError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range {
                name,
                value,
                min,
                max,
            } => {
                write!(f, "{name} is {value}; expected {min} to {max}")
            }
            Self::Coordinator(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ConfigError {}

impl From<coordinator::ConfigError> for ConfigError {
    fn from(error: coordinator::ConfigError) -> Self {
        Self::Coordinator(error)
    }
}
