//! An assignment, in the words of the conformance files.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use share_state_core::assignor::{AssignableTopics, Assignment};
use share_state_core::ids::TopicId;

use super::properties::Question;

/// A member: numbers of its topics, and what it has.
#[derive(Clone, Debug)]
pub struct Member {
    /// Numbers of topics.
    pub subscribed: BTreeSet<u8>,
    /// Partitions that it has.
    pub current: Assignment,
}

/// An assignment.
#[derive(Clone, Debug, Default)]
pub struct Assign {
    /// Members by number.
    pub members: BTreeMap<u8, Member>,
    /// Partitions of each topic.
    pub topics: BTreeMap<u8, i32>,
    /// Partitions of these topics that cannot be assigned.
    pub not_assignable: BTreeMap<u8, BTreeSet<i32>>,
}

/// Id of a topic by its number.
pub fn topic_id(topic: u8) -> TopicId {
    let mut bytes = [0; 16];
    bytes[0] = topic.wrapping_mul(37);
    bytes[15] = topic;
    TopicId(bytes)
}

/// Name of a member by its number, in the order of the numbers.
fn name(member: u8) -> String {
    format!("member-{member:02}")
}

impl Assign {
    /// Partitions to assign, and the members to assign them to.
    pub fn question(&self) -> Question {
        let ids = |topics: &BTreeSet<u8>| topics.iter().copied().map(topic_id).collect();
        let members: Vec<(BTreeSet<TopicId>, Assignment)> = self
            .members
            .values()
            .map(|member| (ids(&member.subscribed), member.current.clone()))
            .collect();
        let mut topics = AssignableTopics::new();
        for (topic, count) in &self.topics {
            let not = self.not_assignable.get(topic);
            let some = (0..*count).filter(|p| !not.is_some_and(|not| not.contains(p)));
            topics.insert(topic_id(*topic), some.collect());
        }
        let homogeneous = self
            .members
            .values()
            .all(|member| Some(&member.subscribed) == self.first().map(|first| &first.subscribed));
        Question {
            members,
            topics,
            homogeneous,
        }
    }

    fn first(&self) -> Option<&Member> {
        self.members.values().next()
    }

    /// The operation for Kafka's side.
    pub fn to_json(&self) -> Value {
        let base64 = |topic: &u8| topic_id(*topic).to_base64();
        let members: Map<String, Value> = self
            .members
            .iter()
            .map(|(number, member)| {
                let current: Map<String, Value> = member
                    .current
                    .topics()
                    .map(|(id, partitions)| (id.to_base64(), json!(partitions)))
                    .collect();
                let subscribed: Vec<String> = member.subscribed.iter().map(base64).collect();
                let member = json!({"subscribed": subscribed, "rack": null, "current": current});
                (name(*number), member)
            })
            .collect();
        let topics: Map<String, Value> = self
            .topics
            .iter()
            .map(|(topic, count)| (base64(topic), json!(count)))
            .collect();
        let kind = if self.question().homogeneous {
            "Homogeneous"
        } else {
            "Heterogeneous"
        };
        let mut op = json!({
            "op": "assign", "subscription_type": kind, "members": members, "topics": topics,
        });
        for (topic, not) in &self.not_assignable {
            op[format!("not_assignable_{}", base64(topic))] = json!(not);
        }
        op
    }

    /// Kafka's answer, in the order of the members, or the name of its exception.
    ///
    /// # Errors
    /// It failed.
    pub fn read(&self, result: &Value) -> Result<Vec<Assignment>, String> {
        if let Some(error) = result.get("error") {
            return Err(error.as_str().unwrap_or("?").to_owned());
        }
        let answers = self.members.keys().map(|member| {
            let topics = result[name(*member)].as_object();
            let topics = topics.into_iter().flatten().filter_map(|(id, partitions)| {
                Some((TopicId::parse(id)?, partitions.as_array()?.clone()))
            });
            topics
                .flat_map(|(id, partitions)| {
                    partitions
                        .into_iter()
                        .filter_map(move |p| Some((id, i32::try_from(p.as_i64()?).ok()?)))
                })
                .collect()
        });
        Ok(answers.collect())
    }

    /// Smaller forms.
    pub fn smaller(&self) -> Vec<Self> {
        let with = |change: &dyn Fn(&mut Self)| {
            let mut smaller = self.clone();
            change(&mut smaller);
            smaller
        };
        let mut forms = Vec::new();
        for member in self.members.keys() {
            forms.push(with(&|smaller| {
                smaller.members.remove(member);
            }));
        }
        for (topic, count) in &self.topics {
            forms.push(with(&|smaller| {
                smaller.topics.remove(topic);
                smaller.not_assignable.remove(topic);
                for member in smaller.members.values_mut() {
                    member.subscribed.remove(topic);
                }
            }));
            if *count > 0 {
                forms.push(with(&|smaller| {
                    smaller.topics.insert(*topic, *count - 1);
                }));
            }
        }
        for (member, has) in &self.members {
            for partition in has.current.partitions() {
                forms.push(with(&|smaller| {
                    if let Some(smaller) = smaller.members.get_mut(member) {
                        let kept = has.current.partitions().filter(|p| *p != partition);
                        smaller.current = kept.collect();
                    }
                }));
            }
        }
        for topic in self.not_assignable.keys() {
            forms.push(with(&|smaller| {
                smaller.not_assignable.remove(topic);
            }));
        }
        forms
    }
}
