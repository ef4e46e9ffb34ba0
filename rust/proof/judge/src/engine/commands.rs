//! The operations as calls of our share partition.

use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::ReadStateResult;
use share_state_core::share_partition::{
    AbortedTransaction, AcknowledgeBatch, AcquireMode, AcquireRequest, ControlType, FetchedBatch,
    InitializeError, Initialized,
};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::LockTime;

use super::{Engine, code_of};
use crate::operation::{LogBatch, Operation, Verb, member_id};
use crate::outcome::Answered;

impl<S: InFlightStore> Engine<S> {
    pub(super) fn run(&mut self, partition: usize, op: &Operation, at: usize) -> Answered {
        let now = LockTime(self.clocks[partition]);
        let is_inline = self.is_inline(op) && self.keeper.is_none();
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
                let read = match &mut self.keeper {
                    None => read,
                    Some(keeper) => {
                        let epoch = under_test.leader_epoch();
                        match keeper.read(partition, epoch, read.clone()) {
                            Ok(read) => read,
                            Err(error) => {
                                self.broken.get_or_insert((at, error));
                                read
                            }
                        }
                    }
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
                let member = member_id(*member);
                if is_inline {
                    return self.acknowledge_inline(partition, op, at, &member, &batches);
                }
                match under_test.acknowledge(&member, &batches, now) {
                    Ok(_) => Answered::Code(0),
                    Err(error) => Answered::Code(error.kafka_code().code()),
                }
            }
            Verb::Release { member } if is_inline => {
                self.release_inline(partition, op, at, &member_id(*member))
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
            Verb::LettersDone { id } => {
                for (partition, token) in self.letters.remove(id).unwrap_or_default() {
                    self.letter_done(partition, token, at);
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
}

/// Code that a member sees of a failed initialisation; errors without a code of their own are UNKNOWN_SERVER_ERROR.
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
