//! `StateRoom` for Python: whether a write fits the state that a cluster's share coordinator keeps.

use pyo3::prelude::*;
use share_state_core::coordinator::CoordinatorError;
use share_state_core::ids::SharePartitionKey;
use share_state_core::state_room::{self as core, Admission};
use share_state_wire::state_record::snapshot_capacity;

use crate::args::{Int, one};
use crate::convert;
use crate::errors;
use crate::locked::Locked;
use crate::state::data::{ReadStateResult, WriteState};

/// Tells a client of share coordinators elsewhere which writes would make a state too large for a snapshot.
///
/// `max_message_bytes` is the `max.message.bytes` of `__share_group_state`.
#[pyclass(frozen, module = "share_state._core")]
pub struct StateRoom {
    room: Locked<core::StateRoom>,
}

#[pymethods]
impl StateRoom {
    #[new]
    #[pyo3(signature = ())]
    fn new() -> Self {
        Self {
            room: Locked::new("StateRoom", core::StateRoom::new()),
        }
    }

    /// Take what a leader has read.
    fn read(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = one)] result: &Bound<'_, ReadStateResult>,
    ) -> PyResult<()> {
        let key = convert::key_in(key)?;
        let read = &result.get().inner;
        self.room.detached(py, |room| room.read(&key, read))
    }

    /// Take what was read because `admit` said `False`. The next `admit` tells for certain.
    fn read_again(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = one)] result: &Bound<'_, ReadStateResult>,
    ) -> PyResult<()> {
        let key = convert::key_in(key)?;
        let read = &result.get().inner;
        self.room.detached(py, |room| room.read_again(&key, read))
    }

    /// Return True if a write is known to fit, and count it as sent from now on. If not, read the state, tell `read_again`,
    /// and ask again.
    ///
    /// Raises:
    ///     LimitExceededError: the state with the write, or the write itself, is too large for a record; nothing has changed.
    fn admit(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = one)] state: &Bound<'_, WriteState>,
        max_message_bytes: Int<u64>,
    ) -> PyResult<bool> {
        let key = convert::key_in(key)?;
        let allowed = allowed(py, &key, max_message_bytes)?;
        let write = &state.get().inner;
        let told: Result<Admission, CoordinatorError> = self
            .room
            .attached(py, |room| room.admit(&key, write, allowed))?;
        told.map(|admission| admission == Admission::Fits)
            .map_err(|error| errors::coordinator(py, &key, &error))
    }

    /// Take that a write which fitted has happened.
    fn confirmed(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = one)] state: &Bound<'_, WriteState>,
        max_message_bytes: Int<u64>,
    ) -> PyResult<()> {
        let key = convert::key_in(key)?;
        let allowed = allowed(py, &key, max_message_bytes)?;
        let write = &state.get().inner;
        self.room
            .attached(py, |room| room.confirmed(&key, write, allowed))
    }

    /// Take that a write which fitted was refused, or that nobody knows whether it has happened.
    fn unconfirmed(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let key = convert::key_in(key)?;
        self.room.attached(py, |room| room.unconfirmed(&key))
    }

    /// Forget what is known of a state.
    fn forget(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let key = convert::key_in(key)?;
        self.room.attached(py, |room| room.forget(&key))
    }
}

fn allowed(
    py: Python<'_>,
    key: &SharePartitionKey,
    max_message_bytes: Int<u64>,
) -> PyResult<usize> {
    let bytes = usize::try_from(max_message_bytes.0).unwrap_or(usize::MAX);
    snapshot_capacity(key, bytes).map_err(|error| errors::wire(py, &error))
}
