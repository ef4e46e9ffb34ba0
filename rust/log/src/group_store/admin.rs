//! Operations of administrators: alter and delete offsets, delete groups, and remove deleted topics.

use share_state_core::assignor::Assignment;
use share_state_core::ids::TopicId;
use share_state_core::share_group::{AlteredPartition, Decision, DeletedTopic};
use share_state_core::time::WallTime;

use super::{GroupAnswer, ShareGroupStore};
use crate::error::StoreError;

impl ShareGroupStore {
    /// See [`decide_begin_alter_offsets`](share_state_core::share_group::ShareGroups::decide_begin_alter_offsets).
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn begin_alter_offsets(
        &self,
        group: &str,
        partitions: &[AlteredPartition],
        wall: WallTime,
    ) -> Result<GroupAnswer<i32>, StoreError> {
        self.verb(wall, |groups| {
            groups.decide_begin_alter_offsets(group, partitions)
        })
    }

    /// See [`decide_finish_alter_offsets`](share_state_core::share_group::ShareGroups::decide_finish_alter_offsets).
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn finish_alter_offsets(
        &self,
        group: &str,
        partitions: &[AlteredPartition],
        wall: WallTime,
    ) -> Result<GroupAnswer<()>, StoreError> {
        self.verb(wall, |groups| {
            groups.decide_finish_alter_offsets(group, partitions)
        })
    }

    /// See [`decide_begin_delete_offsets`](share_state_core::share_group::ShareGroups::decide_begin_delete_offsets).
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn begin_delete_offsets(
        &self,
        group: &str,
        topic_ids: &[TopicId],
        wall: WallTime,
    ) -> Result<GroupAnswer<Vec<DeletedTopic>>, StoreError> {
        self.verb(wall, |groups| {
            groups.decide_begin_delete_offsets(group, topic_ids)
        })
    }

    /// See [`decide_finish_delete_offsets`](share_state_core::share_group::ShareGroups::decide_finish_delete_offsets).
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn finish_delete_offsets(
        &self,
        group: &str,
        topic_ids: &[TopicId],
        wall: WallTime,
    ) -> Result<GroupAnswer<()>, StoreError> {
        self.verb(wall, |groups| {
            groups.decide_finish_delete_offsets(group, topic_ids)
        })
    }

    /// See [`decide_begin_delete_group`](share_state_core::share_group::ShareGroups::decide_begin_delete_group).
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn begin_delete_group(
        &self,
        group: &str,
        wall: WallTime,
    ) -> Result<GroupAnswer<Assignment>, StoreError> {
        self.verb(wall, |groups| groups.decide_begin_delete_group(group))
    }

    /// See [`decide_finish_delete_group`](share_state_core::share_group::ShareGroups::decide_finish_delete_group).
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn finish_delete_group(
        &self,
        group: &str,
        wall: WallTime,
    ) -> Result<GroupAnswer<()>, StoreError> {
        self.verb(wall, |groups| groups.decide_finish_delete_group(group))
    }

    /// See [`decide_topics_deleted`](share_state_core::share_group::ShareGroups::decide_topics_deleted).
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn topics_deleted(
        &self,
        topic_ids: &[TopicId],
        wall: WallTime,
    ) -> Result<GroupAnswer<()>, StoreError> {
        self.verb(wall, |groups| {
            Ok(Decision {
                records: groups.decide_topics_deleted(topic_ids),
                answer: (),
            })
        })
    }
}
