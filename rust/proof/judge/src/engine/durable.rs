//! The durable form: a store on a disk has the writes, and answers those that are to succeed.

use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::WriteState;
use share_state_core::share_partition::Settlement;

use super::Engine;
use super::answers::told;
use super::inline::answered;
use crate::durable::{Begun, Keeper};
use crate::operation::{Answer, Operation, When};

/// Returns true if the sequence has the writes of an operation reach the persister and succeed.
fn succeeds(op: &Operation) -> bool {
    op.answer.code == 0 && op.answer.when != When::Never
}

impl<S: InFlightStore> Engine<S> {
    /// The queued form: the store takes a write when it is handed out. Its answer, which comes when the sequence says.
    pub(super) fn stored_answer(
        &mut self,
        partition: usize,
        op: &Operation,
        at: usize,
        write: &WriteState,
    ) -> Answer {
        let begun = self.begin(partition, op, at, write);
        let code = self.end(begun, op, at);
        Answer { code, ..op.answer }
    }

    /// The inline form: every write gets its place in the log while the share partition is locked, and is waited for afterwards.
    /// Returns the number of writes.
    pub(super) fn settle_durable(
        &mut self,
        partition: usize,
        op: &Operation,
        at: usize,
        asked_by: Option<usize>,
    ) -> usize {
        let mut begun = Vec::new();
        while let Some(write) = self.partitions[partition].lend_write() {
            let (token, is_awaited) = (write.token, write.is_awaited);
            let state = write.state.to_write_state();
            begun.push((token, is_awaited, self.begin(partition, op, at, &state)));
            self.note_write(partition, op, at, &state);
        }
        let mut settlement = Settlement::default();
        let writes = begun.len();
        for (token, is_awaited, write) in begun {
            let code = told(self.end(write, op, at));
            self.partitions[partition].settle_one(token, is_awaited, code, &mut settlement);
        }
        if let Some(operation) = asked_by.filter(|_| writes > 0) {
            self.outcomes[operation].answered = answered(op, settlement);
        }
        writes
    }

    fn begin(&mut self, partition: usize, op: &Operation, at: usize, write: &WriteState) -> Begun {
        let begun = self
            .keeper
            .as_mut()
            .map_or(Ok(Begun::Planned), |keeper: &mut Keeper| {
                keeper.begin(partition, succeeds(op), write)
            });
        begun.unwrap_or_else(|error| {
            self.broken.get_or_insert((at, error));
            Begun::Planned
        })
    }

    /// The answer of whoever has the write.
    fn end(&mut self, write: Begun, op: &Operation, at: usize) -> i16 {
        let (Begun::Accepted(write), Some(keeper)) = (write, &mut self.keeper) else {
            return op.answer.code;
        };
        let ended = keeper.end(write);
        let code = ended.unwrap_or_else(|error| {
            self.broken.get_or_insert((at, error));
            KafkaCode::UnknownServerError
        });
        code.code()
    }
}
