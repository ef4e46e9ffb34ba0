//! Conversion of Python values to the core's plain data and back.

use std::ops::Deref;

use numpy::{PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::StateCounts;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::record_state::RecordState;
use share_state_core::share_partition as core;
use share_state_core::share_partition::{AbortedTransaction, FetchedBatch};
use share_state_core::state_batch::StateBatch;

use crate::args::{self, Int, TOPIC_ID, Topic, named, text};
use crate::errors;
use crate::partition::acquired_range::AcquiredRange;
use crate::words::{Control, State};

/// A part of a tuple, before it is looked at.
type Part<'py> = Bound<'py, PyAny>;

/// Accepts an iterable of `(first, last, state, count)`.
pub fn state_batches_in(batches: &Bound<'_, PyAny>) -> PyResult<Vec<StateBatch>> {
    let mut out = Vec::new();
    for batch in args::items("state_batches", batches)? {
        out.push(state_batch_in(out.len(), &batch?)?);
    }
    Ok(out)
}

fn state_batch_in(index: usize, batch: &Bound<'_, PyAny>) -> PyResult<StateBatch> {
    let py = batch.py();
    let part = |name: &str| format!("state_batches[{index}]{name}");
    let fields = batch.extract::<(Part<'_>, Part<'_>, Part<'_>, Part<'_>)>();
    let Ok((first, last, state, count)) = fields else {
        let expected = "(first_offset, last_offset, delivery_state, delivery_count)";
        return named(py, Err(errors::wrong_value(batch, expected)), part(""));
    };
    let first: Int<i64> = named(py, first.extract(), part(".first_offset"))?;
    let last: Int<i64> = named(py, last.extract(), part(".last_offset"))?;
    let state: State = named(py, state.extract(), part(".delivery_state"))?;
    let count: Int<i16> = named(py, count.extract(), part(".delivery_count"))?;
    Ok(StateBatch {
        first_offset: first.0,
        last_offset: last.0,
        delivery_state: state.0,
        delivery_count: count.0,
    })
}

pub fn acquired_out<'py>(
    py: Python<'py>,
    acquired: &[core::AcquiredRange],
) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, acquired.iter().map(AcquiredRange::from))
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
        return Ok(Fetched::One([fetched_batch_in(0, &list.get_item(0)?)?]));
    }
    fetched_batches_in(fetched).map(Fetched::Many)
}

fn fetched_batches_in(fetched: &Bound<'_, PyAny>) -> PyResult<Vec<FetchedBatch>> {
    let is_sequence = fetched.is_instance_of::<PyList>() || fetched.is_instance_of::<PyTuple>();
    if !is_sequence && let Ok(array) = fetched.cast::<PyArray2<i64>>() {
        if array.shape()[1] != 2 {
            return Err(no_batches(fetched));
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
    // An array of another dtype or shape would else be taken for a sequence, number by number.
    if fetched.hasattr("dtype")? || fetched.is_instance_of::<PyString>() {
        return Err(no_batches(fetched));
    }
    let Ok(batches) = fetched.try_iter() else {
        return Err(no_batches(fetched));
    };
    let mut out = Vec::new();
    for batch in batches {
        out.push(fetched_batch_in(out.len(), &batch?)?);
    }
    Ok(out)
}

#[cold]
fn no_batches(fetched: &Bound<'_, PyAny>) -> PyErr {
    let expected =
        "int64 of shape (n, 2), or a sequence of (base_offset, last_offset) or FetchedBatch";
    let error = errors::wrong_type(fetched, expected);
    args::name(fetched.py(), &error, "fetched");
    error
}

fn fetched_batch_in(index: usize, batch: &Bound<'_, PyAny>) -> PyResult<FetchedBatch> {
    if let Ok((base, last)) = batch.extract::<(Int<i64>, Int<i64>)>() {
        return Ok(FetchedBatch::plain(base.0, last.0));
    }
    let part = |name: &str| format!("fetched[{index}]{name}");
    let py = batch.py();
    let is_sequence = batch.is_instance_of::<PyList>() || batch.is_instance_of::<PyTuple>();
    let parts: Vec<Part<'_>> = if is_sequence {
        batch.extract()?
    } else {
        Vec::new()
    };
    let number = |value: &Part<'_>, name: &str| -> PyResult<i64> {
        let number: Int<i64> = named(py, value.extract(), part(name))?;
        Ok(number.0)
    };
    match &parts[..] {
        [base, last] => Ok(FetchedBatch::plain(
            number(base, ".base_offset")?,
            number(last, ".last_offset")?,
        )),
        [base, last, producer_id, is_transactional, control] => {
            let control: Option<Control> = named(py, control.extract(), part(".control"))?;
            Ok(FetchedBatch {
                base_offset: number(base, ".base_offset")?,
                last_offset: number(last, ".last_offset")?,
                producer_id: number(producer_id, ".producer_id")?,
                is_transactional: named(py, is_transactional.extract(), part(".is_transactional"))?,
                control: control.map(|control| control.0),
            })
        }
        _ => {
            let expected = "(base_offset, last_offset) or a FetchedBatch";
            let error = if is_sequence {
                errors::wrong_value(batch, expected)
            } else {
                errors::wrong_type(batch, expected)
            };
            named(py, Err(error), part(""))
        }
    }
}

pub fn aborted_in(aborted: &Bound<'_, PyAny>) -> PyResult<Vec<AbortedTransaction>> {
    let mut out = Vec::new();
    for item in args::items("aborted", aborted)? {
        let item = item?;
        let py = item.py();
        let part = |name: &str| format!("aborted[{}]{name}", out.len());
        let Ok((producer_id, first_offset)) = item.extract::<(Part<'_>, Part<'_>)>() else {
            let expected = "(producer_id, first_offset)";
            return named(py, Err(errors::wrong_type(&item, expected)), part(""));
        };
        let producer_id: Int<i64> = named(py, producer_id.extract(), part(".producer_id"))?;
        let first_offset: Int<i64> = named(py, first_offset.extract(), part(".first_offset"))?;
        out.push(AbortedTransaction {
            producer_id: producer_id.0,
            first_offset: first_offset.0,
        });
    }
    Ok(out)
}

/// Numbers of records by the name of their state.
pub fn state_counts_out(py: Python<'_>, counts: StateCounts) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (state, count) in RecordState::ALL.into_iter().zip(counts) {
        dict.set_item(state.name(), count)?;
    }
    Ok(dict)
}

/// A topic id that comes as text, as in requests.
pub fn topic_id(text: &str) -> PyResult<TopicId> {
    TopicId::parse(text)
        .ok_or_else(|| Python::attach(|py| errors::wrong_word(py, "topic_id", text, TOPIC_ID)))
}

/// Accepts `SharePartitionKey` or any tuple like it.
pub fn key_in(key: &Bound<'_, PyAny>) -> PyResult<SharePartitionKey> {
    let py = key.py();
    let Ok((group, topic_id, partition)) = key.extract::<(Part<'_>, Part<'_>, Part<'_>)>() else {
        let error = errors::wrong_type(key, "a SharePartitionKey, or a tuple like it");
        return named(py, Err(error), "key");
    };
    let group = named(py, text(&group), "group")?;
    let topic_id: Topic = named(py, topic_id.extract(), "topic_id")?;
    let partition: Int<i32> = named(py, partition.extract(), "partition")?;
    Ok(SharePartitionKey::new(group, topic_id.0, partition.0))
}

pub fn topic_ids_in(ids: &[Topic]) -> Vec<TopicId> {
    ids.iter().map(|id| id.0).collect()
}

/// A code that share groups do not use is as good as unknown.
pub fn kafka_code(code: i16) -> KafkaCode {
    KafkaCode::from_i16(code).unwrap_or(KafkaCode::UnknownServerError)
}
