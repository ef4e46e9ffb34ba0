//! The records 10 to 15 of `__consumer_offsets` as plain data: what a share group is made of.
//!
//! Each record holds the whole value of its key, so the latest one counts and the ones before it are dead. `None` is the
//! null value that deletes a key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::groups::assignment::Assignment;
use crate::ids::TopicId;

/// Metadata that a member sends of itself (`ShareGroupMemberMetadataValue`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberMetadata {
    /// Rack of the client, if it names one.
    pub rack_id: Option<Arc<str>>,
    /// `client.id` of the client.
    pub client_id: Arc<str>,
    /// Address of the client.
    pub client_host: Arc<str>,
    /// Names of the topics that it subscribes to, ascending and without repetition.
    pub subscribed_topics: Vec<Arc<str>>,
}

/// The group itself (`ShareGroupMetadataValue`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMetadata {
    /// Group epoch, which rises whenever the target assignment is out of date.
    pub epoch: i32,
    /// Hash of the subscribed topics' metadata; 0 when there are none.
    pub metadata_hash: i64,
}

/// Time at which the target assignment was made (`ShareGroupTargetAssignmentMetadataValue`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetAssignmentMetadata {
    /// The group epoch that it was made for.
    pub assignment_epoch: i32,
    /// Wall clock, ms; 0 when the next one need not wait for the assignment interval.
    pub assignment_timestamp: i64,
}

/// Assignment that a member has been told (`ShareGroupCurrentMemberAssignmentValue`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentAssignment {
    /// Member epoch.
    pub member_epoch: i32,
    /// Member epoch before; a heartbeat that repeats it is a repetition.
    pub previous_member_epoch: i32,
    /// State of the member; there is only 0, stable.
    pub state: i8,
    /// The partitions.
    pub assigned: Assignment,
}

/// Some partitions of a topic, with the name that the topic had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPartitions {
    /// Name of the topic, for describing it once it is deleted.
    pub name: Arc<str>,
    /// The partitions.
    pub partitions: BTreeSet<i32>,
}

/// Partitions by the id of their topic.
pub type PartitionsByTopic = BTreeMap<TopicId, NamedPartitions>;

/// Share partitions that have state (`ShareGroupStatePartitionMetadataValue`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatePartitions {
    /// Their state is being initialised.
    pub initializing: PartitionsByTopic,
    /// They have state: these can be assigned.
    pub initialized: PartitionsByTopic,
    /// Names of the topics whose state is being deleted.
    pub deleting: BTreeMap<TopicId, Arc<str>>,
}

/// Value of a record, about its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupValue {
    /// Record 10 of this member.
    Member(Arc<str>, Option<MemberMetadata>),
    /// Record 11.
    Group(Option<GroupMetadata>),
    /// Record 12.
    TargetAssignment(Option<TargetAssignmentMetadata>),
    /// Record 13 of this member: its target assignment.
    TargetMember(Arc<str>, Option<Assignment>),
    /// Record 14 of this member.
    CurrentMember(Arc<str>, Option<CurrentAssignment>),
    /// Record 15.
    StatePartitions(Option<StatePartitions>),
}

/// Record of a share group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRecord {
    /// Id of the group.
    pub group: Arc<str>,
    /// Value, about the key.
    pub value: GroupValue,
}
