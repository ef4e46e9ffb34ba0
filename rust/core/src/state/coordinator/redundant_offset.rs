//! Redundant prefix of the log, which nobody needs (Kafka: `ShareCoordinatorOffsetsManager`).

use std::collections::{BTreeMap, HashMap};

use crate::ids::SharePartitionKey;

/// The lowest offset that a load must begin at: the least of the keys' latest snapshots.
///
/// Updates always follow their key's snapshot, so everything below is redundant. A tombstone counts once, for the
/// moment it is written, and its key is forgotten then (KAFKA-19695): with no key left the value stays at that
/// tombstone until the next snapshot or tombstone.
#[derive(Clone, Debug)]
pub struct RedundantOffset {
    /// Offset of each key's latest snapshot.
    offsets: HashMap<SharePartitionKey, i64>,
    /// Number of keys that have each of these offsets, so that the least is at hand.
    keys_at: BTreeMap<i64, usize>,
    last_redundant: i64,
}

impl RedundantOffset {
    /// No key is known and nothing is redundant.
    #[must_use]
    pub fn new() -> Self {
        Self {
            offsets: HashMap::new(),
            keys_at: BTreeMap::new(),
            last_redundant: i64::MAX,
        }
    }

    /// Takes note of a snapshot or, with `is_delete`, of a tombstone of `key` at `offset`.
    pub fn update(&mut self, key: &SharePartitionKey, offset: i64, is_delete: bool) {
        let replaced = if is_delete {
            self.offsets.remove(key)
        } else if let Some(known) = self.offsets.get_mut(key) {
            Some(core::mem::replace(known, offset))
        } else {
            self.offsets.insert(key.clone(), offset);
            None
        };
        if let Some(replaced) = replaced {
            self.forget(replaced);
        }
        if !is_delete {
            *self.keys_at.entry(offset).or_insert(0) += 1;
        }
        let least = self.keys_at.first_key_value().map(|(least, _)| *least);
        self.last_redundant = least.map_or(offset, |least| least.min(offset));
    }

    /// The raw value: `i64::MAX` until the first update, else the offset below which nothing is needed. It may be 0.
    #[must_use]
    pub const fn last_redundant_offset(&self) -> i64 {
        self.last_redundant
    }

    /// Number of keys whose latest snapshot is known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Returns `true` if no key's snapshot is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    fn forget(&mut self, offset: i64) {
        if let Some(keys) = self.keys_at.get_mut(&offset) {
            *keys -= 1;
            if *keys == 0 {
                self.keys_at.remove(&offset);
            }
        }
    }
}

impl Default for RedundantOffset {
    fn default() -> Self {
        Self::new()
    }
}
