//! The recordings of Kafka's share partition (`tests/data/conformance`), played as sequences are: what Kafka was recorded to give
//! stands in place of its side.
//!
//! A recording tells no deadlines, and its timers fire strictly after them. What it holds beyond a sequence's operations, such as
//! a timer that is fired by hand, is left out: [`Unplayable`] says why. So is what follows a lock that lasts too long, up to the next
//! leader: see [`split`].

mod format;
mod given;
mod pieces;
mod read;
mod split;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use share_state_core::in_flight::IntervalStore;

use crate::durable::Tally;
use crate::engine::Engine;
use crate::outcome::{Outcome, push};
use crate::verdict::{Difference, Verdict, durable_fault, judge_setting_aside, own_fault, play};
use pieces::Unplayable;

/// Outcome of a file.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// Scenarios that were played.
    pub scenarios: usize,
    /// Their operations.
    pub operations: usize,
    /// Operations that were compared: those after a deliberate difference in the state are not.
    pub compared: usize,
    /// Scenarios in which the recorder's clock let a split lock last too long. Then the comparison goes on with the next leader.
    pub split: usize,
    /// Counts of the durable forms.
    pub durable: Tally,
    /// Deliberate differences: the place of the operation in its recording, id and what happens.
    pub explained: Vec<(usize, &'static str, &'static str)>,
    /// Scenarios that were left out, by why.
    pub left: BTreeMap<String, usize>,
    /// Scenarios that differ, by name.
    pub differences: Vec<(String, Difference)>,
    /// Scenarios that are not of the format, by name. They count as played.
    pub malformed: Vec<(String, String)>,
}

/// Plays every scenario.
pub fn play_all(scenarios: &[Value]) -> Played {
    let mut played = Played::default();
    for scenario in scenarios {
        match read::sequence(scenario) {
            Ok(sequence) => played.play(scenario, &sequence),
            Err(Unplayable::Left(why)) => *played.left.entry(why).or_default() += 1,
            Err(Unplayable::Malformed(why)) => {
                let name = scenario["name"].as_str().unwrap_or("").to_owned();
                played.scenarios += 1;
                played.malformed.push((name, why));
            }
        }
    }
    played
}

/// Outcome of a scenario as JSON: the points in which it differs and the deliberate differences on the way, or why it is left out.
pub fn case(scenario: &Value) -> Value {
    let name = &scenario["name"];
    let played = play_all(std::slice::from_ref(scenario));
    if let Some(why) = played.left.keys().next() {
        return json!({"name": name, "left": why, "announced": true});
    }
    let formats = played
        .malformed
        .iter()
        .map(|(_, why)| json!({"at": null, "what": "format", "expected": "known", "actual": why}));
    let points = played.differences.iter().flat_map(|(_, difference)| {
        difference.points.iter().map(|point| {
            json!({
                "at": difference.at, "what": point.what, "expected": point.kafka, "actual": point.ours,
            })
        })
    });
    let deliberate = played
        .explained
        .iter()
        .map(|(at, id, what)| json!({"at": at, "id": id, "what": what}));
    json!({
        "name": name,
        "differences": formats.chain(points).collect::<Value>(),
        "deliberate": deliberate.collect::<Value>(),
    })
}

/// The recorded outcomes beside ours.
fn verdict_of(
    sequence: &read::Sequence,
    engine: &Engine<IntervalStore>,
) -> Result<Verdict, String> {
    let ours: Vec<Outcome> = engine.outcomes.iter().map(without_deadlines).collect();
    let is_split = |difference: &Difference| split::explains(sequence, difference);
    judge_setting_aside(&sequence.ops, &sequence.given, &ours, is_split).map_err(|error| error.0)
}

impl core::fmt::Display for Played {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut explained: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, id, _) in &self.explained {
            *explained.entry(id).or_default() += 1;
        }
        write!(
            f,
            "run={} operations={} compared={} split={} differ={} left={} reopened={} explained={explained:?}",
            self.scenarios,
            self.operations,
            self.compared,
            self.split,
            self.differ(),
            self.left.values().sum::<usize>(),
            self.durable.reopened,
        )?;
        for (why, scenarios) in &self.left {
            write!(f, "\n  left {scenarios}: {why}")?;
        }
        for (name, why) in &self.malformed {
            write!(f, "\n  differs {name}: {why}")?;
        }
        for (name, difference) in &self.differences {
            write!(
                f,
                "\n  differs {name} op {}: {:?}",
                difference.at, difference.points
            )?;
        }
        Ok(())
    }
}

impl Played {
    /// Number of scenarios that differ, or are not of the form.
    pub fn differ(&self) -> usize {
        self.differences.len() + self.malformed.len()
    }

    fn play(&mut self, scenario: &Value, sequence: &read::Sequence) {
        let name = scenario["name"].as_str().unwrap_or("").to_owned();
        let ops = &sequence.ops;
        self.scenarios += 1;
        self.operations += ops.len();
        let engine = play::<IntervalStore>(ops);
        if let Some(fault) = own_fault(ops, &engine) {
            self.differences.push((name, sequence.placed(fault)));
            return;
        }
        let (tally, fault) = durable_fault(ops, &engine);
        self.durable += tally;
        if let Some(fault) = fault {
            self.differences.push((name, sequence.placed(fault)));
            return;
        }
        let verdict = match verdict_of(sequence, &engine) {
            Ok(verdict) => verdict,
            Err(why) => {
                self.malformed.push((name, why));
                return;
            }
        };
        self.compared += verdict.compared.len();
        for difference in &verdict.explained {
            if let Some(rule) = difference.class {
                let at = sequence.places[difference.at];
                self.explained.push((at, rule.id, rule.what));
            }
        }
        self.split += usize::from(verdict.set_aside > 0);
        let unexplained = verdict.difference.into_iter();
        self.differences
            .extend(unexplained.map(|difference| (name.clone(), sequence.placed(difference))));
    }
}

fn without_deadlines(outcome: &Outcome) -> Outcome {
    let mut outcome = outcome.clone();
    if let Some(state) = &mut outcome.state {
        let mut runs = Vec::new();
        for mut run in std::mem::take(&mut state.runs) {
            run.deadline = -1;
            push(&mut runs, run);
        }
        state.runs = runs;
    }
    outcome
}
