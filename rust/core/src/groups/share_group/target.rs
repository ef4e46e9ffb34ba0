//! The target assignment: when it is made, and what it changes (Kafka: `TargetAssignmentBuilder`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ShareGroups;
use super::admission::{Admitted, Due};
use super::records::{GroupValue, MemberMetadata, StatePartitions, TargetAssignmentMetadata};
use crate::groups::assignment::Assignment;
use crate::groups::assignor::{self, Subscriber};
use crate::ids::TopicId;
use crate::time::WallTime;

/// Assignment of a member that was assigned nothing yet.
static NOTHING: Assignment = Assignment::EMPTY;

/// The target assignment after a heartbeat.
pub(super) struct Target {
    /// The group epoch that it was made for.
    pub epoch: i32,
    /// The part of the member that is heard.
    pub mine: Assignment,
    /// Records of the change.
    pub records: Vec<GroupValue>,
}

impl ShareGroups {
    /// Makes a new target assignment if one is due and the assignment interval has passed; else keeps the one there is.
    pub(super) fn target(
        &self,
        group: &str,
        member: &Arc<str>,
        admitted: &Admitted<'_>,
        due: &Due,
        partitions: &StatePartitions,
        now: WallTime,
    ) -> Target {
        let target = admitted.member.and_then(|member| member.target.clone());
        if !self.is_time(group, admitted, due, now) {
            return Target {
                epoch: admitted.group.assignment_epoch(),
                mine: target.unwrap_or_default(),
                records: Vec::new(),
            };
        }
        let topics = self.assignable(&admitted.subscribed, partitions);
        let members = members(admitted, member);
        let subscribers: Vec<_> = members
            .values()
            .map(|(metadata, current)| Subscriber {
                topics: self.ids(metadata),
                current: current.unwrap_or(&NOTHING),
            })
            .collect();
        // Nobody subscribes here to a topic that is not among the assignable ones, so the assignor finds none unknown.
        let targets = assignor::assign(&subscribers, &topics).unwrap_or_default();

        let mut records = Vec::new();
        let mut mine = Assignment::EMPTY;
        for ((id, (_, old)), new) in members.into_iter().zip(targets) {
            if id == member {
                mine.clone_from(&new);
            }
            if old != Some(&new) {
                records.push(GroupValue::TargetMember(Arc::clone(id), Some(new)));
            }
        }
        records.push(GroupValue::TargetAssignment(Some(
            TargetAssignmentMetadata {
                assignment_epoch: due.epoch,
                assignment_timestamp: now.0,
            },
        )));
        Target {
            epoch: due.epoch,
            mine,
            records,
        }
    }

    /// Returns `true` if the assignment is older than the group epoch, and the last one made long enough ago
    /// (KIP-1263). A wall clock that went back must not hold it up, so a time in the future counts as long ago.
    fn is_time(&self, group: &str, admitted: &Admitted<'_>, due: &Due, now: WallTime) -> bool {
        if admitted.group.assignment_epoch() >= due.epoch {
            return false;
        }
        let interval = self.settings(group).assignment_interval_ms;
        let since = admitted
            .group
            .target
            .map(|target| target.assignment_timestamp);
        let passed = since.map(|since| now.0.saturating_sub(since));
        passed.is_none_or(|passed| passed < 0 || passed >= interval) || since == Some(0)
    }

    fn ids(&self, metadata: &MemberMetadata) -> BTreeSet<TopicId> {
        let topics = metadata.subscribed_topics.iter();
        topics
            .filter_map(|name| Some(self.topics.by_name(name)?.id))
            .collect()
    }
}

/// Every member by id, with what it says of itself and its target until now; the one that is heard as it is from now on.
fn members<'a>(
    admitted: &'a Admitted<'_>,
    member: &'a Arc<str>,
) -> BTreeMap<&'a Arc<str>, (&'a MemberMetadata, Option<&'a Assignment>)> {
    let others = admitted.group.members();
    let mut members: BTreeMap<_, _> = others
        .map(|(id, member, metadata)| (id, (metadata, member.target.as_ref())))
        .collect();
    let target = admitted.member.and_then(|member| member.target.as_ref());
    members.insert(member, (&admitted.metadata, target));
    members
}
