//! Homes of partitions: partition to slot, slot to its home and leader epoch.
//!
//! A gateway of one node has one slot, which is at home. A gateway of several has more, and finds each partition the same way.

use std::sync::Arc;

use share_state_core::share_session::TopicIdPartition;
use share_state_wire::partitioner;

/// Place where a slot is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    /// This node.
    Here,
    /// Another node.
    At(Leader),
    /// No node, as far as this one knows.
    Unknown,
}

/// Another node, as clients reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leader {
    /// Id of the node.
    pub node_id: i32,
    /// Its host.
    pub host: Arc<str>,
    /// Its port.
    pub port: i32,
}

/// A slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Place where it is served.
    pub home: Home,
    /// Epoch that clients see as the leader epoch of its partitions, and in which this node reads and writes their states. It
    /// rises with each takeover.
    pub leader_epoch: i32,
}

/// The slots. Invariant: there is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slots {
    first: Slot,
    others: Vec<Slot>,
}

impl Slots {
    /// The one slot of a gateway that is one node.
    #[must_use]
    pub const fn one(leader_epoch: i32) -> Self {
        Self::several(
            Slot {
                home: Home::Here,
                leader_epoch,
            },
            Vec::new(),
        )
    }

    /// Several slots, in their order.
    #[must_use]
    pub const fn several(first: Slot, others: Vec<Slot>) -> Self {
        Self { first, others }
    }

    /// The slot of a partition.
    #[must_use]
    pub fn of(&self, id: TopicIdPartition) -> &Slot {
        let count = u32::try_from(self.others.len() + 1).unwrap_or(u32::MAX);
        let index = partitioner::slot(id.topic_id, id.partition, count) as usize;
        match index.checked_sub(1) {
            None => &self.first,
            Some(other) => self.others.get(other).unwrap_or(&self.first),
        }
    }
}

impl Slot {
    /// Returns `true` if this node serves it.
    #[must_use]
    pub const fn is_here(&self) -> bool {
        matches!(self.home, Home::Here)
    }

    /// The leader as a hint for a client that has come to the wrong node.
    pub(crate) const fn leader(&self) -> Option<&Leader> {
        match &self.home {
            Home::At(leader) => Some(leader),
            Home::Here | Home::Unknown => None,
        }
    }
}
