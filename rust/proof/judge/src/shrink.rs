//! Differences made small, and told with the conformance scenario that each is.

use std::io;

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::compare::show;
use crate::kafka::Kafka;
use crate::outcome::State;
use crate::profile::{Difference, Profile, asked, name, scenario_name};

/// A difference found, in the sequence of this number.
pub struct Found<P: Profile> {
    /// Number of the sequence.
    pub number: u64,
    /// Its operations.
    pub ops: Vec<P::Operation>,
    /// The difference.
    pub difference: Difference,
    /// True if [`Profile::slowly`] finds it.
    pub slow: bool,
}

/// Each difference made small, with the conformance scenario that it is.
///
/// # Errors
/// Kafka's side has failed.
pub fn shown<P: Profile>(
    arguments: &Arguments,
    kafka: &mut Kafka,
    found: Vec<Found<P>>,
) -> io::Result<Vec<Value>> {
    let mut all = Vec::new();
    for mut found in found {
        if arguments.shrink > 0 {
            shrink(kafka, &mut found)?;
        }
        let Found {
            number,
            ops,
            difference,
            ..
        } = found;
        let given = asked::<P>(kafka, &ops)?;
        let explained = P::judge(&ops, &given).explained;
        let (scenario, places) = P::exported(kafka, &scenario_name::<P>(arguments, number), &ops)?;
        let explained: Vec<Value> = explained
            .iter()
            .filter_map(|d| Some(json!([places[d.at]?, d.class?.0, d.class?.1])))
            .collect();
        let points = difference.points.iter();
        let points = points
            .map(|point| json!({"what": point.what, "kafka": point.kafka, "ours": point.ours}));
        let around = &difference.around;
        all.push(json!({
            "what": name::<P>(&ops, &difference),
            "class": difference.class.map(|(id, _)| id),
            "rule": difference.class.map(|(_, what)| what),
            "file": P::SUITE,
            "at": difference.at,
            "points": points.collect::<Value>(),
            "before": states(&around.kafka_before, &around.ours_before),
            "after": states(&around.kafka, &around.ours),
            "ops": ops.iter().map(P::to_json).collect::<Value>(),
            "scenario": scenario,
            "explained": explained,
        }));
    }
    Ok(all)
}

/// The states of a share partition on both sides; nothing of what has no such state.
fn states(kafka: &State, ours: &State) -> Value {
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
    if kafka.status.is_empty() && ours.status.is_empty() {
        return json!({});
    }
    json!({"kafka": state(kafka), "ours": state(ours)})
}

/// Makes a sequence with a difference small: operations are left out and made smaller as long as the same difference is there.
fn shrink<P: Profile>(kafka: &mut Kafka, best: &mut Found<P>) -> io::Result<()> {
    best.ops.truncate(best.difference.at + 1);
    loop {
        let dropped = drop_operations(kafka, best)?;
        let simplified = simplify_operations(kafka, best)?;
        if !dropped && !simplified {
            return Ok(());
        }
    }
}

/// Takes a candidate in if it shows the same difference.
fn attempt<P: Profile>(
    kafka: &mut Kafka,
    best: &mut Found<P>,
    candidate: Vec<P::Operation>,
) -> io::Result<bool> {
    let Some(mut ops) = P::mended(candidate) else {
        return Ok(false);
    };
    let given = asked::<P>(kafka, &ops)?;
    let verdict = P::judge(&ops, &given);
    let slow = best.slow.then(|| P::slowly(&ops).1);
    let kind = |ops: &[P::Operation], found: &Difference| {
        let op = ops.get(found.at).map(P::name_of);
        (op, found.class, found.what())
    };
    let wanted = kind(&best.ops, &best.difference);
    let mut all = slow
        .flatten()
        .into_iter()
        .chain(verdict.explained)
        .chain(verdict.difference);
    let Some(same) = all.find(|found| kind(&ops, found) == wanted) else {
        return Ok(false);
    };
    ops.truncate(same.at + 1);
    (best.ops, best.difference) = (ops, same);
    Ok(true)
}

/// Leaves out half of the operations, a quarter and so on; true if some could go.
fn drop_operations<P: Profile>(kafka: &mut Kafka, best: &mut Found<P>) -> io::Result<bool> {
    let mut some = false;
    let mut size = (best.ops.len() / 2).max(1);
    loop {
        let mut at = 0;
        while at < best.ops.len() {
            let mut candidate = best.ops.clone();
            candidate.drain(at..(at + size).min(best.ops.len()));
            if attempt(kafka, best, candidate)? {
                some = true;
            } else {
                at += size;
            }
        }
        if size == 1 {
            return Ok(some);
        }
        size /= 2;
    }
}

/// Puts smaller forms in the place of operations; true if some could be.
fn simplify_operations<P: Profile>(kafka: &mut Kafka, best: &mut Found<P>) -> io::Result<bool> {
    let mut some = false;
    let mut at = 0;
    while at < best.ops.len() {
        let mut is_smallest = true;
        for smaller in P::smaller(&best.ops[at]) {
            let mut candidate = best.ops.clone();
            candidate[at] = smaller;
            if attempt(kafka, best, candidate)? {
                (some, is_smallest) = (true, false);
                break;
            }
        }
        at += usize::from(is_smallest);
    }
    Ok(some)
}
