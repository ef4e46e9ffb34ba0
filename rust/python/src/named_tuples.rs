//! Named tuples of `share_state.types`. A leaf: errors name share partitions by them.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple, PyType};
use share_state_core::ids::SharePartitionKey;
use share_state_core::state_batch::StateBatch;

static STATE_BATCH: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static KEY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static TUPLE_NEW: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

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

pub fn key_out<'py>(py: Python<'py>, key: &SharePartitionKey) -> PyResult<Bound<'py, PyAny>> {
    key_with(py, key, key.topic_id.to_string())
}

/// As [`key_out`], with the topic id in Kafka's base64, as a gateway has it everywhere.
pub fn gateway_key_out<'py>(
    py: Python<'py>,
    key: &SharePartitionKey,
) -> PyResult<Bound<'py, PyAny>> {
    key_with(py, key, key.topic_id.to_base64())
}

fn key_with<'py>(
    py: Python<'py>,
    key: &SharePartitionKey,
    topic_id: String,
) -> PyResult<Bound<'py, PyAny>> {
    let class = KEY.import(py, "share_state.types", "SharePartitionKey")?;
    let fields = (&*key.group, topic_id, key.partition);
    named_tuple(class, fields.into_pyobject(py)?)
}
