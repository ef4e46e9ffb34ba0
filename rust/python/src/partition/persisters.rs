//! Persisters that are made for tests, simulators and benchmarks, as Python sees them.

use std::sync::atomic::{AtomicI16, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple, PyType};
use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister as core;
use share_state_core::persister::InlinePersister;

use crate::args::{Int, one};
use crate::convert;
use crate::named_tuples;
use crate::state::data::{ReadStateResult, StateSummary, WriteState};

/// A persister that confirms everything and keeps nothing (Kafka: `NoOpStatePersister`), for simulators and benchmarks.
///
/// Given to a `SharePartition`, it is asked in Rust. As a `Persister` it answers as Kafka's does: any state is there, has epoch 0,
/// and no start offset yet.
#[pyclass(frozen, module = "share_state")]
pub struct NoOpStatePersister;

#[pymethods]
impl NoOpStatePersister {
    #[new]
    #[pyo3(signature = ())]
    const fn new() -> Self {
        Self
    }

    /// Do nothing (InitializeShareGroupState, RPC 83).
    #[expect(unused_variables, reason = "a persister that does nothing")]
    fn reset_state(&self, key: &Bound<'_, PyAny>, state_epoch: Int<i32>, start_offset: Int<i64>) {}

    /// A state of epoch 0 without start offset (ReadShareGroupState, RPC 84).
    #[expect(unused_variables, reason = "a persister that keeps nothing")]
    fn read_state(&self, key: &Bound<'_, PyAny>, leader_epoch: Int<i32>) -> ReadStateResult {
        ReadStateResult {
            inner: core::ReadStateResult {
                state_epoch: 0,
                start_offset: -1,
                state_batches: Vec::new(),
            },
        }
    }

    /// Do nothing (WriteShareGroupState, RPC 85).
    #[expect(unused_variables, reason = "a persister that does nothing")]
    fn write_state(
        &self,
        key: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = one)] state: &Bound<'_, WriteState>,
    ) {
    }

    /// Do nothing (DeleteShareGroupState, RPC 86).
    #[expect(unused_variables, reason = "a persister that does nothing")]
    fn delete_state(&self, key: &Bound<'_, PyAny>) {}

    /// The summary of a state that has not begun (ReadShareGroupStateSummary, RPC 87).
    #[expect(unused_variables, reason = "a persister that keeps nothing")]
    fn read_summary(&self, key: &Bound<'_, PyAny>) -> StateSummary {
        StateSummary {
            inner: core::StateSummary {
                state_epoch: 0,
                leader_epoch: 0,
                start_offset: -1,
                delivery_complete_count: -1,
            },
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, Bound<'py, PyTuple>) {
        (py.get_type::<Self>(), PyTuple::empty(py))
    }

    fn __repr__(&self) -> &'static str {
        "NoOpStatePersister()"
    }
}

/// A persister for tests: it keeps what `SharePartition` objects write, in order, and answers with the code that it was told.
///
/// Several share partitions may have it, in several threads.
///
/// Args:
///     error_code: Kafka's code for every answer from now on, 0 for success.
#[pyclass(frozen, module = "share_state")]
pub struct RecordingPersister {
    kept: Mutex<Vec<(SharePartitionKey, core::WriteState)>>,
    code: AtomicI16,
}

#[pymethods]
impl RecordingPersister {
    #[new]
    #[pyo3(signature = (*, error_code = Int(0)), text_signature = "(*, error_code=0)")]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "an argument of a Python constructor"
    )]
    const fn new(error_code: Int<i16>) -> Self {
        Self {
            kept: Mutex::new(Vec::new()),
            code: AtomicI16::new(error_code.0),
        }
    }

    /// Kafka's code for every answer from now on, 0 for success.
    #[getter]
    fn error_code(&self) -> i16 {
        self.code.load(Ordering::Relaxed)
    }

    #[setter]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "an argument of a Python setter"
    )]
    fn set_error_code(&self, error_code: Int<i16>) {
        self.code.store(error_code.0, Ordering::Relaxed);
    }

    /// Take what was written since the last call, refused writes included: a list of `(SharePartitionKey, WriteState)`.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let kept = std::mem::take(&mut *self.kept());
        let list = PyList::empty(py);
        for (key, inner) in kept {
            list.append((
                named_tuples::key_out(py, &key)?,
                Py::new(py, WriteState { inner })?,
            ))?;
        }
        Ok(list)
    }

    fn __len__(&self) -> usize {
        self.kept().len()
    }

    fn __repr__(&self) -> String {
        format!(
            "RecordingPersister({} writes, error_code={})",
            self.__len__(),
            self.error_code()
        )
    }
}

impl RecordingPersister {
    fn kept(&self) -> MutexGuard<'_, Vec<(SharePartitionKey, core::WriteState)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Persister that the engine sees in a [`RecordingPersister`].
pub struct Recording<'a>(pub &'a RecordingPersister);

impl InlinePersister for Recording<'_> {
    fn write_state(
        &mut self,
        key: &SharePartitionKey,
        state: core::WriteStateRef<'_>,
    ) -> KafkaCode {
        self.0.kept().push((key.clone(), state.to_write_state()));
        convert::kafka_code(self.0.error_code())
    }
}
