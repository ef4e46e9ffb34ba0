//! Smaller forms of an operation, and how heavy operations are, for making a sequence small.

use super::{Answer, Operation, Queue, Verb};

/// Amount that there is to read in operations beside their number.
#[must_use]
pub fn weight(ops: &[Operation]) -> usize {
    ops.iter()
        .map(|op| {
            let world = usize::from(op.limits.is_some())
                + usize::from(op.answer != Answer::OK)
                + usize::from(op.queue != Queue::OK);
            world
                + match &op.verb {
                    Verb::Acquire {
                        fetched,
                        record_limit,
                        aborted,
                        ..
                    } => {
                        fetched.len() + usize::from(*record_limit) + usize::from(aborted.is_some())
                    }
                    Verb::Acknowledge { ranges, .. } => {
                        ranges.iter().map(|r| 1 + r.types.len()).sum()
                    }
                    Verb::Initialize { batches, .. } => batches.len(),
                    _ => 0,
                }
        })
        .sum()
}

/// Smaller forms of an operation, one step each.
#[must_use]
pub fn simpler(op: &Operation) -> Vec<Operation> {
    let mut forms = vec![
        Operation {
            limits: None,
            ..op.clone()
        },
        Operation {
            answer: Answer::OK,
            ..op.clone()
        },
        Operation {
            queue: Queue::OK,
            ..op.clone()
        },
    ];
    let mut add = |verb: Verb| forms.push(Operation { verb, ..op.clone() });
    match &op.verb {
        Verb::Acquire { fetched, .. } => {
            for index in 0..fetched.len() {
                let mut verb = op.verb.clone();
                if let Verb::Acquire { fetched, .. } = &mut verb {
                    fetched.remove(index);
                }
                add(verb);
            }
            let mut verb = op.verb.clone();
            if let Verb::Acquire {
                record_limit,
                aborted,
                ..
            } = &mut verb
            {
                *record_limit = false;
                *aborted = None;
            }
            add(verb);
        }
        Verb::Acknowledge { ranges, .. } => {
            for index in 0..ranges.len() {
                if ranges.len() > 1 {
                    let mut verb = op.verb.clone();
                    if let Verb::Acknowledge { ranges, .. } = &mut verb {
                        ranges.remove(index);
                    }
                    add(verb);
                }
                if ranges[index].types.len() > 1 {
                    let mut verb = op.verb.clone();
                    if let Verb::Acknowledge { ranges, .. } = &mut verb {
                        ranges[index].types.truncate(1);
                    }
                    add(verb);
                }
            }
        }
        Verb::Initialize { batches, .. } => {
            for index in 0..batches.len() {
                let mut verb = op.verb.clone();
                if let Verb::Initialize { batches, .. } = &mut verb {
                    batches.remove(index);
                }
                add(verb);
            }
        }
        _ => {}
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, Range, When};
    use super::{Answer, Operation, Queue, Verb, simpler, weight};

    const LIMITS: Limits = Limits {
        max_locks: 10,
        delivery_limit: 5,
        lock_ms: 100,
        dead_letters: false,
    };

    #[test]
    fn a_simpler_form_is_never_heavier_and_each_part_can_go() {
        let range = |first, types: &[i8]| Range {
            first,
            last: first + 1,
            types: types.to_vec(),
        };
        let whole = Operation {
            limits: Some(LIMITS),
            answer: Answer {
                code: 3,
                when: When::Never,
            },
            queue: Queue {
                takes: false,
                when: When::Never,
            },
            partition: 0,
            verb: Verb::Acknowledge {
                member: 1,
                ranges: vec![range(0, &[1, 2]), range(5, &[1])],
                renew: false,
            },
        };
        let begun = weight(std::slice::from_ref(&whole));
        let mut least = whole;
        let mut steps = 0;
        loop {
            let heavy = weight(std::slice::from_ref(&least));
            let forms = simpler(&least);
            assert!(
                forms
                    .iter()
                    .all(|form| weight(std::slice::from_ref(form)) <= heavy)
            );
            let Some(lighter) = forms
                .into_iter()
                .find(|form| weight(std::slice::from_ref(form)) < heavy)
            else {
                break;
            };
            least = lighter;
            steps += 1;
        }
        assert_eq!(begun, 8);
        assert_eq!((weight(&[least]), steps), (2, 4));
    }
}
