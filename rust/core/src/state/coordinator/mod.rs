//! Share coordinator: one partition of the state topic as a state machine (Kafka: `ShareCoordinatorShard`).
//!
//! A verb *decides*: it takes `&self`, checks, and returns the records to append and the answer to give once they are
//! durable. Nothing has changed then, also after an error. The only change is [`ShareCoordinator::replay`] of a record,
//! the same for a record just appended and for one loaded from a log, so the state is always the replay of the log
//! (AKCORE-167). A file a verb:
//!
//! | verb | RPC | file |
//! |---|---|---|
//! | initialise | 83 | `initialize.rs` |
//! | read, which fences older leaders | 84 | `read.rs` |
//! | write | 85 | `write.rs` |
//! | delete | 86 | `delete.rs` |
//! | read the summary | 87 | `summary.rs` |
//! | rewrite cold keys, so that the log can be pruned | – | `cold_snapshot.rs` |
//! | forget the keys of deleted topics | – | `topic_deletion.rs` |
//! | forget the offsets of a log that was cut | – | `log_truncation.rs` |
//!
//! The rules are those of Kafka 4.4 (negative epochs refused, KAFKA-20743; start offset and delivery complete count
//! never go back in a write, #23074 and #23112) and the idempotent Initialize that came after it (#23190).

mod check;
mod cold_snapshot;
mod config;
mod delete;
mod error;
mod initialize;
mod log_truncation;
mod read;
mod redundant_offset;
mod replay;
mod snapshot_policy;
mod summary;
mod topic_deletion;
mod write;

use std::collections::HashMap;

pub use config::CoordinatorConfig;
pub use error::{CoordinatorError, Operation, RequestField};
pub use redundant_offset::RedundantOffset;

pub use crate::decision::Decision;
pub use crate::settings::limits::ConfigError;

use crate::ids::SharePartitionKey;
use crate::state::group_offset::ShareGroupOffset;
use crate::util::quick_hash::QuickHash;
use replay::KeyState;

/// The states of the share partitions that belong to one partition of `__share_group_state`.
#[derive(Clone, Debug)]
pub struct ShareCoordinator {
    config: CoordinatorConfig,
    keys: HashMap<SharePartitionKey, KeyState, QuickHash>,
    redundant: RedundantOffset,
}

impl ShareCoordinator {
    /// A coordinator without state.
    ///
    /// # Errors
    /// A setting is out of its range.
    pub fn new(config: CoordinatorConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            config,
            keys: HashMap::default(),
            redundant: RedundantOffset::new(),
        })
    }

    /// The settings.
    #[must_use]
    pub const fn config(&self) -> &CoordinatorConfig {
        &self.config
    }

    /// The state of a share partition.
    #[must_use]
    pub fn state(&self, key: &SharePartitionKey) -> Option<&ShareGroupOffset> {
        self.keys.get(key)?.state.as_ref()
    }

    /// Every share partition with state, ordered by key.
    pub fn states(&self) -> impl Iterator<Item = (&SharePartitionKey, &ShareGroupOffset)> {
        let mut states: Vec<_> = self
            .keys
            .iter()
            .filter_map(|(key, known)| Some((key, known.state.as_ref()?)))
            .collect();
        states.sort_unstable_by_key(|(key, _)| *key);
        states.into_iter()
    }

    /// Number of share partitions with state.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns `true` if no share partition has state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The highest leader epoch in any record of the key; lower ones are fenced. It outlives a new initialisation,
    /// which sets the state's own leader epoch to 0.
    #[must_use]
    pub fn highest_leader_epoch(&self, key: &SharePartitionKey) -> Option<i32> {
        self.keys.get(key)?.leader_epoch
    }

    /// The highest state epoch in any snapshot of the key; lower ones are fenced. `None` also for a key with updates
    /// only.
    #[must_use]
    pub fn highest_state_epoch(&self, key: &SharePartitionKey) -> Option<i32> {
        self.keys.get(key)?.state_epoch
    }

    /// Updates of the key since the last snapshot that the counter asked for; 0 when there are none.
    #[must_use]
    pub fn updates_since_snapshot(&self, key: &SharePartitionKey) -> u32 {
        self.keys.get(key).map_or(0, |known| known.updates)
    }

    /// The offset up to which (exclusive) the log may be pruned: every key's latest snapshot or tombstone lies at or
    /// after it. `None` while nothing may go.
    #[must_use]
    pub fn last_redundant_offset(&self) -> Option<i64> {
        let offset = self.redundant.last_redundant_offset();
        (0 < offset && offset < i64::MAX).then_some(offset)
    }

    /// Returns the records' summary and the state of a key, if it has state.
    fn known(&self, key: &SharePartitionKey) -> Option<(&KeyState, &ShareGroupOffset)> {
        let known = self.keys.get(key)?;
        Some((known, known.state.as_ref()?))
    }
}
