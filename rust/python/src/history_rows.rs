//! Rows of a history for Python: named tuples, or columns.

use std::collections::{HashMap, VecDeque};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};
use share_state_core::history::{Cause, Delivery, HistoryRow};
use share_state_core::ids::SharePartitionKey;
use share_state_log::read::LoggedRow;

use crate::convert;

static HISTORY_ROW: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The names of the causes, in the order in which columns number them.
pub fn cause_names() -> [&'static str; 18] {
    Cause::ALL.map(Cause::name)
}

/// The numbers of a row in the order of `NUMBERS`; `None` where the row has none.
fn numbers(state_partition: u32, row: &HistoryRow) -> [Option<i64>; 16] {
    let HistoryRow {
        at,
        range,
        from,
        to,
        standing,
        ..
    } = row;
    let state = |known: &Option<Delivery>| known.map(|known| i64::from(known.state));
    let count = |known: &Option<Delivery>| known.map(|known| i64::from(known.count));
    [
        range.map(|range| range.first),
        range.map(|range| range.last),
        state(from),
        count(from),
        state(to),
        count(to),
        Some(at.offset),
        Some(at.timestamp),
        Some(i64::from(state_partition)),
        Some(standing.start_offset),
        Some(i64::from(standing.delivery_complete_count)),
        Some(i64::from(standing.snapshot_epoch)),
        Some(i64::from(standing.state_epoch)),
        Some(i64::from(standing.leader_epoch)),
        standing.snapshot_offset,
        Some(i64::from(row.key.partition)),
    ]
}

/// The names of the numbers, as fields of `HistoryRow`; the partition of the topic stands among the first fields there.
const NUMBERS: [&str; 16] = [
    "first_offset",
    "last_offset",
    "from_state",
    "from_count",
    "to_state",
    "to_count",
    "at_offset",
    "at_timestamp",
    "state_partition",
    "start_offset",
    "delivery_complete_count",
    "snapshot_epoch",
    "state_epoch",
    "leader_epoch",
    "snapshot_offset",
    "partition",
];

/// A `HistoryRow`.
pub fn row_out<'py>(
    py: Python<'py>,
    state_partition: u32,
    row: &HistoryRow,
) -> PyResult<Bound<'py, PyAny>> {
    let class = HISTORY_ROW.import(py, "share_state.analysis.history", "HistoryRow")?;
    let [
        first,
        last,
        from_state,
        from_count,
        to_state,
        to_count,
        rest @ ..,
        partition,
    ] = numbers(state_partition, row);
    let mut fields: Vec<Bound<'py, PyAny>> = Vec::with_capacity(3 + 1 + NUMBERS.len());
    fields.push(PyString::new(py, &row.key.group).into_any());
    fields.push(PyString::new(py, &row.key.topic_id.to_string()).into_any());
    for number in [
        partition, first, last, from_state, from_count, to_state, to_count,
    ] {
        fields.push(number.into_pyobject(py)?);
    }
    fields.push(PyString::intern(py, row.cause.name()).into_any());
    for number in rest {
        fields.push(number.into_pyobject(py)?);
    }
    convert::named_tuple(class, PyTuple::new(py, fields)?)
}

/// Rows as columns.
pub fn columns_out<'py>(
    py: Python<'py>,
    rows: &VecDeque<LoggedRow>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut columns: [Vec<i64>; NUMBERS.len()] =
        std::array::from_fn(|_| Vec::with_capacity(rows.len()));
    let mut causes: Vec<u8> = Vec::with_capacity(rows.len());
    let mut keys: Vec<i64> = Vec::with_capacity(rows.len());
    let mut seen: HashMap<&SharePartitionKey, i64> = HashMap::new();
    let names = PyList::empty(py);
    for LoggedRow { partition, row } in rows {
        for (column, number) in columns.iter_mut().zip(numbers(*partition, row)) {
            column.push(number.unwrap_or(-1));
        }
        causes.push(row.cause as u8);
        let index = match seen.get(&row.key) {
            Some(index) => *index,
            None => {
                let index = i64::try_from(names.len())?;
                names.append(convert::key_out(py, &row.key)?)?;
                seen.insert(&row.key, index);
                index
            }
        };
        keys.push(index);
    }
    let dict = PyDict::new(py);
    for (name, column) in NUMBERS.iter().zip(columns) {
        dict.set_item(name, PyArray1::from_vec(py, column))?;
    }
    dict.set_item("cause", PyArray1::from_vec(py, causes))?;
    dict.set_item("key", PyArray1::from_vec(py, keys))?;
    dict.set_item("keys", names)?;
    Ok(dict)
}
