//! Assignor: decides which member of a share group consumes which partitions (Kafka: `SimpleAssignor`, KIP-932).
//!
//! Share groups may give one partition to several members, so the aim is: nobody idle and no partition forgotten. Every
//! assignable partition of a subscribed topic has a member, members have about the same number, and what moves is what
//! the balance needs. Racks and lag do not matter.
//!
//! Kafka numbers members and partitions in the order of its hash maps, so its choice differs from run to run. Here members
//! count in the order given and partitions in the order of (topic id, partition): the same input has the same output.

mod shares;
mod simple;

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

pub use crate::groups::assignment::Assignment;
use crate::ids::TopicId;

/// The assignable partitions of each topic that exists; a topic may have none.
pub type AssignableTopics = BTreeMap<TopicId, BTreeSet<i32>>;

/// A member, as the assignor sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscriber<'a> {
    /// The topics that it subscribes to.
    pub topics: BTreeSet<TopicId>,
    /// Its target assignment until now.
    pub current: &'a Assignment,
}

/// A member subscribes to a topic that does not exist (Kafka: `PartitionAssignorException`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownTopic(pub TopicId);

impl fmt::Display for UnknownTopic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.0.to_base64();
        write!(
            f,
            "a member is subscribed to the topic {id}, which does not exist"
        )
    }
}

impl core::error::Error for UnknownTopic {}

/// The target assignment of each member, in their order.
///
/// Members with the same topics share all partitions in one go; otherwise each topic is spread for itself over the members
/// that subscribe to it.
///
/// # Errors
/// A member subscribes to a topic that is not in `topics`.
pub fn assign(
    members: &[Subscriber<'_>],
    topics: &AssignableTopics,
) -> Result<Vec<Assignment>, UnknownTopic> {
    let subscribed: BTreeSet<TopicId> = members
        .iter()
        .flat_map(|member| member.topics.iter().copied())
        .collect();
    if let Some(unknown) = subscribed.iter().find(|id| !topics.contains_key(id)) {
        return Err(UnknownTopic(*unknown));
    }
    let everyone: Vec<usize> = (0..members.len()).collect();
    let mut targets = vec![Vec::new(); members.len()];
    let homogeneous = members.iter().all(|member| member.topics == subscribed);
    if homogeneous {
        let partitions = partitions_of(topics, subscribed.iter().copied());
        spread(members, &everyone, &partitions, &mut targets);
    } else {
        for topic in subscribed {
            let subscribers: Vec<usize> = everyone
                .iter()
                .copied()
                .filter(|number| members[*number].topics.contains(&topic))
                .collect();
            let partitions = partitions_of(topics, core::iter::once(topic));
            spread(members, &subscribers, &partitions, &mut targets);
        }
    }
    Ok(targets.into_iter().map(Assignment::from_iter).collect())
}

fn partitions_of(
    topics: &AssignableTopics,
    chosen: impl Iterator<Item = TopicId>,
) -> Vec<(TopicId, i32)> {
    chosen
        .filter_map(|id| Some((id, topics.get(&id)?)))
        .flat_map(|(id, partitions)| partitions.iter().map(move |p| (id, *p)))
        .collect()
}

/// Spreads `partitions`, in ascending order, over the members with these numbers.
fn spread(
    members: &[Subscriber<'_>],
    numbers: &[usize],
    partitions: &[(TopicId, i32)],
    targets: &mut [Vec<(TopicId, i32)>],
) {
    let mut holdings: Vec<BTreeSet<usize>> = numbers
        .iter()
        .map(|number| {
            let current = members[*number].current;
            current
                .partitions()
                .filter_map(|partition| partitions.binary_search(&partition).ok())
                .collect()
        })
        .collect();
    simple::balance(&mut holdings, partitions.len());
    for (number, held) in numbers.iter().zip(holdings) {
        targets[*number].extend(held.into_iter().map(|at| partitions[at]));
    }
}
