//! States of share partitions on their way into a node, and rounds of writes on their way out.

use pyo3::prelude::*;
use pyo3::types::PyInt;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister as core;
use share_state_gateway::node::{ServedId, Shown};

use super::{Node, WriteRound};
use crate::args::{self, Int, LockMs, named, one};
use crate::convert;
use crate::errors::{self, Raise};
use crate::state::data::ReadStateResult;

/// Start offset, terminal records at or after it, leader epoch, state epoch, mark of a change that is not durable.
type ShownState = (i64, u64, i32, i32, bool);

/// A state, or the code of the refusal to read it.
struct StateRead(Result<core::ReadStateResult, KafkaCode>);

impl<'a, 'py> FromPyObject<'a, 'py> for StateRead {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if !value.is_instance_of::<PyInt>() {
            let state: &Bound<'_, ReadStateResult> = one(&value)?;
            return Ok(Self(Ok(state.get().inner.clone())));
        }
        match convert::kafka_code(value.extract::<Int<i16>>()?.0) {
            KafkaCode::None => Err(errors::wrong_value(&value, "the code of a refusal")),
            refused => Ok(Self(Err(refused))),
        }
    }
}

#[pymethods]
impl Node {
    /// Take the state of a share partition. One that is not waited for any more changes nothing.
    ///
    /// Args:
    ///     served: the number in the need.
    ///     result: the state, or Kafka's code for the refusal to read it.
    ///     now_ms: now.
    #[pyo3(signature = (served, result, *, now_ms))]
    fn state_read(
        &self,
        py: Python<'_>,
        served: Int<u64>,
        result: StateRead,
        now_ms: LockMs,
    ) -> PyResult<()> {
        self.0.detached(py, |node| {
            node.state_read(ServedId(served.0), result.0, now_ms.0);
        })
    }

    /// Take the start offset of a share partition; `None` where none could be found. One that is not waited for any more changes
    /// nothing.
    #[pyo3(signature = (served, offset, *, now_ms))]
    fn start_found(
        &self,
        py: Python<'_>,
        served: Int<u64>,
        offset: Option<Int<i64>>,
        now_ms: LockMs,
    ) -> PyResult<()> {
        let offset = offset.map(|offset| offset.0);
        self.0.detached(py, |node| {
            node.start_found(ServedId(served.0), offset, now_ms.0);
        })
    }

    /// Tell of a share partition what others may count on. What is not durable yet may be taken back by a crash.
    ///
    /// Returns:
    ///     The start offset, the number of terminal records at or after it, the leader epoch, the state epoch, and whether a change
    ///     is not durable yet; `None` of one that does not serve.
    fn shown(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Option<ShownState>> {
        let key = convert::key_in(key)?;
        let shown = self.0.attached(py, |node| node.shown(&key))?;
        Ok(shown.map(|shown| {
            let Shown {
                start_offset,
                delivery_complete_count,
                leader_epoch,
                state_epoch,
                has_writes,
            } = shown;
            (
                start_offset,
                delivery_complete_count,
                leader_epoch,
                state_epoch,
                has_writes,
            )
        }))
    }

    /// Have the start offset of a share partition written with the next round, unless a change of it goes with that round.
    ///
    /// Returns:
    ///     The ticket of the event `start_kept` that tells the outcome; `None` of one that does not serve.
    fn keep_start(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        let key = convert::key_in(key)?;
        let ticket = self.0.attached(py, |node| node.keep_start(&key))?;
        Ok(ticket.map(|ticket| ticket.0))
    }

    /// True if there may be writes for a round that is not begun.
    #[getter]
    fn has_writes(&self, py: Python<'_>) -> PyResult<bool> {
        self.0.attached(py, |node| node.has_writes())
    }

    /// Take the next round of writes; `None` while one is under way, or where nothing is to be written.
    fn poll_round(&self, py: Python<'_>) -> PyResult<Option<WriteRound>> {
        let round = self.0.attached(py, |node| node.poll_round())?;
        Ok(round.map(WriteRound))
    }

    /// Take the answers to a round.
    ///
    /// Args:
    ///     number: that of the round.
    ///     codes: Kafka's code for each write, in their order: 0 once it is as durable as is promised.
    ///     now_ms: now.
    ///
    /// Raises:
    ///     InvalidRequestError: no such round is under way, or it has another number of writes; `field` is `number`.
    #[pyo3(signature = (number, codes, *, now_ms))]
    fn settle(
        &self,
        py: Python<'_>,
        number: Int<u64>,
        codes: &Bound<'_, PyAny>,
        now_ms: LockMs,
    ) -> PyResult<()> {
        let mut answers = Vec::new();
        for code in args::items("codes", codes)? {
            let code: Int<i16> = named(py, code?.extract(), format!("codes[{}]", answers.len()))?;
            answers.push(convert::kafka_code(code.0));
        }
        let settled = self
            .0
            .detached(py, |node| node.settle(number.0, &answers, now_ms.0))?;
        settled.map_err(|error| {
            Raise::new(py, "InvalidRequestError", error)
                .fact("field", "number")
                .fact("value", error.number)
                .done()
        })
    }
}
