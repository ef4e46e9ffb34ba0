//! Scenarios that are played operation by operation, and what came of each.

use core::fmt;

use serde_json::{Value, json};

use super::fields::Unknown;

/// A point in which we and the recording do not agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Index of the operation; `None` for the whole scenario.
    pub at: Option<usize>,
    /// Name of the point that differs.
    pub what: String,
    /// Value that was recorded.
    pub expected: String,
    /// Value that we have.
    pub actual: String,
}

/// Outcome of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was played; the points in which it differs.
    Played(Vec<Point>),
    /// It was played up to a deliberate difference, by its operation, id and what happens, and agreed.
    Deliberate(usize, &'static str, &'static str),
    /// It is left out, and why. The format itself announces what is `before_44`.
    Left {
        /// The reason.
        why: String,
        /// True if a rule that is older than 4.4 is the reason.
        before_44: bool,
    },
}

/// Points of one operation, in the making.
#[derive(Debug, Default)]
pub struct Points(Vec<(String, String, String)>);

impl Points {
    /// Points that differ, each with our value.
    pub fn ours(&self) -> impl Iterator<Item = (&str, &str)> {
        let points = self.0.iter();
        points.map(|(what, _, actual)| (what.as_str(), actual.as_str()))
    }

    /// Notes a difference unless the two are the same.
    pub fn same<T: fmt::Debug + PartialEq>(&mut self, what: &str, expected: &T, actual: &T) {
        if expected != actual {
            let (expected, actual) = (format!("{expected:?}"), format!("{actual:?}"));
            self.0.push((what.to_owned(), expected, actual));
        }
    }

    /// Notes a difference unless the two are the same, as JSON.
    pub fn same_json(&mut self, what: &str, expected: &Value, actual: &Value) {
        if expected != actual {
            self.0
                .push((what.to_owned(), expected.to_string(), actual.to_string()));
        }
    }
}

/// A machine that plays recorded operations.
pub trait Player {
    /// Names of the operations that it plays.
    const OPERATIONS: &'static [&'static str];

    /// Plays an operation, and notes where it differs.
    ///
    /// # Errors
    /// The operation is not of the format.
    fn step(&mut self, op: &Value, points: &mut Points) -> Result<(), Unknown>;

    /// The deliberate difference that the points of an operation are, if they are one: its id and what happens.
    fn deliberate(&self, _op: &Value, _points: &Points) -> Option<(&'static str, &'static str)> {
        None
    }
}

/// The operations of a scenario.
///
/// # Errors
/// It has none: it would agree with everything.
pub fn operations(scenario: &Value) -> Result<&[Value], Unknown> {
    match scenario["ops"].as_array() {
        Some(ops) if !ops.is_empty() => Ok(ops),
        _ => Err(Unknown("no list of operations".to_owned())),
    }
}

/// The first operation that is none of these, by its place and name.
fn not_among(ops: &[Value], known: &[&str]) -> Option<String> {
    let mut named = ops.iter().enumerate();
    named.find_map(|(at, op)| {
        let name = op["op"].as_str().filter(|name| !known.contains(name))?;
        Some(format!("operation {at} ({name}) cannot be played"))
    })
}

/// Plays a scenario up to what is not of the format; one with an operation that the player does not know is left out.
///
/// # Errors
/// It has no operations.
pub fn play_each<P: Player>(scenario: &Value, player: &mut P) -> Result<Outcome, Unknown> {
    let ops = operations(scenario)?;
    if let Some(why) = not_among(ops, P::OPERATIONS) {
        return Ok(Outcome::Left {
            why,
            before_44: false,
        });
    }
    let mut all = Vec::new();
    for (at, op) in ops.iter().enumerate() {
        let mut points = Points::default();
        let stepped = player.step(op, &mut points);
        if stepped.is_ok()
            && all.is_empty()
            && let Some((id, what)) = player.deliberate(op, &points)
        {
            return Ok(Outcome::Deliberate(at, id, what));
        }
        if let Err(Unknown(why)) = &stepped {
            points
                .0
                .push(("format".to_owned(), "known".to_owned(), why.clone()));
        }
        all.extend(points.0.into_iter().map(|(what, expected, actual)| Point {
            at: Some(at),
            what,
            expected,
            actual,
        }));
        if stepped.is_err() {
            break;
        }
    }
    Ok(Outcome::Played(all))
}

/// A file of cases.
#[derive(Debug, Default)]
pub struct Cases {
    /// Each with its name.
    pub cases: Vec<(String, Outcome)>,
    /// Operations of those that were played.
    pub operations: usize,
}

impl Cases {
    /// Plays every scenario.
    pub fn play(scenarios: &[Value], play: impl Fn(&Value) -> Result<Outcome, Unknown>) -> Self {
        let mut cases = Self::default();
        for scenario in scenarios {
            let outcome = play(scenario).unwrap_or_else(|Unknown(why)| {
                Outcome::Played(vec![Point {
                    at: None,
                    what: "format".to_owned(),
                    expected: "known".to_owned(),
                    actual: why,
                }])
            });
            cases.operations += match (&outcome, operations(scenario)) {
                (Outcome::Played(_), Ok(ops)) => ops.len(),
                (Outcome::Deliberate(at, ..), _) => *at,
                _ => 0,
            };
            let name = scenario["name"].as_str().unwrap_or("").to_owned();
            cases.cases.push((name, outcome));
        }
        cases
    }

    fn count(&self, of: impl Fn(&Outcome) -> bool) -> usize {
        self.cases.iter().filter(|(_, outcome)| of(outcome)).count()
    }

    /// Scenarios that were played.
    pub fn run(&self) -> usize {
        self.count(|outcome| !matches!(outcome, Outcome::Left { .. }))
    }

    /// Scenarios that differ.
    pub fn differ(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Played(points) if !points.is_empty()))
    }

    /// Returns the cases as JSON for `tests/proof/conformance`.
    pub fn to_json(&self) -> Value {
        let cases = self.cases.iter().map(|(name, outcome)| match outcome {
            Outcome::Played(points) => json!({
                "name": name,
                "differences": points.iter().map(|point| json!({
                    "at": point.at, "what": point.what, "expected": point.expected, "actual": point.actual,
                })).collect::<Vec<_>>(),
            }),
            Outcome::Deliberate(at, id, what) => json!({
                "name": name, "differences": [], "deliberate": [{"at": at, "id": id, "what": what}],
            }),
            Outcome::Left { why, before_44 } => {
                json!({"name": name, "left": why, "announced": before_44})
            }
        });
        cases.collect()
    }
}

impl fmt::Display for Cases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (run, differ) = (self.run(), self.differ());
        write!(
            f,
            "run={run} operations={} differ={differ} left={}",
            self.operations,
            self.cases.len() - run
        )?;
        for (name, outcome) in &self.cases {
            match outcome {
                Outcome::Left { why, .. } => write!(f, "\n  left {name}: {why}")?,
                Outcome::Deliberate(at, id, what) => {
                    write!(f, "\n  deliberate {name} op {at}: {id}, {what}")?;
                }
                Outcome::Played(points) => {
                    for point in points {
                        let Point {
                            at,
                            what,
                            expected,
                            actual,
                        } = point;
                        write!(f, "\n  differs {name} op {at:?}: {what}")?;
                        write!(f, "\n    expected {expected}\n    we have  {actual}")?;
                    }
                }
            }
        }
        Ok(())
    }
}
