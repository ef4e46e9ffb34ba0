//! The three lists of record 15 and the moves between them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::records::{
    GroupRecord, GroupValue, NamedPartitions, PartitionsByTopic, StatePartitions,
};
use crate::ids::TopicId;

impl StatePartitions {
    /// Returns `true` if the partition has state.
    pub(super) fn is_initialized(&self, topic_id: TopicId, partition: i32) -> bool {
        contains(&self.initialized, topic_id, partition)
    }

    /// Puts partitions among those that are being initialised; their topics are no longer being deleted.
    pub(super) fn begin_initializing<'a>(
        &mut self,
        partitions: impl IntoIterator<Item = (TopicId, &'a Arc<str>, i32)>,
    ) {
        for (topic_id, name, partition) in partitions {
            add(&mut self.initializing, topic_id, name, partition);
            self.deleting.remove(&topic_id);
        }
    }

    /// Puts partitions among those that have state, and takes them out of the other lists.
    pub(super) fn initialize<'a>(
        &mut self,
        partitions: impl IntoIterator<Item = (TopicId, &'a Arc<str>, i32)>,
    ) {
        for (topic_id, name, partition) in partitions {
            add(&mut self.initialized, topic_id, name, partition);
            self.deleting.remove(&topic_id);
            remove(&mut self.initializing, topic_id, partition);
        }
    }

    /// Puts a topic with all its partitions among those whose state is being deleted; returns the partitions that had some.
    pub(super) fn begin_deleting(&mut self, topic_id: TopicId) -> Option<NamedPartitions> {
        let had = self.initialized.remove(&topic_id)?;
        self.deleting.insert(topic_id, Arc::clone(&had.name));
        Some(had)
    }

    /// Forgets topics. Returns whether one of them was in a list.
    pub(super) fn forget(&mut self, topic_ids: &[TopicId]) -> bool {
        topic_ids.iter().fold(false, |any, id| {
            let initializing = self.initializing.remove(id).is_some();
            let initialized = self.initialized.remove(id).is_some();
            let deleting = self.deleting.remove(id).is_some();
            any || initializing || initialized || deleting
        })
    }

    /// Every topic in one of the lists, with its name.
    pub(super) fn names(&self) -> BTreeMap<TopicId, Arc<str>> {
        let named = self.initialized.iter().chain(&self.initializing);
        let named = named.map(|(id, topic)| (*id, Arc::clone(&topic.name)));
        let deleting = self
            .deleting
            .iter()
            .map(|(id, name)| (*id, Arc::clone(name)));
        deleting.chain(named).collect()
    }

    /// The record that says so.
    pub(super) fn record(self, group: &Arc<str>) -> GroupRecord {
        GroupRecord {
            group: Arc::clone(group),
            value: GroupValue::StatePartitions(Some(self)),
        }
    }
}

fn contains(list: &PartitionsByTopic, topic_id: TopicId, partition: i32) -> bool {
    list.get(&topic_id)
        .is_some_and(|topic| topic.partitions.contains(&partition))
}

fn add(list: &mut PartitionsByTopic, topic_id: TopicId, name: &Arc<str>, partition: i32) {
    list.entry(topic_id)
        .or_insert_with(|| NamedPartitions {
            name: Arc::clone(name),
            partitions: std::collections::BTreeSet::new(),
        })
        .partitions
        .insert(partition);
}

fn remove(list: &mut PartitionsByTopic, topic_id: TopicId, partition: i32) {
    if let Some(topic) = list.get_mut(&topic_id) {
        topic.partitions.remove(&partition);
        if topic.partitions.is_empty() {
            list.remove(&topic_id);
        }
    }
}
