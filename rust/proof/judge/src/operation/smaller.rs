//! Smaller forms of an operation, for making a sequence small.

use super::{Answer, Operation, Queue, Verb};

/// Smaller forms of an operation, one step each.
#[must_use]
pub fn smaller(op: &Operation) -> Vec<Operation> {
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
    forms.retain(|form| form != op);
    forms
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, Range, When};
    use super::{Answer, Operation, Queue, Verb, smaller};

    #[test]
    fn each_part_can_go_and_there_is_an_end() {
        let range = |first, types: &[i8]| Range {
            first,
            last: first + 1,
            types: types.to_vec(),
        };
        let mut op = Operation {
            limits: Some(Limits {
                max_locks: 10,
                delivery_limit: 5,
                lock_ms: 100,
                dead_letters: false,
            }),
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
        let mut steps = 0;
        while let Some(form) = smaller(&op).into_iter().next() {
            op = form;
            steps += 1;
        }
        assert_eq!(
            (op.limits, op.answer, op.queue),
            (None, Answer::OK, Queue::OK)
        );
        let least = Verb::Acknowledge {
            member: 1,
            ranges: vec![range(5, &[1])],
            renew: false,
        };
        assert_eq!((op.verb, steps), (least, 4));
    }
}
