//! The partitions of a session in their order, each with its mark.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::TopicIdPartition;
use crate::ids::TopicId;
use crate::util::quick_hash::QuickHash;

/// Ordered partitions (Kafka: `ShareSession.partitionMap` of `CachedSharePartition`).
///
/// Invariants: `held` and `order` are inverse to each other; `marked` counts the marks; `listed` holds exactly what `order`
/// does, if anything.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionPartitions {
    held: HashMap<TopicIdPartition, Held, QuickHash>,
    order: BTreeMap<u64, TopicIdPartition>,
    /// Place of the next partition at the end. Places are not used twice.
    next: u64,
    /// Number of partitions with a mark.
    marked: usize,
    /// The order as a list, which requests that change nothing share.
    listed: Option<Arc<[TopicIdPartition]>>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    place: u64,
    /// The next answer lists the partition whatever happens (`requiresUpdateInResponse`).
    requires_update: bool,
}

impl SessionPartitions {
    pub fn len(&self) -> usize {
        self.held.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (TopicIdPartition, bool)> {
        self.order
            .values()
            .filter_map(|id| Some((*id, self.held.get(id)?.requires_update)))
    }

    /// Puts a partition at the end, unless it is there.
    pub fn add(&mut self, id: TopicIdPartition, requires_update: bool) {
        if self.held.contains_key(&id) {
            return;
        }
        self.held.insert(
            id,
            Held {
                place: self.next,
                requires_update,
            },
        );
        self.order.insert(self.next, id);
        self.next += 1;
        self.marked += usize::from(requires_update);
        self.listed = None;
    }

    pub fn remove(&mut self, id: TopicIdPartition) {
        if let Some(held) = self.held.remove(&id) {
            self.order.remove(&held.place);
            self.marked -= usize::from(held.requires_update);
            self.listed = None;
        }
    }

    /// Removes the partitions of a topic; how many there were.
    pub fn remove_topic(&mut self, topic_id: TopicId) -> usize {
        let gone: Vec<_> = self
            .held
            .keys()
            .filter(|id| id.topic_id == topic_id)
            .copied()
            .collect();
        for id in &gone {
            self.remove(*id);
        }
        gone.len()
    }

    /// All partitions in order. O(1) as long as nothing changes.
    pub fn list(&mut self) -> Arc<[TopicIdPartition]> {
        let order = &self.order;
        Arc::clone(
            self.listed
                .get_or_insert_with(|| order.values().copied().collect()),
        )
    }

    /// Returns `true` if some partition has a mark.
    pub fn any_marked(&self) -> bool {
        self.marked > 0
    }

    /// Sets the mark to what an answer with or without an error leaves, and returns what it was; `None` for a partition that
    /// is not here.
    pub fn mark(&mut self, id: TopicIdPartition, requires_update: bool) -> Option<bool> {
        let held = self.held.get_mut(&id)?;
        let was = std::mem::replace(&mut held.requires_update, requires_update);
        self.marked = self.marked - usize::from(was) + usize::from(requires_update);
        Some(was)
    }

    /// Puts a partition that is here at the end, so that others come first when bytes are short.
    pub fn move_to_end(&mut self, id: TopicIdPartition) {
        let Some(held) = self.held.get_mut(&id) else {
            return;
        };
        // One that is at the end already stays: a session of one partition need not be listed again.
        if held.place + 1 == self.next {
            return;
        }
        self.order.remove(&held.place);
        held.place = self.next;
        self.order.insert(self.next, id);
        self.next += 1;
        self.listed = None;
    }

    /// Panics when an invariant is broken. For tests.
    pub fn check(&self) {
        assert_eq!(self.held.len(), self.order.len());
        assert_eq!(self.iter().filter(|(_, mark)| *mark).count(), self.marked);
        for (place, id) in &self.order {
            assert_eq!(self.held.get(id).map(|held| held.place), Some(*place));
            assert!(*place < self.next);
        }
        if let Some(listed) = &self.listed {
            assert!(listed.iter().eq(self.order.values()));
        }
    }
}
