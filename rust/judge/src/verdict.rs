//! One sequence judged: Kafka's outcomes beside ours, up to the first difference.

use serde_json::Value;
use share_state_core::in_flight::{InFlightStore, IntervalStore, TwinStore};

use crate::compare::{Around, Point, compare};
use crate::deliberate::classify;
use crate::engine::Engine;
use crate::operation::{Operation, Verb};
use crate::outcome::{Answered, Malformed, Outcome, State};

/// A difference of a sequence.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Index of the operation.
    pub at: usize,
    /// The points.
    pub points: Vec<Point>,
    /// The deliberate difference that it is.
    pub class: Option<&'static str>,
    /// The states around it.
    pub around: Around,
}

/// A sequence judged.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Operations compared.
    pub compared: usize,
    /// The deliberate differences on the way, in which the answer alone differed: the states agree, so that the comparison
    /// went on.
    pub passed: Vec<&'static str>,
    /// The difference that ended it. What follows rests on it and is not compared.
    pub difference: Option<Difference>,
}

/// Plays the operations on a fresh engine.
#[must_use]
pub fn play<S: InFlightStore>(ops: &[Operation]) -> Engine<S> {
    let mut engine = Engine::default();
    for op in ops {
        engine.play(op);
    }
    engine
}

/// What is wrong with our side alone: a broken invariant, or two stores that differ.
#[must_use]
pub fn own_fault(ops: &[Operation], tree: &Engine<IntervalStore>) -> Option<Difference> {
    if let Some((at, broken)) = &tree.broken {
        return Some(fault(*at, "invariant", String::new(), broken.clone()));
    }
    let twin = play::<TwinStore>(ops);
    if let Some((at, broken)) = &twin.broken {
        return Some(fault(
            *at,
            "invariant of the twin",
            String::new(),
            broken.clone(),
        ));
    }
    let at = tree
        .outcomes
        .iter()
        .zip(&twin.outcomes)
        .position(|(a, b)| a != b)?;
    let (a, b) = (&tree.outcomes[at], &twin.outcomes[at]);
    Some(fault(at, "twin store", format!("{b:?}"), format!("{a:?}")))
}

fn fault(at: usize, what: &'static str, kafka: String, ours: String) -> Difference {
    Difference {
        at,
        points: vec![Point { what, kafka, ours }],
        class: None,
        around: Around::default(),
    }
}

/// Compares operation by operation.
///
/// # Errors
/// Kafka's side is not in its form.
pub fn judge(ops: &[Operation], kafka: &[Value], ours: &[Outcome]) -> Result<Verdict, Malformed> {
    // An operation that does not return (V4) ends Kafka's sequence: answers of the persister behind it never came.
    let cut_short = kafka
        .last()
        .is_some_and(|last| last["expect"]["result"]["error"] == "DoesNotReturn");
    let mut states: Vec<(State, State)> = Vec::new();
    let mut in_force = None;
    let mut passed = Vec::new();
    for (at, (op, given)) in ops.iter().zip(kafka).enumerate() {
        let theirs = Outcome::of_kafka(given)?;
        let own = &ours[at];
        if let Verb::Create { limits, .. } = op.verb {
            in_force = Some(limits);
            states.push(<(State, State)>::default());
        }
        in_force = op.limits.or(in_force);
        let partition = match op.verb {
            Verb::Advance { .. } => states.len().saturating_sub(1),
            _ => op.partition,
        };
        let Some((kafka_before, ours_before)) = states.get(partition).cloned() else {
            continue;
        };
        let around = Around {
            kafka: theirs.state.clone().unwrap_or_else(|| kafka_before.clone()),
            ours: own.state.clone().unwrap_or_else(|| ours_before.clone()),
            kafka_before,
            ours_before,
        };
        let mut points = compare(&theirs, own, &around);
        if cut_short && theirs.answered == Answered::Pending {
            points.retain(|point| point.what != "answer");
        }
        if !points.is_empty() {
            let class =
                in_force.and_then(|limits| classify(op, &theirs, own, &around, &points, limits));
            if let Some(class) = class.filter(|_| points.iter().all(|point| point.what == "answer"))
            {
                passed.push(class);
                states[partition] = (around.kafka, around.ours);
                continue;
            }
            return Ok(Verdict {
                compared: at,
                passed,
                difference: Some(Difference {
                    at,
                    points,
                    class,
                    around,
                }),
            });
        }
        states[partition] = (around.kafka, around.ours);
    }
    Ok(Verdict {
        compared: kafka.len().min(ops.len()),
        passed,
        difference: None,
    })
}
