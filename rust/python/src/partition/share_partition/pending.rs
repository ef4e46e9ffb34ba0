//! Pending work: writes to the persister, locks that will run out, records on their way to the dead-letter queue.

use pyo3::prelude::*;
use pyo3::types::PyRange;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::WriteToken;
use share_state_core::share_partition::DeadLetterToken;

use super::SharePartition;
use super::calls::LONG;
use crate::args::{Int, LockMs};
use crate::convert::kafka_code;
use crate::partition::engine::each;
use crate::partition::refusals;
use crate::partition::seen;

#[pymethods]
impl SharePartition {
    /// Take the next write to make, oldest first; `None` when there is none, as ever with a persister.
    ///
    /// Writes of one share partition have to reach the persister in this order. Each must be answered by
    /// `handle_write_result`: until then its records belong to nobody and cannot be acquired.
    fn poll_write<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let write = self.attached(py, |e| each!(e, sp => sp.poll_write()))?;
        write
            .map(|write| seen::pending_write(py, write))
            .transpose()
    }

    /// Tell the persister's answer to a write: the change stands, or is rolled back.
    ///
    /// Rolled back, a record is with its member again until its lock runs out, or available when it has run out meanwhile. The
    /// writes of lock time-outs are not rolled back: their records are available whatever the answer.
    ///
    /// Args:
    ///     token: token of the write.
    ///     error_code: Kafka's code in the answer to WriteShareGroupState (RPC 85), 0 for success; one that share groups do
    ///         not use counts as UNKNOWN_SERVER_ERROR (-1).
    ///     now_ms: now, on the monotonic clock.
    ///
    /// Returns:
    ///     Kafka's code for the member that waits, 0 for success (Kafka: `SharePartition.fetchPersisterError`).
    ///
    /// Raises:
    ///     InvalidRequestError: no write with this token is under way.
    #[pyo3(signature = (token, error_code = Int(0), *, now_ms),
        text_signature = "($self, token, error_code=0, *, now_ms)")]
    fn handle_write_result(
        &self,
        py: Python<'_>,
        token: Int<u64>,
        error_code: Int<i16>,
        now_ms: LockMs,
    ) -> PyResult<i16> {
        let (token, code) = (WriteToken(token.0), kafka_code(error_code.0));
        self.attached(
            py,
            |e| each!(e, sp => sp.handle_write_result(token, code, now_ms.0)),
        )?
        .map(|answer| answer.member_code.code())
        .map_err(|e| refusals::unknown_token(py, self.key_of(), e))
    }

    /// Number of writes that were not answered yet, those that were not taken yet included.
    #[getter]
    fn writes_under_way(&self, py: Python<'_>) -> PyResult<usize> {
        self.attached(py, |e| each!(e, sp => sp.writes_under_way()))
    }

    /// The tokens of the writes that wait to be polled, as a `range`.
    #[getter]
    fn tokens_to_poll<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyRange>> {
        let tokens = self.attached(py, |e| each!(e, sp => sp.tokens_to_poll()))?;
        PyRange::new(py, tokens.start as isize, tokens.end as isize)
    }

    /// The answer to a write, whoever carried it: Kafka's code for the member, 0 for success; `None` while it is under way.
    ///
    /// Raises:
    ///     InvalidRequestError: no write has this token, or more than a thousand later runs of refused writes have pushed it out.
    fn write_answer(&self, py: Python<'_>, token: Int<u64>) -> PyResult<Option<i16>> {
        let token = WriteToken(token.0);
        self.attached(py, |e| each!(e, sp => sp.write_answer(token)))?
            .map(|code| code.map(KafkaCode::code))
            .map_err(|e| refusals::unknown_token(py, self.key_of(), e))
    }

    /// The earliest deadline of a lock, in ms on the caller's monotonic clock; `None` when no lock runs. Call `handle_timeout`
    /// then.
    fn poll_timeout(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        let deadline = self.attached(py, |e| each!(e, sp => sp.poll_timeout()))?;
        Ok(deadline.map(|deadline| deadline.0))
    }

    /// Let due locks run out: their records are available again, or archived when they were delivered as often as allowed
    /// (Kafka: `SharePartition.releaseAcquisitionLockOnTimeout`).
    ///
    /// Any number of due locks becomes one write of coalesced state batches, several where one may not carry them.
    ///
    /// Returns:
    ///     The number of records whose lock ran out.
    #[pyo3(signature = (*, now_ms))]
    fn handle_timeout(&self, py: Python<'_>, now_ms: LockMs) -> PyResult<u64> {
        self.sized(py, LONG, |e| each!(e, sp => sp.handle_timeout(now_ms.0)))
    }

    /// Take the next records for the dead-letter queue; `None` when there are none (KIP-1191).
    ///
    /// They are ARCHIVING, as persisted, until `handle_dead_letter_done` is told.
    fn poll_dead_letter<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let letter = self.attached(py, |e| each!(e, sp => sp.poll_dead_letter()))?;
        letter
            .map(|letter| seen::dead_letter(py, &letter))
            .transpose()
    }

    /// Tell that records have reached the dead-letter queue, or were given up: they become ARCHIVED, by a write.
    ///
    /// Raises:
    ///     InvalidRequestError: no dead letter with this token is under way.
    #[pyo3(signature = (token, *, now_ms))]
    fn handle_dead_letter_done(
        &self,
        py: Python<'_>,
        token: Int<u64>,
        now_ms: LockMs,
    ) -> PyResult<()> {
        let token = DeadLetterToken(token.0);
        self.attached(
            py,
            |e| each!(e, sp => sp.handle_dead_letter_done(token, now_ms.0)),
        )?
        .map_err(|e| refusals::unknown_token(py, self.key_of(), e))
    }
}
