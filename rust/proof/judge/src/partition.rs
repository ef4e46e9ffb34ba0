//! Sequences on a share partition: Kafka's `SharePartition` beside ours, on both in-flight stores.

use std::collections::BTreeMap;
use std::io;

use serde_json::Value;
use share_state_core::in_flight::IntervalStore;

use crate::coverage::reached;
use crate::deliberate;
use crate::engine::Engine;
use crate::export;
use crate::generate::Generator;
use crate::kafka::Kafka;
use crate::operation::smaller::smaller;
use crate::operation::{Operation, Verb};
use crate::profile::{Class, Difference, Profile, Verdict, asked};
use crate::random::Random;
use crate::verdict::{Comparison, compared, durable_fault, hangs, own_fault, play};

/// The profile `engine`.
pub struct OnPartitions;

impl Profile for OnPartitions {
    type Operation = Operation;

    const NAME: &'static str = "engine";
    const SUITE: &'static str = "share_partition";

    fn rules() -> Vec<Class> {
        let rules = deliberate::RULES.iter();
        rules.map(|rule| (rule.id, rule.what)).collect()
    }

    fn generate(random: &mut Random, length: usize, renewals: &[usize]) -> Vec<Operation> {
        let mut generator = Generator::new(random.clone(), renewals);
        let mut engine = Engine::<IntervalStore>::default();
        let mut ops = Vec::new();
        while ops.len() < length {
            generator.step(&mut engine, &mut ops);
        }
        ops
    }

    /// Numbers leaders again after some were dropped; what spoke of a dropped one speaks of the one before.
    fn mended(mut ops: Vec<Operation>) -> Option<Vec<Operation>> {
        let mut leaders = 0;
        let mut numbers = BTreeMap::new();
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
        Some(ops)
    }

    fn smaller(op: &Operation) -> Vec<Operation> {
        smaller(op)
    }

    fn to_json(op: &Operation) -> Value {
        op.to_json(false)
    }

    fn name_of(op: &Operation) -> &'static str {
        op.verb.name()
    }

    fn judge(ops: &[Operation], given: &[Value]) -> Verdict {
        let engine = play::<IntervalStore>(ops);
        let Comparison {
            compared,
            explained,
            difference,
            apart,
            ..
        } = match compared(ops, given, &engine.outcomes, |_| false) {
            Ok(comparison) => comparison,
            Err(malformed) => Comparison {
                difference: Some(Difference::new(
                    0,
                    "format",
                    malformed.0,
                    String::new(),
                    None,
                )),
                ..Comparison::default()
            },
        };
        // A few operations are not worth another play.
        let worth = ops.len() / 20;
        let place = apart.iter().find(|(_, lost)| *lost > worth);
        let place = place.map(|(place, _)| *place);
        // The new leader stands in place of the call that does not return.
        let call = place.filter(|place| hangs(given) && place + 1 == given.len());
        let replaced = explained.iter().find(|found| Some(found.at) == call);
        let replaced = replaced.and_then(|found| found.class);
        Verdict {
            compared: compared.len(),
            reached: reached(ops, &engine.outcomes, &compared),
            difference: own_fault(ops, &engine).or(difference),
            apart: place,
            replaced: replaced.map(|class| (class, "acquire: Kafka does not return")),
            explained,
        }
    }

    fn slowly(ops: &[Operation]) -> (Vec<String>, Option<Difference>) {
        let (tally, fault) = durable_fault(ops, &play::<IntervalStore>(ops));
        (tally.reached(), fault)
    }

    fn exported(
        kafka: &mut Kafka,
        name: &str,
        ops: &[Operation],
    ) -> io::Result<(Value, Vec<Option<usize>>)> {
        let given = asked::<Self>(kafka, ops)?;
        export::exported(kafka, name, ops, &given)
    }
}

#[cfg(test)]
mod tests {
    use super::OnPartitions;
    use crate::operation::{Answer, Limits, Operation, Queue, Verb};
    use crate::profile::Profile;

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
        let limits = Limits {
            max_locks: 10,
            delivery_limit: 5,
            lock_ms: 100,
            dead_letters: false,
        };
        Verb::Create {
            leader_epoch,
            limits,
        }
    }

    #[test]
    fn leaders_are_numbered_anew_when_one_is_dropped() {
        let ops = vec![
            op(0, create(0)),
            op(2, create(2)),
            op(2, Verb::CanAcquire),
            op(1, Verb::Fence),
        ];
        let expected = [
            op(0, create(0)),
            op(1, create(1)),
            op(1, Verb::CanAcquire),
            op(0, Verb::Fence),
        ];
        assert_eq!(OnPartitions::mended(ops).unwrap(), expected);
    }
}
