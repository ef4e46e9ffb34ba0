//! A member that leaves, or that has not been heard for too long.

use std::sync::Arc;

use super::admission::next_epoch;
use super::error::GroupError;
use super::group::ShareGroup;
use super::records::{GroupMetadata, GroupRecord, GroupValue, TargetAssignmentMetadata};
use super::request::{Heartbeat, HeartbeatAnswer, LEAVE_EPOCH};
use super::{Decision, ShareGroups, check};

impl ShareGroups {
    /// Lets a member go that asks for it.
    ///
    /// What it has acquired stays acquired: that is for share sessions to end.
    pub(super) fn decide_leave(
        &self,
        request: &Heartbeat<'_>,
    ) -> Result<Decision<HeartbeatAnswer>, GroupError> {
        check::heartbeat(request)?;
        let records = self.without(request.group, request.member)?;
        Ok(Decision {
            records,
            answer: HeartbeatAnswer {
                member_epoch: LEAVE_EPOCH,
                heartbeat_interval_ms: 0,
                assignment: None,
            },
        })
    }

    /// Takes out a member whose session has ended ([`Self::handle_timeout`]), as if it had left.
    ///
    /// # Errors
    /// There is no such group or member.
    pub fn decide_expire(&self, group: &str, member: &str) -> Result<Decision<()>, GroupError> {
        Ok(Decision {
            records: self.without(group, member)?,
            answer: (),
        })
    }

    /// The records of a member's end. The group's epoch rises, so that the others get its partitions; when it was the last
    /// one the assignment goes along, or a describe would show a pending one forever (KAFKA-20442).
    fn without(&self, group: &str, member: &str) -> Result<Vec<GroupRecord>, GroupError> {
        let known = self.existing(group)?;
        let group: Arc<str> = Arc::from(group);
        let member: Arc<str> = Arc::from(member);
        let Some((_, metadata)) = known.member(&member) else {
            return Err(GroupError::UnknownMemberId { group, member });
        };
        let epoch = next_epoch(known.epoch())?;
        let mut values = vec![
            GroupValue::CurrentMember(Arc::clone(&member), None),
            GroupValue::TargetMember(Arc::clone(&member), None),
            GroupValue::Member(member, None),
            GroupValue::Group(Some(GroupMetadata {
                epoch,
                metadata_hash: self.hash_without(known, &metadata.subscribed_topics),
            })),
        ];
        if known.len() == 1 {
            values.push(GroupValue::TargetAssignment(Some(
                TargetAssignmentMetadata {
                    assignment_epoch: epoch,
                    assignment_timestamp: 0,
                },
            )));
        }
        let records = values.into_iter().map(|value| GroupRecord {
            group: Arc::clone(&group),
            value,
        });
        Ok(records.collect())
    }

    /// The hash of what is still subscribed to once one member's topics are given up.
    fn hash_without(&self, group: &ShareGroup, given_up: &[Arc<str>]) -> i64 {
        let kept = group
            .subscribers()
            .iter()
            .filter(|(name, count)| **count > 1 || given_up.binary_search(name).is_err());
        self.topics.metadata_hash(kept.map(|(name, _)| &**name))
    }
}
