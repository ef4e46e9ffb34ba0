//! Parts of a state that are shown to others, who count on it: a crash does not take back what was shown.
//!
//! The start offset of a share partition in memory may be ahead of the one that was written: it moves with the log start, and over
//! records that are never delivered. Whoever shows it has it kept before.

use share_state_core::ids::SharePartitionKey;
use share_state_core::persister::WriteState;
use share_state_core::share_session::TopicIdPartition;

use super::Node;
use super::events::Event;
use super::names::{KeepTicket, ServedId};

/// Parts of the state of a share partition that serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// First offset that may still be delivered.
    pub start_offset: i64,
    /// Number of records that are settled at or after it.
    pub delivery_complete_count: u64,
    /// Epoch of the leader.
    pub leader_epoch: i32,
    /// Epoch of the state.
    pub state_epoch: i32,
    /// Mark of one with a change that is not durable yet.
    pub has_writes: bool,
}

impl Node {
    /// Parts of the state of a share partition; `None` of one that does not serve.
    #[must_use]
    pub fn shown(&self, key: &SharePartitionKey) -> Option<Shown> {
        let served = self.partitions.get(self.ready(key)?)?;
        let engine = &served.engine;
        Some(Shown {
            start_offset: engine.start_offset(),
            delivery_complete_count: engine.delivery_complete_count(),
            leader_epoch: engine.leader_epoch(),
            state_epoch: engine.state_epoch(),
            has_writes: served.has_writes(),
        })
    }

    /// Has the start offset of a share partition written with the next round, unless a change of it goes with that round, which has
    /// a start offset of its own. The outcome is an [`Event::StartKept`]. `None` for one that does not serve.
    pub fn keep_start(&mut self, key: &SharePartitionKey) -> Option<KeepTicket> {
        let served = self.ready(key)?;
        Some(self.rounds.keep(served))
    }

    /// Tells the outcome of a request to keep a start offset.
    pub(super) fn tell_kept(&mut self, ticket: KeepTicket, kept: Option<WriteState>) {
        self.events.push_back(Event::StartKept { ticket, kept });
    }

    fn ready(&self, key: &SharePartitionKey) -> Option<ServedId> {
        let id = TopicIdPartition {
            topic_id: key.topic_id,
            partition: key.partition,
        };
        let served = self.partitions.find(&key.group, id)?;
        self.partitions
            .get(served)
            .is_some_and(|served| served.is_ready())
            .then_some(served)
    }
}
