//! Many requests in one call, with one wait for the disk.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use share_state_core::ids::SharePartitionKey;
use share_state_core::persister::{InitializeState, ReadState};
use share_state_log as log;

use super::StateStore;
use super::verbs::wall;
use crate::args::{self, Int, WallMs, named};
use crate::convert;
use crate::errors;
use crate::state::data::{ReadStateResult, WriteState};

/// Takes a list of keys, or of tuples that begin with one.
fn requests_in<'py, T, F>(
    name: &str,
    requests: &Bound<'py, PyAny>,
    mut request: F,
) -> PyResult<Vec<(SharePartitionKey, T)>>
where
    F: FnMut(&Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, T)>,
{
    let mut out = Vec::new();
    for item in args::items(name, requests)? {
        let (key, request) = request(&item?)?;
        out.push((convert::key_in(&key)?, request));
    }
    Ok(out)
}

/// Takes a tuple of `expected`.
fn tuple_in<'a, 'py, T: FromPyObject<'a, 'py>>(
    item: &'a Bound<'py, PyAny>,
    expected: &str,
) -> PyResult<T> {
    item.extract()
        .map_err(|_| errors::wrong_type(item, expected))
        .or_else(|error| named(item.py(), Err(error), "requests"))
}

/// Answers, in order; a refusal as the exception that the single call raises.
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
    /// Replace many states: `reset_state` of each `(key, state_epoch, start_offset)`, one after the other, with one wait
    /// for the disk.
    ///
    /// Returns:
    ///     For each, in their order, `None`, or the exception that `reset_state` would raise.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used; nothing was answered.
    #[pyo3(signature = (requests, *, wall_ms = None))]
    fn reset_states<'py>(
        &self,
        py: Python<'py>,
        requests: &Bound<'py, PyAny>,
        wall_ms: Option<WallMs>,
    ) -> PyResult<Bound<'py, PyList>> {
        let requests = requests_in("requests", requests, |item| {
            let (key, state_epoch, start_offset): (_, Bound<'_, PyAny>, Bound<'_, PyAny>) =
                tuple_in(item, "(key, state_epoch, start_offset)")?;
            let state_epoch: Int<i32> = named(py, state_epoch.extract(), "state_epoch")?;
            let start_offset: Int<i64> = named(py, start_offset.extract(), "start_offset")?;
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

    /// Read many states: `read_state` of each `(key, leader_epoch)`, as `reset_states` does.
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
        let requests = requests_in("requests", requests, |item| {
            let (key, leader_epoch): (_, Bound<'_, PyAny>) = tuple_in(item, "(key, leader_epoch)")?;
            let leader_epoch: Int<i32> = named(py, leader_epoch.extract(), "leader_epoch")?;
            let leader_epoch = leader_epoch.0;
            Ok((key, ReadState { leader_epoch }))
        })?;
        let answers = self.call(py, |store| store.read_many(&requests, wall(wall_ms)))?;
        answers_out(py, requests.iter().map(|(key, _)| key), answers, |inner| {
            Ok(Py::new(py, ReadStateResult { inner })?.into_any())
        })
    }

    /// Read many states as the leader after the last one, which is fenced: `read_state` of each key with the next leader epoch, as
    /// `reset_states` does. Two callers never get the same epoch.
    ///
    /// Returns:
    ///     For each, in their order, `(leader_epoch, ReadStateResult)`, or the exception that `read_state` would raise.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used; nothing was answered.
    #[pyo3(signature = (keys, *, wall_ms = None))]
    fn read_states_as_next_leader<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        wall_ms: Option<WallMs>,
    ) -> PyResult<Bound<'py, PyList>> {
        let keys = requests_in("keys", keys, |key| Ok((key.clone(), ())))?;
        let answers = self.call(py, |store| {
            store.read_many_as_next_leader(&keys, wall(wall_ms))
        })?;
        let keys = keys.iter().map(|(key, ())| key);
        answers_out(py, keys, answers, |(leader_epoch, inner)| {
            let read = Py::new(py, ReadStateResult { inner })?;
            Ok((leader_epoch, read).into_pyobject(py)?.into_any().unbind())
        })
    }

    /// Lead a share partition in the leader epoch after the last one, whose leader is fenced: `share_state.persister.lead` without
    /// an epoch. Its state must have been initialised.
    ///
    /// Args:
    ///     key: the share partition.
    ///     config, latest, earliest, inline: as for `share_state.persister.lead`.
    ///
    /// Returns:
    ///     The share partition, ACTIVE.
    ///
    /// Raises:
    ///     InvalidRequestError: the request is malformed, or there is no state.
    ///     CorruptStateError: the state breaks its rules.
    ///     ArgumentValueError: the state has no start offset, and `latest` is required and missing.
    ///     StoreError: the store cannot be used; nothing was answered.
    #[pyo3(signature = (key, **arguments), text_signature = "($self, key, *, config=None, latest=None, earliest=0, inline=False)")]
    fn lead<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Refused by its name, before the function takes it apart.
        convert::key_in(key)?;
        let persister = slf.py().import("share_state.persister")?;
        persister.getattr("lead")?.call((slf, key), arguments)
    }

    /// Write many changes: `write_state` of each `(key, state)`, as `reset_states` does.
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
        let requests = requests_in("requests", requests, |item| {
            let (key, state): (_, Bound<'_, PyAny>) = tuple_in(item, "(key, state)")?;
            let state = named(py, args::one::<WriteState>(&state), "state")?;
            Ok((key, state.get().inner.clone()))
        })?;
        let answers = self.call(py, |store| store.write_many(&requests, wall(wall_ms)))?;
        answers_out(py, requests.iter().map(|(key, _)| key), answers, |()| {
            Ok(py.None())
        })
    }

    /// Delete many states: `delete_state` of each key, as `reset_states` does.
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
        let keys = requests_in("keys", keys, |key| Ok((key.clone(), ())))?;
        let answers = self.call(py, |store| store.delete_many(&keys, wall(wall_ms)))?;
        answers_out(py, keys.iter().map(|(key, ())| key), answers, |()| {
            Ok(py.None())
        })
    }
}
