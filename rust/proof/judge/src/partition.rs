//! Sequences on a share partition: Kafka's `SharePartition` beside ours, on both in-flight stores.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::time::Instant;

use serde_json::{Value, json};
use share_state_core::in_flight::IntervalStore;

use crate::arguments::Arguments;
use crate::compare::show;
use crate::coverage::cover;
use crate::engine::Engine;
use crate::export::exported;
use crate::generate::Generator;
use crate::kafka::Kafka;
use crate::operation::Operation;
use crate::outcome::State;
use crate::report::Report;
use crate::shrink::{request, shrink};
use crate::verdict::{Difference, durable_fault, hangs, judge, own_fault, play};

/// Sequences that are on the way to Kafka's side at one time.
const ON_THE_WAY: usize = 64;

/// Sequences without a difference that are shown as examples too.
pub const IN_ACCORD: usize = 5;

/// Step between the sequences that are played in the durable forms too: their disk takes longer than all the rest.
const DURABLE_EVERY: u64 = 4;

/// A sequence on its way.
struct Sequence {
    number: u64,
    /// Places where a new leader takes over because a deliberate difference has led the sides apart.
    successions: Vec<usize>,
    ops: Vec<Operation>,
    engine: Engine<IntervalStore>,
}

impl Sequence {
    fn generate(arguments: &Arguments, number: u64, successions: Vec<usize>) -> Self {
        let mut generator = Generator::new(arguments.seed, number, &successions);
        let mut engine = Engine::default();
        let mut ops = Vec::new();
        while ops.len() < arguments.length {
            generator.step(&mut engine, &mut ops);
        }
        Self {
            number,
            successions,
            ops,
            engine,
        }
    }
}

/// Runs the profile. A sequence whose sides were led apart by a deliberate difference is played again with a new leader after
/// it, so that the rest of it is compared too; what is reported is the last play.
///
/// # Errors
/// Kafka's side has failed.
pub fn run(arguments: &Arguments, kafka: &mut Kafka) -> io::Result<Report> {
    let mut report = Report::new("engine", arguments.seed);
    let begun = Instant::now();
    let mut found: Vec<(u64, Vec<Operation>, Difference)> = Vec::new();
    let mut in_accord: Vec<(u64, Vec<Operation>)> = Vec::new();
    let mut exemplified = BTreeSet::new();
    let mut examples: Vec<(u64, Vec<Operation>, Difference)> = Vec::new();
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
        let ops = &sequence.ops;
        let mut verdict = judge(ops, &given, &sequence.engine.outcomes)
            .map_err(|error| io::Error::other(error.0))?;
        let fault = own_fault(ops, &sequence.engine);
        // A few operations are not worth another play.
        let worth = arguments.length / 20;
        let place = verdict.apart.iter().find(|(_, lost)| *lost > worth);
        if let Some((place, _)) = place.filter(|_| fault.is_none() && verdict.difference.is_none())
        {
            if hangs(&given) && *place + 1 == given.len() {
                // The new leader stands in place of the call.
                report.cover("acquire: Kafka does not return");
                for call in verdict.explained.iter().filter(|d| d.at == *place) {
                    if let Some(rule) = call.class {
                        report.classed(rule.id);
                    }
                }
            }
            let mut successions = sequence.successions;
            successions.push(*place);
            let again = Sequence::generate(arguments, sequence.number, successions);
            kafka.send(&request(&again.ops));
            waiting.push_back(again);
            continue;
        }
        report.operations += ops.len();
        report.compared += verdict.compared.len();
        cover(
            &mut report,
            ops,
            &sequence.engine.outcomes,
            &verdict.compared,
        );
        let fault = fault.or_else(|| {
            if !sequence.number.is_multiple_of(DURABLE_EVERY) {
                return None;
            }
            let (tally, fault) = durable_fault(ops, &sequence.engine);
            tally.cover(&mut report);
            fault
        });
        let differs = fault.is_some() || verdict.difference.is_some();
        let quiet = !differs && verdict.explained.is_empty();
        if quiet && arguments.examples && in_accord.len() < IN_ACCORD {
            in_accord.push((sequence.number, ops.clone()));
        }
        for difference in core::mem::take(&mut verdict.explained) {
            if let Some(rule) = difference.class {
                report.classed(rule.id);
                if arguments.examples && exemplified.insert(rule.what) {
                    examples.push((sequence.number, ops.clone(), difference));
                }
            }
        }
        if let Some(difference) = fault.or(verdict.difference) {
            let name = name(ops, &difference);
            // One of each kind is made small.
            if report.unexplained(&name) == 1 && found.len() < arguments.shrink {
                found.push((sequence.number, ops.clone(), difference));
            }
        }
    }
    report.seconds = begun.elapsed().as_secs_f64();
    report.differences = shown(arguments, kafka, found)?;
    report.examples = shown(arguments, kafka, examples)?;
    for (sequence, ops) in in_accord {
        let name = format!("differential-{}-{sequence}", arguments.seed);
        let scenario = exported(kafka, &name, &ops)?.scenario;
        report
            .examples
            .push(json!({"file": "share_partition", "scenario": scenario, "explained": []}));
    }
    Ok(report)
}

/// Each difference made small, with the conformance scenario that it is.
fn shown(
    arguments: &Arguments,
    kafka: &mut Kafka,
    differences: Vec<(u64, Vec<Operation>, Difference)>,
) -> io::Result<Vec<Value>> {
    let mut all = Vec::new();
    for (sequence, ops, difference) in differences {
        let (ops, difference) = if arguments.shrink == 0 {
            (ops, difference)
        } else {
            shrink(kafka, &ops, &difference)?
        };
        let name = format!("differential-{}-{sequence}", arguments.seed);
        kafka.send(&request(&ops));
        let given = kafka.receive()?;
        let verdict = judge(&ops, &given, &play::<IntervalStore>(&ops).outcomes)
            .map_err(|error| io::Error::other(error.0))?;
        let exported = exported(kafka, &name, &ops)?;
        let explained: Vec<Value> = verdict
            .explained
            .iter()
            .filter_map(|d| Some(json!([exported.places[d.at]?, d.class?.id, d.class?.what])))
            .collect();
        let mut told = told(&difference, &ops, exported.scenario);
        told["explained"] = explained.into();
        all.push(told);
    }
    Ok(all)
}

fn name(ops: &[Operation], difference: &Difference) -> String {
    format!(
        "{}: {}",
        ops[difference.at].verb.name(),
        difference.points[0].what
    )
}

fn told(difference: &Difference, ops: &[Operation], scenario: Value) -> Value {
    let what = name(ops, difference);
    let state = |state: &State| {
        let runs: Vec<String> = state.runs.iter().map(show).collect();
        format!(
            "{} {}..{} complete {} gap {:?}: {}",
            state.status,
            state.start,
            state.end,
            state.delivery_complete,
            state.gap,
            runs.join(", ")
        )
    };
    let around = &difference.around;
    let points: Vec<Value> = difference
        .points
        .iter()
        .map(|point| json!({"what": point.what, "kafka": point.kafka, "ours": point.ours}))
        .collect();
    let ops: Vec<Value> = ops.iter().map(|op| op.to_json(false)).collect();
    json!({
        "what": what,
        "class": difference.class.map(|rule| rule.id),
        "rule": difference.class.map(|rule| rule.what),
        "file": "share_partition",
        "at": difference.at,
        "points": points,
        "before": {"kafka": state(&around.kafka_before), "ours": state(&around.ours_before)},
        "after": {"kafka": state(&around.kafka), "ours": state(&around.ours)},
        "ops": ops,
        "scenario": scenario,
    })
}
