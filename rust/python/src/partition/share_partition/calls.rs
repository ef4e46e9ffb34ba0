//! Calls of one share partition: into its lock, its writes, and their answers.

use pyo3::prelude::*;
use share_state_core::kafka_code::KafkaCode;

use super::SharePartition;
use crate::errors;
use crate::partition::engine::Engine;
use crate::partition::inline_writes::{CallWrites, RefusedWrite, WaitingWrite};
use crate::partition::partition_state::PartitionState;
use crate::partition::refusals;

/// Up to this many batches a call is over sooner than a detaching from the interpreter pays.
const SHORT: usize = 64;

/// Batches of a call that may take long.
pub const LONG: usize = usize::MAX;

impl SharePartition {
    /// Runs `work` on the engine, attached to the interpreter: for short calls.
    pub fn attached<R>(&self, py: Python<'_>, work: impl FnOnce(&mut Engine) -> R) -> PyResult<R> {
        let mut writes = CallWrites::of_one();
        let result = self.state.attached(py, |state| {
            state.run(&mut writes, |state, _| work(&mut state.engine))
        })?;
        self.answered(py, writes)?;
        Ok(result)
    }

    /// Runs `work` on the engine, detached from the interpreter if there are many batches to it.
    pub(super) fn sized<R: Send>(
        &self,
        py: Python<'_>,
        batches: usize,
        work: impl FnOnce(&mut Engine) -> R + Send,
    ) -> PyResult<R> {
        self.writing(py, batches, |state, _| work(&mut state.engine))
            .map(|(result, _)| result)
    }

    /// As [`Self::sized`], for work that may have writes made by itself. Returns also the refusal of a write of the call that a
    /// member waits for.
    pub(super) fn writing<R: Send>(
        &self,
        py: Python<'_>,
        batches: usize,
        work: impl FnOnce(&mut PartitionState, &mut CallWrites) -> R + Send,
    ) -> PyResult<(R, Option<RefusedWrite>)> {
        let mut writes = CallWrites::of_one();
        let call = |state: &mut PartitionState| state.run(&mut writes, work);
        let result = if batches <= SHORT {
            self.state.attached(py, call)
        } else {
            self.state.detached(py, call)
        }?;
        Ok((result, self.answered(py, writes)?))
    }

    /// The refusal of a write of the call that a member waits for, once all its writes are answered.
    fn answered(&self, py: Python<'_>, writes: CallWrites) -> PyResult<Option<RefusedWrite>> {
        if writes.is_confirmed() {
            return Ok(None);
        }
        self.waited(py, writes)
    }

    /// As [`Self::answered`], of a call whose writes wait for a store or were refused.
    #[cold]
    fn waited(&self, py: Python<'_>, mut writes: CallWrites) -> PyResult<Option<RefusedWrite>> {
        if !writes.waiting.is_empty() {
            py.detach(|| self.end_writes(&mut writes))
                .map_err(|panic| errors::poisoned(py, "this SharePartition", &panic))?;
        }
        if writes.outcome.refused != KafkaCode::None {
            let (code, why) = (writes.outcome.refused, writes.why.as_deref());
            refusals::log_write(py, self.key_of(), code, why)?;
        }
        Ok(writes.refused())
    }

    /// Waits for the store, and tells the engine its answers.
    fn end_writes(&self, writes: &mut CallWrites) -> Result<(), String> {
        while !writes.waiting.is_empty() {
            let waiting = std::mem::take(&mut writes.waiting);
            let answered: Vec<_> = waiting.into_iter().map(WaitingWrite::end).collect();
            self.state.lock().run(|state| {
                state.run(writes, |state, writes| {
                    for write in answered {
                        write.tell(&mut state.engine, writes);
                    }
                });
            })?;
        }
        Ok(())
    }
}
