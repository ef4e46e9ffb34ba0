//! Target assignments on both sides: where the two choose otherwise and both choices are good, the rest is compared with Kafka's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use share_state_core::assignor::{AssignableTopics, Assignment};
use share_state_core::ids::TopicId;
use share_state_core::share_group::{
    CurrentAssignment, Decision, GroupRecord, GroupValue, Heartbeat, HeartbeatAnswer,
    StatePartitions,
};

use super::log::shown;
use super::ours::Ours;
use super::point::Points;
use crate::assignor::properties::Question;
use crate::assignor::{Agreement, compare, judged};

/// The members of a group with this member's news, and what each is to consume until now.
pub struct Targets<'a> {
    ours: &'a Ours,
    group: Arc<str>,
    member: Arc<str>,
    /// Names of topics.
    members: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    targets: BTreeMap<Arc<str>, Assignment>,
    current: Option<CurrentAssignment>,
    made_at: i64,
    /// True if the member is told what it has, moved or not.
    is_told: bool,
}

/// The member of whose target a record tells.
pub fn member(record: &GroupRecord) -> Option<&Arc<str>> {
    match &record.value {
        GroupValue::TargetMember(member, _) => Some(member),
        _ => None,
    }
}

fn target_records(records: &[GroupRecord]) -> impl Iterator<Item = (&Arc<str>, &Assignment)> {
    records.iter().filter_map(|record| match &record.value {
        GroupValue::TargetMember(member, Some(target)) => Some((member, target)),
        _ => None,
    })
}

impl<'a> Targets<'a> {
    /// Targets of a group before a heartbeat.
    pub fn of(ours: &'a Ours, request: &Heartbeat<'_>) -> Self {
        let mut members = BTreeMap::new();
        let mut targets = BTreeMap::new();
        let mut current = None;
        let mut made_at = 0;
        for record in ours.latest.of(request.group) {
            match &record.value {
                GroupValue::Member(id, Some(member)) => {
                    members.insert(Arc::clone(id), member.subscribed_topics.clone());
                }
                GroupValue::TargetMember(id, Some(target)) => {
                    targets.insert(Arc::clone(id), target.clone());
                }
                GroupValue::CurrentMember(id, Some(of)) if **id == *request.member => {
                    current = Some(of.clone());
                }
                GroupValue::TargetAssignment(Some(target)) => {
                    made_at = target.assignment_timestamp;
                }
                _ => {}
            }
        }
        let has_missed = current.as_ref().is_some_and(|current: &CurrentAssignment| {
            current.member_epoch != request.member_epoch
        });
        let member: Arc<str> = Arc::from(request.member);
        if let Some(topics) = request.topics {
            let topics: BTreeSet<&str> = topics.iter().copied().collect();
            let topics = topics.into_iter().map(Arc::from).collect();
            members.insert(Arc::clone(&member), topics);
        }
        Self {
            ours,
            group: Arc::from(request.group),
            member,
            members,
            targets,
            current,
            made_at,
            is_told: request.member_epoch == 0 || request.topics.is_some() || has_missed,
        }
    }

    /// Time at which the targets were made, by the clock on the wall.
    pub const fn made_at(&self) -> i64 {
        self.made_at
    }

    /// Returns true if a target holds what cannot be assigned any more.
    pub fn are_stale(&self) -> bool {
        let lists = self.ours.latest.state_partitions(&self.group);
        let subscribed: BTreeSet<&Arc<str>> = self.members.values().flatten().collect();
        let can = |id: TopicId, partition: i32| {
            let initialized = lists.and_then(|lists| lists.initialized.get(&id));
            let mut topics = self.ours.topics.iter();
            initialized.is_some_and(|named| named.partitions.contains(&partition))
                && topics
                    .any(|topic| topic.id == id && subscribed.contains(&Arc::from(&*topic.name)))
        };
        let mut targets = self.targets.values().flat_map(Assignment::partitions);
        targets.any(|(id, partition)| !can(id, partition))
    }

    fn question(&self, lists: Option<&StatePartitions>, homogeneous: bool) -> Question {
        let ids = |names: &Vec<Arc<str>>| -> BTreeSet<TopicId> {
            names
                .iter()
                .filter_map(|name| Some(self.ours.topic(name)?.id))
                .collect()
        };
        let mut topics = AssignableTopics::new();
        for topic in &self.ours.topics {
            let initialized = lists.and_then(|lists| lists.initialized.get(&topic.id));
            let initialized = initialized.into_iter().flat_map(|named| &named.partitions);
            let existing = initialized.copied().filter(|p| *p < topic.partitions);
            topics.insert(topic.id, existing.collect());
        }
        let members = self.members.iter().map(|(id, names)| {
            let target = self.targets.get(id).cloned().unwrap_or_default();
            (ids(names), target)
        });
        Question {
            members: members.collect(),
            topics,
            homogeneous,
        }
    }

    /// Kafka tells members that are alike from others by the names of their topics, we by those that exist.
    fn alike(&self) -> (bool, bool) {
        let mut names = self.members.values();
        let first = names.next();
        let by_names = names.all(|names| Some(names) == first);
        let existing = |names: &Vec<Arc<str>>| -> Vec<Arc<str>> {
            let known = names.iter().filter(|name| self.ours.topic(name).is_some());
            known.cloned().collect()
        };
        let mut topics = self.members.values().map(existing);
        let first = topics.next();
        let by_topics = topics.all(|topics| Some(&topics) == first.as_ref());
        (by_names, by_topics)
    }

    fn after(&self, records: &[GroupRecord]) -> Vec<Assignment> {
        let mut targets = self.targets.clone();
        for (member, target) in target_records(records) {
            targets.insert(Arc::clone(member), target.clone());
        }
        let members = self.members.keys();
        members
            .map(|id| targets.get(id).cloned().unwrap_or_default())
            .collect()
    }

    /// Compares the choices, and puts Kafka's in the place of ours.
    pub fn adjust(
        &self,
        decided: &mut Decision<HeartbeatAnswer>,
        kafka: &[GroupRecord],
        points: &mut Points,
    ) {
        let is_new = |records: &[GroupRecord]| {
            records
                .iter()
                .any(|record| matches!(record.value, GroupValue::TargetAssignment(Some(_))))
        };
        if !is_new(kafka) || !is_new(&decided.records) {
            return;
        }
        let (theirs, own) = (self.after(kafka), self.after(&decided.records));
        let lists = self.ours.latest.state_partitions(&self.group);
        let (by_names, by_topics) = self.alike();
        let agreement = if by_names == by_topics {
            compare(&self.question(lists, by_names), Ok(&theirs), Some(&own))
        } else {
            // Each is judged as it sees the group.
            let own = self.question(lists, by_topics).flaws(&own);
            if own.is_empty() {
                judged(&self.question(lists, by_names), &theirs)
            } else {
                Agreement::Differs("our balance", None)
            }
        };
        if let Agreement::Differs(what, class) = agreement {
            points.differ(what, shown(kafka), shown(&decided.records), class);
        }
        let my_target = self
            .members
            .keys()
            .position(|id| *id == self.member)
            .map(|at| theirs[at].clone())
            .unwrap_or_default();
        let changed: BTreeMap<&Arc<str>, &Assignment> = self
            .members
            .keys()
            .zip(&theirs)
            .filter(|(id, target)| self.targets.get(*id) != Some(target))
            .collect();
        let mut records = Vec::new();
        for record in &decided.records {
            if matches!(record.value, GroupValue::TargetAssignment(_)) {
                records.extend(changed.iter().map(|(id, target)| GroupRecord {
                    group: Arc::clone(&self.group),
                    value: GroupValue::TargetMember(Arc::clone(id), Some((*target).clone())),
                }));
            }
            if !matches!(record.value, GroupValue::TargetMember(..)) {
                records.push(record.clone());
            }
        }
        decided.records = records;
        self.tell(decided, &my_target);
    }

    /// The member is told of Kafka's choice.
    fn tell(&self, decided: &mut Decision<HeartbeatAnswer>, target: &Assignment) {
        let names = self.members.get(&self.member);
        let told = target.restricted(|id| {
            let topic = self.ours.topics.iter().find(|topic| topic.id == id);
            topic.is_some_and(|topic| {
                names.is_some_and(|names| names.iter().any(|name| **name == *topic.name))
            })
        });
        for record in &mut decided.records {
            if let GroupValue::CurrentMember(_, Some(current)) = &mut record.value {
                current.assigned.clone_from(&told);
            }
        }
        let before = self.current.as_ref().map(|current| &current.assigned);
        let is_moved = before.unwrap_or(&Assignment::EMPTY) != &told;
        decided.answer.assignment = (self.is_told || is_moved).then_some(told);
    }

    /// Faults of targets that are made with these lists.
    pub fn flaws(&self, after: &Ours, lists: Option<&StatePartitions>) -> String {
        let records: Vec<GroupRecord> = after.groups.live_records().collect();
        let of_group: Vec<GroupRecord> = records
            .into_iter()
            .filter(|record| record.group == self.group)
            .collect();
        let (_, by_topics) = self.alike();
        let known = self.ours.latest.state_partitions(&self.group);
        let question = self.question(lists.or(known), by_topics);
        let flaws = question.flaws(&self.after(&of_group));
        if flaws.is_empty() {
            String::new()
        } else {
            format!("{flaws:?}")
        }
    }
}
