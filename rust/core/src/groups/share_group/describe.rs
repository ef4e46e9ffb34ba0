//! ShareGroupDescribe (RPC 77) and ListGroups (RPC 16), as far as groups know the answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ShareGroups;
use super::group::GroupState;
use super::records::{MemberMetadata, StatePartitions};
use crate::groups::assignment::Assignment;

/// The name of the only assignor.
const ASSIGNOR: &str = "simple";

/// A group as an administrator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedGroup {
    /// State of the group: it has members, or none.
    pub state: GroupState,
    /// Group epoch.
    pub epoch: i32,
    /// Epoch of the target assignment.
    pub assignment_epoch: i32,
    /// Name of the assignor.
    pub assignor: &'static str,
    /// Members, by id.
    pub members: Vec<DescribedMember>,
}

/// A member as an administrator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedMember {
    /// Id of the member.
    pub id: Arc<str>,
    /// Its epoch.
    pub epoch: i32,
    /// Metadata that it sent of itself.
    pub metadata: MemberMetadata,
    /// Assignment that it was told.
    pub assigned: Assignment,
}

impl ShareGroups {
    /// Describes a group; `None` when there is no such group.
    #[must_use]
    pub fn describe(&self, group: &str) -> Option<DescribedGroup> {
        let group = self.existing(group).ok()?;
        let members = group.members().map(|(id, member, metadata)| {
            let current = member.current.as_ref();
            DescribedMember {
                id: Arc::clone(id),
                epoch: current.map_or(0, |current| current.member_epoch),
                metadata: metadata.clone(),
                assigned: current.map_or(Assignment::EMPTY, |current| current.assigned.clone()),
            }
        });
        Some(DescribedGroup {
            state: group.state(),
            epoch: group.epoch(),
            assignment_epoch: group.assignment_epoch(),
            assignor: ASSIGNOR,
            members: members.collect(),
        })
    }

    /// Every group with its state, by id.
    pub fn list(&self) -> impl Iterator<Item = (&Arc<str>, GroupState)> {
        self.groups
            .iter()
            .filter(|(id, _)| self.existing(id).is_ok())
            .map(|(id, group)| (id, group.state()))
    }

    /// Topics that some member subscribes to and that the view does not have, ascending by name.
    #[must_use]
    pub fn unknown_topics(&self) -> BTreeSet<Arc<str>> {
        let subscribed = self.groups.values().flat_map(|g| g.subscribers().keys());
        subscribed
            .filter(|name| self.topics.by_name(name).is_none())
            .map(Arc::clone)
            .collect()
    }

    /// Returns the share partitions of a group that have state, are to get it, or to lose it; `None` when there is no
    /// such group.
    #[must_use]
    pub fn state_partitions(&self, group: &str) -> Option<StatePartitions> {
        let group = self.existing(group).ok()?;
        Some(group.state_partitions().clone())
    }
}
