//! Plain data that crosses the boundary as frozen classes.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use share_state_core::persister as core;
use share_state_core::state_batch::StateBatch;

use crate::convert;

/// What to write to the persister (WriteShareGroupState for one share partition).
#[pyclass(frozen, eq, module = "share_state")]
#[derive(Clone, PartialEq, Eq)]
pub struct WriteState {
    pub inner: core::WriteState,
}

#[pymethods]
impl WriteState {
    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }

    #[new]
    #[pyo3(signature = (state_epoch, leader_epoch, start_offset, delivery_complete_count, state_batches))]
    fn new(
        state_epoch: i32,
        leader_epoch: i32,
        start_offset: i64,
        delivery_complete_count: i32,
        state_batches: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        Ok(Self {
            inner: core::WriteState {
                state_epoch,
                leader_epoch,
                start_offset,
                delivery_complete_count,
                state_batches: convert::state_batches_in(state_batches)?,
            },
        })
    }

    #[getter]
    const fn state_epoch(&self) -> i32 {
        self.inner.state_epoch
    }

    #[getter]
    const fn leader_epoch(&self) -> i32 {
        self.inner.leader_epoch
    }

    #[getter]
    const fn start_offset(&self) -> i64 {
        self.inner.start_offset
    }

    #[getter]
    const fn delivery_complete_count(&self) -> i32 {
        self.inner.delivery_complete_count
    }

    #[getter]
    fn state_batches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        convert::state_batches_out(py, &self.inner.state_batches)
    }

    fn state_batches_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        batches_array(py, &self.inner.state_batches)
    }
}

fn batches_array<'py>(
    py: Python<'py>,
    batches: &[StateBatch],
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let flat: Vec<i64> = batches
        .iter()
        .flat_map(|b| {
            [
                b.first_offset,
                b.last_offset,
                i64::from(b.delivery_state),
                i64::from(b.delivery_count),
            ]
        })
        .collect();
    PyArray1::from_vec(py, flat).reshape([batches.len(), 4])
}

/// A write to be made, with the token of its answer.
#[pyclass(frozen, module = "share_state")]
pub struct PendingWrite {
    #[pyo3(get)]
    pub token: u64,
    #[pyo3(get)]
    pub state: Py<WriteState>,
}

#[pymethods]
impl PendingWrite {
    fn __repr__(&self) -> String {
        format!(
            "PendingWrite(token={}, state={:?})",
            self.token,
            self.state.get().inner
        )
    }
}

/// The answer to ReadShareGroupState for one share partition.
#[pyclass(frozen, eq, module = "share_state")]
#[derive(Clone, PartialEq, Eq)]
pub struct ReadStateResult {
    pub inner: core::ReadStateResult,
}

#[pymethods]
impl ReadStateResult {
    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }

    #[new]
    #[pyo3(signature = (state_epoch, start_offset, state_batches))]
    fn new(
        state_epoch: i32,
        start_offset: i64,
        state_batches: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        Ok(Self {
            inner: core::ReadStateResult {
                state_epoch,
                start_offset,
                state_batches: convert::state_batches_in(state_batches)?,
            },
        })
    }

    #[getter]
    const fn state_epoch(&self) -> i32 {
        self.inner.state_epoch
    }

    #[getter]
    const fn start_offset(&self) -> i64 {
        self.inner.start_offset
    }

    #[getter]
    fn state_batches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        convert::state_batches_out(py, &self.inner.state_batches)
    }

    fn state_batches_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        batches_array(py, &self.inner.state_batches)
    }
}

/// The answer to ReadShareGroupStateSummary for one share partition.
#[pyclass(frozen, eq, module = "share_state")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StateSummary {
    pub inner: core::StateSummary,
}

#[pymethods]
impl StateSummary {
    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }

    #[new]
    const fn new(
        state_epoch: i32,
        leader_epoch: i32,
        start_offset: i64,
        delivery_complete_count: i32,
    ) -> Self {
        Self {
            inner: core::StateSummary {
                state_epoch,
                leader_epoch,
                start_offset,
                delivery_complete_count,
            },
        }
    }

    #[getter]
    const fn state_epoch(&self) -> i32 {
        self.inner.state_epoch
    }

    #[getter]
    const fn leader_epoch(&self) -> i32 {
        self.inner.leader_epoch
    }

    #[getter]
    const fn start_offset(&self) -> i64 {
        self.inner.start_offset
    }

    #[getter]
    const fn delivery_complete_count(&self) -> i32 {
        self.inner.delivery_complete_count
    }
}

/// A record of the state topic, as bytes.
#[pyclass(frozen, module = "share_state")]
pub struct Record {
    #[pyo3(get)]
    pub key: Py<PyBytes>,
    #[pyo3(get)]
    pub value: Option<Py<PyBytes>>,
}

/// What a share coordinator decided: records to append, and the answer to give once they are durable.
#[pyclass(frozen, module = "share_state")]
pub struct Decision {
    #[pyo3(get)]
    pub records: Py<PyList>,
    #[pyo3(get)]
    pub answer: Py<PyAny>,
}

/// Records for the dead-letter queue (KIP-1191).
#[pyclass(frozen, module = "share_state", get_all)]
pub struct DeadLetter {
    pub token: u64,
    pub first_offset: i64,
    pub last_offset: i64,
    pub delivery_count: i16,
    pub cause: &'static str,
}

/// A run of in-flight records.
#[pyclass(frozen, module = "share_state", get_all)]
pub struct InFlight {
    pub first_offset: i64,
    pub last_offset: i64,
    pub state: u8,
    pub delivery_count: i16,
    pub pending: bool,
    pub member: Option<String>,
    pub acquired_at_ms: Option<i64>,
    pub deadline_ms: Option<i64>,
}

#[pymethods]
impl InFlight {
    fn __repr__(&self) -> String {
        let Self {
            first_offset,
            last_offset,
            state,
            delivery_count,
            pending,
            member,
            acquired_at_ms,
            deadline_ms,
        } = self;
        format!(
            "InFlight(first_offset={first_offset}, last_offset={last_offset}, state={state}, delivery_count={delivery_count}, \
             pending={pending}, member={member:?}, acquired_at_ms={acquired_at_ms:?}, deadline_ms={deadline_ms:?})"
        )
    }
}
