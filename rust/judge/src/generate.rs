//! Sequences of operations that follow from a seed. Each operation is chosen with our engine's state in sight, so that most of
//! them mean something; what the operation is does not depend on Kafka.

use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;

use crate::engine::Engine;
use crate::log_model::Log;
use crate::operation::{Answer, Batch, Limits, Operation, Range, Verb, When};
use crate::outcome::{ACQUIRED, State};
use crate::random::Random;

/// How the persister of a sequence behaves.
#[derive(Clone, Copy, Debug)]
struct PersisterManner {
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
    persister: PersisterManner,
    queue_fails: u64,
    renews: bool,
    asks_always: bool,
    members: u8,
    malformed: u64,
    next_id: u32,
    leader_epoch: i32,
    ask: bool,
}

impl Generator {
    /// The generator of a sequence.
    pub fn new(seed: u64, sequence: u64) -> Self {
        let mut random = Random::new(seed, sequence);
        let log_start = random.pick(&[0, 0, 0, 7]);
        let manners = [
            PersisterManner {
                refuses: 0,
                later: 0,
                never: 0,
            },
            PersisterManner {
                refuses: 25,
                later: 0,
                never: 0,
            },
            PersisterManner {
                refuses: 10,
                later: 60,
                never: 0,
            },
            PersisterManner {
                refuses: 10,
                later: 40,
                never: 3,
            },
        ];
        Self {
            log: Log::new(&mut random, log_start),
            log_start,
            limits: Limits {
                max_locks: random.pick(&[10, 20, 50, 200, 1_000]),
                delivery_limit: random.pick(&[2, 2, 3, 4, 5, 5, 7]),
                lock_ms: random.pick(&[100, 100, 1_000, 30_000]),
                dead_letters: random.percent(15),
            },
            persister: random.pick(&manners),
            queue_fails: random.pick(&[0, 50]),
            renews: random.percent(40),
            asks_always: random.percent(50),
            members: random.pick(&[1, 2, 3, 3]),
            malformed: random.pick(&[0, 0, 0, 30]),
            random,
            next_id: 0,
            leader_epoch: -1,
            ask: false,
        }
    }

    /// Appends the next operation; often two, for a fetch is preceded by the question where to fetch.
    pub fn step<S: InFlightStore>(&mut self, engine: &mut Engine<S>, ops: &mut Vec<Operation>) {
        let verbs = self.verbs(engine, ops);
        for verb in verbs {
            let op = self.around(engine, ops, verb);
            engine.play(&op);
            ops.push(op);
        }
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
            66..=74 => {
                vec![self.advance(engine.now(), partition.poll_timeout().map(|time| time.0))]
            }
            75..=79 => vec![Verb::Release {
                member: self.member(),
            }],
            80..=83 => vec![self.log_start(state)],
            84..=92 => {
                let waiting: Vec<u32> = engine.waiting().map(|(id, _)| id).collect();
                if waiting.is_empty() {
                    vec![self.acknowledge(state)]
                } else {
                    vec![Verb::Completes {
                        id: self.random.pick(&waiting),
                    }]
                }
            }
            93 => vec![Verb::CanAcquire],
            94 => vec![Verb::NextFetchOffset],
            95 | 96 => {
                self.log.compact(&mut self.random, state.start);
                vec![self.acquire(next, state)]
            }
            97 => {
                self.change_limits();
                vec![Verb::CanAcquire]
            }
            98 if self.random.percent(15) => vec![Verb::Fence],
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
            _ => latest,
        };
        let in_force = ops.iter().rev().find_map(|op| op.limits);
        let limits = (in_force != Some(self.limits)).then_some(self.limits);
        let writes = matches!(
            verb,
            Verb::Acknowledge { .. }
                | Verb::Release { .. }
                | Verb::Advance { .. }
                | Verb::Completes { .. }
        );
        Operation {
            partition,
            answer: if writes { self.answer() } else { Answer::OK },
            queue_takes: !self.random.percent(self.queue_fails),
            limits,
            verb,
        }
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

    fn create(&mut self) -> Verb {
        self.leader_epoch += 1;
        Verb::Create {
            leader_epoch: self.leader_epoch,
            limits: self.limits,
        }
    }

    fn change_limits(&mut self) {
        let limits = &mut self.limits;
        match self.random.below(4) {
            0 => limits.max_locks = self.random.pick(&[5, 10, 20, 50, 200, 1_000]),
            1 => limits.delivery_limit = self.random.pick(&[2, 3, 4, 5, 7, 10]),
            2 => limits.lock_ms = self.random.pick(&[50, 100, 1_000, 30_000]),
            _ => limits.dead_letters = !limits.dead_letters,
        }
    }

    fn initialize<S: InFlightStore>(&mut self, engine: &Engine<S>) -> Verb {
        let first = self.leader_epoch == 0;
        let stored = &engine.stored;
        let mut start_offset = stored.start;
        let mut batches: Vec<Batch> = stored
            .batches
            .iter()
            .map(|b| {
                (
                    b.first_offset,
                    b.last_offset,
                    b.delivery_state,
                    b.delivery_count,
                )
            })
            .collect();
        if first && self.random.percent(40) {
            start_offset = self.log_start + self.random.between(0, 6);
            batches = self.persisted(start_offset);
        } else if first && self.random.percent(50) {
            start_offset = self.log_start;
        }
        let code = if self.random.one_in(60) {
            self.random.pick(KafkaCode::ALL).code()
        } else {
            0
        };
        if self.malformed > 0 && self.random.percent(5) && !batches.is_empty() {
            self.corrupt(&mut batches);
        }
        Verb::Initialize {
            code,
            state_epoch: self.random.pick(&[0, 0, 3]),
            start_offset,
            earliest: self.log_start,
            batches,
        }
    }

    fn persisted(&mut self, start: i64) -> Vec<Batch> {
        let mut batches = Vec::new();
        let mut at = start;
        for _ in 0..self.random.below(6) {
            at += self.random.pick(&[0, 0, 1, 4, 9]);
            let last = at + self.random.between(0, 9);
            let states: &[i8] = if self.random.percent(20) {
                &[0, 2, 3, 4]
            } else {
                &[0, 2, 4]
            };
            batches.push((
                at,
                last,
                self.random.pick(states),
                self.random.between(1, 4) as i16,
            ));
            at = last + 1;
        }
        batches
    }

    fn corrupt(&mut self, batches: &mut [Batch]) {
        let index = self.random.below(batches.len() as u64) as usize;
        let batch = &mut batches[index];
        match self.random.below(5) {
            0 => batch.2 = self.random.pick(&[1, 5, -1, 77]),
            1 => (batch.0, batch.1) = (batch.1 + 1, batch.0),
            2 => batch.3 = self.random.pick(&[0, -3]),
            3 => batch.0 = -4,
            _ => batch.1 += 50,
        }
    }

    fn acquire(&mut self, next: i64, state: &State) -> Verb {
        let fetch_offset = if self.random.percent(88) {
            next
        } else {
            self.random.between(
                state.start.saturating_sub(5).max(0),
                state.end.saturating_add(6),
            )
        };
        let count = self.random.pick(&[1, 1, 2, 3, 5]);
        let (fetched, aborted) = self.log.read(&mut self.random, fetch_offset, count);
        let bad = self.random.below(1_000) < self.malformed / 3;
        Verb::Acquire {
            member: if bad && self.random.percent(30) {
                0
            } else {
                self.member()
            },
            record_limit: self.random.percent(35),
            batch_size: if bad {
                self.random.pick(&[0, -1])
            } else {
                self.random.pick(&[1, 5, 10, 500])
            },
            max_records: self.random.pick(&[1, 2, 5, 10, 50, i32::MAX, 0]),
            fetch_offset,
            fetched,
            aborted: self.log.transactions().then_some(aborted),
        }
    }

    fn advance(&mut self, now: i64, due: Option<i64>) -> Verb {
        let to_deadline = due.map_or(0, |due| (due - now).max(0));
        let ms = match self.random.below(6) {
            0 => self.random.between(0, self.limits.lock_ms / 2),
            1 => (to_deadline - 1).max(0),
            2 | 3 => to_deadline,
            4 => to_deadline + self.random.between(1, 20),
            _ => self.limits.lock_ms + self.random.between(0, 10),
        };
        Verb::Advance { ms }
    }

    fn log_start(&mut self, state: &State) -> Verb {
        let high = state.end.saturating_add(4).min(self.log.end());
        let offset = if self.random.percent(80) {
            self.random
                .between(state.start, (state.start + 12).min(high.max(state.start)))
        } else {
            self.random
                .between(self.log_start, high.max(self.log_start))
        };
        self.log_start = self.log_start.max(offset);
        Verb::LogStart { offset }
    }

    fn acknowledge(&mut self, state: &State) -> Verb {
        let member = self.member();
        let mut ranges = match self.random.below(100) {
            0..=79 => self.held_ranges(state, Some(member)),
            80..=87 => self.held_ranges(state, None),
            _ => Vec::new(),
        };
        if ranges.is_empty() {
            let mut at = state.start.saturating_sub(4).max(0);
            for _ in 0..self.random.between(1, 3) {
                let first = at + self.random.between(0, 10);
                let last = first + self.random.between(0, 12);
                ranges.push((first, last));
                at = last + 1;
            }
        }
        let mut ranges: Vec<Range> = ranges
            .into_iter()
            .map(|(first, last)| Range {
                first,
                last,
                types: self.types(last - first + 1),
            })
            .collect();
        if self.random.below(1_000) < self.malformed {
            self.spoil(&mut ranges);
        }
        let renews = ranges.iter().any(|r| r.types.contains(&4));
        Verb::Acknowledge {
            member,
            ranges,
            renew: renews && !self.random.one_in(20),
        }
    }

    /// Ranges, whole or in part, of what the member (or anybody) holds.
    fn held_ranges(&mut self, state: &State, member: Option<u8>) -> Vec<(i64, i64)> {
        let held = |run: &&crate::outcome::Run| {
            run.state == ACQUIRED && !run.pending && member.is_none_or(|m| m == run.member)
        };
        let mut stretches: Vec<(i64, i64)> = Vec::new();
        for run in state.runs.iter().filter(held) {
            match stretches.last_mut() {
                Some(last) if last.1 + 1 == run.first && self.random.percent(70) => {
                    last.1 = run.last
                }
                _ => stretches.push((run.first, run.last)),
            }
        }
        let wanted = self.random.pick(&[1, 1, 2, 3]);
        let mut ranges = Vec::new();
        let skip = self.random.below(stretches.len().max(1) as u64) as usize;
        for (first, last) in stretches.into_iter().skip(skip).take(wanted) {
            let (mut low, mut high) = (first, last);
            if self.random.percent(60) {
                low = self.random.between(first, last);
                high = self.random.between(low, last);
            }
            if low < high && self.random.percent(20) {
                let middle = self.random.between(low, high - 1);
                ranges.push((low, middle));
                low = middle + 1 + i64::from(middle + 2 <= high && self.random.percent(50));
            }
            ranges.push((low, high));
        }
        ranges
    }

    fn types(&mut self, len: i64) -> Vec<i8> {
        let kinds: &[i8] = if self.renews {
            &[1, 1, 2, 3, 0, 4, 4]
        } else {
            &[1, 1, 2, 2, 3, 0]
        };
        if self.random.percent(60) || len > 400 {
            return vec![self.random.pick(kinds)];
        }
        (0..len).map(|_| self.random.pick(kinds)).collect()
    }

    fn spoil(&mut self, ranges: &mut Vec<Range>) {
        match self.random.below(6) {
            0 => ranges.reverse(),
            1 => ranges[0].types.push(1),
            2 => ranges[0].types[0] = self.random.pick(&[5, -1, 77]),
            3 => ranges[0].first = -3,
            4 => ranges[0].types.clear(),
            _ => {
                let again = ranges[ranges.len() - 1].clone();
                ranges.push(Range {
                    first: again.last,
                    last: again.last + 1,
                    types: vec![1],
                });
            }
        }
    }
}
