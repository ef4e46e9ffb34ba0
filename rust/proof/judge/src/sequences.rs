//! Runs a profile whose sequences are chosen before Kafka's side plays them.

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::kafka::Kafka;
use crate::partition::IN_ACCORD;
use crate::random::Random;
use crate::report::Report;

/// A way in which a deliberate difference shows: its id, and what happens.
pub type Class = (&'static str, &'static str);

/// A difference: which operation, what differs, the deliberate difference that it is.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Index of the operation.
    pub at: usize,
    /// Name of the point that differs.
    pub what: &'static str,
    /// Kafka's side.
    pub kafka: String,
    /// Our side.
    pub ours: String,
    /// `None` when nothing explains it.
    pub class: Option<Class>,
}

/// A sequence judged.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Number of operations that were compared.
    pub compared: usize,
    /// Parts of the coverage that they reached.
    pub reached: Vec<String>,
    /// The deliberate differences on the way.
    pub explained: Vec<Difference>,
    /// The first difference that nothing explains; it ends the comparison.
    pub difference: Option<Difference>,
    /// Place where a fresh object under test would let the comparison go on after a deliberate difference.
    pub apart: Option<usize>,
}

/// Class of Kafka's that is compared, with the operations on it.
pub trait Profile {
    /// An operation.
    type Operation: Clone;

    /// Name of the profile.
    const NAME: &'static str;
    /// Prefix of its conformance files, and what the driver calls it.
    const SUITE: &'static str;

    /// The sequence of a seed. At the `renewals` a fresh object takes over; what stands before them does not depend on them.
    fn generate(random: &mut Random, length: usize, renewals: &[usize]) -> Vec<Self::Operation>;

    /// Returns true if a sequence that was made smaller still makes sense.
    fn is_sound(_ops: &[Self::Operation]) -> bool {
        true
    }

    /// Smaller forms of an operation.
    fn smaller(_op: &Self::Operation) -> Vec<Self::Operation> {
        Vec::new()
    }

    /// An operation for the driver.
    fn to_json(op: &Self::Operation) -> Value;

    /// Name of an operation.
    fn name_of(op: &Self::Operation) -> &'static str;

    /// Compares operation by operation.
    fn judge(ops: &[Self::Operation], given: &[Value]) -> Verdict;

    /// The sequence as a conformance scenario, with the place of each operation in it.
    fn exported(name: &str, ops: &[Self::Operation], given: Vec<Value>) -> (Value, Vec<usize>) {
        let ops = ops.iter().zip(given).map(|(op, given)| {
            let mut op = Self::to_json(op);
            if let (Some(op), Value::Object(given)) = (op.as_object_mut(), given) {
                op.extend(given);
            }
            op
        });
        let ops: Vec<Value> = ops.collect();
        let places = (0..ops.len()).collect();
        let scenario = json!({"name": name, "source": "differential", "ops": ops});
        (scenario, places)
    }
}

/// Sequences that are on the way to Kafka's side at one time.
const ON_THE_WAY: usize = 64;

/// A sequence on its way.
struct Sequence<P: Profile> {
    number: u64,
    /// Places where a fresh object takes over because a deliberate difference has led the sides apart.
    renewals: Vec<usize>,
    ops: Vec<P::Operation>,
}

impl<P: Profile> Sequence<P> {
    fn generate(arguments: &Arguments, number: u64, renewals: Vec<usize>) -> Self {
        let mut random = Random::new(arguments.seed, number);
        let ops = P::generate(&mut random, arguments.length, &renewals);
        Self {
            number,
            renewals,
            ops,
        }
    }
}

/// Runs the profile. A sequence whose sides were led apart by a deliberate difference is played again with a fresh object after
/// it, so that the rest of it is compared too; what is reported is the last play.
///
/// # Errors
/// Kafka's side has failed.
pub fn run<P: Profile>(arguments: &Arguments, kafka: &mut Kafka) -> io::Result<Report> {
    let mut report = Report::new(P::NAME, arguments.seed);
    let begun = Instant::now();
    let mut found = Vec::new();
    let mut examples = Vec::new();
    let mut in_accord = Vec::new();
    let mut shown_classes: Vec<Class> = Vec::new();
    let mut waiting: VecDeque<Sequence<P>> = VecDeque::new();
    let mut sequences = arguments.sequences();
    loop {
        while waiting.len() < ON_THE_WAY {
            let Some(number) = sequences.next() else {
                break;
            };
            let sequence = Sequence::<P>::generate(arguments, number, Vec::new());
            kafka.send(&request::<P>(&sequence.ops));
            waiting.push_back(sequence);
        }
        let Some(sequence) = waiting.pop_front() else {
            break;
        };
        let given = kafka.receive()?;
        let verdict = P::judge(&sequence.ops, &given);
        if let Some(place) = verdict.apart.filter(|_| verdict.difference.is_none()) {
            let mut renewals = sequence.renewals;
            renewals.push(place);
            let again = Sequence::<P>::generate(arguments, sequence.number, renewals);
            kafka.send(&request::<P>(&again.ops));
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
            let Some(class) = difference.class else {
                continue;
            };
            report.classed(class.0);
            if arguments.examples && !shown_classes.contains(&class) {
                shown_classes.push(class);
                examples.push((sequence.number, sequence.ops.clone(), difference));
            }
        }
        if let Some(difference) = verdict.difference {
            let name = name::<P>(&sequence.ops, &difference);
            // One of each kind is made small.
            if report.unexplained(&name) == 1 && found.len() < arguments.shrink {
                found.push((sequence.number, sequence.ops, difference));
            }
        }
    }
    report.seconds = begun.elapsed().as_secs_f64();
    report.differences = shown::<P>(arguments, kafka, found)?;
    report.examples = shown::<P>(arguments, kafka, examples)?;
    for (sequence, ops) in in_accord {
        kafka.send(&request::<P>(&ops));
        let given = kafka.receive()?;
        let name = format!("{}-{}-{sequence}", P::NAME, arguments.seed);
        let (scenario, _) = P::exported(&name, &ops, given);
        report
            .examples
            .push(json!({"file": P::SUITE, "scenario": scenario, "explained": []}));
    }
    Ok(report)
}

fn name<P: Profile>(ops: &[P::Operation], difference: &Difference) -> String {
    format!("{}: {}", P::name_of(&ops[difference.at]), difference.what)
}

fn request<P: Profile>(ops: &[P::Operation]) -> Value {
    let ops: Vec<Value> = ops.iter().map(P::to_json).collect();
    json!({"suite": P::SUITE, "flags": true, "ops": ops})
}

/// Each difference made small, with the conformance scenario that it is.
fn shown<P: Profile>(
    arguments: &Arguments,
    kafka: &mut Kafka,
    differences: Vec<(u64, Vec<P::Operation>, Difference)>,
) -> io::Result<Vec<Value>> {
    let mut all = Vec::new();
    for (sequence, ops, difference) in differences {
        let (ops, difference) = shrink::<P>(kafka, ops, difference)?;
        kafka.send(&request::<P>(&ops));
        let given = kafka.receive()?;
        let scenario_name = format!("{}-{}-{sequence}", P::NAME, arguments.seed);
        let (scenario, places) = P::exported(&scenario_name, &ops, given);
        // It ends with the difference.
        let place = places.get(difference.at);
        let explained: Vec<Value> = difference
            .class
            .iter()
            .map(|(id, what)| json!([place, id, what]))
            .collect();
        all.push(json!({
            "what": name::<P>(&ops, &difference),
            "class": difference.class.map(|(id, _)| id),
            "rule": difference.class.map(|(_, what)| what),
            "file": P::SUITE,
            "at": difference.at,
            "points": [{"what": difference.what, "kafka": difference.kafka, "ours": difference.ours}],
            "ops": ops.iter().map(P::to_json).collect::<Vec<_>>(),
            "scenario": scenario,
            "explained": explained,
        }));
    }
    Ok(all)
}

/// Makes a sequence with a difference small: operations are left out and made smaller as long as the same difference is there.
fn shrink<P: Profile>(
    kafka: &mut Kafka,
    ops: Vec<P::Operation>,
    found: Difference,
) -> io::Result<(Vec<P::Operation>, Difference)> {
    let mut best = (ops[..=found.at].to_vec(), found);
    let mut at = 0;
    while at < best.0.len() {
        let without = {
            let mut without = best.0.clone();
            without.remove(at);
            without
        };
        let smaller = P::smaller(&best.0[at]).into_iter().map(|op| {
            let mut candidate = best.0.clone();
            candidate[at] = op;
            candidate
        });
        let candidates: Vec<_> = core::iter::once(without).chain(smaller).collect();
        let mut better = None;
        for candidate in candidates {
            if !P::is_sound(&candidate) {
                continue;
            }
            kafka.send(&request::<P>(&candidate));
            let given = kafka.receive()?;
            let verdict = P::judge(&candidate, &given);
            let mut all = verdict.explained.into_iter().chain(verdict.difference);
            let wanted = (best.1.class, best.1.what);
            if let Some(same) = all.find(|other| (other.class, other.what) == wanted) {
                better = Some((candidate[..=same.at].to_vec(), same));
                break;
            }
        }
        match better {
            Some(better) => {
                best = better;
                at = 0;
            }
            None => at += 1,
        }
    }
    Ok(best)
}
