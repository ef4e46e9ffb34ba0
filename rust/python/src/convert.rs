//! From Python values to the core's plain data and back. Integers out of range raise `OverflowError`, wrong types `TypeError`.

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple, PyType};
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::share_partition::{
    AbortedTransaction, AcquiredRange, ControlType, FetchedBatch,
};
use share_state_core::state_batch::StateBatch;

static STATE_BATCH: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static ACQUIRED_RANGE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static KEY: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Accepts an iterable of `(first, last, state, count)`.
pub fn state_batches_in(batches: &Bound<'_, PyAny>) -> PyResult<Vec<StateBatch>> {
    let mut out = Vec::new();
    for batch in batches.try_iter()? {
        let (first_offset, last_offset, delivery_state, delivery_count) = batch?.extract()?;
        out.push(StateBatch {
            first_offset,
            last_offset,
            delivery_state,
            delivery_count,
        });
    }
    Ok(out)
}

pub fn state_batches_out<'py>(
    py: Python<'py>,
    batches: &[StateBatch],
) -> PyResult<Bound<'py, PyList>> {
    let class = STATE_BATCH.import(py, "share_state.types", "StateBatch")?;
    let list = PyList::empty(py);
    for b in batches {
        list.append(class.call1((
            b.first_offset,
            b.last_offset,
            b.delivery_state,
            b.delivery_count,
        ))?)?;
    }
    Ok(list)
}

pub fn acquired_out<'py>(
    py: Python<'py>,
    acquired: &[AcquiredRange],
) -> PyResult<Bound<'py, PyList>> {
    let class = ACQUIRED_RANGE.import(py, "share_state.types", "AcquiredRange")?;
    let list = PyList::empty(py);
    for a in acquired {
        list.append(class.call1((a.range.first, a.range.last, a.delivery_count))?)?;
    }
    Ok(list)
}

/// Accepts a sequence of `(base_offset, last_offset)` or `FetchedBatch`, or an int64 array of shape (n, 2).
pub fn fetched_in(fetched: &Bound<'_, PyAny>) -> PyResult<Vec<FetchedBatch>> {
    if let Ok(array) = fetched.extract::<PyReadonlyArray2<'_, i64>>() {
        let view = array.as_array();
        if view.ncols() != 2 {
            return Err(PyValueError::new_err(format!(
                "fetched has shape ({}, {}), not (n, 2)",
                view.nrows(),
                view.ncols()
            )));
        }
        return Ok(view
            .rows()
            .into_iter()
            .map(|row| FetchedBatch::plain(row[0], row[1]))
            .collect());
    }
    let mut out = Vec::new();
    for item in fetched.try_iter()? {
        let item = item?;
        let tuple = item
            .cast::<PyTuple>()
            .map_err(|_| PyTypeError::new_err("fetched holds something that is no tuple"))?;
        out.push(if tuple.len() == 2 {
            let (base_offset, last_offset) = tuple.extract()?;
            FetchedBatch::plain(base_offset, last_offset)
        } else {
            let (base_offset, last_offset, producer_id, is_transactional, control): (
                i64,
                i64,
                i64,
                bool,
                Option<u8>,
            ) = tuple.extract()?;
            FetchedBatch {
                base_offset,
                last_offset,
                producer_id,
                is_transactional,
                control: control.map(|c| {
                    if c == 0 {
                        ControlType::Abort
                    } else {
                        ControlType::Commit
                    }
                }),
            }
        });
    }
    Ok(out)
}

pub fn aborted_in(aborted: &Bound<'_, PyAny>) -> PyResult<Vec<AbortedTransaction>> {
    let mut out = Vec::new();
    for item in aborted.try_iter()? {
        let (producer_id, first_offset) = item?.extract()?;
        out.push(AbortedTransaction {
            producer_id,
            first_offset,
        });
    }
    Ok(out)
}

/// The elements of a one-dimensional array, without a copy where it is contiguous.
pub fn column<'a, T: numpy::Element + Copy>(
    array: &'a PyReadonlyArray1<'_, T>,
) -> std::borrow::Cow<'a, [T]> {
    match array.as_slice() {
        Ok(slice) => std::borrow::Cow::Borrowed(slice),
        Err(_) => std::borrow::Cow::Owned(array.as_array().iter().copied().collect()),
    }
}

pub fn topic_id(text: &str) -> PyResult<TopicId> {
    TopicId::parse(text).ok_or_else(|| {
        PyValueError::new_err(format!(
            "topic_id is {text:?}, neither a hyphenated UUID nor 22 characters of URL-safe base64"
        ))
    })
}

pub fn key(group: &str, topic: &str, partition: i32) -> PyResult<SharePartitionKey> {
    Ok(SharePartitionKey::new(group, topic_id(topic)?, partition))
}

pub fn key_out<'py>(py: Python<'py>, key: &SharePartitionKey) -> PyResult<Bound<'py, PyAny>> {
    KEY.import(py, "share_state.types", "SharePartitionKey")?
        .call1((&*key.group, key.topic_id.to_string(), key.partition))
}
