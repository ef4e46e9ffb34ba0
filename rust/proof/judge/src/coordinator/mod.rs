//! Sequences on a share coordinator: Kafka's `ShareCoordinatorShard` beside ours.

mod engine;
mod export;
mod operation;
mod outcome;

use serde_json::Value;

use crate::deliberate::{ByName, what_of};
use crate::random::Random;
use crate::sequences::{Difference, Profile, Verdict};
use engine::Coordinator;
use operation::CoordinatorOperation;
use outcome::CoordinatorOutcome;

/// The deliberate differences that are recognised here: profile, id and what happens.
pub const RULES: &[ByName] = &[
    ("coordinator", "I1", "a repetition"),
    ("coordinator", "I2", "a read after an initialisation"),
    ("coordinator", "M1", "an unsound batch is written"),
];

/// The profile `coordinator`.
pub struct OnCoordinators;

impl Profile for OnCoordinators {
    type Operation = CoordinatorOperation;

    const NAME: &'static str = "coordinator";
    const SUITE: &'static str = "share_coordinator_shard";

    fn generate(
        random: &mut Random,
        length: usize,
        renewals: &[usize],
    ) -> Vec<CoordinatorOperation> {
        operation::generate(random, length, renewals)
    }

    fn to_json(op: &CoordinatorOperation) -> Value {
        op.to_json()
    }

    fn name_of(op: &CoordinatorOperation) -> &'static str {
        op.name()
    }

    fn judge(ops: &[CoordinatorOperation], given: &[Value]) -> Verdict {
        judge(ops, given)
    }

    fn exported(
        name: &str,
        ops: &[CoordinatorOperation],
        given: Vec<Value>,
    ) -> (Value, Vec<usize>) {
        export::exported(name, ops, given)
    }
}

/// Compares operation by operation. After a deliberate difference the memories differ; the comparison goes on with the next
/// coordinator.
fn judge(ops: &[CoordinatorOperation], given: &[Value]) -> Verdict {
    let mut coordinator = Coordinator::default();
    let mut verdict = Verdict::default();
    let mut apart = false;
    for (at, (op, given)) in ops.iter().zip(given).enumerate() {
        if matches!(op, CoordinatorOperation::Create { .. }) {
            apart = false;
        }
        let ours = coordinator.play(op);
        if apart {
            verdict.apart.get_or_insert(at);
            continue;
        }
        verdict.compared += 1;
        let kafka = CoordinatorOutcome::of_kafka(op, given);
        let points = [
            ("answer", &kafka.answer, &ours.answer),
            ("records", &kafka.records, &ours.records),
            ("memory", &kafka.memory, &ours.memory),
        ];
        let Some((what, theirs, own)) = points.into_iter().find(|(_, a, b)| a != b) else {
            let reached = format!("{}: {}", op.name(), ours.reached());
            verdict.reached.push(reached);
            continue;
        };
        let difference = Difference {
            at,
            what,
            kafka: theirs.clone(),
            ours: own.clone(),
            class: classify(op, &kafka, &ours).and_then(|id| Some((id, what_of(RULES, id)?))),
        };
        if difference.class.is_none() {
            verdict.difference = Some(difference);
            return verdict;
        }
        verdict.explained.push(difference);
        apart = true;
    }
    verdict
}

/// The name of the deliberate difference, if it is one.
fn classify(
    op: &CoordinatorOperation,
    kafka: &CoordinatorOutcome,
    ours: &CoordinatorOutcome,
) -> Option<&'static str> {
    match op {
        CoordinatorOperation::Initialize { .. }
            if kafka.answer == ours.answer
                && ours.records.is_empty()
                && kafka.records.contains("snapshot") =>
        {
            Some("I1")
        }
        CoordinatorOperation::Read { leader_epoch, .. }
            if kafka.answer == ours.answer
                && kafka.records.is_empty()
                && names_leader(&ours.records, *leader_epoch) =>
        {
            Some("I2")
        }
        CoordinatorOperation::Write { batches, .. }
            if ours.answer.starts_with("42")
                && batches
                    .iter()
                    .any(|b| b.1 < b.0 || !matches!(b.2, 0 | 2 | 3 | 4) || b.3 < 0) =>
        {
            Some("M1")
        }
        _ => None,
    }
}

/// Returns true if there is one record, and it is of this leader.
fn names_leader(records: &str, leader_epoch: i32) -> bool {
    let words: Vec<&str> = records.split(' ').collect();
    let named = match words.get(1) {
        Some(&"update") => words.get(3),
        Some(&"snapshot") => words.get(4),
        _ => None,
    };
    !records.contains(';') && named.is_some_and(|named| *named == leader_epoch.to_string())
}
