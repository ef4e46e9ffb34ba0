//! Configuration of share groups under Kafka's names, with its bounds and defaults (`ShareGroupConfig`, `GroupConfig`;
//! KIP-932, KIP-1240).
//!
//! Kafka sets a value for the broker, bounds what a group may set (`group.share.min.…`, `group.share.max.…`), and clamps
//! a stored group value that later falls outside. [`GroupIntConfig::resolve`] does the same. The engine itself is content
//! with any sane [`ShareGroupConfig`]: simulators want windows that no broker allows.
//!
//! [`properties`](crate::limits::properties) is the table of every property as its text: for DescribeConfigs, IncrementalAlterConfigs and property files.
//!
//! [`IntConfig`] also bounds the share coordinator's settings, so there is one [`ConfigError`] for all of them.

mod group;
mod int;
mod iso_duration;
mod offset_reset;
mod share_group;

pub use group::{
    ASSIGNMENT_INTERVAL_MS, DELIVERY_COUNT_LIMIT, GROUP_INT_CONFIGS, GroupIntConfig,
    HEARTBEAT_INTERVAL_MS, MAX_SIZE, PARTITION_MAX_RECORD_LOCKS, RECORD_LOCK_DURATION_MS,
    SESSION_TIMEOUT_MS,
};
pub(super) use int::int;
pub use int::{ConfigError, IntConfig};
pub use offset_reset::AutoOffsetReset;
pub use share_group::{IsolationLevel, ShareGroupConfig};
