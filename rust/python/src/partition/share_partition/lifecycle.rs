//! Life of a share partition: its beginning, changes of its configuration, its log and its end.

use std::sync::Arc;

use pyo3::prelude::*;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_partition::Initialized;

use super::SharePartition;
use super::calls::LONG;
use crate::args::{Int, one};
use crate::convert::kafka_code;
use crate::errors;
use crate::groups::config::{GroupConfig, auto_offset_reset_out};
use crate::partition::engine::each;
use crate::partition::refusals;
use crate::state::data::ReadStateResult;

#[pymethods]
impl SharePartition {
    /// Begin to read the state: from now on the status is INITIALIZING (Kafka: `SharePartition.maybeInitialize`).
    ///
    /// Calling it is optional; `initialize` does it where it was left out.
    ///
    /// Returns:
    ///     The leader epoch to send with ReadShareGroupState.
    ///
    /// Raises:
    ///     InvalidRequestError: the share partition has begun already, has failed or is fenced.
    fn begin_initialize(&self, py: Python<'_>) -> PyResult<i32> {
        self.attached(py, |e| each!(e, sp => sp.begin_initialize()))?
            .map(|read| read.leader_epoch)
            .map_err(|e| refusals::initialize(py, self.key_of(), &e, KafkaCode::None))
    }

    /// Load what the persister answered to ReadShareGroupState (RPC 84).
    ///
    /// Costs memory in the number of state batches, whatever the number of records in them. On a share partition that is
    /// ACTIVE it does nothing.
    ///
    /// Args:
    ///     read: the answer; its state batches may come in any order.
    ///
    /// Returns:
    ///     `None` when the share partition is ACTIVE; otherwise the value of `share.auto.offset.reset` by which the caller has
    ///     to find the missing start offset for `resolve_start_offset`.
    ///
    /// Raises:
    ///     InvalidRequestError: the share partition has failed or is fenced.
    ///     CorruptStateError: the state breaks its rules; nothing of it was loaded and the status is FAILED.
    fn initialize(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = one)] read: &Bound<'_, ReadStateResult>,
    ) -> PyResult<Option<String>> {
        let read = read.get().inner.clone();
        let batches = read.state_batches.len();
        let done = self.sized(py, batches, |e| each!(e, sp => sp.initialize(read)))?;
        match done.map_err(|e| refusals::initialize(py, self.key_of(), &e, KafkaCode::None))? {
            Initialized::Active => Ok(None),
            Initialized::NeedsStartOffset(strategy) => Ok(Some(auto_offset_reset_out(strategy))),
        }
    }

    /// Give the start offset that `initialize` asked for; the share partition is ACTIVE then.
    ///
    /// Raises:
    ///     InvalidRequestError: nothing was asked for, the offset is negative, or the share partition was fenced meanwhile.
    ///     CorruptStateError: as `initialize`.
    fn resolve_start_offset(&self, py: Python<'_>, start_offset: Int<i64>) -> PyResult<()> {
        self.attached(
            py,
            |e| each!(e, sp => sp.resolve_start_offset(start_offset.0)),
        )?
        .map(|_| ())
        .map_err(|e| refusals::initialize(py, self.key_of(), &e, KafkaCode::None))
    }

    /// Tell that the persister refused the read; the status is FAILED then.
    ///
    /// Args:
    ///     error_code: Kafka's code in the answer to ReadShareGroupState.
    ///
    /// Raises:
    ///     PersisterError: always; `kafka_code` is the code for the member that waits
    ///         (Kafka: `SharePartition.fetchPersisterError`).
    fn initialize_failed(&self, py: Python<'_>, error_code: Int<i16>) -> PyResult<()> {
        let code = kafka_code(error_code.0);
        let error = self.attached(py, |e| each!(e, sp => sp.initialize_failed(code)))?;
        Err(refusals::initialize(py, self.key_of(), &error, code))
    }

    /// Change the configuration of the group. It counts from the next use on: locks that run keep their deadline, records
    /// that exceed a lowered delivery limit are archived when they are next due.
    fn configure(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = one)] config: &Bound<'_, GroupConfig>,
    ) -> PyResult<()> {
        let config = Arc::clone(&config.get().inner);
        self.attached(py, |e| each!(e, sp => sp.configure(config)))?
            .map_err(|e| errors::config(py, &e))
    }

    /// Follow the log start offset: records below it are archived (Kafka: `SharePartition.updateCacheAndOffsets`).
    ///
    /// What members hold stays theirs until it is released; it is archived then. An offset at or before the start offset is
    /// ignored. The new start offset is persisted with the next write.
    ///
    /// Returns:
    ///     Whether the start offset moved.
    fn move_log_start_offset(&self, py: Python<'_>, log_start_offset: Int<i64>) -> PyResult<bool> {
        self.sized(
            py,
            LONG,
            |e| each!(e, sp => sp.move_log_start_offset(log_start_offset.0)),
        )
    }

    /// End the service of members: another leader or state has taken over (Kafka: `SharePartition.markFenced`).
    ///
    /// Writes under way are still answered; make a new object to go on.
    fn fence(&self, py: Python<'_>) -> PyResult<()> {
        self.attached(py, |e| each!(e, sp => sp.fence()))
    }
}
