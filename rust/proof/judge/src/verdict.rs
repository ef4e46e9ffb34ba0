//! Verdict on a sequence: Kafka's outcomes beside ours, up to the first difference.

use serde_json::Value;
use share_state_core::in_flight::{InFlightStore, IntervalStore, TwinStore};

use crate::compare::{Around, compare};
use crate::deliberate::classify;
use crate::durable::Tally;
use crate::engine::{Engine, Form};
use crate::operation::{Limits, Operation, Verb};
use crate::outcome::{Answered, Malformed, Outcome, State};
use crate::profile::Difference;

/// The durable forms.
const DURABLE: [(&str, Form); 2] = [
    ("durable form", Form::Queued),
    ("durable inline form", Form::Inline),
];

/// Both sides of a sequence, compared.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Indices of the operations compared.
    pub compared: Vec<usize>,
    /// The deliberate differences on the way.
    pub explained: Vec<Difference>,
    /// Differences that the caller set aside.
    pub set_aside: usize,
    /// The first difference that nothing explains; it ends the comparison.
    pub difference: Option<Difference>,
    /// Places where a new leader would let the comparison go on, each with the number of operations that are not compared without
    /// one.
    pub apart: Vec<(usize, usize)>,
}

/// Both sides of one leader's share partition.
#[derive(Default)]
struct Pair {
    kafka: State,
    ours: State,
    /// The limits that it knows of.
    limits: Option<Limits>,
    /// True if a deliberate difference has led the two into different states, on which all that follows rests. The next leader
    /// reads the same state on both sides.
    apart: bool,
}

/// Plays the operations on a fresh engine.
#[must_use]
pub fn play<S: InFlightStore>(ops: &[Operation]) -> Engine<S> {
    play_in::<S>(ops, Form::Queued)
}

/// Plays the operations on a fresh engine that has its writes made in this form.
#[must_use]
pub fn play_in<S: InFlightStore>(ops: &[Operation], form: Form) -> Engine<S> {
    let mut engine = Engine::in_form(form);
    for op in ops {
        engine.play(op);
    }
    engine
}

/// Operations after which the files of a durable form are looked at.
const LOOK_EVERY: usize = 10;

/// Plays the operations on a fresh engine in the durable form. The store is looked at on the way, opened again half-way and at the
/// end.
///
/// # Errors
/// The disk.
pub fn play_durable<S: InFlightStore>(ops: &[Operation], form: Form) -> Result<Engine<S>, String> {
    let mut engine = Engine::durable_in_form(form)?;
    for (at, op) in ops.iter().enumerate() {
        engine.play(op);
        if at % LOOK_EVERY == LOOK_EVERY - 1 {
            engine.look(false);
        }
        if at == ops.len() / 2 {
            engine.look(true);
        }
    }
    engine.look(true);
    Ok(engine)
}

/// Plays the operations in the durable forms: what they came to, and what is wrong with them. That is either a store whose files do
/// not hold what they should, or one whose answers lead elsewhere.
pub fn durable_fault(
    ops: &[Operation],
    tree: &Engine<IntervalStore>,
) -> (Tally, Option<Difference>) {
    let mut tally = Tally::default();
    for (what, form) in DURABLE {
        let found = match play_durable::<IntervalStore>(ops, form) {
            Ok(durable) => {
                tally += durable.tally();
                differs(what, tree, &durable)
            }
            Err(error) => Some(Difference::new(0, what, String::new(), error, None)),
        };
        if found.is_some() {
            return (tally, found);
        }
    }
    (tally, None)
}

/// Fault of our side alone: a broken invariant, or two stores or forms of the calls that differ.
#[must_use]
pub fn own_fault(ops: &[Operation], tree: &Engine<IntervalStore>) -> Option<Difference> {
    if let Some((at, broken)) = &tree.broken {
        return Some(Difference::new(
            *at,
            "invariant",
            String::new(),
            broken.clone(),
            None,
        ));
    }
    differs("twin store", tree, &play::<TwinStore>(ops))
        .or_else(|| {
            let inline = play_in::<IntervalStore>(ops, Form::Inline);
            differs("inline form", tree, &inline)
        })
        .or_else(|| {
            let inline = play_in::<TwinStore>(ops, Form::Inline);
            differs("inline form of the twin store", tree, &inline)
        })
}

/// Difference where the same operations came to something else.
fn differs<S: InFlightStore>(
    what: &'static str,
    tree: &Engine<IntervalStore>,
    other: &Engine<S>,
) -> Option<Difference> {
    if let Some((at, broken)) = &other.broken {
        return Some(Difference::new(
            *at,
            what,
            String::new(),
            broken.clone(),
            None,
        ));
    }
    let mut pairs = tree.outcomes.iter().zip(&other.outcomes);
    let at = pairs.position(|(a, b)| a != b)?;
    let (a, b) = (&tree.outcomes[at], &other.outcomes[at]);
    Some(Difference::new(
        at,
        what,
        format!("{b:?}"),
        format!("{a:?}"),
        None,
    ))
}

/// Compares operation by operation. Where states differ by a deliberate difference the share partition is left alone from there
/// on, and the comparison goes on with the next leader's. A difference that has no class may be set aside; that share partition is
/// left alone then too.
///
/// # Errors
/// Kafka's side is not in its form.
pub fn compared(
    ops: &[Operation],
    kafka: &[Value],
    ours: &[Outcome],
    set_aside: impl Fn(&Difference) -> bool,
) -> Result<Comparison, Malformed> {
    let hung = hangs(kafka);
    let mut verdict = Comparison::default();
    let mut pairs: Vec<Pair> = Vec::new();
    for (at, (op, given)) in ops.iter().zip(kafka).enumerate() {
        let theirs = Outcome::of_kafka(given)?;
        let own = &ours[at];
        if let Verb::Create { limits, .. } = op.verb {
            pairs.push(Pair {
                limits: Some(limits),
                ..Pair::default()
            });
        }
        let latest = pairs.len().saturating_sub(1);
        let Some(pair) = pairs.get_mut(op.partition) else {
            continue;
        };
        pair.limits = op.limits.or(pair.limits);
        if pair.apart {
            if let Some((_, lost)) = verdict.apart.last_mut().filter(|_| op.partition == latest) {
                *lost += 1;
            }
            continue;
        }
        verdict.compared.push(at);
        let around = Around {
            kafka: theirs.state.clone().unwrap_or_else(|| pair.kafka.clone()),
            ours: own.state.clone().unwrap_or_else(|| pair.ours.clone()),
            kafka_before: core::mem::take(&mut pair.kafka),
            ours_before: core::mem::take(&mut pair.ours),
        };
        let mut points = compare(&theirs, own, &around);
        if hung && theirs.answered == Answered::Pending {
            // Answers of the persister after a call that does not return (V4) never came.
            points.retain(|point| point.what != "answer");
        }
        pair.kafka = around.kafka.clone();
        pair.ours = around.ours.clone();
        if points.is_empty() {
            continue;
        }
        let class = pair
            .limits
            .and_then(|limits| classify(op, &theirs, own, &around, &points, limits));
        let states_agree = points.iter().all(|point| point.what == "answer");
        let difference = Difference {
            at,
            points,
            class,
            around,
        };
        if class.is_none() {
            if set_aside(&difference) {
                verdict.set_aside += 1;
                pair.apart = true;
                continue;
            }
            verdict.difference = Some(difference);
            return Ok(verdict);
        }
        verdict.explained.push(difference);
        if !states_agree {
            pair.apart = true;
            if op.partition == latest {
                verdict.apart.push((at + 1, 0));
            }
        }
    }
    if hung {
        // Instead of the call.
        verdict
            .apart
            .push((kafka.len() - 1, ops.len() - kafka.len() + 1));
    }
    Ok(verdict)
}

/// Returns true if Kafka's last call does not return.
#[must_use]
pub fn hangs(kafka: &[Value]) -> bool {
    kafka
        .last()
        .is_some_and(|last| last["expect"]["result"]["error"] == "DoesNotReturn")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;
    use crate::operation::When;
    use crate::random::Random;

    #[test]
    fn both_stores_and_all_forms_come_to_the_same() {
        let (mut written, mut refused) = (0, 0);
        let mut tally = Tally::default();
        for number in 0..200 {
            let mut generator = Generator::new(Random::new(7, number), &[]);
            let mut engine = Engine::default();
            let mut ops = Vec::new();
            while ops.len() < 60 {
                generator.step(&mut engine, &mut ops);
            }
            if let Some(fault) = own_fault(&ops, &engine) {
                panic!(
                    "sequence {number}, operation {}: {:?}",
                    fault.at, fault.points
                );
            }
            let (more, fault) = durable_fault(&ops, &engine);
            tally += more;
            if let Some(fault) = fault {
                panic!(
                    "sequence {number}, operation {}: {:?}",
                    fault.at, fault.points
                );
            }
            for (op, outcome) in ops.iter().zip(&engine.outcomes) {
                let by_member = matches!(op.verb, Verb::Acknowledge { .. } | Verb::Release { .. });
                if by_member && op.answer.when == When::AtOnce && !outcome.writes.is_empty() {
                    written += 1;
                    refused += usize::from(op.answer.code != 0);
                }
            }
        }
        // What the one-call form is for must have come up.
        assert!(written > 500 && refused > 50, "{written} {refused}");
        // Twice by each of two durable forms.
        assert_eq!(tally.reopened, 200 * 2 * 2);
        let met = [tally.reads, tally.written, tally.fenced, tally.compared];
        let least = [500, 2_000, 10, 2_000];
        let all_met = met.iter().zip(least).all(|(met, least)| *met >= least);
        assert!(all_met, "{tally:?}");
    }
}
