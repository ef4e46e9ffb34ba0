//! Merges of state batches: Kafka's `PersisterStateBatchCombiner` beside the core's fold.

use std::io;
use std::time::Instant;

use serde_json::{Value, json};
use share_state_core::state_batch::{StateBatch, combine};

use crate::arguments::Arguments;
use crate::deliberate::{ByName, what_of};
use crate::kafka::Kafka;
use crate::operation::Batch;
use crate::partition::IN_ACCORD;
use crate::random::Random;
use crate::report::Report;

/// The deliberate differences that are recognised here: profile, id and what happens.
pub const RULES: &[ByName] = &[
    ("combiner", "M1", "an inverted batch is merged"),
    ("combiner", "M2", "the last offset there is"),
];

/// A merge.
#[derive(Clone, Debug)]
struct Merge {
    so_far: Vec<Batch>,
    new: Vec<Batch>,
    start_offset: i64,
}

impl Merge {
    fn generate(random: &mut Random) -> Self {
        let width = random.pick(&[12, 40, 200]);
        let sorted = random.percent(60);
        let so_far = batches(random, width, sorted, 8);
        let new = batches(random, width, random.clone().percent(70), 5);
        let start_offset = if random.percent(30) {
            -1
        } else {
            random.between(0, width)
        };
        let mut merge = Self {
            so_far,
            new,
            start_offset,
        };
        if random.one_in(200) {
            merge.spoil(random);
        }
        merge
    }

    /// Makes batches that no leader sends: an inverted one, or one that ends at the last offset there is.
    fn spoil(&mut self, random: &mut Random) {
        if let Some(batch) = self.new.first_mut() {
            if random.percent(50) {
                (batch.0, batch.1) = (batch.1 + 1, batch.0);
            } else {
                batch.1 = i64::MAX;
            }
        }
    }

    fn to_json(&self) -> Value {
        json!({"so_far": self.so_far, "new": self.new, "start_offset": self.start_offset})
    }

    fn ours(&self) -> Value {
        let list = |batches: &[Batch]| -> Vec<StateBatch> {
            batches
                .iter()
                .map(|b| StateBatch {
                    first_offset: b.0,
                    last_offset: b.1,
                    delivery_state: b.2,
                    delivery_count: b.3,
                })
                .collect()
        };
        let merged = combine(&list(&self.so_far), &list(&self.new), self.start_offset);
        let merged: Vec<Batch> = merged
            .iter()
            .map(|b| {
                (
                    b.first_offset,
                    b.last_offset,
                    b.delivery_state,
                    b.delivery_count,
                )
            })
            .collect();
        json!(merged)
    }

    fn scenario(&self, arguments: &Arguments, sequence: u64, expect: Value) -> Value {
        let mut scenario = self.to_json();
        scenario["name"] = json!(format!("combiner-{}-{sequence}", arguments.seed));
        scenario["expect"] = expect;
        scenario
    }

    fn all(&self) -> impl Iterator<Item = &Batch> {
        self.so_far.iter().chain(&self.new)
    }

    /// The deliberate difference that explains another answer of Kafka's, if one does.
    fn class(&self, kafka: &Value) -> Option<&'static str> {
        if self.all().any(|b| b.1 < b.0) {
            return Some("M1");
        }
        let threw = kafka.get("error").is_some();
        (threw && self.all().any(|b| b.1 == i64::MAX)).then_some("M2")
    }

    fn smaller(&self) -> Vec<Self> {
        let without = |list: &[Batch], index: usize| {
            let mut list = list.to_vec();
            list.remove(index);
            list
        };
        let mut forms: Vec<Self> = (0..self.so_far.len())
            .map(|i| Self {
                so_far: without(&self.so_far, i),
                ..self.clone()
            })
            .collect();
        forms.extend((0..self.new.len()).map(|i| Self {
            new: without(&self.new, i),
            ..self.clone()
        }));
        if self.start_offset != -1 {
            forms.push(Self {
                start_offset: -1,
                ..self.clone()
            });
        }
        forms
    }
}

fn batches(random: &mut Random, width: i64, sorted: bool, most: u64) -> Vec<Batch> {
    let mut list: Vec<Batch> = Vec::new();
    let mut at = random.between(0, 5);
    for _ in 0..random.below(most + 1) {
        let first = if sorted { at } else { random.between(0, width) };
        let last = first + random.between(0, width / 4);
        list.push((
            first,
            last,
            random.pick(&[0, 0, 2, 3, 4]),
            random.pick(&[1, 1, 2, 3]),
        ));
        at = last + 1 + random.pick(&[0, 0, 1, 4]);
    }
    list
}

/// Runs the profile: a sequence is `length` merges.
///
/// # Errors
/// Kafka's side has failed.
pub fn run(arguments: &Arguments, kafka: &mut Kafka) -> io::Result<Report> {
    let mut report = Report::new("combiner", arguments.seed);
    let begun = Instant::now();
    for sequence in arguments.sequences() {
        let mut random = Random::new(arguments.seed, sequence);
        let merges: Vec<Merge> = (0..arguments.length)
            .map(|_| Merge::generate(&mut random))
            .collect();
        let given = ask(kafka, &merges)?;
        for (merge, given) in merges.iter().zip(&given) {
            report.operations += 1;
            report.compared += 1;
            let ours = merge.ours();
            report.cover(&format!(
                "merge to {}",
                ours.as_array().map_or(0, Vec::len).min(6)
            ));
            if ours == given["expect"] && arguments.examples && report.examples.len() < IN_ACCORD {
                let scenario = merge.scenario(arguments, sequence, given["expect"].clone());
                report
                    .examples
                    .push(json!({"file": "combiner", "scenario": scenario, "explained": []}));
            }
            if ours != given["expect"] {
                let class = merge.class(&given["expect"]);
                match class {
                    Some(class) if report.classed(class) > 1 || !arguments.examples => {}
                    None if report.unexplained("combiner: merge") > arguments.shrink => {}
                    _ => {
                        let shown = difference(arguments, kafka, sequence, merge, class)?;
                        let list = match class {
                            Some(_) => &mut report.examples,
                            None => &mut report.differences,
                        };
                        list.push(shown);
                    }
                }
            }
        }
    }
    report.seconds = begun.elapsed().as_secs_f64();
    Ok(report)
}

fn ask(kafka: &mut Kafka, merges: &[Merge]) -> io::Result<Vec<Value>> {
    let ops: Vec<Value> = merges.iter().map(Merge::to_json).collect();
    kafka.send(&json!({"suite": "combiner", "ops": ops}));
    kafka.receive()
}

/// A merge made small, with the conformance scenario that it is.
fn difference(
    arguments: &Arguments,
    kafka: &mut Kafka,
    sequence: u64,
    found: &Merge,
    class: Option<&'static str>,
) -> io::Result<Value> {
    let mut best = found.clone();
    let mut expect = ask(kafka, std::slice::from_ref(&best))?[0]["expect"].take();
    loop {
        let mut smaller = None;
        for form in best.smaller() {
            let given = ask(kafka, std::slice::from_ref(&form))?[0]["expect"].take();
            if given != form.ours() && form.class(&given) == class {
                smaller = Some((form, given));
                break;
            }
        }
        match smaller {
            Some((form, given)) => (best, expect) = (form, given),
            None => break,
        }
    }
    let scenario = best.scenario(arguments, sequence, expect);
    let explained: Vec<Value> = class
        .iter()
        .map(|id| json!([0, id, what_of(RULES, id)]))
        .collect();
    Ok(json!({
        "what": "combiner: merge", "class": class, "rule": class.and_then(|id| what_of(RULES, id)), "file": "combiner", "at": 0, "scenario": scenario, "ours": best.ours(),
        "explained": explained,
    }))
}
