//! From Python values to the core's plain data and back. Integers out of range raise `OverflowError`, wrong types `TypeError`.

use std::ops::Deref;

use numpy::{PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple, PyType};
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_partition::{
    AbortedTransaction, AcquiredRange, ControlType, FetchedBatch,
};
use share_state_core::state_batch::StateBatch;

use crate::args::Int;

/// A `FetchedBatch` with what concerns transactions.
type MarkedBatch = (Int<i64>, Int<i64>, Int<i64>, bool, Option<Int<u8>>);

static STATE_BATCH: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static ACQUIRED_RANGE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static KEY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static TUPLE_NEW: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Accepts an iterable of `(first, last, state, count)`.
pub fn state_batches_in(batches: &Bound<'_, PyAny>) -> PyResult<Vec<StateBatch>> {
    let mut out = Vec::new();
    for batch in batches.try_iter()? {
        let (first, last, state, count): (Int<i64>, Int<i64>, Int<i8>, Int<i16>) =
            batch?.extract()?;
        out.push(StateBatch {
            first_offset: first.0,
            last_offset: last.0,
            delivery_state: state.0,
            delivery_count: count.0,
        });
    }
    Ok(out)
}

/// An instance of a named tuple, made by `tuple.__new__` as its own `_make` does: the constructor in Python costs more than
/// most calls into the engine.
pub fn named_tuple<'py>(
    class: &Bound<'py, PyType>,
    fields: Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    TUPLE_NEW
        .get_or_try_init(py, || {
            py.get_type::<PyTuple>()
                .getattr("__new__")
                .map(Bound::unbind)
        })?
        .bind(py)
        .call1((class, fields))
}

pub fn state_batches_out<'py>(
    py: Python<'py>,
    batches: &[StateBatch],
) -> PyResult<Bound<'py, PyList>> {
    let class = STATE_BATCH.import(py, "share_state.types", "StateBatch")?;
    let list = PyList::empty(py);
    for b in batches {
        let fields = (
            b.first_offset,
            b.last_offset,
            b.delivery_state,
            b.delivery_count,
        );
        list.append(named_tuple(class, fields.into_pyobject(py)?)?)?;
    }
    Ok(list)
}

pub fn acquired_out<'py>(
    py: Python<'py>,
    acquired: &[AcquiredRange],
) -> PyResult<Bound<'py, PyList>> {
    let class = ACQUIRED_RANGE.import(py, "share_state.types", "AcquiredRange")?;
    let range = |a: &AcquiredRange| {
        let fields = (a.range.first, a.range.last, a.delivery_count);
        named_tuple(class, fields.into_pyobject(py)?)
    };
    if let [only] = acquired {
        return PyList::new(py, [range(only)?]);
    }
    let list = PyList::empty(py);
    for a in acquired {
        list.append(range(a)?)?;
    }
    Ok(list)
}

/// Log batches as Python gave them; mostly it is one, for which nothing is allocated.
pub enum Fetched {
    One([FetchedBatch; 1]),
    Many(Vec<FetchedBatch>),
}

impl Deref for Fetched {
    type Target = [FetchedBatch];

    fn deref(&self) -> &[FetchedBatch] {
        match self {
            Self::One(batch) => batch,
            Self::Many(batches) => batches,
        }
    }
}

/// Accepts a sequence of `(base_offset, last_offset)` or `FetchedBatch`, or an int64 array of shape (n, 2).
pub fn fetched_in(fetched: &Bound<'_, PyAny>) -> PyResult<Fetched> {
    if let Ok(list) = fetched.cast::<PyList>()
        && list.len() == 1
    {
        return Ok(Fetched::One([fetched_batch_in(&list.get_item(0)?)?]));
    }
    fetched_batches_in(fetched).map(Fetched::Many)
}

fn fetched_batches_in(fetched: &Bound<'_, PyAny>) -> PyResult<Vec<FetchedBatch>> {
    let is_sequence = fetched.is_instance_of::<PyList>() || fetched.is_instance_of::<PyTuple>();
    if !is_sequence && let Ok(array) = fetched.cast::<PyArray2<i64>>() {
        let (rows, columns) = (array.shape()[0], array.shape()[1]);
        if columns != 2 {
            return Err(PyValueError::new_err(format!(
                "fetched has shape ({rows}, {columns}), not (n, 2)"
            )));
        }
        // What is contiguous by columns counts as contiguous too, and its rows do not lie together.
        if array.is_c_contiguous()
            && let Ok(numbers) = array.to_vec()
        {
            let pairs = numbers.chunks_exact(2);
            return Ok(pairs
                .map(|row| FetchedBatch::plain(row[0], row[1]))
                .collect());
        }
        let view = array.try_readonly()?;
        let rows = view.as_array();
        let rows = rows.rows().into_iter();
        return Ok(rows
            .map(|row| FetchedBatch::plain(row[0], row[1]))
            .collect());
    }
    fetched
        .try_iter()?
        .map(|item| fetched_batch_in(&item?))
        .collect()
}

fn fetched_batch_in(item: &Bound<'_, PyAny>) -> PyResult<FetchedBatch> {
    let tuple = item
        .cast::<PyTuple>()
        .map_err(|_| PyTypeError::new_err("fetched holds something that is no tuple"))?;
    if tuple.len() == 2 {
        let (base, last): (Int<i64>, Int<i64>) = tuple.extract()?;
        return Ok(FetchedBatch::plain(base.0, last.0));
    }
    let (base, last, producer_id, is_transactional, control): MarkedBatch = tuple.extract()?;
    Ok(FetchedBatch {
        base_offset: base.0,
        last_offset: last.0,
        producer_id: producer_id.0,
        is_transactional,
        control: control.map(|id| control_in(id.0)).transpose()?,
    })
}

fn control_in(id: u8) -> PyResult<ControlType> {
    match id {
        0 => Ok(ControlType::Abort),
        1 => Ok(ControlType::Commit),
        other => Err(PyValueError::new_err(format!(
            "control is {other}, neither 0 nor 1"
        ))),
    }
}

pub fn aborted_in(aborted: &Bound<'_, PyAny>) -> PyResult<Vec<AbortedTransaction>> {
    let mut out = Vec::new();
    for item in aborted.try_iter()? {
        let (producer_id, first_offset): (Int<i64>, Int<i64>) = item?.extract()?;
        out.push(AbortedTransaction {
            producer_id: producer_id.0,
            first_offset: first_offset.0,
        });
    }
    Ok(out)
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

/// Accepts `SharePartitionKey` or any tuple like it.
pub fn key_in(key: &Bound<'_, PyAny>) -> PyResult<SharePartitionKey> {
    let (group, topic_id, partition): (String, String, Int<i32>) = key.extract()?;
    self::key(&group, &topic_id, partition.0)
}

pub fn topic_ids_in(ids: &[String]) -> PyResult<Vec<TopicId>> {
    ids.iter().map(|id| topic_id(id)).collect()
}

/// A code that share groups do not use is as good as unknown.
pub fn kafka_code(code: i16) -> KafkaCode {
    KafkaCode::from_i16(code).unwrap_or(KafkaCode::UnknownServerError)
}
