//! Assignments: Kafka's `SimpleAssignor` beside ours, by their properties, and exactly where only one answer is good.

mod generate;
mod operation;
pub mod properties;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::Value;
use share_state_core::assignor::{Assignment, Subscriber, assign};
use share_state_core::ids::TopicId;

use crate::profile::{Class, Difference, Profile, Verdict};
use crate::random::Random;
use operation::Assign;
use properties::{Flaw, Partition, Question};

const LAP: Class = ("G3", "a lap in which nobody could take anything");
const PARTS: Class = ("G3", "parts that do not add up");
const ASSIGNED: Class = (
    "G7",
    "a partition that cannot be assigned any more is assigned",
);
/// A partition that cannot be assigned leaves nobody to give to.
pub const COUNTED: Class = (
    "G7",
    "a partition that cannot be assigned any more is counted",
);
const KEPT: Class = (
    "G7",
    "a partition of a topic that nobody subscribes to is kept",
);

/// Kafka's exception when it looks for a member that has room and there is none.
pub const NOBODY_LEFT: &str = "NoSuchElementException";

/// The profile `assignor`.
pub struct OnAssignors;

impl Profile for OnAssignors {
    type Operation = Assign;

    const NAME: &'static str = "assignor";
    const SUITE: &'static str = "simple_assignor";

    fn rules() -> Vec<Class> {
        vec![LAP, ASSIGNED, COUNTED, KEPT, PARTS]
    }

    fn generate(random: &mut Random, length: usize, _: &[usize]) -> Vec<Assign> {
        generate::generate(random, length)
    }

    fn smaller(op: &Assign) -> Vec<Assign> {
        op.smaller()
    }

    fn to_json(op: &Assign) -> Value {
        op.to_json()
    }

    fn name_of(_: &Assign) -> &'static str {
        "assign"
    }

    fn judge(ops: &[Assign], given: &[Value]) -> Verdict {
        let mut verdict = Verdict::default();
        for (at, (op, given)) in ops.iter().zip(given).enumerate() {
            verdict.compared += 1;
            let question = op.question();
            let kafka = op.read(&given["result"]);
            let ours = answer(&question);
            let answered = kafka.as_deref().map_err(String::as_str);
            match compare(&question, answered, ours.as_deref()) {
                Agreement::Reached(reached) => verdict.reached.extend(reached),
                Agreement::Differs(what, class) => {
                    let kafka = kafka.as_deref().map_or_else(Clone::clone, shown);
                    let ours = ours.as_deref().map_or_else(|| "refused".to_owned(), shown);
                    let difference = Difference::new(at, what, kafka, ours, class);
                    if class.is_none() {
                        verdict.difference = Some(difference);
                        return verdict;
                    }
                    verdict.explained.push(difference);
                }
            }
        }
        verdict
    }
}

/// Our answer; `None` if the question is refused.
pub fn answer(question: &Question) -> Option<Vec<Assignment>> {
    let subscribers: Vec<Subscriber<'_>> = question
        .members
        .iter()
        .map(|(topics, current)| Subscriber {
            topics: topics.clone(),
            current,
        })
        .collect();
    assign(&subscribers, &question.topics).ok()
}

/// An answer as text.
pub fn shown(answer: &[Assignment]) -> String {
    let member = |assigned: &Assignment| {
        let partitions: Vec<String> = assigned
            .partitions()
            .map(|(id, p)| format!("{}-{p}", id.0[15]))
            .collect();
        format!("[{}]", partitions.join(" "))
    };
    answer.iter().map(member).collect::<Vec<_>>().join(" ")
}

/// Outcome of a comparison.
pub enum Agreement {
    /// Both are good.
    Reached(Vec<String>),
    /// They differ: in what, and by which deliberate difference.
    Differs(&'static str, Option<Class>),
}

/// Judges Kafka's answer alone.
pub fn judged(question: &Question, kafka: &[Assignment]) -> Agreement {
    let flaws = question.flaws(kafka);
    if flaws.is_empty() {
        return Agreement::Reached(Vec::new());
    }
    Agreement::Differs("balance", explained(question, &flaws))
}

/// Compares two answers to a question.
pub fn compare(
    question: &Question,
    kafka: Result<&[Assignment], &str>,
    ours: Option<&[Assignment]>,
) -> Agreement {
    let (kafka, ours) = match (kafka, ours) {
        (Err("PartitionAssignorException"), None) => {
            return Agreement::Reached(vec!["assign: refused".to_owned()]);
        }
        (Ok(kafka), Some(ours)) => (kafka, ours),
        (Err(NOBODY_LEFT), Some(_)) => {
            let counted = question.has_what_cannot_be_assigned();
            return Agreement::Differs("refusal", counted.then_some(COUNTED));
        }
        _ => return Agreement::Differs("refusal", None),
    };
    if !question.flaws(ours).is_empty() {
        return Agreement::Differs("our balance", None);
    }
    let judged = judged(question, kafka);
    if matches!(judged, Agreement::Differs(..)) {
        return judged;
    }
    if kafka != ours && question.has_one_answer() {
        return Agreement::Differs("the only answer", None);
    }
    let (kept, kept_by_kafka) = (question.kept(ours), question.kept(kafka));
    // Who has to give up a partition that too many have is a choice as well, and what follows from it.
    if kept < kept_by_kafka && !question.is_crowded() {
        return Agreement::Differs("what members keep", None);
    }
    let kind = if question.homogeneous {
        "alike"
    } else {
        "by topic"
    };
    let mut reached = vec![format!("assign: {kind}, {} members", bucket(question))];
    if kafka == ours {
        reached.push("meeting: both choose the same".to_owned());
    }
    if question.has_one_answer() {
        reached.push("meeting: only one answer is good".to_owned());
    }
    if kept > kept_by_kafka {
        reached.push("meeting: Kafka moves more".to_owned());
    }
    if kept < kept_by_kafka {
        reached.push("meeting: Kafka moves less, of partitions that too many had".to_owned());
    }
    Agreement::Reached(reached)
}

fn bucket(question: &Question) -> &'static str {
    match question.members.len() {
        0 => "no",
        1 => "1",
        2..=3 => "2 to 3",
        4..=6 => "4 to 6",
        _ => "more than 6",
    }
}

fn explained(question: &Question, flaws: &BTreeSet<Flaw>) -> Option<Class> {
    let foreign: Vec<_> = flaws
        .iter()
        .filter_map(|flaw| match flaw {
            Flaw::Foreign(member, partition) => Some((*member, *partition)),
            _ => None,
        })
        .collect();
    // Kafka counts what members had among what there is to give; what else is wrong follows.
    if !foreign.is_empty() {
        let had = |(topic, partition): &Partition| {
            let mut members = question.members.iter();
            members.any(|(_, current)| current.contains(*topic, *partition))
        };
        let subscribed =
            |topic: &TopicId| question.members.iter().any(|(of, _)| of.contains(topic));
        let known = foreign.iter().all(|(member, partition)| {
            had(partition)
                && (question.members[*member].0.contains(&partition.0) || !subscribed(&partition.0))
        });
        let is_kept = foreign
            .iter()
            .any(|(_, partition)| !subscribed(&partition.0));
        return known.then_some(if is_kept { KEPT } else { ASSIGNED });
    }
    if flaws.iter().all(|flaw| *flaw == Flaw::Uneven) {
        return question.parts_do_not_add_up().then_some(PARTS);
    }
    // Somebody lacks what nobody else has too much of.
    let lacks = flaws
        .iter()
        .any(|flaw| matches!(flaw, Flaw::TooFewHolders(_)));
    let too_many = flaws
        .iter()
        .any(|flaw| matches!(flaw, Flaw::TooManyHolders(_)));
    (lacks && !too_many && question.members.len() > 1).then_some(LAP)
}
