//! Locks of a batch that was split: the recorder's timers ran on the clock of the test, and the timer of a part began again when
//! Kafka came to track its batch by offset. So such a lock lasts longer in a recording than with Kafka, or with us.

use super::read::Sequence;
use crate::operation::Verb;
use crate::outcome::{ACQUIRED, Run};
use crate::profile::Difference;

/// Returns true if time has passed, and records are held in the recording alone that are part of a split batch.
pub fn explains(sequence: &Sequence, difference: &Difference) -> bool {
    let op = &sequence.ops[difference.at];
    if !matches!(op.verb, Verb::Advance { .. }) {
        return false;
    }
    let around = &difference.around;
    let theirs = held_alone(&around.kafka.runs, &around.ours.runs);
    !theirs.is_empty()
        && held_alone(&around.ours.runs, &around.kafka.runs).is_empty()
        && theirs.iter().all(|(first, last)| {
            sequence.split.iter().any(|(at, partition, low, high)| {
                *at <= difference.at && *partition == op.partition && low <= first && last <= high
            })
        })
}

/// Ranges of `runs` that are held, cut at the runs beside them, where those say that nobody does.
fn held_alone(runs: &[Run], beside: &[Run]) -> Vec<(i64, i64)> {
    let is_held = |run: &&Run| run.state == ACQUIRED && !run.pending;
    let mut alone = Vec::new();
    for run in runs.iter().filter(is_held) {
        let mut next = run.first;
        for other in beside.iter().filter(is_held) {
            if other.last < next || other.first > run.last {
                continue;
            }
            if other.first > next {
                alone.push((next, other.first - 1));
            }
            next = other.last + 1;
        }
        if next <= run.last {
            alone.push((next, run.last));
        }
    }
    alone
}
