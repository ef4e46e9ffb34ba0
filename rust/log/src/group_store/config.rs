//! Settings of a store of share groups.

use share_state_core::share_group::Numbers;

use crate::config::{ConfigError, SyncPolicy};

/// A configuration value of a group that cannot be used.
pub type GroupConfigError = share_state_core::limits::ConfigError;

/// Settings of a [`ShareGroupStore`](crate::ShareGroupStore).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupStoreConfig {
    /// Policy that says when appended bytes are made durable. Default always.
    pub sync: SyncPolicy,
    /// The broker's properties (`group.share.…`); what it lacks has Kafka's default.
    pub broker: Numbers,
    /// Size in bytes beyond which no segment grows, unless by one batch that is larger. Default 100 MiB
    /// (`offsets.topic.segment.bytes`).
    pub segment_bytes: u64,
    /// Size in bytes from which on the log is rewritten when most of it is dead. Default 16 MiB.
    pub rewrite_bytes: u64,
    /// Lets a damaged log be cut where its damage begins, which loses what was confirmed, instead of being refused.
    /// [`Recovery::repaired`](crate::Recovery::repaired) reports the bytes that were cut. Default false.
    pub repair: bool,
}

impl Default for GroupStoreConfig {
    fn default() -> Self {
        Self {
            sync: SyncPolicy::default(),
            broker: Numbers::new(),
            segment_bytes: 100 << 20,
            rewrite_bytes: 16 << 20,
            repair: false,
        }
    }
}

impl GroupStoreConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if let SyncPolicy::Interval { ms: 0 } = self.sync {
            return Err(ConfigError::Range {
                name: "sync interval",
                value: 0,
                min: 1,
                max: u64::MAX,
            });
        }
        Ok(())
    }
}
