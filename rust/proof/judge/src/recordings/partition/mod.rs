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

use serde_json::Value;
use share_state_core::in_flight::IntervalStore;

use super::cases::{Outcome as Case, Played};
use super::fields::Unknown;
use crate::outcome::{Outcome, push};
use crate::profile::Difference;
use crate::verdict::{compared, durable_fault, own_fault, play as play_on};
use pieces::Unplayable;

/// Plays a scenario.
///
/// # Errors
/// It is not of the format.
pub fn play(scenario: &Value) -> Result<Played, Unknown> {
    let sequence = match read::sequence(scenario) {
        Ok(sequence) => sequence,
        Err(Unplayable::Left(left)) => return Ok(Err(left)),
        Err(Unplayable::Malformed(unknown)) => return Err(unknown),
    };
    let ops = &sequence.ops;
    let engine = play_on::<IntervalStore>(ops);
    let mut case = Case {
        operations: ops.len(),
        ..Case::default()
    };
    let mut fault = own_fault(ops, &engine);
    if fault.is_none() {
        (case.durable, fault) = durable_fault(ops, &engine);
    }
    let differs = |difference: Difference| {
        let at = sequence.places.get(difference.at).copied();
        let points = difference.points.into_iter();
        points.map(move |point| (at, point))
    };
    if let Some(fault) = fault {
        case.points.extend(differs(fault));
        return Ok(Ok(case));
    }
    let ours: Vec<Outcome> = engine.outcomes.iter().map(without_deadlines).collect();
    let is_split = |difference: &Difference| split::explains(&sequence, difference);
    let compared = compared(ops, &sequence.given, &ours, is_split);
    let compared = compared.map_err(|malformed| Unknown(malformed.0))?;
    case.compared = compared.compared.len();
    case.is_split = compared.set_aside > 0;
    for difference in &compared.explained {
        let place = sequence.places[difference.at];
        let class = difference.class.map(|class| (place, class));
        case.deliberate.extend(class);
    }
    case.points
        .extend(compared.difference.into_iter().flat_map(differs));
    Ok(Ok(case))
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
