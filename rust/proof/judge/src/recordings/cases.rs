//! Scenarios that are played, and what came of each.

use core::fmt;

use serde_json::{Value, json};

use super::fields::Unknown;
use crate::compare::Point;
use crate::durable::Tally;
use crate::profile::Class;

/// Outcome of a scenario that was played.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Points in which ours and the recording differ, each with the index of its operation; `None` for the scenario as a whole.
    pub points: Vec<(Option<usize>, Point)>,
    /// Deliberate differences, each with the index of its operation.
    pub deliberate: Vec<(usize, Class)>,
    /// Number of operations that were played.
    pub operations: usize,
    /// Number of operations that were compared.
    pub compared: usize,
    /// True if the lock of a split batch lasted longer in the recording.
    pub is_split: bool,
    /// Counts of the durable forms of a share partition.
    pub durable: Tally,
}

/// Reason why a scenario is not played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The reason.
    pub why: String,
    /// True if the format itself announces that there are such scenarios.
    pub is_announced: bool,
}

/// Outcome of a scenario, or the reason why there is none.
pub type Played = Result<Outcome, Left>;

impl Outcome {
    /// Outcome of a scenario that is not of the format.
    pub fn malformed(why: String) -> Self {
        let mut points = Points::default();
        points.malformed(why);
        Self {
            points: points.0.into_iter().map(|point| (None, point)).collect(),
            ..Self::default()
        }
    }
}

/// Points in which an operation differs.
#[derive(Debug, Default)]
pub struct Points(Vec<Point>);

impl Points {
    /// Name of each point, and our side.
    pub fn ours(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|point| (point.what, &*point.ours))
    }

    /// Compares two values.
    pub fn same<T: fmt::Debug + PartialEq>(&mut self, what: &'static str, kafka: &T, ours: &T) {
        if kafka != ours {
            self.differ(what, format!("{kafka:?}"), format!("{ours:?}"));
        }
    }

    /// Compares two values that are JSON already.
    pub fn same_json(&mut self, what: &'static str, kafka: &Value, ours: &Value) {
        if kafka != ours {
            self.differ(what, kafka.to_string(), ours.to_string());
        }
    }

    /// A point that differs.
    pub fn differ(&mut self, what: &'static str, kafka: String, ours: String) {
        self.0.push(Point { what, kafka, ours });
    }

    fn malformed(&mut self, why: String) {
        self.differ("format", "known".to_owned(), why);
    }
}

/// Object under test that plays recorded operations.
pub trait Player {
    /// Names of the operations that it plays.
    const OPERATIONS: &'static [&'static str];

    /// Plays an operation, and notes where ours differs.
    ///
    /// # Errors
    /// It is not of the format.
    fn step(&mut self, op: &Value, points: &mut Points) -> Result<(), Unknown>;

    /// The deliberate difference that these points of an operation are; what follows rests on it, so the scenario ends there.
    fn deliberate(&self, _op: &Value, _points: &Points) -> Option<Class> {
        None
    }
}

/// The operations of a scenario.
///
/// # Errors
/// There are none.
pub fn operations(scenario: &Value) -> Result<&[Value], Unknown> {
    match scenario["ops"].as_array() {
        Some(ops) if !ops.is_empty() => Ok(ops),
        _ => Err(Unknown("no list of operations".to_owned())),
    }
}

/// Plays a scenario, unless it has an operation that the player does not know.
///
/// # Errors
/// It has no operations.
pub fn play_each<P: Player>(scenario: &Value, player: &mut P) -> Result<Played, Unknown> {
    let ops = operations(scenario)?;
    for (at, op) in ops.iter().enumerate() {
        if let Some(name) = op["op"].as_str()
            && !P::OPERATIONS.contains(&name)
        {
            return Ok(Err(Left {
                why: format!("operation {at} ({name}) cannot be played"),
                is_announced: false,
            }));
        }
    }
    Ok(Ok(play(ops, player)))
}

/// Outcome of one operation.
pub struct Step {
    /// Points that differ.
    pub points: Vec<Point>,
    /// The deliberate difference that they are.
    pub class: Option<Class>,
    is_known: bool,
}

/// Plays an operation.
pub fn step<P: Player>(op: &Value, player: &mut P) -> Step {
    let mut points = Points::default();
    let stepped = player.step(op, &mut points);
    let class = stepped
        .is_ok()
        .then(|| player.deliberate(op, &points))
        .flatten();
    let is_known = stepped.is_ok();
    if let Err(Unknown(why)) = stepped {
        points.malformed(why);
    }
    Step {
        points: points.0,
        class,
        is_known,
    }
}

/// Plays operations up to a deliberate difference, or one that is not of the format.
fn play<P: Player>(ops: &[Value], player: &mut P) -> Outcome {
    let mut outcome = Outcome::default();
    for (at, op) in ops.iter().enumerate() {
        let step = step(op, player);
        if let Some(class) = step.class.filter(|_| outcome.points.is_empty()) {
            outcome.deliberate.push((at, class));
            break;
        }
        outcome.operations += 1;
        let points = step.points.into_iter().map(|point| (Some(at), point));
        outcome.points.extend(points);
        if !step.is_known {
            break;
        }
    }
    outcome.compared = outcome.operations;
    outcome
}

/// The scenarios of a file, by name.
#[derive(Debug)]
pub struct Cases(Vec<(String, Played)>);

impl Cases {
    /// Plays all.
    pub fn play(scenarios: &[Value], play: impl Fn(&Value) -> Result<Played, Unknown>) -> Self {
        let case = |scenario: &Value| {
            let played = play(scenario);
            let played = played.unwrap_or_else(|Unknown(why)| Ok(Outcome::malformed(why)));
            (scenario["name"].as_str().unwrap_or("").to_owned(), played)
        };
        Self(scenarios.iter().map(case).collect())
    }

    /// The outcome of each.
    pub fn to_json(&self) -> Value {
        let cases = self.0.iter().map(|(name, played)| match played {
            Err(Left { why, is_announced }) => {
                json!({"name": name, "left": why, "announced": is_announced})
            }
            Ok(outcome) => {
                let points = outcome.points.iter().map(|(at, point)| {
                    json!({"at": at, "what": point.what, "expected": point.kafka, "actual": point.ours})
                });
                let deliberate = outcome.deliberate.iter();
                let deliberate =
                    deliberate.map(|(at, (id, what))| json!({"at": at, "id": id, "what": what}));
                json!({
                    "name": name,
                    "differences": points.collect::<Value>(),
                    "deliberate": deliberate.collect::<Value>(),
                })
            }
        });
        cases.collect()
    }
}

#[cfg(test)]
impl Cases {
    /// Outcomes of those that were played.
    pub fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.0.iter().filter_map(|(_, played)| played.as_ref().ok())
    }

    /// Number of those that were not.
    pub fn left(&self) -> usize {
        self.0.len() - self.outcomes().count()
    }

    /// Sum over those that were played.
    pub fn sum(&self, of: impl Fn(&Outcome) -> usize) -> usize {
        self.outcomes().map(of).sum()
    }
}
