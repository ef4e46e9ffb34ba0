//! Share group and its members: the latest record of each of their keys, and what follows from them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::records::{
    CurrentAssignment, GroupMetadata, GroupValue, MemberMetadata, StatePartitions,
    TargetAssignmentMetadata,
};
use crate::groups::assignment::Assignment;
use crate::ids::TopicId;

/// Names of subscribed topics, ascending.
pub(super) type Subscribed<'a> = BTreeSet<&'a str>;

/// State of a group: it has members, or none (Kafka: `ShareGroup.ShareGroupState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupState {
    /// No member.
    Empty,
    /// At least one.
    Stable,
}

impl GroupState {
    /// Kafka's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Stable => "Stable",
        }
    }
}

/// The records of one member; it is one as long as it has a record 10.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Member {
    pub metadata: Option<MemberMetadata>,
    pub target: Option<Assignment>,
    pub current: Option<CurrentAssignment>,
}

impl Member {
    const fn is_gone(&self) -> bool {
        self.metadata.is_none() && self.target.is_none() && self.current.is_none()
    }
}

/// Share group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShareGroup {
    pub metadata: Option<GroupMetadata>,
    pub target: Option<TargetAssignmentMetadata>,
    pub state_partitions: Option<StatePartitions>,
    pub records: BTreeMap<Arc<str>, Member>,
    /// Number of members that subscribe to each topic.
    subscribers: BTreeMap<Arc<str>, usize>,
    /// Number of members that have each partition in their target.
    assigned: BTreeMap<(TopicId, i32), usize>,
    /// Number of members.
    members: usize,
    /// The version of the topics for which a heartbeat that says nothing new finds nothing to do; not stored.
    pub nothing_due_at: Option<u64>,
}

/// The lists of a group that has none.
static NO_PARTITIONS: StatePartitions = StatePartitions {
    initializing: BTreeMap::new(),
    initialized: BTreeMap::new(),
    deleting: BTreeMap::new(),
};

impl ShareGroup {
    /// Group epoch; 0 before the first one.
    pub fn epoch(&self) -> i32 {
        self.metadata.map_or(0, |metadata| metadata.epoch)
    }

    pub fn metadata_hash(&self) -> i64 {
        self.metadata.map_or(0, |metadata| metadata.metadata_hash)
    }

    /// Epoch of the target assignment; 0 before the first one.
    pub fn assignment_epoch(&self) -> i32 {
        self.target.map_or(0, |target| target.assignment_epoch)
    }

    /// Returns `true` if the target assignment is out of date.
    pub fn is_pending(&self) -> bool {
        self.assignment_epoch() < self.epoch()
    }

    /// Returns the share partitions that have state, are to get it, or to lose it.
    pub fn state_partitions(&self) -> &StatePartitions {
        self.state_partitions.as_ref().unwrap_or(&NO_PARTITIONS)
    }

    /// Names of the topics that some member subscribes to.
    pub fn subscribed(&self) -> Subscribed<'_> {
        self.subscribers.keys().map(|name| &**name).collect()
    }

    /// Number of members.
    pub const fn len(&self) -> usize {
        self.members
    }

    pub const fn is_empty(&self) -> bool {
        self.members == 0
    }

    pub const fn state(&self) -> GroupState {
        if self.is_empty() {
            GroupState::Empty
        } else {
            GroupState::Stable
        }
    }

    /// A member with what it says of itself.
    pub fn member(&self, id: &str) -> Option<(&Member, &MemberMetadata)> {
        let member = self.records.get(id)?;
        Some((member, member.metadata.as_ref()?))
    }

    /// Every member, by id.
    pub fn members(&self) -> impl Iterator<Item = (&Arc<str>, &Member, &MemberMetadata)> {
        self.records
            .iter()
            .filter_map(|(id, member)| Some((id, member, member.metadata.as_ref()?)))
    }

    /// Returns the number of members that subscribe to each topic, by name.
    pub const fn subscribers(&self) -> &BTreeMap<Arc<str>, usize> {
        &self.subscribers
    }

    /// Returns `true` if some member has the partition in its target.
    pub fn is_assigned(&self, topic_id: TopicId, partition: i32) -> bool {
        self.assigned.contains_key(&(topic_id, partition))
    }

    /// Number of partitions that somebody has in their target.
    pub fn assigned_partitions(&self) -> usize {
        self.assigned.len()
    }

    /// Returns `true` if nothing is left of the group.
    pub fn is_gone(&self) -> bool {
        self.metadata.is_none()
            && self.target.is_none()
            && self.state_partitions.is_none()
            && self.records.is_empty()
    }

    /// Puts a value in the place of the one before it.
    pub fn put(&mut self, value: &GroupValue) {
        self.nothing_due_at = None;

        match value {
            GroupValue::Group(value) => self.metadata = *value,
            GroupValue::TargetAssignment(value) => self.target = *value,
            GroupValue::StatePartitions(value) => self.state_partitions.clone_from(value),
            GroupValue::Member(id, value) => self.put_member(id, value.as_ref()),
            GroupValue::TargetMember(id, value) => self.put_target(id, value.as_ref()),
            GroupValue::CurrentMember(id, value) => {
                self.change(id, |member| member.current.clone_from(value));
            }
        }
    }

    fn put_member(&mut self, id: &Arc<str>, value: Option<&MemberMetadata>) {
        let old = self.change(id, |member| {
            core::mem::replace(&mut member.metadata, value.cloned())
        });
        for name in old.iter().flat_map(|old| &old.subscribed_topics) {
            lower(&mut self.subscribers, name);
        }
        for name in value.into_iter().flat_map(|new| &new.subscribed_topics) {
            *self.subscribers.entry(Arc::clone(name)).or_default() += 1;
        }
        self.members += usize::from(value.is_some());
        self.members -= usize::from(old.is_some());
    }

    fn put_target(&mut self, id: &Arc<str>, value: Option<&Assignment>) {
        let old = self.change(id, |member| {
            core::mem::replace(&mut member.target, value.cloned())
        });
        for partition in old.iter().flat_map(Assignment::partitions) {
            lower(&mut self.assigned, &partition);
        }
        for partition in value.into_iter().flat_map(Assignment::partitions) {
            *self.assigned.entry(partition).or_default() += 1;
        }
    }

    /// Changes the records of a member, which comes to be and goes with them.
    fn change<A>(&mut self, id: &Arc<str>, change: impl FnOnce(&mut Member) -> A) -> A {
        let member = self.records.entry(Arc::clone(id)).or_default();
        let changed = change(member);
        if member.is_gone() {
            self.records.remove(id);
        }
        changed
    }
}

/// Counts one less, and forgets what nobody has.
fn lower<K: Ord + Clone>(counts: &mut BTreeMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}
