//! Groups that the assignor is asked about, and what is checked of every answer.

use std::collections::BTreeSet;

use proptest::prelude::*;
use share_state_core::assignor::{AssignableTopics, Assignment, Subscriber, assign};
use share_state_core::ids::TopicId;

/// Members with their topics and old targets, and the topics that exist.
#[derive(Clone, Debug)]
pub struct Group {
    pub topics: AssignableTopics,
    pub members: Vec<(BTreeSet<TopicId>, Assignment)>,
}

impl Group {
    pub fn assign(&self) -> Vec<Assignment> {
        let members: Vec<_> = self
            .members
            .iter()
            .map(|(topics, current)| Subscriber {
                topics: topics.clone(),
                current,
            })
            .collect();
        assign(&members, &self.topics).unwrap()
    }

    pub fn with_targets(&self, targets: Vec<Assignment>) -> Self {
        let topics = self.members.iter().map(|(topics, _)| topics.clone());
        Self {
            topics: self.topics.clone(),
            members: topics.zip(targets).collect(),
        }
    }

    pub fn without(&self, member: usize) -> Self {
        let mut group = self.clone();
        group.members.remove(member);
        group
    }

    /// With one more member, before all others so that every number moves.
    pub fn with_newcomer(&self) -> Self {
        let mut group = self.clone();
        let (topics, _) = group.members[0].clone();
        group.members.insert(0, (topics, Assignment::EMPTY));
        group
    }

    /// Every assignable partition of a subscribed topic has as many members as are needed to occupy all of them; nobody has
    /// another one.
    pub fn check_coverage(&self, targets: &[Assignment]) -> Result<(), TestCaseError> {
        prop_assert_eq!(targets.len(), self.members.len());
        let homogeneous = self
            .members
            .iter()
            .all(|(topics, _)| *topics == self.members[0].0);
        for (id, partitions) in &self.topics {
            let subscribers = self
                .members
                .iter()
                .filter(|(topics, _)| topics.contains(id))
                .count();
            let spread_over = if homogeneous {
                let mut all = 0;
                for (other, partitions) in &self.topics {
                    all += if self
                        .members
                        .iter()
                        .any(|(topics, _)| topics.contains(other))
                    {
                        partitions.len()
                    } else {
                        0
                    };
                }
                all
            } else {
                partitions.len()
            };
            let sharing = subscribers.div_ceil(spread_over.max(1));
            for partition in partitions {
                let holders = targets
                    .iter()
                    .filter(|target| target.contains(*id, *partition))
                    .count();
                prop_assert_eq!(holders, sharing, "{} {} in {:?}", id, partition, targets);
            }
        }
        for ((topics, _), target) in self.members.iter().zip(targets) {
            for (id, partition) in target.partitions() {
                prop_assert!(topics.contains(&id) && self.topics[&id].contains(&partition));
            }
        }
        Ok(())
    }
}

/// Every partition of every topic.
pub fn partitions(topics: &AssignableTopics) -> Vec<(TopicId, i32)> {
    let topics = topics.iter();
    topics
        .flat_map(|(id, partitions)| partitions.iter().map(|p| (*id, *p)))
        .collect()
}

fn topic(number: u8) -> TopicId {
    TopicId([number + 1; 16])
}

/// Some topics, of which some have no partition.
fn topics() -> impl Strategy<Value = AssignableTopics> {
    prop::collection::vec(prop::collection::btree_set(0..12, 0..8), 1..5)
        .prop_map(|topics| (0..).map(topic).zip(topics).collect())
}

/// An old target, with partitions that do not exist any more and more of them than anybody should have.
fn target() -> impl Strategy<Value = Assignment> {
    prop::collection::vec((0..6u8, 0..14i32), 0..20).prop_map(|held| {
        held.into_iter()
            .map(|(number, p)| (topic(number), p))
            .collect()
    })
}

/// Members with topics of their own.
pub fn random_group() -> impl Strategy<Value = Group> {
    topics().prop_flat_map(|topics| {
        let known: Vec<_> = topics.keys().copied().collect();
        let subscription = prop::sample::subsequence(known.clone(), 0..=known.len());
        let member = (subscription.prop_map(BTreeSet::from_iter), target());
        prop::collection::vec(member, 1..16).prop_map(move |members| Group {
            topics: topics.clone(),
            members,
        })
    })
}

/// Members that all have the same topics.
pub fn same_topics() -> impl Strategy<Value = Group> {
    (topics(), prop::collection::vec(target(), 1..24)).prop_map(|(topics, targets)| {
        let subscribed: BTreeSet<_> = topics.keys().copied().collect();
        let members = targets
            .into_iter()
            .map(|target| (subscribed.clone(), target));
        Group {
            members: members.collect(),
            topics,
        }
    })
}
