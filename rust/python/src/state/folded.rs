//! Results of a fold: records, states and keys for Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::ids::SharePartitionKey;
use share_state_core::records::ShareRecord;
use share_state_core::state_batch::combine;
use share_state_wire::state_record;

use crate::args::{Int, Topic, text};
use crate::convert;
use crate::errors;
use crate::locked::caught;
use crate::named_tuples;
use crate::partition::seen;

pub fn records_out<'py>(py: Python<'py>, records: &[ShareRecord]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for record in records {
        let key = state_record::encode_key(record).map_err(|e| errors::wire(py, &e))?;
        let value = state_record::encode_value(&record.value).map_err(|e| errors::wire(py, &e))?;
        list.append(seen::record(py, &key, value.as_deref())?)?;
    }
    Ok(list)
}

/// A folded state as a dict; `state_batches` are sorted and coalesced.
pub fn state_out<'py>(
    py: Python<'py>,
    key: &SharePartitionKey,
    state: &ShareGroupOffset,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("group", &*key.group)?;
    dict.set_item("topic_id", key.topic_id.to_string())?;
    dict.set_item("partition", key.partition)?;
    dict.set_item("snapshot_epoch", state.snapshot_epoch)?;
    dict.set_item("state_epoch", state.state_epoch)?;
    dict.set_item("leader_epoch", state.leader_epoch)?;
    dict.set_item("start_offset", state.start_offset)?;
    dict.set_item("delivery_complete_count", state.delivery_complete_count)?;
    let batches = state.state_batches.to_vec();
    dict.set_item("batches", named_tuples::state_batches_out(py, &batches)?)?;
    dict.set_item("create_timestamp", state.create_timestamp)?;
    dict.set_item("write_timestamp", state.write_timestamp)?;
    dict.set_item("incomplete", state.incomplete)?;
    Ok(dict)
}

/// Merge state batches: at every offset the higher delivery count wins, then the higher state id
/// (Kafka: `PersisterStateBatchCombiner`).
///
/// Args:
///     current: an iterable of `StateBatch` or tuples like it, in any order, overlapping or not.
///     new: the same.
///     start_offset: what lies below it is cut off; -1 cuts nothing.
///
/// Returns:
///     Sorted, disjoint and coalesced batches. An inverted batch covers nothing.
#[pyfunction]
#[pyo3(signature = (current, new, start_offset = Int(-1)), text_signature = "(current, new, start_offset=-1)")]
pub fn combine_state_batches<'py>(
    py: Python<'py>,
    current: &Bound<'py, PyAny>,
    new: &Bound<'py, PyAny>,
    start_offset: Int<i64>,
) -> PyResult<Bound<'py, PyList>> {
    let current = convert::state_batches_in(current)?;
    let new = convert::state_batches_in(new)?;
    let merged = py
        .detach(|| caught(|| combine(&current, &new, start_offset.0)))
        .map_err(|panic| errors::bug(py, "combine_state_batches", &panic))?;
    named_tuples::state_batches_out(py, &merged)
}

/// The text by which a share partition finds its coordinator: group, topic id in URL-safe base64 and partition, with colons
/// between (Kafka: `SharePartitionKey.asCoordinatorKey`).
#[pyfunction]
pub fn coordinator_key(
    #[pyo3(from_py_with = text)] group: &str,
    topic_id: Topic,
    partition: Int<i32>,
) -> PyResult<String> {
    Ok(SharePartitionKey::new(group, topic_id.0, partition.0).coordinator_key())
}

/// Read the text by which a share partition finds its coordinator, as a `SharePartitionKey`. The group may hold colons.
///
/// Raises:
///     ValueError: it is no such text.
#[pyfunction]
pub fn parse_coordinator_key<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = text)] text: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let key = SharePartitionKey::parse_coordinator_key(text)
        .map_err(|error| PyValueError::new_err(format!("{text:?}: {error}")))?;
    named_tuples::key_out(py, &key)
}
