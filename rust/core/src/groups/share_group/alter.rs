//! AlterShareGroupOffsets (RPC 91), in two steps around the initialisation of the altered states.

use std::sync::Arc;

use super::admission::next_epoch;
use super::error::GroupError;
use super::records::{GroupMetadata, GroupRecord, GroupValue, TargetAssignmentMetadata};
use super::{Decision, ShareGroups, check};
use crate::ids::TopicId;

/// A share partition whose start offset is altered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlteredPartition {
    /// Id of the topic.
    pub topic_id: TopicId,
    /// Its name.
    pub name: Arc<str>,
    /// Partition of the topic, which the caller knows to exist.
    pub partition: i32,
}

impl ShareGroups {
    /// The first step: the answer is the epoch of the altered states, with which the caller initialises them.
    ///
    /// A group that does not exist is made (KAFKA-19662), and the group epoch rises: with the old one, a share partition
    /// in memory would write its own start offset over the altered one (KAFKA-20910). When no partition of those asked for
    /// exists, nothing is written and no group made.
    ///
    /// # Errors
    /// In this order: malformed request, the group has members.
    pub fn decide_begin_alter_offsets(
        &self,
        group: &str,
        partitions: &[AlteredPartition],
    ) -> Result<Decision<i32>, GroupError> {
        check_request(group, partitions)?;
        let known = self.group(group);
        if !known.is_empty() {
            return Err(GroupError::NonEmptyGroup);
        }
        if partitions.is_empty() {
            return Ok(Decision {
                records: Vec::new(),
                answer: known.epoch(),
            });
        }
        let group: Arc<str> = Arc::from(group);
        let epoch = next_epoch(known.epoch())?;
        let mut lists = known.state_partitions().clone();
        lists.begin_initializing(each(partitions));
        let values = [
            GroupValue::Group(Some(GroupMetadata {
                epoch,
                metadata_hash: known.metadata_hash(),
            })),
            // An empty group has no assignment to wait for.
            GroupValue::TargetAssignment(Some(TargetAssignmentMetadata {
                assignment_epoch: epoch,
                assignment_timestamp: 0,
            })),
            GroupValue::StatePartitions(Some(lists)),
        ];
        let records = values.map(|value| GroupRecord {
            group: Arc::clone(&group),
            value,
        });
        Ok(Decision {
            records: records.into(),
            answer: epoch,
        })
    }

    /// The second step, once the states are initialised.
    ///
    /// # Errors
    /// In this order: malformed request, the group does not exist any more.
    pub fn decide_finish_alter_offsets(
        &self,
        group: &str,
        partitions: &[AlteredPartition],
    ) -> Result<Decision<()>, GroupError> {
        check_request(group, partitions)?;
        if partitions.is_empty() {
            return Ok(Decision {
                records: Vec::new(),
                answer: (),
            });
        }
        let known = self.existing(group)?;
        let mut lists = known.state_partitions().clone();
        lists.initialize(each(partitions));
        let is_news = known.state_partitions.as_ref() != Some(&lists);
        let records = is_news.then(|| lists.record(&Arc::from(group)));
        Ok(Decision {
            records: records.into_iter().collect(),
            answer: (),
        })
    }
}

fn check_request(group: &str, partitions: &[AlteredPartition]) -> Result<(), GroupError> {
    check::group_id(group)?;
    partitions.iter().try_for_each(|altered| {
        check::partition(altered.topic_id, &altered.name, altered.partition)
    })
}

fn each(partitions: &[AlteredPartition]) -> impl Iterator<Item = (TopicId, &Arc<str>, i32)> {
    partitions
        .iter()
        .map(|altered| (altered.topic_id, &altered.name, altered.partition))
}
