//! Share partitions that a group could consume: those that have state, or lack it, of the topics that its members
//! subscribe to.

use super::ShareGroups;
use super::group::{ShareGroup, Subscribed};
use super::records::StatePartitions;
use super::topics::Known;
use crate::groups::assignor::AssignableTopics;
use crate::ids::TopicId;

impl ShareGroups {
    /// The share partitions that can be assigned: they have state, and their topic is subscribed to and exists.
    pub(super) fn assignable(
        &self,
        subscribed: &Subscribed<'_>,
        partitions: &StatePartitions,
    ) -> AssignableTopics {
        self.known(subscribed)
            .map(|topic| (topic.id, initialized(topic, partitions).collect()))
            .collect()
    }

    /// Returns `true` if the targets hold every partition that can be assigned, and no other.
    pub(super) fn is_assigned(
        &self,
        group: &ShareGroup,
        subscribed: &Subscribed<'_>,
        partitions: &StatePartitions,
    ) -> bool {
        let mut assignable = 0;
        for topic in self.known(subscribed) {
            for partition in initialized(topic, partitions) {
                if !group.is_assigned(topic.id, partition) {
                    return false;
                }
                assignable += 1;
            }
        }
        assignable == group.assigned_partitions()
    }

    /// The partitions of subscribed topics that have no state, with whether others of their topic have.
    pub(super) fn without_state<'a>(
        &'a self,
        subscribed: &'a Subscribed<'_>,
        partitions: &'a StatePartitions,
    ) -> impl Iterator<Item = (TopicId, i32, bool)> {
        self.known(subscribed).flat_map(|topic| {
            let named = partitions.initialized.get(&topic.id);
            let known = named.map(|named| &named.partitions);
            (0..topic.partitions)
                .filter(move |partition| known.is_none_or(|known| !known.contains(partition)))
                .map(move |partition| (topic.id, partition, known.is_some()))
        })
    }

    /// Takes note that a heartbeat which says nothing new finds nothing to do in this group, until a record of it or the
    /// topics change. Idle members then cost the same however many partitions the group has.
    pub(super) fn note_nothing_due(&mut self, id: &str) {
        let version = self.topics_version;
        let Some(group) = self.groups.get(id) else {
            return;
        };
        if group.nothing_due_at == Some(version) || !self.has_nothing_due(group) {
            return;
        }
        if let Some(group) = self.groups.get_mut(id) {
            group.nothing_due_at = Some(version);
        }
    }

    fn has_nothing_due(&self, group: &ShareGroup) -> bool {
        let subscribed = group.subscribed();
        let partitions = group.state_partitions();
        !group.is_pending()
            && group.metadata_hash() == self.topics.metadata_hash(subscribed.iter().copied())
            && self.without_state(&subscribed, partitions).next().is_none()
            && self.is_assigned(group, &subscribed, partitions)
    }

    /// The subscribed topics that exist, by name.
    fn known<'a>(&'a self, subscribed: &'a Subscribed<'_>) -> impl Iterator<Item = &'a Known> {
        let names = subscribed.iter();
        names.filter_map(|name| self.topics.by_name(name))
    }
}

/// The partitions of a topic that have state and exist.
fn initialized<'a>(topic: &'a Known, partitions: &'a StatePartitions) -> impl Iterator<Item = i32> {
    let named = partitions.initialized.get(&topic.id).into_iter();
    let partitions = named.flat_map(|named| named.partitions.range(..topic.partitions));
    partitions.copied()
}
