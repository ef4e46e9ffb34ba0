//! Removal of deleted topics from the groups (Kafka: `GroupMetadataManager.maybeCleanupShareGroupState`).

use std::sync::Arc;

use super::ShareGroups;
use super::records::GroupRecord;
use crate::ids::TopicId;

impl ShareGroups {
    /// Takes topics out of the lists of every group: a record for each group that had one of them. From targets they go
    /// with the group's next heartbeat, for they cannot be assigned any more.
    #[must_use]
    pub fn decide_topics_deleted(&self, topic_ids: &[TopicId]) -> Vec<GroupRecord> {
        let groups = self.groups.iter();
        groups
            .filter_map(|(id, group)| {
                let mut lists = group.state_partitions.clone()?;
                lists
                    .forget(topic_ids)
                    .then(|| lists.record(&Arc::clone(id)))
            })
            .collect()
    }
}
