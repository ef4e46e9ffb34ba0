//! Many requests in one call, with one wait for the disk.

use pyo3::prelude::*;
use pyo3::types::PyList;
use share_state_core::ids::SharePartitionKey;
use share_state_core::persister::{InitializeState, ReadState};
use share_state_log as log;

use super::StateStore;
use super::verbs::wall;
use crate::args::{Int, WallMs};
use crate::convert;
use crate::data::{ReadStateResult, WriteState};
use crate::errors;

/// Takes a list of tuples that begin with a key.
fn requests_in<'py, T, F>(
    requests: &Bound<'py, PyAny>,
    mut request: F,
) -> PyResult<Vec<(SharePartitionKey, T)>>
where
    F: FnMut(&Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, T)>,
{
    let mut out = Vec::new();
    for item in requests.try_iter()? {
        let (key, request) = request(&item?)?;
        out.push((convert::key_in(&key)?, request));
    }
    Ok(out)
}

/// What was answered, in order; a refusal as the exception that the single call raises.
fn answers_out<'a, 'py, A>(
    py: Python<'py>,
    keys: impl Iterator<Item = &'a SharePartitionKey>,
    answers: log::Answers<A>,
    answer: impl Fn(A) -> PyResult<Py<PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (key, given) in keys.zip(answers) {
        match given {
            Ok(given) => list.append(answer(given)?)?,
            Err(refused) => list.append(errors::store(py, Some(key), &refused).into_value(py))?,
        }
    }
    Ok(list)
}

#[pymethods]
impl StateStore {
    /// Begin many states again: `initialize_state` of each `(key, state_epoch, start_offset)`, one after the other, with one wait
    /// for the disk.
    ///
    /// Returns:
    ///     For each, in their order, `None`, or the exception that `initialize_state` would raise.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used; nothing was answered.
    #[pyo3(signature = (requests, *, wall_ms = None))]
    fn initialize_states<'py>(
        &self,
        py: Python<'py>,
        requests: &Bound<'py, PyAny>,
        wall_ms: Option<WallMs>,
    ) -> PyResult<Bound<'py, PyList>> {
        let requests = requests_in(requests, |item| {
            let (key, state_epoch, start_offset): (_, Int<i32>, Int<i64>) = item.extract()?;
            let request = InitializeState {
                state_epoch: state_epoch.0,
                start_offset: start_offset.0,
            };
            Ok((key, request))
        })?;
        let answers = self.call(py, |store| store.initialize_many(&requests, wall(wall_ms)))?;
        answers_out(py, requests.iter().map(|(key, _)| key), answers, |()| {
            Ok(py.None())
        })
    }

    /// Read many states: `read_state` of each `(key, leader_epoch)`, as `initialize_states` does.
    ///
    /// Returns:
    ///     For each, in their order, a `ReadStateResult`, or the exception that `read_state` would raise.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used; nothing was answered.
    #[pyo3(signature = (requests, *, wall_ms = None))]
    fn read_states<'py>(
        &self,
        py: Python<'py>,
        requests: &Bound<'py, PyAny>,
        wall_ms: Option<WallMs>,
    ) -> PyResult<Bound<'py, PyList>> {
        let requests = requests_in(requests, |item| {
            let (key, leader_epoch): (_, Int<i32>) = item.extract()?;
            let leader_epoch = leader_epoch.0;
            Ok((key, ReadState { leader_epoch }))
        })?;
        let answers = self.call(py, |store| store.read_many(&requests, wall(wall_ms)))?;
        answers_out(py, requests.iter().map(|(key, _)| key), answers, |inner| {
            Ok(Py::new(py, ReadStateResult { inner })?.into_any())
        })
    }

    /// Write many changes: `write_state` of each `(key, state)`, as `initialize_states` does.
    ///
    /// Returns:
    ///     For each, in their order, `None`, or the exception that `write_state` would raise.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used; nothing was answered.
    #[pyo3(signature = (requests, *, wall_ms = None))]
    fn write_states<'py>(
        &self,
        py: Python<'py>,
        requests: &Bound<'py, PyAny>,
        wall_ms: Option<WallMs>,
    ) -> PyResult<Bound<'py, PyList>> {
        let requests = requests_in(requests, |item| {
            let (key, state): (_, Bound<'_, WriteState>) = item.extract()?;
            Ok((key, state.get().inner.clone()))
        })?;
        let answers = self.call(py, |store| store.write_many(&requests, wall(wall_ms)))?;
        answers_out(py, requests.iter().map(|(key, _)| key), answers, |()| {
            Ok(py.None())
        })
    }

    /// Delete many states: `delete_state` of each key, as `initialize_states` does.
    ///
    /// Returns:
    ///     For each, in their order, `None`, or the exception that `delete_state` would raise.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used; nothing was answered.
    #[pyo3(signature = (keys, *, wall_ms = None))]
    fn delete_states<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        wall_ms: Option<WallMs>,
    ) -> PyResult<Bound<'py, PyList>> {
        let keys = requests_in(keys, |key| Ok((key.clone(), ())))?;
        let answers = self.call(py, |store| store.delete_many(&keys, wall(wall_ms)))?;
        answers_out(py, keys.iter().map(|(key, ())| key), answers, |()| {
            Ok(py.None())
        })
    }
}
