//! DeleteShareGroupOffsets (RPC 92) and DeleteGroups (RPC 42), each in two steps around the deletion of states: what is
//! being deleted is written first, so that a crash leaves no state without a word.
//!
//! Between the two steps the caller lets no heartbeat of the group in: its new states would be deleted with the old ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::error::GroupError;
use super::group::ShareGroup;
use super::records::{GroupRecord, GroupValue, StatePartitions};
use super::{Decision, ShareGroups, check};
use crate::groups::assignment::Assignment;
use crate::ids::TopicId;

/// Topic to delete, with the partitions whose state is to be deleted, or `None` when the group has no state of the
/// topic (Kafka's code is `UNKNOWN_TOPIC_OR_PARTITION`).
pub type DeletedTopic = (TopicId, Option<Vec<i32>>);

impl ShareGroups {
    /// The first step of deleting a group's states of some topics. A topic whose deletion was begun before is tried again
    /// with all its partitions.
    ///
    /// # Errors
    /// In this order: no group id, no such group, the group has members.
    pub fn decide_begin_delete_offsets(
        &self,
        group: &str,
        topic_ids: &[TopicId],
    ) -> Result<Decision<Vec<DeletedTopic>>, GroupError> {
        check::group_id(group)?;
        let known = self.empty(group)?;
        let mut lists = known.state_partitions().clone();
        let asked: BTreeSet<TopicId> = topic_ids.iter().copied().collect();
        let answer = asked
            .into_iter()
            .map(|id| {
                let partitions = match lists.begin_deleting(id) {
                    Some(had) => Some(had.partitions.into_iter().collect()),
                    None => lists
                        .deleting
                        .contains_key(&id)
                        .then(|| self.every_partition(id)),
                };
                (id, partitions)
            })
            .collect();
        Ok(Decision {
            records: news(group, known, lists),
            answer,
        })
    }

    /// The second step, once the states of these topics are deleted.
    ///
    /// # Errors
    /// In this order: no group id, no such group.
    pub fn decide_finish_delete_offsets(
        &self,
        group: &str,
        topic_ids: &[TopicId],
    ) -> Result<Decision<()>, GroupError> {
        check::group_id(group)?;
        let known = self.existing(group)?;
        let mut lists = known.state_partitions().clone();
        for id in topic_ids {
            lists.deleting.remove(id);
        }
        Ok(Decision {
            records: news(group, known, lists),
            answer: (),
        })
    }

    /// The first step of deleting a group: the answer is every share partition whose state is to be deleted.
    ///
    /// # Errors
    /// In this order: no such group, the group has members.
    pub fn decide_begin_delete_group(
        &self,
        group: &str,
    ) -> Result<Decision<Assignment>, GroupError> {
        let known = self.empty(group)?;
        let Some(lists) = known.state_partitions.clone() else {
            return Ok(Decision {
                records: Vec::new(),
                answer: Assignment::EMPTY,
            });
        };
        let mut states: BTreeMap<TopicId, BTreeSet<i32>> = BTreeMap::new();
        for (id, topic) in lists.initialized.iter().chain(&lists.initializing) {
            states.entry(*id).or_default().extend(&topic.partitions);
        }
        for id in lists.deleting.keys() {
            // Which of its partitions are left nobody knows.
            states
                .entry(*id)
                .or_default()
                .extend(self.every_partition(*id));
        }
        let all = states.into_iter();
        let answer = all.flat_map(|(id, partitions)| partitions.into_iter().map(move |p| (id, p)));
        let deleting = StatePartitions {
            deleting: lists.names(),
            ..StatePartitions::default()
        };
        Ok(Decision {
            records: news(group, known, deleting),
            answer: answer.collect(),
        })
    }

    /// The second step, once the states are deleted: nothing is left of the group. What it configures for itself stays, as
    /// in Kafka.
    ///
    /// # Errors
    /// In this order: no such group, the group has members again.
    pub fn decide_finish_delete_group(&self, group: &str) -> Result<Decision<()>, GroupError> {
        let known = self.empty(group)?;
        let mut values = Vec::new();
        for (id, member) in &known.records {
            // Left over from members that are none; a log of ours has no such records.
            let current = member.current.as_ref();
            values.extend(current.map(|_| GroupValue::CurrentMember(Arc::clone(id), None)));
            let target = member.target.as_ref();
            values.extend(target.map(|_| GroupValue::TargetMember(Arc::clone(id), None)));
        }
        values.extend(known.target.map(|_| GroupValue::TargetAssignment(None)));
        let lists = known.state_partitions.as_ref();
        values.extend(lists.map(|_| GroupValue::StatePartitions(None)));
        values.push(GroupValue::Group(None));
        let group: Arc<str> = Arc::from(group);
        let records = values.into_iter().map(|value| GroupRecord {
            group: Arc::clone(&group),
            value,
        });
        Ok(Decision {
            records: records.collect(),
            answer: (),
        })
    }

    fn empty(&self, group: &str) -> Result<&ShareGroup, GroupError> {
        let known = self.existing(group)?;
        if known.is_empty() {
            Ok(known)
        } else {
            Err(GroupError::NonEmptyGroup)
        }
    }

    /// All partitions of a topic, none of one that does not exist.
    fn every_partition(&self, id: TopicId) -> Vec<i32> {
        let topic = self.topics.by_id(id);
        topic.map_or_else(Vec::new, |(_, topic)| (0..topic.partitions).collect())
    }
}

/// The record 15 that says so, unless it is said already.
fn news(group: &str, known: &ShareGroup, lists: StatePartitions) -> Vec<GroupRecord> {
    if known.state_partitions.as_ref() == Some(&lists)
        || (known.state_partitions.is_none() && lists == StatePartitions::default())
    {
        return Vec::new();
    }
    vec![lists.record(&Arc::from(group))]
}
