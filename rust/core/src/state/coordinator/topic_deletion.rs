//! Deletion of the keys of deleted topics (Kafka: `ShareCoordinatorShard.maybeCleanupShareState`, KAFKA-19201).

use std::collections::HashSet;

use super::ShareCoordinator;
use super::delete::tombstone;
use crate::ids::TopicId;
use crate::records::ShareRecord;

impl ShareCoordinator {
    /// A tombstone for every key of these topics, ordered by key.
    #[must_use]
    pub fn decide_topics_deleted(&self, topic_ids: &[TopicId]) -> Vec<ShareRecord> {
        let deleted: HashSet<TopicId> = topic_ids.iter().copied().collect();
        let mut keys: Vec<_> = self
            .keys
            .keys()
            .filter(|key| deleted.contains(&key.topic_id))
            .collect();
        keys.sort_unstable();
        keys.into_iter().map(tombstone).collect()
    }
}
