//! Sequences of operations that follow from a seed. Each operation is chosen with our engine's state in sight, so that most of
//! them mean something; what the operation is does not depend on Kafka.

mod acknowledge;
mod leader;
mod world;

use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;

use crate::engine::Engine;
use crate::log_model::Log;
use crate::operation::{Answer, Limits, Operation, Queue, Verb, When};
use crate::outcome::State;
use crate::random::Random;

/// Manner of the persister of a sequence, or of its dead-letter queue: times in a hundred.
#[derive(Clone, Copy, Debug)]
struct Manner {
    refuses: u64,
    later: u64,
    never: u64,
}

/// Makes the operations of one sequence.
pub struct Generator {
    random: Random,
    log: Log,
    log_start: i64,
    limits: Limits,
    persister: Manner,
    queue_manner: Manner,
    renews: bool,
    asks_always: bool,
    members: u8,
    malformed: u64,
    next_id: u32,
    leader_epoch: i32,
    ask: bool,
    /// The leader for whom time passes next, when it is not the latest.
    goes_on: Option<usize>,
    successions: Vec<usize>,
}

impl Generator {
    /// The generator of a sequence. At the `successions` a new leader takes over, whatever else would have come; what stands before
    /// them does not depend on them.
    pub fn new(mut random: Random, successions: &[usize]) -> Self {
        let log_start = random.pick(&[0, 0, 0, 7]);
        let manners = [
            Manner {
                refuses: 0,
                later: 0,
                never: 0,
            },
            Manner {
                refuses: 25,
                later: 0,
                never: 0,
            },
            Manner {
                refuses: 10,
                later: 60,
                never: 0,
            },
            Manner {
                refuses: 10,
                later: 40,
                never: 3,
            },
        ];
        Self {
            log: Log::new(&mut random, log_start),
            log_start,
            limits: Limits {
                max_locks: random.pick(&[10, 20, 50, 200, 1_000, 10_000]),
                delivery_limit: random.pick(&[2, 2, 3, 4, 5, 5, 7]),
                lock_ms: random.pick(&[100, 100, 1_000, 30_000]),
                dead_letters: random.percent(25),
            },
            persister: random.pick(&manners),
            queue_manner: Manner {
                refuses: random.pick(&[0, 30]),
                later: random.pick(&[0, 50]),
                never: random.pick(&[0, 0, 20]),
            },
            renews: random.percent(40),
            asks_always: random.percent(50),
            members: random.pick(&[1, 2, 3, 3]),
            malformed: random.pick(&[0, 0, 0, 30]),
            random,
            next_id: 0,
            leader_epoch: -1,
            ask: false,
            goes_on: None,
            successions: successions.to_vec(),
        }
    }

    /// Appends the next operation; often two, for a fetch is preceded by the question where to fetch.
    pub fn step<S: InFlightStore>(&mut self, engine: &mut Engine<S>, ops: &mut Vec<Operation>) {
        let verbs = if self.succeeds(ops) {
            self.ask = false;
            vec![self.create()]
        } else {
            self.verbs(engine, ops)
        };
        for (index, verb) in verbs.into_iter().enumerate() {
            if index > 0 && self.succeeds(ops) {
                return;
            }
            let op = self.around(engine, ops, verb);
            engine.play(&op);
            ops.push(op);
        }
    }

    fn succeeds(&self, ops: &[Operation]) -> bool {
        self.successions.contains(&ops.len())
    }

    fn verbs<S: InFlightStore>(&mut self, engine: &Engine<S>, ops: &[Operation]) -> Vec<Verb> {
        let Some(partition) = engine.current() else {
            return vec![self.create()];
        };
        if matches!(ops.last().map(|op| &op.verb), Some(Verb::Create { .. })) {
            return vec![self.initialize(engine)];
        }
        if partition.status().name() != "ACTIVE" {
            let waiting: Vec<u32> = engine.waiting().map(|(id, _)| id).collect();
            return vec![match self.random.below(6) {
                0 if !waiting.is_empty() => Verb::Completes {
                    id: self.random.pick(&waiting),
                },
                1 => self.advance(engine.now(), partition.poll_timeout().map(|time| time.0)),
                2 => self.acquire(partition.next_fetch_offset(), &State::default()),
                _ => self.create(),
            }];
        }
        if core::mem::take(&mut self.ask) {
            return vec![if self.random.percent(70) {
                Verb::NextFetchOffset
            } else {
                Verb::CanAcquire
            }];
        }
        self.ask = self.asks_always;
        let empty = State::default();
        let state = engine.state(engine.partitions() - 1).unwrap_or(&empty);
        let next = partition.next_fetch_offset();
        match self.random.below(100) {
            0..=33 => {
                let mut verbs = Vec::new();
                if self.random.percent(80) {
                    verbs.push(Verb::NextFetchOffset);
                }
                verbs.push(self.acquire(next, state));
                verbs
            }
            34..=65 => vec![self.acknowledge(state)],
            66..=73 => {
                vec![self.advance(engine.now(), partition.poll_timeout().map(|time| time.0))]
            }
            74 => {
                let leader = self.random.below(engine.partitions() as u64) as usize;
                self.goes_on = Some(leader);
                let (due, clock) = engine.due(leader);
                vec![self.advance(clock, due)]
            }
            75..=79 => vec![Verb::Release {
                member: self.member(),
            }],
            80..=83 => vec![self.log_start(state)],
            84..=92 => {
                let writes = engine.waiting().map(|(id, _)| Verb::Completes { id });
                let letters = engine.letters().map(|(id, _)| Verb::LettersDone { id });
                let waiting: Vec<Verb> = writes.chain(letters).collect();
                let chosen = self.random.below(waiting.len() as u64) as usize;
                let answer = waiting.into_iter().nth(chosen);
                vec![answer.unwrap_or_else(|| self.acknowledge(state))]
            }
            93 => vec![if self.random.percent(50) {
                Verb::CanAcquire
            } else {
                Verb::NextFetchOffset
            }],
            94 => self.at_the_deadline(engine.now(), state),
            95 | 96 => {
                self.log.compact(&mut self.random, state.start);
                vec![self.acquire(next, state)]
            }
            97 => {
                self.change_limits();
                vec![Verb::CanAcquire]
            }
            98 if self.random.percent(15) => vec![Verb::Fence],
            98 if self.malformed > 0 => vec![self.nobody(state)],
            _ => vec![self.create()],
        }
    }

    /// The operation around a verb: where it goes, what the persister says.
    fn around<S: InFlightStore>(
        &mut self,
        engine: &Engine<S>,
        ops: &[Operation],
        verb: Verb,
    ) -> Operation {
        let latest = engine.partitions().saturating_sub(1);
        let partition = match &verb {
            Verb::Create { .. } => engine.partitions(),
            Verb::Completes { id } => engine
                .waiting()
                .find(|(waiting, _)| waiting == id)
                .map_or(latest, |(_, at)| at),
            Verb::LettersDone { id } => engine
                .letters()
                .find(|(waiting, _)| waiting == id)
                .map_or(latest, |(_, at)| at),
            Verb::Advance { .. } => self.goes_on.take().unwrap_or(latest),
            _ => latest,
        };
        // A leader learns of the configuration by its own operations, and an earlier one learns nothing more.
        let known = ops
            .iter()
            .rev()
            .filter(|op| op.partition == partition)
            .find_map(|op| op.limits);
        let limits = (partition >= latest && known != Some(self.limits)).then_some(self.limits);
        let writes = matches!(
            verb,
            Verb::Acknowledge { .. }
                | Verb::Release { .. }
                | Verb::Advance { .. }
                | Verb::Completes { .. }
                | Verb::LettersDone { .. }
        );
        Operation {
            partition,
            answer: if writes { self.answer() } else { Answer::OK },
            queue: self.queue(),
            limits,
            verb,
        }
    }

    fn queue(&mut self) -> Queue {
        let mut queue = Queue {
            takes: !self.random.percent(self.queue_manner.refuses),
            when: When::AtOnce,
        };
        if !self.limits.dead_letters {
            return Queue::OK;
        }
        if self.random.percent(self.queue_manner.later) {
            self.next_id += 1;
            queue.when = When::Later(self.next_id);
        } else if self.random.percent(self.queue_manner.never) {
            queue.when = When::Never;
        }
        queue
    }

    fn answer(&mut self) -> Answer {
        let mut answer = Answer::OK;
        if self.random.percent(self.persister.refuses) {
            let code = self.random.pick(KafkaCode::ALL).code();
            answer.code = if self.random.one_in(20) {
                Answer::EXCEPTION
            } else {
                code
            };
        }
        if self.random.percent(self.persister.later) {
            self.next_id += 1;
            answer.when = When::Later(self.next_id);
        } else if self.random.percent(self.persister.never) {
            answer.when = When::Never;
        }
        answer
    }

    fn member(&mut self) -> u8 {
        self.random.between(1, i64::from(self.members)) as u8
    }
}
