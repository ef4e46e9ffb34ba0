//! Sequences on a share coordinator: Kafka's `ShareCoordinatorShard` beside ours.

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::coordinator_engine::Coordinator;
use crate::coordinator_operation::{CoordinatorOperation, generate};
use crate::coordinator_outcome::CoordinatorOutcome;
use crate::kafka::Kafka;
use crate::random::Random;
use crate::report::Report;

/// A difference: which operation, what differs, the deliberate difference that it is.
struct Difference {
    at: usize,
    what: &'static str,
    kafka: String,
    ours: String,
    class: Option<&'static str>,
}

const ON_THE_WAY: usize = 64;

/// Runs the profile.
///
/// # Errors
/// Kafka's side has failed.
pub fn run(arguments: &Arguments, kafka: &mut Kafka) -> io::Result<Report> {
    let mut report = Report::new("coordinator", arguments.seed);
    let begun = Instant::now();
    let mut found = Vec::new();
    let mut waiting: VecDeque<(u64, Vec<CoordinatorOperation>)> = VecDeque::new();
    let mut sequences = arguments.sequences();
    loop {
        while waiting.len() < ON_THE_WAY {
            let Some(sequence) = sequences.next() else {
                break;
            };
            let ops = generate(&mut Random::new(arguments.seed, sequence), arguments.length);
            kafka.send(&request(&ops));
            waiting.push_back((sequence, ops));
        }
        let Some((sequence, ops)) = waiting.pop_front() else {
            break;
        };
        let given = kafka.receive()?;
        report.operations += ops.len();
        let (compared, difference) = judge(&ops, &given, |what| report.cover(&what));
        report.compared += compared;
        if let Some(difference) = difference {
            match difference.class {
                Some(class) => report.classed(class),
                None => {
                    let name = format!("{}: {}", ops[difference.at].name(), difference.what);
                    // One of each kind is made small.
                    if report.unexplained(&name) == 1 && found.len() < arguments.shrink {
                        found.push((sequence, ops, difference));
                    }
                }
            }
        }
    }
    report.seconds = begun.elapsed().as_secs_f64();
    for (sequence, ops, difference) in found {
        let (ops, difference) = shrink(kafka, ops, difference)?;
        kafka.send(&request(&ops));
        let given = kafka.receive()?;
        let name = format!("coordinator-{}-{sequence}", arguments.seed);
        report.differences.push(json!({
            "what": format!("{}: {}", ops[difference.at].name(), difference.what),
            "file": "share_coordinator_shard",
            "at": difference.at,
            "points": [{"what": difference.what, "kafka": difference.kafka, "ours": difference.ours}],
            "ops": ops.iter().map(CoordinatorOperation::to_json).collect::<Vec<_>>(),
            "scenario": scenario(&name, &ops, given),
        }));
    }
    Ok(report)
}

fn request(ops: &[CoordinatorOperation]) -> Value {
    let ops: Vec<Value> = ops.iter().map(CoordinatorOperation::to_json).collect();
    json!({"suite": "share_coordinator_shard", "ops": ops})
}

/// Compares up to the first difference; how many operations agreed, and the difference.
fn judge(
    ops: &[CoordinatorOperation],
    given: &[Value],
    mut cover: impl FnMut(String),
) -> (usize, Option<Difference>) {
    let mut coordinator = Coordinator::default();
    for (at, (op, given)) in ops.iter().zip(given).enumerate() {
        let ours = coordinator.play(op);
        let kafka = CoordinatorOutcome::of_kafka(op, given);
        let points = [
            (
                "answer",
                kafka.answer == ours.answer,
                &kafka.answer,
                &ours.answer,
            ),
            (
                "records",
                kafka.records == ours.records,
                &kafka.records,
                &ours.records,
            ),
            (
                "memory",
                kafka.memory == ours.memory,
                &kafka.memory,
                &ours.memory,
            ),
        ];
        if let Some((what, _, theirs, own)) = points.into_iter().find(|(_, same, _, _)| !same) {
            let class = classify(op, &kafka, &ours);
            // A refusal with us is no change: when Kafka refused too, only its code differs.
            let difference = Difference {
                at,
                what,
                kafka: theirs.clone(),
                ours: own.clone(),
                class,
            };
            return (at, Some(difference));
        }
        cover(format!("{}: {}", op.name(), ours.reached()));
    }
    (ops.len(), None)
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

fn shrink(
    kafka: &mut Kafka,
    ops: Vec<CoordinatorOperation>,
    found: Difference,
) -> io::Result<(Vec<CoordinatorOperation>, Difference)> {
    let mut best = (ops[..=found.at].to_vec(), found);
    let mut at = 0;
    while at < best.0.len() {
        let mut candidate = best.0.clone();
        candidate.remove(at);
        kafka.send(&request(&candidate));
        let given = kafka.receive()?;
        match judge(&candidate, &given, |_| {}).1 {
            Some(smaller) if smaller.class.is_none() && smaller.what == best.1.what => {
                candidate.truncate(smaller.at + 1);
                best = (candidate, smaller);
                at = 0;
            }
            _ => at += 1,
        }
    }
    Ok(best)
}

/// The sequence as a conformance scenario: what an operation decided is replayed by operations of its own.
fn scenario(name: &str, ops: &[CoordinatorOperation], given: Vec<Value>) -> Value {
    let mut recorded = Vec::new();
    let mut memory = json!({"share_state": [], "leader_epoch": [], "state_epoch": [], "snapshot_update_count": []});
    let mut offset = 0;
    for (op, mut given) in ops.iter().zip(given) {
        let mut json = op.to_json();
        if json["op"] == "create" {
            recorded.push(json);
            continue;
        }
        let records = given["result"]["records"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        json["result"] = given["result"].take();
        json["state"] = memory.clone();
        recorded.push(json);
        for record in &records {
            // The memory between two records of one operation is not known; only cold snapshots give more than one.
            memory = given["state"].clone();
            recorded.push(json!({"op": "replay", "args": [offset, 0, 0, record], "result": null, "state": memory}));
            offset += 1;
        }
    }
    json!({"name": name, "source": "differential", "ops": recorded})
}
