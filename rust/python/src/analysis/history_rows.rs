//! Rows of a history for Python: named tuples, or columns; and named tuples that come back.

use std::collections::{HashMap, VecDeque};

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use share_state_analysis::history::Told;
use share_state_analysis::table::{Cell, Cells, Kind, Row};
use share_state_core::history::{At, Cause, Delivery, HistoryRow, Standing};
use share_state_core::ids::SharePartitionKey;
use share_state_core::offset::OffsetRange;
use share_state_log::read::LoggedRow;

use crate::args::{Int, Topic};
use crate::named_tuples;
use crate::tuples::{Class, tuple_out};

static HISTORY_ROW: Class = Class::new("share_state.operate.analysis.history_row", "HistoryRow");

/// The names of the causes, in the order in which columns number them.
pub fn cause_names() -> [&'static str; 18] {
    Cause::ALL.map(Cause::name)
}

/// A `HistoryRow`.
pub fn row_out<'py>(
    py: Python<'py>,
    state_partition: u32,
    row: &HistoryRow,
) -> PyResult<Bound<'py, PyAny>> {
    let told = Told {
        state_partition,
        row,
    };
    tuple_out(py, &HISTORY_ROW, &told)
}

/// The names of the columns that hold numbers.
fn number_names() -> impl Iterator<Item = &'static str> {
    let columns = Told::COLUMNS.iter();
    columns
        .filter(|column| column.kind != Kind::Text)
        .map(|column| column.name)
}

/// Appends the numbers of rows to columns, -1 where a row has none; text is left out.
struct Numbers<'a> {
    columns: std::slice::IterMut<'a, Vec<i64>>,
    kinds: std::slice::Iter<'static, share_state_analysis::table::Column>,
}

impl Cells for Numbers<'_> {
    fn put(&mut self, cell: Cell<'_>) {
        if self
            .kinds
            .next()
            .is_none_or(|column| column.kind == Kind::Text)
        {
            return;
        }
        let number = match cell {
            Cell::Int8(number) => number.into(),
            Cell::Int16(number) => number.into(),
            Cell::Int32(number) => number.into(),
            Cell::Int64(number) | Cell::Timestamp(number) => number,
            _ => -1,
        };
        if let Some(column) = self.columns.next() {
            column.push(number);
        }
    }
}

/// Rows as columns.
pub fn columns_out<'py>(
    py: Python<'py>,
    rows: &VecDeque<LoggedRow>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut columns: Vec<Vec<i64>> = number_names()
        .map(|_| Vec::with_capacity(rows.len()))
        .collect();
    let mut causes: Vec<u8> = Vec::with_capacity(rows.len());
    let mut keys: Vec<i64> = Vec::with_capacity(rows.len());
    let mut seen: HashMap<&SharePartitionKey, i64> = HashMap::new();
    let names = PyList::empty(py);
    for LoggedRow { partition, row } in rows {
        let told = Told {
            state_partition: *partition,
            row,
        };
        told.cells(&mut Numbers {
            columns: columns.iter_mut(),
            kinds: Told::COLUMNS.iter(),
        });
        causes.push(row.cause as u8);
        let index = match seen.get(&row.key) {
            Some(index) => *index,
            None => {
                let index = i64::try_from(names.len())?;
                names.append(named_tuples::key_out(py, &row.key)?)?;
                seen.insert(&row.key, index);
                index
            }
        };
        keys.push(index);
    }
    let dict = PyDict::new(py);
    for (name, column) in number_names().zip(columns) {
        dict.set_item(name, PyArray1::from_vec(py, column))?;
    }
    dict.set_item("cause", PyArray1::from_vec(py, causes))?;
    dict.set_item("key", PyArray1::from_vec(py, keys))?;
    dict.set_item("keys", names)?;
    Ok(dict)
}

/// Accepts a `HistoryRow` or any tuple like it.
pub fn row_in(row: &Bound<'_, PyAny>) -> PyResult<(u32, HistoryRow)> {
    let fields = row.cast::<PyTuple>()?;
    if fields.len() != Told::COLUMNS.len() {
        let message = format!(
            "a row of a history has {} fields, not {}",
            Told::COLUMNS.len(),
            fields.len()
        );
        return Err(PyValueError::new_err(message));
    }
    let mut at = 0;
    let mut next = || {
        at += 1;
        fields.get_item(at - 1)
    };
    let key = {
        let (group, topic_id): (Bound<'_, PyAny>, Bound<'_, PyAny>) = (next()?, next()?);
        let partition: Int<i32> = next()?.extract()?;
        let Topic(topic_id) = topic_id.extract()?;
        SharePartitionKey::new(group.extract()?, topic_id, partition.0)
    };
    let (first, last): (Option<Int<i64>>, Option<Int<i64>>) =
        (next()?.extract()?, next()?.extract()?);
    let range = first
        .zip(last)
        .map(|(first, last)| {
            OffsetRange::new(first.0, last.0)
                .ok_or_else(|| PyValueError::new_err("a row of a history ends before it begins"))
        })
        .transpose()?;
    let from = delivery(&next()?, &next()?)?;
    let to = delivery(&next()?, &next()?)?;
    let cause = next()?;
    let cause: &str = cause.extract()?;
    let cause = Cause::from_name(cause)
        .ok_or_else(|| PyValueError::new_err(format!("{cause:?} is no cause")))?;
    let at = At {
        offset: next()?.extract::<Int<i64>>()?.0,
        timestamp: next()?.extract::<Int<i64>>()?.0,
    };
    let state_partition: Int<u32> = next()?.extract()?;
    let standing = Standing {
        start_offset: next()?.extract::<Int<i64>>()?.0,
        delivery_complete_count: next()?.extract::<Int<i32>>()?.0,
        snapshot_epoch: next()?.extract::<Int<i32>>()?.0,
        state_epoch: next()?.extract::<Int<i32>>()?.0,
        leader_epoch: next()?.extract::<Int<i32>>()?.0,
        snapshot_offset: next()?.extract::<Option<Int<i64>>>()?.map(|at| at.0),
    };
    let row = HistoryRow {
        key,
        at,
        range,
        from,
        to,
        cause,
        standing,
    };
    Ok((state_partition.0, row))
}

fn delivery(state: &Bound<'_, PyAny>, count: &Bound<'_, PyAny>) -> PyResult<Option<Delivery>> {
    let state: Option<Int<i8>> = state.extract()?;
    let count: Option<Int<i16>> = count.extract()?;
    Ok(state.zip(count).map(|(state, count)| Delivery {
        state: state.0,
        count: count.0,
    }))
}
