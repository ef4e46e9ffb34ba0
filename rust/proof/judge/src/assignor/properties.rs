//! Properties of a good assignment. Kafka leaves the choice of the member for each partition to the order of its hash maps, but
//! not the number that each member gets.

use std::collections::{BTreeMap, BTreeSet};

use share_state_core::assignor::{AssignableTopics, Assignment};
use share_state_core::ids::TopicId;

/// A partition.
pub type Partition = (TopicId, i32);

/// Partitions to assign, and the members to assign them to.
#[derive(Clone, Debug)]
pub struct Question {
    /// Topics that each member subscribes to, and what it has; only topics that exist.
    pub members: Vec<(BTreeSet<TopicId>, Assignment)>,
    /// The partitions that can be assigned.
    pub topics: AssignableTopics,
    /// True if all members subscribe to the same topics, so that these are spread in one go.
    pub homogeneous: bool,
}

/// Fault of an answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flaw {
    /// A member has what it does not subscribe to or what cannot be assigned.
    Foreign(usize, Partition),
    /// Fewer members have a partition than should.
    TooFewHolders(Partition),
    /// More members have a partition than should.
    TooManyHolders(Partition),
    /// Members' numbers are not those that add up.
    Uneven,
}

/// Partitions that are spread in one go over some members.
struct Spread {
    members: Vec<usize>,
    partitions: BTreeSet<Partition>,
}

impl Question {
    fn spreads(&self) -> Vec<Spread> {
        let subscribed: BTreeSet<TopicId> = self
            .members
            .iter()
            .flat_map(|(topics, _)| topics)
            .copied()
            .collect();
        let partitions = |topic: TopicId| {
            let of = self.topics.get(&topic).into_iter().flatten();
            of.map(move |partition| (topic, *partition))
        };
        if self.homogeneous {
            return vec![Spread {
                members: (0..self.members.len()).collect(),
                partitions: subscribed.into_iter().flat_map(partitions).collect(),
            }];
        }
        subscribed
            .into_iter()
            .map(|topic| Spread {
                members: (0..self.members.len())
                    .filter(|member| self.members[*member].0.contains(&topic))
                    .collect(),
                partitions: partitions(topic).collect(),
            })
            .collect()
    }

    /// Faults of an answer, in the order of the members.
    pub fn flaws(&self, answer: &[Assignment]) -> BTreeSet<Flaw> {
        let mut flaws = BTreeSet::new();
        for (member, (assigned, (topics, _))) in answer.iter().zip(&self.members).enumerate() {
            for (topic, partition) in assigned.partitions() {
                let can = self
                    .topics
                    .get(&topic)
                    .is_some_and(|assignable| assignable.contains(&partition));
                if !can || !topics.contains(&topic) {
                    flaws.insert(Flaw::Foreign(member, (topic, partition)));
                }
            }
        }
        for spread in self.spreads() {
            spread.flaws(answer, &mut flaws);
        }
        flaws
    }

    /// Number of the partitions of members that they keep.
    pub fn kept(&self, answer: &[Assignment]) -> usize {
        let kept = |(assigned, (_, current)): (&Assignment, &(BTreeSet<TopicId>, Assignment))| {
            assigned
                .partitions()
                .filter(|(topic, partition)| current.contains(*topic, *partition))
                .count()
        };
        answer.iter().zip(&self.members).map(kept).sum()
    }

    /// Returns true if a member has a partition that cannot be assigned of a topic that somebody subscribes to.
    pub fn has_what_cannot_be_assigned(&self) -> bool {
        let subscribed = |topic: &TopicId| {
            self.members
                .iter()
                .any(|(topics, _)| topics.contains(topic))
        };
        self.members.iter().any(|(_, current)| {
            current.partitions().any(|(topic, partition)| {
                let assignable = self.topics.get(&topic);
                subscribed(&topic)
                    && !assignable.is_some_and(|assignable| assignable.contains(&partition))
            })
        })
    }

    /// Returns true if the parts that Kafka reckons in floating point are not those that add up.
    pub fn parts_do_not_add_up(&self) -> bool {
        self.spreads().iter().any(Spread::parts_do_not_add_up)
    }

    /// Returns true if more members have a partition than should.
    pub fn is_crowded(&self) -> bool {
        let current: Vec<Assignment> = self
            .members
            .iter()
            .map(|(_, current)| current.clone())
            .collect();
        let flaws = self.flaws(&current);
        flaws
            .iter()
            .any(|flaw| matches!(flaw, Flaw::TooManyHolders(_)))
    }

    /// Returns true if only one answer is good: everybody gets everything, or everybody has just as much as the others already.
    pub fn has_one_answer(&self) -> bool {
        let current: Vec<Assignment> = self
            .members
            .iter()
            .map(|(_, current)| current.clone())
            .collect();
        let level = self.spreads().iter().all(Spread::is_level);
        let to_all = |spread: &Spread| spread.members.len() <= 1 || spread.partitions.len() <= 1;
        self.spreads().iter().all(to_all) || (level && self.flaws(&current).is_empty())
    }
}

impl Spread {
    /// Members of each partition, partitions of each member at least, and how many members have one more.
    fn shares(&self) -> (usize, usize, usize) {
        let (members, partitions) = (self.members.len(), self.partitions.len());
        if members == 0 || partitions == 0 {
            return (0, 0, 0);
        }
        let sharing = members.div_ceil(partitions);
        let all = sharing * partitions;
        (sharing, all / members, all % members)
    }

    /// Kafka's running ceiling goes wrong where a product that should be whole is a little more.
    fn parts_do_not_add_up(&self) -> bool {
        let members = self.members.len();
        if members == 0 {
            return false;
        }
        let all = (self.shares().0 * self.partitions.len()) as f64;
        let part = all / members as f64;
        (part * members as f64).ceil() > all
    }

    fn is_level(&self) -> bool {
        self.shares().2 == 0
    }

    fn flaws(&self, answer: &[Assignment], flaws: &mut BTreeSet<Flaw>) {
        let (sharing, least, extra) = self.shares();
        let mut holders: BTreeMap<Partition, usize> =
            self.partitions.iter().map(|p| (*p, 0)).collect();
        let mut counts = BTreeMap::new();
        for member in &self.members {
            let mut count = 0;
            for partition in answer[*member].partitions() {
                if let Some(holders) = holders.get_mut(&partition) {
                    *holders += 1;
                    count += 1;
                }
            }
            *counts.entry(count).or_insert(0) += 1;
        }
        for (partition, holders) in holders {
            if holders < sharing {
                flaws.insert(Flaw::TooFewHolders(partition));
            }
            if holders > sharing {
                flaws.insert(Flaw::TooManyHolders(partition));
            }
        }
        let wanted = [(least, self.members.len() - extra), (least + 1, extra)];
        let wanted: BTreeMap<usize, usize> =
            wanted.into_iter().filter(|(_, times)| *times > 0).collect();
        if counts != wanted {
            flaws.insert(Flaw::Uneven);
        }
    }
}
