//! The suite `simple_assignor`. Kafka's choice follows from the order of its hash maps, so the recorded one is an example: both are
//! judged by their properties, and compared where only one answer is good. Ours must stay the same when it is asked again.

use std::collections::BTreeSet;

use serde_json::Value;
use share_state_core::assignor::{AssignableTopics, Assignment};
use share_state_core::ids::TopicId;

use super::cases::{Played, Player, Points, play_each};
use super::fields::{Unknown, known, list, number, object, text, topic_id};
use crate::assignor::properties::Question;
use crate::assignor::{Agreement, answer, compare, shown};

const FIELDS: [&str; 5] = ["op", "subscription_type", "members", "topics", "result"];
/// Beginning of a field that lists partitions of a topic; the topic's id follows.
const NOT_ASSIGNABLE: &str = "not_assignable_";
/// Number of partitions by which the recordings mean a topic that does not exist.
const NO_TOPIC: i32 = -1;

/// Plays a scenario.
///
/// # Errors
/// It has no operations.
pub fn play(scenario: &Value) -> Result<Played, Unknown> {
    play_each(scenario, &mut Assignor)
}

struct Assignor;

impl Player for Assignor {
    const OPERATIONS: &'static [&'static str] = &["assign"];

    fn step(&mut self, op: &Value, points: &mut Points) -> Result<(), Unknown> {
        text(&op["op"])?;
        let mut question = question(op)?;
        let result = object(&op["result"])?;
        let kafka = match result.get("error") {
            Some(error) => Err(text(error)?),
            None => {
                let members = object(&op["members"])?.keys();
                // Who has nothing may be left out.
                let answers = members
                    .map(|member| result.get(member).map_or(Ok(Assignment::EMPTY), assigned));
                Ok(answers.collect::<Result<Vec<_>, _>>()?)
            }
        };
        let ours = answer(&question);
        let told =
            |answer: Option<&[Assignment]>| answer.map_or_else(|| "refused".to_owned(), shown);
        let agreement = compare(
            &question,
            kafka.as_deref().map_err(|error| *error),
            ours.as_deref(),
        );
        if let Agreement::Differs(what, _) = agreement {
            points.differ(what, told(kafka.as_deref().ok()), told(ours.as_deref()));
        }
        if let Some(ours) = ours {
            for ((_, current), assigned) in question.members.iter_mut().zip(&ours) {
                current.clone_from(assigned);
            }
            let again = answer(&question);
            points.same("the answer as current assignment", &Some(ours), &again);
        }
        Ok(())
    }
}

fn question(op: &Value) -> Result<Question, Unknown> {
    let fields = object(op)?.keys().map(String::as_str);
    let listed: Vec<&str> = fields
        .filter(|name| name.starts_with(NOT_ASSIGNABLE))
        .collect();
    known(op, &[&FIELDS[..], &listed].concat(), "the operation")?;
    let mut members = Vec::new();
    for member in object(&op["members"])?.values() {
        known(member, &["subscribed", "rack", "current"], "a member")?;
        let subscribed = list(&member["subscribed"])?.iter().map(topic_id);
        let subscribed: Result<BTreeSet<TopicId>, Unknown> = subscribed.collect();
        members.push((subscribed?, assigned(&member["current"])?));
    }
    let mut topics = AssignableTopics::new();
    for (id, count) in object(&op["topics"])? {
        let count: i32 = number(count)?;
        let not = match op.get(format!("{NOT_ASSIGNABLE}{id}")) {
            Some(listed) => list(listed)?
                .iter()
                .map(number)
                .collect::<Result<BTreeSet<i32>, _>>()?,
            None => BTreeSet::<i32>::new(),
        };
        if count != NO_TOPIC {
            let can = (0..count).filter(|partition| !not.contains(partition));
            topics.insert(topic_id(&id.as_str().into())?, can.collect());
        }
    }
    let homogeneous = members.windows(2).all(|pair| pair[0].0 == pair[1].0);
    Ok(Question {
        members,
        topics,
        homogeneous,
    })
}

/// Partitions by topic.
fn assigned(topics: &Value) -> Result<Assignment, Unknown> {
    let mut all = Vec::new();
    for (id, partitions) in object(topics)? {
        let id = topic_id(&id.as_str().into())?;
        for partition in list(partitions)? {
            all.push((id, number(partition)?));
        }
    }
    Ok(all.into_iter().collect())
}
