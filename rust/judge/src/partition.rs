//! Sequences on a share partition: Kafka's `SharePartition` beside ours, on both in-flight stores.

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use serde_json::{Value, json};
use share_state_core::in_flight::IntervalStore;

use crate::arguments::Arguments;
use crate::compare::show;
use crate::engine::Engine;
use crate::export::scenario;
use crate::generate::Generator;
use crate::kafka::Kafka;
use crate::operation::Operation;
use crate::outcome::{Answered, Outcome, State};
use crate::report::Report;
use crate::shrink::{request, shrink};
use crate::verdict::{Difference, judge, own_fault};

/// Sequences that are on the way to Kafka's side at one time.
const ON_THE_WAY: usize = 64;

/// Runs the profile.
///
/// # Errors
/// Kafka's side has failed.
pub fn run(arguments: &Arguments, kafka: &mut Kafka) -> io::Result<Report> {
    let mut report = Report::new("engine", arguments.seed);
    let begun = Instant::now();
    let mut found: Vec<(u64, Vec<Operation>, Difference)> = Vec::new();
    let mut waiting: VecDeque<(u64, Vec<Operation>, Engine<IntervalStore>)> = VecDeque::new();
    let mut sequences = arguments.sequences();
    loop {
        while waiting.len() < ON_THE_WAY {
            let Some(sequence) = sequences.next() else {
                break;
            };
            let mut generator = Generator::new(arguments.seed, sequence);
            let mut engine = Engine::default();
            let mut ops = Vec::new();
            while ops.len() < arguments.length {
                generator.step(&mut engine, &mut ops);
            }
            kafka.send(&request(&ops));
            waiting.push_back((sequence, ops, engine));
        }
        let Some((sequence, ops, engine)) = waiting.pop_front() else {
            break;
        };
        let given = kafka.receive()?;
        report.operations += ops.len();
        let difference = compared(&mut report, &ops, &given, &engine)?;
        if let Some(difference) = difference {
            match difference.class {
                Some(class) => report.classed(class),
                None => {
                    let name = name(&ops, &difference);
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
        let (ops, difference) = shrink(kafka, &ops, &difference)?;
        let what = name(&ops, &difference);
        let scenario = scenario(
            kafka,
            &format!("differential-{}-{sequence}", arguments.seed),
            &ops,
        )?;
        report
            .differences
            .push(told(&what, &difference, &ops, scenario));
    }
    Ok(report)
}

fn compared(
    report: &mut Report,
    ops: &[Operation],
    given: &[Value],
    engine: &Engine<IntervalStore>,
) -> io::Result<Option<Difference>> {
    if given
        .last()
        .is_some_and(|last| last["expect"]["result"]["error"] == "DoesNotReturn")
    {
        // See V4.
        report.cover("acquire: Kafka does not return");
    }
    let verdict = judge(ops, given, &engine.outcomes).map_err(|error| io::Error::other(error.0))?;
    report.compared += verdict.compared;
    for class in verdict.passed {
        report.classed(class);
    }
    for (op, outcome) in ops.iter().zip(&engine.outcomes).take(verdict.compared) {
        report.cover(&format!("{}: {}", op.verb.name(), reached(outcome)));
    }
    Ok(own_fault(ops, engine).or(verdict.difference))
}

fn reached(outcome: &Outcome) -> String {
    let answer = match &outcome.answered {
        Answered::Acquired(ranges) => format!("{} ranges", ranges.len().min(4)),
        Answered::Code(code) => format!("code {code}"),
        Answered::Pending => "pending".to_owned(),
        Answered::Offset(_) => "an offset".to_owned(),
        Answered::Flag(flag) => flag.to_string(),
        Answered::Nothing => "done".to_owned(),
    };
    let letters = if outcome.letters.is_empty() {
        ""
    } else {
        ", dead letters"
    };
    let writes = if outcome.writes.is_empty() {
        ""
    } else {
        ", written"
    };
    format!("{answer}{writes}{letters}")
}

fn name(ops: &[Operation], difference: &Difference) -> String {
    format!(
        "{}: {}",
        ops[difference.at].verb.name(),
        difference.points[0].what
    )
}

fn told(what: &str, difference: &Difference, ops: &[Operation], scenario: Value) -> Value {
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
        "file": "share_partition",
        "at": difference.at,
        "points": points,
        "before": {"kafka": state(&around.kafka_before), "ours": state(&around.ours_before)},
        "after": {"kafka": state(&around.kafka), "ours": state(&around.ours)},
        "ops": ops,
        "scenario": scenario,
    })
}
