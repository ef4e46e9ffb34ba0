//! Report of a run, as JSON for whoever started it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The counts of a run.
#[derive(Debug)]
pub struct Report {
    profile: &'static str,
    seed: u64,
    /// Operations generated.
    pub operations: usize,
    /// Operations compared.
    pub compared: usize,
    /// Time that it took.
    pub seconds: f64,
    coverage: BTreeMap<String, usize>,
    classes: BTreeMap<&'static str, usize>,
    unexplained: BTreeMap<String, usize>,
    /// The differences that were made small, each with its conformance scenario.
    pub differences: Vec<Value>,
    /// Examples of the deliberate differences, one of each, likewise.
    pub examples: Vec<Value>,
}

impl Report {
    /// Nothing seen yet.
    #[must_use]
    pub const fn new(profile: &'static str, seed: u64) -> Self {
        Self {
            profile,
            seed,
            operations: 0,
            compared: 0,
            seconds: 0.0,
            coverage: BTreeMap::new(),
            classes: BTreeMap::new(),
            unexplained: BTreeMap::new(),
            differences: Vec::new(),
            examples: Vec::new(),
        }
    }

    /// An operation with its outcome was reached.
    pub fn cover(&mut self, what: &str) {
        *self.coverage.entry(what.to_owned()).or_default() += 1;
    }

    /// A difference that is a deliberate one.
    pub fn classed(&mut self, class: &'static str) {
        *self.classes.entry(class).or_default() += 1;
    }

    /// A difference that nothing explains; how many of its name there are now.
    pub fn unexplained(&mut self, what: &str) -> usize {
        let times = self.unexplained.entry(what.to_owned()).or_default();
        *times += 1;
        *times
    }

    /// The report as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "profile": self.profile,
            "seed": self.seed,
            "operations": self.operations,
            "compared": self.compared,
            "seconds": self.seconds,
            "coverage": self.coverage,
            "classes": self.classes,
            "unexplained": self.unexplained,
            "differences": self.differences,
            "examples": self.examples,
        })
    }
}
