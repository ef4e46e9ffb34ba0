//! Sequences on a share coordinator: Kafka's `ShareCoordinatorShard` beside ours.

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::coordinator_engine::Coordinator;
use crate::coordinator_export::exported;
use crate::coordinator_operation::{CoordinatorOperation, generate};
use crate::coordinator_outcome::CoordinatorOutcome;
use crate::deliberate::{ByName, what_of};
use crate::kafka::Kafka;
use crate::partition::IN_ACCORD;
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

/// The deliberate differences that are recognised here: profile, id and what happens.
pub const RULES: &[ByName] = &[
    ("coordinator", "I1", "a repetition"),
    ("coordinator", "M1", "an unsound batch is written"),
];

const ON_THE_WAY: usize = 64;

/// A sequence on its way.
struct Sequence {
    number: u64,
    /// Where an empty coordinator takes over because a deliberate difference has led the sides apart.
    renewals: Vec<usize>,
    ops: Vec<CoordinatorOperation>,
}

impl Sequence {
    fn generate(arguments: &Arguments, number: u64, renewals: Vec<usize>) -> Self {
        let mut random = Random::new(arguments.seed, number);
        let ops = generate(&mut random, arguments.length, &renewals);
        Self {
            number,
            renewals,
            ops,
        }
    }
}

/// Runs the profile. A sequence whose sides were led apart by a deliberate difference is played again with an empty coordinator
/// behind it, so that the rest of it is compared too; what is reported is the last play.
///
/// # Errors
/// Kafka's side has failed.
pub fn run(arguments: &Arguments, kafka: &mut Kafka) -> io::Result<Report> {
    let mut report = Report::new("coordinator", arguments.seed);
    let begun = Instant::now();
    let mut found = Vec::new();
    let mut examples = Vec::new();
    let mut in_accord = Vec::new();
    let mut waiting: VecDeque<Sequence> = VecDeque::new();
    let mut sequences = arguments.sequences();
    loop {
        while waiting.len() < ON_THE_WAY {
            let Some(number) = sequences.next() else {
                break;
            };
            let sequence = Sequence::generate(arguments, number, Vec::new());
            kafka.send(&request(&sequence.ops));
            waiting.push_back(sequence);
        }
        let Some(sequence) = waiting.pop_front() else {
            break;
        };
        let given = kafka.receive()?;
        let verdict = judge(&sequence.ops, &given);
        if let Some(place) = verdict.apart.filter(|_| verdict.difference.is_none()) {
            let mut renewals = sequence.renewals;
            renewals.push(place);
            let again = Sequence::generate(arguments, sequence.number, renewals);
            kafka.send(&request(&again.ops));
            waiting.push_back(again);
            continue;
        }
        report.operations += sequence.ops.len();
        report.compared += verdict.compared;
        for what in &verdict.reached {
            report.cover(what);
        }
        let quiet = verdict.difference.is_none() && verdict.explained.is_empty();
        if quiet && arguments.examples && in_accord.len() < IN_ACCORD {
            in_accord.push((sequence.number, sequence.ops.clone()));
        }
        for difference in verdict.explained {
            let class = difference.class.unwrap_or_default();
            if report.classed(class) == 1 && arguments.examples {
                examples.push((sequence.number, sequence.ops.clone(), difference));
            }
        }
        if let Some(difference) = verdict.difference {
            let name = name(&sequence.ops, &difference);
            // One of each kind is made small.
            if report.unexplained(&name) == 1 && found.len() < arguments.shrink {
                found.push((sequence.number, sequence.ops, difference));
            }
        }
    }
    report.seconds = begun.elapsed().as_secs_f64();
    report.differences = shown(arguments, kafka, found)?;
    report.examples = shown(arguments, kafka, examples)?;
    for (sequence, ops) in in_accord {
        kafka.send(&request(&ops));
        let given = kafka.receive()?;
        let name = format!("coordinator-{}-{sequence}", arguments.seed);
        let (scenario, _) = exported(&name, &ops, given);
        report.examples.push(
            json!({"file": "share_coordinator_shard", "scenario": scenario, "explained": []}),
        );
    }
    Ok(report)
}

fn name(ops: &[CoordinatorOperation], difference: &Difference) -> String {
    format!("{}: {}", ops[difference.at].name(), difference.what)
}

/// Each difference made small, with the conformance scenario that it is.
fn shown(
    arguments: &Arguments,
    kafka: &mut Kafka,
    differences: Vec<(u64, Vec<CoordinatorOperation>, Difference)>,
) -> io::Result<Vec<Value>> {
    let mut all = Vec::new();
    for (sequence, ops, difference) in differences {
        let (ops, difference) = shrink(kafka, ops, difference)?;
        kafka.send(&request(&ops));
        let given = kafka.receive()?;
        let scenario_name = format!("coordinator-{}-{sequence}", arguments.seed);
        let (scenario, places) = exported(&scenario_name, &ops, given);
        // It ends with the difference.
        let place = places.get(difference.at);
        let explained: Vec<Value> = difference
            .class
            .iter()
            .map(|id| json!([place, id, what_of(RULES, id)]))
            .collect();
        all.push(json!({
            "what": name(&ops, &difference),
            "class": difference.class,
            "rule": difference.class.and_then(|id| what_of(RULES, id)),
            "file": "share_coordinator_shard",
            "at": difference.at,
            "points": [{"what": difference.what, "kafka": difference.kafka, "ours": difference.ours}],
            "ops": ops.iter().map(CoordinatorOperation::to_json).collect::<Vec<_>>(),
            "scenario": scenario,
            "explained": explained,
        }));
    }
    Ok(all)
}

fn request(ops: &[CoordinatorOperation]) -> Value {
    let ops: Vec<Value> = ops.iter().map(CoordinatorOperation::to_json).collect();
    json!({"suite": "share_coordinator_shard", "ops": ops})
}

/// A sequence judged.
#[derive(Default)]
struct Verdict {
    /// How many operations were compared.
    compared: usize,
    /// What they reached.
    reached: Vec<String>,
    /// The deliberate differences on the way.
    explained: Vec<Difference>,
    /// The first difference that nothing explains; it ends the comparison.
    difference: Option<Difference>,
    /// Where an empty coordinator would let the comparison go on.
    apart: Option<usize>,
}

/// Compares operation by operation. Behind a deliberate difference the memories differ; the comparison goes on with the next
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
            class: classify(op, &kafka, &ours),
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
        let verdict = judge(&candidate, &given);
        let mut all = verdict.explained.into_iter().chain(verdict.difference);
        let wanted = (best.1.class, best.1.what);
        match all.find(|smaller| (smaller.class, smaller.what) == wanted) {
            Some(smaller) => {
                candidate.truncate(smaller.at + 1);
                best = (candidate, smaller);
                at = 0;
            }
            None => at += 1,
        }
    }
    Ok(best)
}
