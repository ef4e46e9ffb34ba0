//! ShareGroupHeartbeat (RPC 76).

use std::sync::Arc;

use super::admission::{Admitted, Due};
use super::error::GroupError;
use super::records::{CurrentAssignment, GroupMetadata, GroupRecord, GroupValue, StatePartitions};
use super::request::{Heartbeat, HeartbeatAnswer, JOIN_EPOCH, LEAVE_EPOCH};
use super::{Decision, ShareGroups};
use crate::groups::assignment::Assignment;
use crate::ids::TopicId;
use crate::time::WallTime;

/// Member state of record 14; share groups have no other.
const STABLE: i8 = 0;

/// The shortest interval that a member is told while its assignment is due, ms.
const SHORTEST_INTERVAL_MS: i64 = 500;

impl ShareGroups {
    /// Takes a member in, keeps it, or lets it go.
    ///
    /// `initialized` are share partitions whose state the caller has initialised for this heartbeat
    /// ([`Self::to_initialize`]): they can be assigned at once. Those of topics or partitions that do not exist any more
    /// are passed over.
    ///
    /// When the decision is replayed, [`Self::heard`] begins the member's session again.
    ///
    /// # Errors
    /// In this order: malformed request, no room, unknown member, fenced epoch. A group that does not exist has unknown
    /// members, unless one joins (a deliberate difference: Kafka's code for it is fatal to clients).
    pub fn decide_heartbeat(
        &self,
        request: &Heartbeat<'_>,
        initialized: &[(TopicId, i32)],
        now: WallTime,
    ) -> Result<Decision<HeartbeatAnswer>, GroupError> {
        if request.member_epoch == LEAVE_EPOCH {
            return self.decide_leave(request);
        }
        let admitted = self.admit(request)?;
        let changed = self.with_initialized(admitted.group, initialized);
        let admitted = Admitted {
            has_nothing_due: admitted.has_nothing_due && changed.is_none(),
            ..admitted
        };
        let partitions = changed
            .as_ref()
            .unwrap_or(admitted.group.state_partitions());
        let due = self.due(&admitted, partitions)?;

        let group: Arc<str> = Arc::from(request.group);
        let member: Arc<str> = Arc::from(request.member);
        let mut records = Vec::new();
        let mut say = |value| {
            records.push(GroupRecord {
                group: Arc::clone(&group),
                value,
            });
        };
        if admitted.is_news {
            say(GroupValue::Member(
                Arc::clone(&member),
                Some(admitted.metadata.clone()),
            ));
        }
        if due.is_bump {
            say(GroupValue::Group(Some(GroupMetadata {
                epoch: due.epoch,
                metadata_hash: due.metadata_hash,
            })));
        }
        let target = self.target(&group, &member, &admitted, &due, partitions, now);
        if changed.is_some() {
            say(GroupValue::StatePartitions(changed));
        }
        target.records.into_iter().for_each(&mut say);
        let current = self.reconciled(&admitted, &due, target.epoch, &target.mine);
        let before = admitted.member.and_then(|member| member.current.as_ref());
        let is_moved =
            before.map_or(&Assignment::EMPTY, |before| &before.assigned) != &current.assigned;
        if before != Some(&current) {
            say(GroupValue::CurrentMember(member, Some(current.clone())));
        }
        let is_full = request.member_epoch == JOIN_EPOCH || request.topics.is_some();
        // It says the epoch before: the answer with its new epoch and assignment has not reached it (own).
        let has_missed = before.is_some_and(|before| before.member_epoch != request.member_epoch);
        Ok(Decision {
            answer: HeartbeatAnswer {
                member_epoch: current.member_epoch,
                heartbeat_interval_ms: self.interval(&group, &due, target.epoch),
                assignment: (is_full || is_moved || has_missed).then_some(current.assigned),
            },
            records,
        })
    }

    /// The group's lists once these partitions have state; `None` when that is nothing new.
    fn with_initialized(
        &self,
        group: &super::group::ShareGroup,
        initialized: &[(TopicId, i32)],
    ) -> Option<StatePartitions> {
        let known = group.state_partitions.as_ref();
        let new: Vec<_> = initialized
            .iter()
            .filter(|(id, partition)| {
                !known.is_some_and(|known| known.is_initialized(*id, *partition))
            })
            .filter_map(|(id, partition)| {
                let (name, topic) = self.topics.by_id(*id)?;
                (0..topic.partitions)
                    .contains(partition)
                    .then_some((*id, name, *partition))
            })
            .collect();
        (!new.is_empty()).then(|| {
            let mut partitions = known.cloned().unwrap_or_default();
            partitions.initialize(new);
            partitions
        })
    }

    /// Returns what the member is told: as soon as there is a new target, its part of it; never a topic that it does
    /// not subscribe to (KAFKA-19431).
    fn reconciled(
        &self,
        admitted: &Admitted<'_>,
        due: &Due,
        epoch: i32,
        target: &Assignment,
    ) -> CurrentAssignment {
        let before = admitted.member.and_then(|member| member.current.as_ref());
        let (member_epoch, previous_member_epoch) = before.map_or((0, -1), |before| {
            (before.member_epoch, before.previous_member_epoch)
        });
        let is_new = epoch != member_epoch;
        // A new group epoch may be due to a topic that is gone, and that is no time to wait for the next target.
        let assigned = if is_new || due.is_bump {
            target.restricted(|id| {
                let name = self.topics.by_id(id).map(|(name, _)| name);
                name.is_some_and(|name| {
                    admitted
                        .metadata
                        .subscribed_topics
                        .binary_search(name)
                        .is_ok()
                })
            })
        } else {
            before.map_or(Assignment::EMPTY, |before| before.assigned.clone())
        };
        CurrentAssignment {
            member_epoch: epoch,
            previous_member_epoch: if is_new {
                member_epoch
            } else {
                previous_member_epoch
            },
            state: STABLE,
            assigned,
        }
    }

    /// Time until the member is to be heard again: soon, while an assignment is due that the assignment interval holds
    /// back (own: clients obey the last answer, and a newcomer need not wait a whole interval for its first
    /// partitions).
    fn interval(&self, group: &str, due: &Due, assignment_epoch: i32) -> i64 {
        let settings = self.settings(group);
        if assignment_epoch < due.epoch {
            let soon = settings.assignment_interval_ms.max(SHORTEST_INTERVAL_MS);
            return settings.heartbeat_interval_ms.min(soon);
        }
        settings.heartbeat_interval_ms
    }
}
