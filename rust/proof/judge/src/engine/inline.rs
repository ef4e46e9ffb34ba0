//! The one-call forms: a persister answers inside the call that leads to the write.

use share_state_core::ids::SharePartitionKey;
use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::{InlinePersister, WriteState, WriteStateRef};
use share_state_core::share_partition::{AcknowledgeBatch, Settlement, member_code};
use share_state_core::time::LockTime;

use super::answers::told;
use super::{Engine, Form, code_of};
use crate::operation::{Operation, When};
use crate::outcome::Answered;

/// Keeps what it is given, and answers as it was told.
struct Recording {
    code: KafkaCode,
    kept: Vec<WriteState>,
}

impl InlinePersister for Recording {
    fn write_state(&mut self, _: &SharePartitionKey, state: WriteStateRef<'_>) -> KafkaCode {
        self.kept.push(state.to_write_state());
        self.code
    }
}

impl<S: InFlightStore> Engine<S> {
    /// Returns true if a persister answers the writes of the operation within the call.
    pub(super) fn is_inline(&self, op: &Operation) -> bool {
        self.form == Form::Inline && op.answer.when == When::AtOnce
    }

    pub(super) fn acknowledge_inline(
        &mut self,
        partition: usize,
        op: &Operation,
        at: usize,
        member: &str,
        batches: &[AcknowledgeBatch<'_>],
    ) -> Answered {
        let now = LockTime(self.clocks[partition]);
        let mut persister = recording(op);
        let under_test = &mut self.partitions[partition];
        let settled = under_test.acknowledge_and_settle(member, batches, now, &mut persister);
        self.note_writes(partition, op, at, &persister);
        match settled {
            Ok(settlement) => answered(op, settlement),
            Err(error) => Answered::Code(error.kafka_code().code()),
        }
    }

    pub(super) fn release_inline(
        &mut self,
        partition: usize,
        op: &Operation,
        at: usize,
        member: &str,
    ) -> Answered {
        let now = LockTime(self.clocks[partition]);
        let mut persister = recording(op);
        let under_test = &mut self.partitions[partition];
        let (_, settlement) = under_test.release_and_settle(member, now, &mut persister);
        self.note_writes(partition, op, at, &persister);
        answered(op, settlement)
    }

    /// Has the writes made that wait; returns their number.
    pub(super) fn settle_inline(
        &mut self,
        partition: usize,
        op: &Operation,
        at: usize,
        asked_by: Option<usize>,
    ) -> usize {
        let mut persister = recording(op);
        let settlement = self.partitions[partition].settle(&mut persister);
        self.note_writes(partition, op, at, &persister);
        if let Some(operation) = asked_by.filter(|_| settlement.writes > 0) {
            self.outcomes[operation].answered = answered(op, settlement);
        }
        settlement.writes
    }

    fn note_writes(&mut self, partition: usize, op: &Operation, at: usize, persister: &Recording) {
        for state in &persister.kept {
            self.note_write(partition, op, at, state);
        }
    }
}

fn recording(op: &Operation) -> Recording {
    Recording {
        code: told(op.answer.code),
        kept: Vec::new(),
    }
}

/// Answer that the member sees: the code of the persister where the settlement says that its write was refused.
pub(super) fn answered(op: &Operation, settlement: Settlement) -> Answered {
    Answered::Code(match settlement.member_code {
        KafkaCode::None => 0,
        _ => member_code(code_of(op.answer.code)).code(),
    })
}
