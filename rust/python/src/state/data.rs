//! Requests and answers that cross the boundary as frozen classes: values, which compare, hash, copy and pickle by their parts.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use share_state_core::persister as core;
use share_state_core::state_batch::StateBatch;

use crate::args::Int;
use crate::convert;
use crate::named_tuples;

/// A write to the persister: WriteShareGroupState for one share partition (RPC 85; Kafka: `PartitionStateBatchData`).
///
/// Args:
///     state_epoch: epoch of the state that the writer has read.
///     leader_epoch: epoch of the leader that writes.
///     start_offset: start offset at the time of the change; -1 leaves it as it was.
///     delivery_complete_count: terminal records at or after the start offset; -1 when unknown (KIP-1226).
///     state_batches: what changed, an iterable of `StateBatch` or tuples like it.
#[pyclass(frozen, module = "share_state")]
#[derive(Clone)]
pub struct WriteState {
    pub inner: core::WriteState,
}

#[pymethods]
impl WriteState {
    fn __repr__(&self) -> String {
        let core::WriteState {
            state_epoch,
            leader_epoch,
            start_offset,
            delivery_complete_count,
            state_batches,
        } = &self.inner;
        format!(
            "WriteState(state_epoch={state_epoch}, leader_epoch={leader_epoch}, start_offset={start_offset}, \
             delivery_complete_count={delivery_complete_count}, state_batches={})",
            batches_repr(state_batches)
        )
    }

    #[new]
    #[pyo3(signature = (state_epoch, leader_epoch, start_offset, delivery_complete_count, state_batches))]
    fn new(
        state_epoch: Int<i32>,
        leader_epoch: Int<i32>,
        start_offset: Int<i64>,
        delivery_complete_count: Int<i32>,
        state_batches: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        Ok(Self {
            inner: core::WriteState {
                state_epoch: state_epoch.0,
                leader_epoch: leader_epoch.0,
                start_offset: start_offset.0,
                delivery_complete_count: delivery_complete_count.0,
                state_batches: convert::state_batches_in(state_batches)?,
            },
        })
    }

    /// Epoch of the state.
    #[getter]
    const fn state_epoch(&self) -> i32 {
        self.inner.state_epoch
    }

    /// Epoch of the leader.
    #[getter]
    const fn leader_epoch(&self) -> i32 {
        self.inner.leader_epoch
    }

    /// Start offset; -1 when it is not known or not changed.
    #[getter]
    const fn start_offset(&self) -> i64 {
        self.inner.start_offset
    }

    /// Terminal records at or after the start offset; -1 when unknown.
    #[getter]
    const fn delivery_complete_count(&self) -> i32 {
        self.inner.delivery_complete_count
    }

    /// A new list of `StateBatch`.
    #[getter]
    fn state_batches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        named_tuples::state_batches_out(py, &self.inner.state_batches)
    }

    /// A new int64 array of shape (n, 4): first offset, last offset, delivery state, delivery count.
    fn state_batches_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        batches_array(py, &self.inner.state_batches)
    }
}

/// State batches as Python shows a list of tuples.
fn batches_repr(batches: &[StateBatch]) -> String {
    let tuples: Vec<String> = batches
        .iter()
        .map(|b| {
            format!(
                "({}, {}, {}, {})",
                b.first_offset, b.last_offset, b.delivery_state, b.delivery_count
            )
        })
        .collect();
    format!("[{}]", tuples.join(", "))
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

/// The answer to ReadShareGroupState for one share partition (RPC 84; Kafka: `PartitionAllData`).
///
/// Args:
///     state_epoch: epoch of the state, to be sent with every write.
///     start_offset: where the share partition starts; -1 when not yet resolved.
///     state_batches: what is known of the records after it, an iterable of `StateBatch` or tuples like it.
#[pyclass(frozen, module = "share_state")]
#[derive(Clone)]
pub struct ReadStateResult {
    pub inner: core::ReadStateResult,
}

#[pymethods]
impl ReadStateResult {
    fn __repr__(&self) -> String {
        let core::ReadStateResult {
            state_epoch,
            start_offset,
            state_batches,
        } = &self.inner;
        format!(
            "ReadStateResult(state_epoch={state_epoch}, start_offset={start_offset}, state_batches={})",
            batches_repr(state_batches)
        )
    }

    #[new]
    #[pyo3(signature = (state_epoch, start_offset, state_batches))]
    fn new(
        state_epoch: Int<i32>,
        start_offset: Int<i64>,
        state_batches: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        Ok(Self {
            inner: core::ReadStateResult {
                state_epoch: state_epoch.0,
                start_offset: start_offset.0,
                state_batches: convert::state_batches_in(state_batches)?,
            },
        })
    }

    /// Epoch of the state.
    #[getter]
    const fn state_epoch(&self) -> i32 {
        self.inner.state_epoch
    }

    /// Start offset; -1 when it is not known or not changed.
    #[getter]
    const fn start_offset(&self) -> i64 {
        self.inner.start_offset
    }

    /// A new list of `StateBatch`.
    #[getter]
    fn state_batches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        named_tuples::state_batches_out(py, &self.inner.state_batches)
    }

    /// A new int64 array of shape (n, 4): first offset, last offset, delivery state, delivery count.
    fn state_batches_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        batches_array(py, &self.inner.state_batches)
    }
}

/// The answer to ReadShareGroupStateSummary for one share partition (RPC 87; Kafka: `PartitionStateSummaryData`).
///
/// Args:
///     state_epoch: epoch of the state.
///     leader_epoch: highest leader epoch that has read it.
///     start_offset: start offset; -1 when unknown.
///     delivery_complete_count: terminal records at or after the start offset; -1 when unknown (KIP-1226).
#[pyclass(frozen, module = "share_state")]
#[derive(Clone, Copy)]
pub struct StateSummary {
    pub inner: core::StateSummary,
}

#[pymethods]
impl StateSummary {
    fn __repr__(&self) -> String {
        let core::StateSummary {
            state_epoch,
            leader_epoch,
            start_offset,
            delivery_complete_count,
        } = self.inner;
        format!(
            "StateSummary(state_epoch={state_epoch}, leader_epoch={leader_epoch}, start_offset={start_offset}, \
             delivery_complete_count={delivery_complete_count})"
        )
    }

    #[new]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "arguments of a Python constructor"
    )]
    const fn new(
        state_epoch: Int<i32>,
        leader_epoch: Int<i32>,
        start_offset: Int<i64>,
        delivery_complete_count: Int<i32>,
    ) -> Self {
        Self {
            inner: core::StateSummary {
                state_epoch: state_epoch.0,
                leader_epoch: leader_epoch.0,
                start_offset: start_offset.0,
                delivery_complete_count: delivery_complete_count.0,
            },
        }
    }

    /// Epoch of the state.
    #[getter]
    const fn state_epoch(&self) -> i32 {
        self.inner.state_epoch
    }

    /// Epoch of the leader.
    #[getter]
    const fn leader_epoch(&self) -> i32 {
        self.inner.leader_epoch
    }

    /// Start offset; -1 when it is not known or not changed.
    #[getter]
    const fn start_offset(&self) -> i64 {
        self.inner.start_offset
    }

    /// Terminal records at or after the start offset; -1 when unknown.
    #[getter]
    const fn delivery_complete_count(&self) -> i32 {
        self.inner.delivery_complete_count
    }
}

/// Makes a value of a class: its parts are the arguments of its constructor, in their order.
macro_rules! value {
    ($class:ident, $parts:ident) => {
        #[pymethods]
        impl $class {
            fn __eq__(&self, other: &Self) -> bool {
                self.inner == other.inner
            }

            fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
                self.__getnewargs__(py)?.hash()
            }

            fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                $parts(py, &self.inner)
            }
        }
    };
}

value!(WriteState, write_state_parts);
value!(ReadStateResult, read_state_parts);
value!(StateSummary, summary_parts);

type Parts<'py> = PyResult<Bound<'py, PyTuple>>;

fn write_state_parts<'py>(py: Python<'py>, write: &core::WriteState) -> Parts<'py> {
    (
        write.state_epoch,
        write.leader_epoch,
        write.start_offset,
        write.delivery_complete_count,
        named_tuples::state_batches_out(py, &write.state_batches)?.to_tuple(),
    )
        .into_pyobject(py)
}

fn read_state_parts<'py>(py: Python<'py>, read: &core::ReadStateResult) -> Parts<'py> {
    (
        read.state_epoch,
        read.start_offset,
        named_tuples::state_batches_out(py, &read.state_batches)?.to_tuple(),
    )
        .into_pyobject(py)
}

fn summary_parts<'py>(py: Python<'py>, summary: &core::StateSummary) -> Parts<'py> {
    (
        summary.state_epoch,
        summary.leader_epoch,
        summary.start_offset,
        summary.delivery_complete_count,
    )
        .into_pyobject(py)
}
