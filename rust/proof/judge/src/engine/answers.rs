//! The persister and the dead-letter queue of our side: what is handed out, and the answers, at once, later or never.

use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::{WriteState, WriteToken};
use share_state_core::share_partition::{DeadLetterCause, DeadLetterToken, member_code};
use share_state_core::time::LockTime;

use super::{Engine, Held, code_of};
use crate::operation::{Answer, Operation, When};
use crate::outcome::{Answered, Write};

impl<S: InFlightStore> Engine<S> {
    /// Hands out what is to be written and given to the dead-letter queue, and answers as the operation says, until nothing
    /// is left.
    pub(super) fn settle(&mut self, partition: usize, op: &Operation, at: usize, waits: bool) {
        let mut asked_by = waits.then_some(at);
        loop {
            let mut idle = true;
            if self.is_inline(op) {
                let writes = if self.keeper.is_some() {
                    self.settle_durable(partition, op, at, asked_by)
                } else {
                    self.settle_inline(partition, op, at, asked_by)
                };
                idle = writes == 0;
            }
            while let Some(write) = self.partitions[partition].poll_write() {
                idle = false;
                self.note_write(partition, op, at, &write.state);
                let answer = self.stored_answer(partition, op, at, &write.state);
                self.answer_as_planned(partition, write.token, answer, asked_by, at);
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
                match op.queue.when {
                    When::AtOnce => self.letter_done(partition, letter.token, at),
                    When::Later(id) => {
                        let held = self.letters.entry(id).or_default();
                        held.push((partition, letter.token));
                    }
                    When::Never => {}
                }
            }
            if idle {
                return;
            }
        }
    }

    /// Notes a write that was handed out.
    pub(super) fn note_write(
        &mut self,
        partition: usize,
        op: &Operation,
        at: usize,
        state: &WriteState,
    ) {
        let batches = state.state_batches.iter().map(|b| {
            (
                b.first_offset,
                b.last_offset,
                b.delivery_state,
                b.delivery_count,
            )
        });
        self.outcomes[at].writes.push(Write {
            start: state.start_offset,
            delivery_complete: i64::from(state.delivery_complete_count),
            batches: batches.collect(),
        });
        if op.answer.code == 0
            && op.answer.when != When::Never
            && partition + 1 == self.partitions.len()
        {
            // Stored when sent: when the answer arrives is another matter. An earlier leader is fenced.
            let stored = &mut self.stored;
            stored.start = stored.start.max(state.start_offset);
            stored.batches.merge(&state.state_batches, stored.start);
            stored.batches.clip(stored.start);
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

    pub(super) fn letter_done(&mut self, partition: usize, token: DeadLetterToken, at: usize) {
        let now = LockTime(self.clocks[partition]);
        if let Err(error) = self.partitions[partition].handle_dead_letter_done(token, now) {
            self.broken = Some((at, format!("{error:?}")));
        }
    }

    fn wait(&mut self, asked_by: Option<usize>) {
        if let Some(operation) = asked_by {
            self.outcomes[operation].answered = Answered::Pending;
        }
    }

    pub(super) fn answer(
        &mut self,
        partition: usize,
        token: WriteToken,
        code: i16,
        asked_by: Option<usize>,
        at: usize,
    ) {
        let result = self.partitions[partition].handle_write_result(
            token,
            told(code),
            LockTime(self.clocks[partition]),
        );
        match (result, asked_by) {
            (Ok(_), Some(operation)) => {
                let code = member_code(code_of(code));
                self.outcomes[operation].answered = Answered::Code(code.code());
            }
            (Ok(_), None) => {}
            (Err(error), _) => self.broken = Some((at, format!("{error:?}"))),
        }
    }
}

/// Code that our share partition hears for an answer of the persister. Kafka's class goes on where its manager would fence it
/// (S9), and so must ours here: it hears of another refusal.
pub(super) fn told(code: i16) -> KafkaCode {
    match member_code(code_of(code)) {
        KafkaCode::NotLeaderOrFollower
        | KafkaCode::GroupIdNotFound
        | KafkaCode::UnknownTopicOrPartition => KafkaCode::UnknownServerError,
        _ => code_of(code),
    }
}
