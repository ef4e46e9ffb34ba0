//! Rings of the partitions upstream, by isolation level, and the reads that somebody waits for.

use std::collections::{BTreeSet, HashMap};

use share_state_core::ids::QuickHash;
use share_state_core::share_session::TopicIdPartition;
use share_state_core::time::LockTime;

use super::names::{ServedId, SourceKey};
use crate::BatchRing;

/// A ring, and who reads from it.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub ring: BatchRing,
    /// Number of the life of the ring. None is used twice, so a read that was asked for in another life is dropped.
    pub life: u64,
    /// Offsets from which reads were asked for and have not come.
    pub wanted: BTreeSet<i64>,
    /// Offset after the last record that was given out.
    pub front: i64,
    /// Time at which somebody last asked for records.
    pub asked_at: Option<LockTime>,
    /// Time at which upstream was last heard.
    pub heard_at: Option<LockTime>,
    /// Mark of a ring for whose log start upstream is asked.
    pub is_asked: bool,
    /// Share partitions that read here.
    pub served: BTreeSet<ServedId>,
    /// Start of the log, as far as upstream has told.
    pub log_start_offset: i64,
    /// Mark of a ring for which upstream has given no batches for so long that fetches are told so.
    pub is_unavailable: bool,
}

/// Time for which the end of a log is followed after somebody has asked for records, ms.
const INTEREST_MS: i64 = 5_000;

impl Source {
    /// Returns `true` if somebody has asked for records lately.
    pub fn is_used(&self, now: LockTime) -> bool {
        self.asked_at.is_some_and(|at| now <= at.plus(INTEREST_MS))
    }
}

/// The rings. Invariant: a ring is kept as long as a share partition reads from it.
#[derive(Debug, Default)]
pub(super) struct Sources {
    rings: HashMap<(TopicIdPartition, bool), Source, QuickHash>,
    /// Number of lives so far.
    lives: u64,
    /// Bytes that have come since all rings were last looked at.
    pub arrived: usize,
}

impl Sources {
    pub fn get(&self, key: SourceKey) -> Option<&Source> {
        self.rings.get(&key.place())
    }

    pub fn get_mut(&mut self, key: SourceKey) -> Option<&mut Source> {
        self.rings.get_mut(&key.place())
    }

    /// Adds a share partition to those that read from a ring, which is made on demand.
    pub fn join(&mut self, key: SourceKey, served: ServedId) -> &Source {
        let lives = &mut self.lives;
        let source = self.rings.entry(key.place()).or_insert_with(|| {
            *lives += 1;
            Source {
                life: *lives,
                ..Source::default()
            }
        });
        source.served.insert(served);
        source
    }

    /// Begins another life of a ring: its log is not the one that it was.
    pub fn restart(&mut self, key: SourceKey) {
        if let Some(source) = self.rings.get_mut(&key.place()) {
            self.lives += 1;
            source.life = self.lives;
            source.ring.clear();
            source.wanted.clear();
            source.front = 0;
        }
    }

    /// Takes a share partition out of those that read from a ring; the ring goes with the last.
    pub fn leave(&mut self, key: SourceKey, served: ServedId) {
        if let Some(source) = self.rings.get_mut(&key.place()) {
            source.served.remove(&served);
            if source.served.is_empty() {
                self.rings.remove(&key.place());
            }
        }
    }

    /// Every ring with its name.
    pub fn all(&self) -> impl Iterator<Item = (SourceKey, &Source)> {
        let rings = self.rings.iter();
        rings.map(|(place, source)| (SourceKey::of(*place), source))
    }

    /// The name of every ring.
    pub fn keys(&self) -> Vec<SourceKey> {
        self.all().map(|(key, _)| key).collect()
    }

    /// Number of reads that are wanted.
    pub fn wanted(&self) -> usize {
        self.rings.values().map(|source| source.wanted.len()).sum()
    }

    pub fn len(&self) -> usize {
        self.rings.len()
    }
}
