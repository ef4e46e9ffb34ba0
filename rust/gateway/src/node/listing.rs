//! Lists of what a node has in memory, for metrics.

use share_state_core::ids::SharePartitionKey;
use share_state_core::in_flight::StateCounts;

use super::Node;
use super::names::SourceKey;

/// A share partition that serves, or is about to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed<'a> {
    /// Its key.
    pub key: &'a SharePartitionKey,
    /// Mark of one that serves.
    pub is_ready: bool,
    /// Share fetches that wait at it.
    pub waiting: usize,
    /// Records whose lock ran out.
    pub lock_timeouts: u64,
    /// Records that went to a dead-letter queue.
    pub dead_lettered: u64,
    /// Records in flight by state.
    pub state_counts: StateCounts,
    /// First offset that may still be delivered.
    pub start_offset: i64,
    /// Ring that its records come from.
    pub source: SourceKey,
}

/// A ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Its name.
    pub source: SourceKey,
    /// Bytes of its batches.
    pub nbytes: usize,
    /// Bytes of the frames that the batches keep in memory.
    pub held_bytes: usize,
}

impl Node {
    /// The share partitions, in no order.
    pub fn list(&self) -> impl Iterator<Item = Listed<'_>> {
        let served = self.partitions.all().filter(|served| !served.is_over());
        served.map(|served| {
            let engine = &served.engine;
            let counters = engine.counters();
            Listed {
                key: engine.key(),
                is_ready: served.is_ready(),
                waiting: served.waiting.len(),
                lock_timeouts: counters.lock_timeouts,
                dead_lettered: counters.dead_lettered,
                state_counts: engine.state_counts(),
                start_offset: engine.start_offset(),
                source: served.source,
            }
        })
    }

    /// The rings, in no order.
    pub fn rings(&self) -> impl Iterator<Item = Ring> {
        self.sources.all().map(|(source, found)| Ring {
            source,
            nbytes: found.ring.nbytes(),
            held_bytes: found.ring.held_bytes(),
        })
    }
}
