//! share_state's side: plays operations on our share partition, on one in-flight store.

use std::collections::BTreeMap;

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::{ReadStateResult, WriteToken};
use share_state_core::record_state::Phase;
use share_state_core::share_partition::{
    AbortedTransaction, AcknowledgeBatch, AcquireMode, AcquireRequest, ControlType,
    DeadLetterCause, FetchedBatch, InitializeError, Initialized, SharePartition,
};
use share_state_core::state_batch::{StateBatch, StateBatches};
use share_state_core::time::LockTime;

use crate::operation::{Answer, Limits, LogBatch, Operation, Verb, When, member_id};
use crate::outcome::{ACQUIRED, Answered, Outcome, Run, State, Write, push};

/// A write whose answer is held back.
struct Held {
    partition: usize,
    token: WriteToken,
    code: i16,
    /// The operation whose member waits.
    asked_by: Option<usize>,
}

/// What a coordinator would have stored.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// Start offset; -1 while nothing was written.
    pub start: i64,
    /// Batches.
    pub batches: StateBatches,
}

/// Plays operations one after the other.
pub struct Engine<S> {
    partitions: Vec<SharePartition<S>>,
    config: ShareGroupConfig,
    /// Each leader's clock; that of one who has been succeeded stands still.
    clocks: Vec<i64>,
    held: BTreeMap<u32, Vec<Held>>,
    /// What each operation gave.
    pub outcomes: Vec<Outcome>,
    /// What was written with success.
    pub stored: Stored,
    /// An invariant that broke, with the operation.
    pub broken: Option<(usize, String)>,
    last_start: i64,
    shown: Vec<State>,
}

impl<S: InFlightStore> Default for Engine<S> {
    fn default() -> Self {
        Self {
            partitions: Vec::new(),
            config: ShareGroupConfig::default(),
            clocks: Vec::new(),
            held: BTreeMap::new(),
            outcomes: Vec::new(),
            stored: Stored {
                start: -1,
                batches: StateBatches::new(),
            },
            broken: None,
            last_start: -1,
            shown: Vec::new(),
        }
    }
}

fn configured(config: &mut ShareGroupConfig, limits: Limits) {
    config.partition_max_record_locks = limits.max_locks;
    config.delivery_count_limit = limits.delivery_limit;
    config.record_lock_duration_ms = limits.lock_ms;
    config.dead_letter_queue = limits.dead_letters;
}

fn code_of(answer: i16) -> KafkaCode {
    KafkaCode::from_i16(answer).unwrap_or(KafkaCode::UnknownServerError)
}

impl<S: InFlightStore> Engine<S> {
    /// The share partition of the latest leader.
    pub fn current(&self) -> Option<&SharePartition<S>> {
        self.partitions.last()
    }

    /// Number of leaders so far.
    pub const fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// Milliseconds since the sequence began.
    pub fn now(&self) -> i64 {
        self.clocks.last().copied().unwrap_or(0)
    }

    /// Ids under which answers are held back, with the partition they go to.
    pub fn waiting(&self) -> impl Iterator<Item = (u32, usize)> {
        self.held
            .iter()
            .filter_map(|(id, held)| Some((*id, held.first()?.partition)))
    }

    /// The state of a share partition as last seen.
    pub fn state(&self, partition: usize) -> Option<&State> {
        self.shown.get(partition)
    }

    /// Plays one operation. Operations on share partitions that were never made are passed over (they come up while a sequence
    /// is shrunk).
    pub fn play(&mut self, op: &Operation) {
        let at = self.outcomes.len();
        self.outcomes.push(Outcome {
            answered: Answered::Nothing,
            exception: None,
            writes: Vec::new(),
            letters: Vec::new(),
            state: None,
        });
        if let Verb::Create {
            leader_epoch,
            limits,
        } = &op.verb
        {
            self.create(*leader_epoch, *limits);
        }
        let partition = match op.verb {
            Verb::Advance { .. } => self.partitions.len().saturating_sub(1),
            _ => op.partition,
        };
        if partition >= self.partitions.len() {
            return;
        }
        if let Some(limits) = op.limits {
            configured(&mut self.config, limits);
        }
        self.config.renew_acknowledge_enable =
            matches!(op.verb, Verb::Acknowledge { renew: true, .. });
        if self.partitions[partition].configure(self.config).is_err() {
            self.broken = Some((at, "the configuration was refused".to_owned()));
        }
        let answered = self.run(partition, op, at);
        self.outcomes[at].answered = answered;
        let waits = matches!(op.verb, Verb::Acknowledge { .. } | Verb::Release { .. });
        self.settle(partition, op, at, waits);
        self.show(partition, at);
    }

    fn create(&mut self, leader_epoch: i32, limits: Limits) {
        configured(&mut self.config, limits);
        self.config.dead_letter_queue = false;
        let key = SharePartitionKey::new("group", TopicId([7; 16]), 0);
        if let Ok(partition) = SharePartition::new(key, leader_epoch, self.config) {
            self.partitions.push(partition);
            self.clocks.push(self.now());
            self.shown.push(State::default());
            self.last_start = -1;
        }
    }

    fn run(&mut self, partition: usize, op: &Operation, at: usize) -> Answered {
        let now = LockTime(self.clocks[partition]);
        let under_test = &mut self.partitions[partition];
        match &op.verb {
            Verb::Create { .. } => Answered::Nothing,
            Verb::Initialize {
                code,
                state_epoch,
                start_offset,
                earliest,
                batches,
            } => {
                if *code != 0 {
                    return Answered::Code(initialize_code(
                        &under_test.initialize_failed(code_of(*code)),
                    ));
                }
                let read = ReadStateResult {
                    state_epoch: *state_epoch,
                    start_offset: *start_offset,
                    state_batches: batches.iter().map(|b| state_batch(*b)).collect(),
                };
                let result = match under_test.initialize(read) {
                    Ok(Initialized::NeedsStartOffset(_)) => {
                        under_test.resolve_start_offset(*earliest)
                    }
                    other => other,
                };
                Answered::Code(result.map_or_else(|error| initialize_code(&error), |_| 0))
            }
            Verb::Acquire {
                member,
                record_limit,
                batch_size,
                max_records,
                fetch_offset,
                fetched,
                aborted,
            } => {
                let aborted: Option<Vec<AbortedTransaction>> = aborted.as_ref().map(|list| {
                    let entry = |(producer_id, first_offset): &(i64, i64)| AbortedTransaction {
                        producer_id: *producer_id,
                        first_offset: *first_offset,
                    };
                    list.iter().map(entry).collect()
                });
                let request = AcquireRequest {
                    member: &member_id(*member),
                    mode: if *record_limit {
                        AcquireMode::RecordLimit
                    } else {
                        AcquireMode::BatchOptimized
                    },
                    batch_size: *batch_size,
                    max_records: *max_records,
                    fetch_offset: *fetch_offset,
                    fetched: &fetched_batches(fetched, aborted.as_deref().unwrap_or(&[])),
                    aborted: aborted.as_deref(),
                };
                match under_test.acquire(&request, now) {
                    Ok(ranges) => Answered::Acquired(
                        ranges
                            .iter()
                            .map(|a| (a.range.first, a.range.last, a.delivery_count))
                            .collect(),
                    ),
                    Err(error) => Answered::Code(error.kafka_code().code()),
                }
            }
            Verb::Acknowledge { member, ranges, .. } => {
                let batches: Vec<AcknowledgeBatch<'_>> = ranges
                    .iter()
                    .map(|r| AcknowledgeBatch {
                        first: r.first,
                        last: r.last,
                        types: &r.types,
                    })
                    .collect();
                match under_test.acknowledge(&member_id(*member), &batches, now) {
                    Ok(_) => Answered::Code(0),
                    Err(error) => Answered::Code(error.kafka_code().code()),
                }
            }
            Verb::Release { member } => {
                under_test.release(&member_id(*member), now);
                Answered::Code(0)
            }
            Verb::Advance { ms } => {
                self.clocks[partition] += ms;
                under_test.handle_timeout(LockTime(self.clocks[partition]));
                Answered::Nothing
            }
            Verb::Completes { id } => {
                for held in self.held.remove(id).unwrap_or_default() {
                    self.answer(held.partition, held.token, held.code, held.asked_by, at);
                }
                Answered::Nothing
            }
            Verb::LogStart { offset } => {
                under_test.move_log_start_offset(*offset);
                Answered::Nothing
            }
            Verb::NextFetchOffset => Answered::Offset(under_test.next_fetch_offset()),
            Verb::CanAcquire => Answered::Flag(under_test.can_acquire()),
            Verb::Fence => {
                under_test.fence();
                Answered::Nothing
            }
        }
    }

    /// Hands out what is to be written and given to the dead-letter queue, and answers as the operation says, until nothing
    /// is left.
    fn settle(&mut self, partition: usize, op: &Operation, at: usize, waits: bool) {
        let mut asked_by = waits.then_some(at);
        loop {
            let mut idle = true;
            while let Some(write) = self.partitions[partition].poll_write() {
                idle = false;
                self.outcomes[at].writes.push(Write {
                    start: write.state.start_offset,
                    delivery_complete: i64::from(write.state.delivery_complete_count),
                    batches: write
                        .state
                        .state_batches
                        .iter()
                        .map(|b| {
                            (
                                b.first_offset,
                                b.last_offset,
                                b.delivery_state,
                                b.delivery_count,
                            )
                        })
                        .collect(),
                });
                if op.answer.code == 0 && op.answer.when != When::Never {
                    // Stored when sent: when the answer arrives is another matter.
                    self.stored.start = self.stored.start.max(write.state.start_offset);
                    self.stored
                        .batches
                        .merge(&write.state.state_batches, self.stored.start);
                }
                self.answer_as_planned(partition, write.token, op.answer, asked_by, at);
            }
            // Writes of the second phase concern no member.
            asked_by = None;
            while let Some(letter) = self.partitions[partition].poll_dead_letter() {
                idle = false;
                let rejected = letter.cause == DeadLetterCause::ClientReject;
                self.outcomes[at].letters.push((
                    letter.range.first,
                    letter.range.last,
                    letter.delivery_count,
                    rejected,
                ));
                let _ = self.partitions[partition]
                    .handle_dead_letter_done(letter.token, LockTime(self.clocks[partition]));
            }
            if idle {
                return;
            }
        }
    }

    fn answer_as_planned(
        &mut self,
        partition: usize,
        token: WriteToken,
        answer: Answer,
        asked_by: Option<usize>,
        at: usize,
    ) {
        match answer.when {
            When::AtOnce => self.answer(partition, token, answer.code, asked_by, at),
            When::Later(id) => {
                self.held.entry(id).or_default().push(Held {
                    partition,
                    token,
                    code: answer.code,
                    asked_by,
                });
                self.wait(asked_by);
            }
            When::Never => self.wait(asked_by),
        }
    }

    fn wait(&mut self, asked_by: Option<usize>) {
        if let Some(operation) = asked_by {
            self.outcomes[operation].answered = Answered::Pending;
        }
    }

    fn answer(
        &mut self,
        partition: usize,
        token: WriteToken,
        code: i16,
        asked_by: Option<usize>,
        at: usize,
    ) {
        let result = self.partitions[partition].handle_write_result(
            token,
            code_of(code),
            LockTime(self.clocks[partition]),
        );
        match (result, asked_by) {
            (Ok(answer), Some(operation)) => {
                self.outcomes[operation].answered = Answered::Code(answer.member_code.code());
            }
            (Ok(_), None) => {}
            (Err(error), _) => self.broken = Some((at, format!("{error:?}"))),
        }
    }

    fn show(&mut self, partition: usize, at: usize) {
        let under_test = &self.partitions[partition];
        if let Err(broken) = under_test.check() {
            self.broken.get_or_insert((at, broken));
        }
        let state = state_of(under_test);
        if partition + 1 == self.partitions.len() && state.status == "ACTIVE" {
            if state.start < self.last_start {
                self.broken
                    .get_or_insert((at, "the start offset went back".to_owned()));
            }
            self.last_start = state.start;
        }
        if self.shown[partition] != state {
            self.outcomes[at].state = Some(state.clone());
            self.shown[partition] = state;
        }
    }
}

/// What a member sees of a failed initialisation; errors without a code of their own are UNKNOWN_SERVER_ERROR.
const fn initialize_code(error: &InitializeError) -> i16 {
    match error {
        InitializeError::Persister(code) => code.code(),
        _ => KafkaCode::UnknownServerError.code(),
    }
}

fn state_batch(
    (first_offset, last_offset, delivery_state, delivery_count): crate::operation::Batch,
) -> StateBatch {
    StateBatch {
        first_offset,
        last_offset,
        delivery_state,
        delivery_count,
    }
}

fn fetched_batches(fetched: &[LogBatch], aborted: &[AbortedTransaction]) -> Vec<FetchedBatch> {
    let mut open: Vec<AbortedTransaction> = aborted.to_vec();
    open.sort_by_key(|transaction| transaction.first_offset);
    let mut batches = Vec::with_capacity(fetched.len());
    for batch in fetched {
        let mut control = None;
        if batch.control {
            let ended = open
                .iter()
                .position(|t| t.producer_id == batch.producer && t.first_offset <= batch.base);
            control = Some(if ended.is_some() {
                ControlType::Abort
            } else {
                ControlType::Commit
            });
            if let Some(index) = ended {
                open.remove(index);
            }
        }
        batches.push(FetchedBatch {
            base_offset: batch.base,
            last_offset: batch.last,
            producer_id: batch.producer,
            is_transactional: batch.transactional,
            control,
        });
    }
    batches
}

fn state_of<S: InFlightStore>(partition: &SharePartition<S>) -> State {
    let mut runs = Vec::new();
    for shown in partition.in_flight() {
        let state = shown.state as u8;
        let pending = shown.phase != Phase::Settled;
        let held = state == ACQUIRED;
        let (member, deadline) =
            shown
                .holder
                .filter(|_| held)
                .map_or((0, -1), |(name, _, deadline)| {
                    (
                        name.trim_start_matches('m').parse().unwrap_or(0),
                        deadline.0,
                    )
                });
        push(
            &mut runs,
            Run {
                first: shown.range.first,
                last: shown.range.last,
                state,
                delivery_count: shown.delivery_count,
                member,
                pending,
                deadline: if pending { -1 } else { deadline },
            },
        );
    }
    State {
        status: partition.status().name().to_owned(),
        start: partition.start_offset(),
        end: partition.end_offset(),
        epoch: partition.state_epoch(),
        delivery_complete: i64::try_from(partition.delivery_complete_count()).unwrap_or(i64::MAX),
        looks: true,
        gap: partition.gap_window().map(|gap| gap.gap_start_offset),
        runs,
    }
}
