//! Sequences on a share coordinator: Kafka's `ShareCoordinatorShard` beside ours. What Kafka gave is compared as a recording of it is.

mod export;
mod operation;

use std::io;

use serde_json::Value;

use crate::compare::Around;
use crate::kafka::Kafka;
use crate::profile::{Class, Difference, Profile, Verdict, asked};
use crate::random::Random;
use crate::recordings::cases::step;
use crate::recordings::coordinator::{RULES, Shard};
use operation::CoordinatorOperation;

/// The profile `coordinator`.
pub struct OnCoordinators;

impl Profile for OnCoordinators {
    type Operation = CoordinatorOperation;

    const NAME: &'static str = "coordinator";
    const SUITE: &'static str = "share_coordinator_shard";

    fn rules() -> Vec<Class> {
        RULES.to_vec()
    }

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

    /// Compares operation by operation. After a deliberate difference the memories differ; the comparison goes on with the next
    /// coordinator.
    fn judge(ops: &[CoordinatorOperation], given: &[Value]) -> Verdict {
        let mut shard = Shard::default();
        let mut verdict = Verdict::default();
        let mut apart = false;
        let recorded = export::recorded(ops, given);
        for (at, (op, (recorded, given))) in ops.iter().zip(recorded.iter().zip(given)).enumerate()
        {
            apart &= !matches!(op, CoordinatorOperation::Create { .. });
            if apart {
                verdict.apart.get_or_insert(at);
                continue;
            }
            verdict.compared += 1;
            let steps = recorded.iter().map(|op| step(op, &mut shard));
            let Some(differs) = steps.into_iter().find(|step| !step.points.is_empty()) else {
                verdict.reached.push(reached(op, given));
                continue;
            };
            let class = differs.class;
            let difference = Difference {
                at,
                points: differs.points,
                class,
                around: Around::default(),
            };
            if class.is_none() {
                verdict.difference = Some(difference);
                return verdict;
            }
            verdict.explained.push(difference);
            apart = true;
        }
        verdict
    }

    fn exported(
        kafka: &mut Kafka,
        name: &str,
        ops: &[CoordinatorOperation],
    ) -> io::Result<(Value, Vec<Option<usize>>)> {
        let given = asked::<Self>(kafka, ops)?;
        Ok(export::exported(name, &export::recorded(ops, &given)))
    }
}

/// Part of the coverage: the code of the answer, and the kind of the first record.
fn reached(op: &CoordinatorOperation, given: &Value) -> String {
    let answer = &given["result"]["response"]["results"][0]["partitions"][0];
    let code = answer["errorCode"].as_i64();
    let code = code.map_or_else(String::new, |code| format!(" {code}"));
    let record = &given["result"]["records"][0];
    let kind = match record["key_type"].as_str() {
        None => "no record",
        Some(_) if record["value"].is_null() => "tombstone",
        Some("ShareSnapshotKey") => "snapshot",
        Some(_) => "update",
    };
    format!("{}:{code} {kind}", op.name())
}
