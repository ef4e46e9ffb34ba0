//! Makes a sequence smaller as long as it still shows the same difference.

use std::io;

use serde_json::{Value, json};
use share_state_core::in_flight::IntervalStore;

use crate::kafka::Kafka;
use crate::operation::smaller::{simpler, weight};
use crate::operation::{Operation, Verb};
use crate::verdict::{Difference, durable_fault, judge, own_fault, play};

/// The request that plays operations on Kafka's side.
#[must_use]
pub fn request(ops: &[Operation]) -> Value {
    let ops: Vec<Value> = ops.iter().map(|op| op.to_json(false)).collect();
    json!({"suite": "share_partition", "deadlines": true, "ops": ops})
}

/// The difference of a sequence, on either side, that is like the one given.
fn difference(
    kafka: &mut Kafka,
    ops: &[Operation],
    wanted: &Difference,
    kind: &str,
) -> io::Result<Option<Difference>> {
    kafka.send(&request(ops));
    let given = kafka.receive()?;
    let engine = play::<IntervalStore>(ops);
    let verdict =
        judge(ops, &given, &engine.outcomes).map_err(|error| io::Error::other(error.0))?;
    // A disk is slow, so it is asked only where the difference is its own.
    let durable = wanted.is_durable().then(|| durable_fault(ops, &engine).1);
    Ok(own_fault(ops, &engine)
        .into_iter()
        .chain(durable.flatten())
        .chain(verdict.explained)
        .chain(verdict.difference)
        .find(|found| alike(wanted, found, kind, ops)))
}

fn alike(a: &Difference, b: &Difference, kind: &str, ops: &[Operation]) -> bool {
    a.class == b.class
        && ops.get(b.at).is_some_and(|op| op.verb.name() == kind)
        && a.points.first().map(|p| p.what) == b.points.first().map(|p| p.what)
}

/// The smallest sequence found, with its difference.
///
/// # Errors
/// Kafka's side has failed.
pub fn shrink(
    kafka: &mut Kafka,
    ops: &[Operation],
    found: &Difference,
) -> io::Result<(Vec<Operation>, Difference)> {
    let kind = ops[found.at].verb.name();
    let mut best = (ops[..=found.at].to_vec(), found.clone());
    loop {
        let before = best.0.len();
        let weight = weight(&best.0);
        drop_operations(kafka, &mut best, kind)?;
        simplify_operations(kafka, &mut best, kind)?;
        if best.0.len() == before && self::weight(&best.0) == weight {
            return Ok(best);
        }
    }
}

type Best = (Vec<Operation>, Difference);

fn attempt(
    kafka: &mut Kafka,
    best: &mut Best,
    kind: &str,
    candidate: Vec<Operation>,
) -> io::Result<bool> {
    let Some(found) = difference(kafka, &candidate, &best.1, kind)? else {
        return Ok(false);
    };
    let mut ops = candidate;
    ops.truncate(found.at + 1);
    *best = (ops, found);
    Ok(true)
}

fn drop_operations(kafka: &mut Kafka, best: &mut Best, kind: &str) -> io::Result<()> {
    let mut size = (best.0.len() / 2).max(1);
    loop {
        let mut at = 0;
        while at < best.0.len() {
            let mut candidate = best.0.clone();
            candidate.drain(at..(at + size).min(best.0.len()));
            if !attempt(kafka, best, kind, renumbered(candidate))? {
                at += size;
            }
        }
        if size == 1 {
            return Ok(());
        }
        size /= 2;
    }
}

/// Numbers leaders again after some were dropped; what spoke of a dropped one speaks of the one before.
fn renumbered(mut ops: Vec<Operation>) -> Vec<Operation> {
    let mut leaders = 0;
    let mut numbers = std::collections::BTreeMap::new();
    for op in &mut ops {
        if let Verb::Create { leader_epoch, .. } = &mut op.verb {
            numbers.insert(op.partition, leaders);
            op.partition = leaders;
            *leader_epoch = leaders as i32;
            leaders += 1;
        } else {
            let known = numbers.range(..=op.partition).next_back();
            op.partition = known.map_or(0, |(_, number)| *number);
        }
    }
    ops
}

fn simplify_operations(kafka: &mut Kafka, best: &mut Best, kind: &str) -> io::Result<()> {
    let mut at = 0;
    while at < best.0.len() {
        for simpler in simpler(&best.0[at]) {
            if at >= best.0.len() {
                break;
            }
            let mut candidate = best.0.clone();
            candidate[at] = simpler;
            if candidate != best.0 {
                attempt(kafka, best, kind, candidate)?;
            }
        }
        at += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::renumbered;
    use crate::operation::{Answer, Limits, Operation, Queue, Verb};

    fn op(partition: usize, verb: Verb) -> Operation {
        Operation {
            partition,
            verb,
            limits: None,
            answer: Answer::OK,
            queue: Queue::OK,
        }
    }

    fn create(leader_epoch: i32) -> Verb {
        Verb::Create {
            leader_epoch,
            limits: LIMITS,
        }
    }

    const LIMITS: Limits = Limits {
        max_locks: 10,
        delivery_limit: 5,
        lock_ms: 100,
        dead_letters: false,
    };

    #[test]
    fn leaders_are_numbered_anew_when_one_is_dropped() {
        let ops = vec![
            op(0, create(0)),
            op(2, create(2)),
            op(2, Verb::CanAcquire),
            op(1, Verb::Fence),
        ];
        let ops = renumbered(ops);
        let partitions: Vec<usize> = ops.iter().map(|op| op.partition).collect();
        assert_eq!(partitions, [0, 1, 1, 0]);
        assert!(matches!(
            ops[1].verb,
            Verb::Create {
                leader_epoch: 1,
                ..
            }
        ));
    }
}
