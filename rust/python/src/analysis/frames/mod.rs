//! Arrow columns in, Arrow columns out: the buffers of a record batch as NumPy arrays, and back.
//!
//! No value passes through a Python object of its own. The memory layout is Arrow's, so `share_state.frames` wraps what comes
//! out of here without a copy; pyarrow itself is not known here.

mod columns_in;
mod columns_out;
mod reading;
mod scan;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use share_state_analysis::input::{Input, STATE_TOPIC};
use share_state_analysis::pump::{OnError, Options, Pump, Table};
use share_state_analysis::row_error::{Reason, RowError};
use share_state_analysis::table::{Column, Kind, Row};

use crate::analysis::anomalies::{beside_in, config_in};
use crate::analysis::as_of::{AsOfOffset, as_of};
use crate::analysis::scan::scan_error;
use crate::args::{Int, WallMs, one, string_or_none, text};
use crate::errors::{self, Raise};
use crate::locked::Locked;
use columns_in::ColumnsIn;
use columns_out::batch_out;
use reading::Step;
pub use scan::FrameScan;

/// The tables of rows, by name.
const TABLES: [(&str, Table); 4] = [
    ("decode", Table::Decoded),
    ("state", Table::State),
    ("history", Table::History),
    ("anomalies", Table::Anomalies),
];

/// Turns the rows of record batches into rows of a table.
///
/// Args:
///     table: `"decode"`, `"state"`, `"history"` or `"anomalies"`.
///     on_error: `"fail"`, or `"quarantine"` to put bad rows aside.
///     topic: the topic that rows are of, where they name one.
///     as_of_offset: the last offset that counts, one for all state partitions or a mapping.
///     as_of_timestamp: a state partition ends before its first record that is later, ms since the epoch.
///     config: an `AnomalyConfig`; the next two as for `AnomalyFinder`.
#[pyclass(frozen, module = "share_state")]
pub struct FramePump {
    pump: Locked<Pump>,
}

#[pymethods]
impl FramePump {
    #[new]
    #[pyo3(
        signature = (
            table, *, on_error = "fail", topic = STATE_TOPIC, as_of_offset = None, as_of_timestamp = None, config = None,
            log_end_offsets = None, live_topics = None
        ),
        text_signature = "(table, *, on_error='fail', topic='__share_group_state', as_of_offset=None, as_of_timestamp=None, \
                          config=None, log_end_offsets=None, live_topics=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        #[pyo3(from_py_with = text)] table: &str,
        #[pyo3(from_py_with = text)] on_error: &str,
        #[pyo3(from_py_with = text)] topic: &str,
        as_of_offset: Option<AsOfOffset>,
        as_of_timestamp: Option<WallMs>,
        config: Option<&Bound<'_, PyAny>>,
        log_end_offsets: Option<&Bound<'_, PyAny>>,
        live_topics: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let found = TABLES.iter().find(|(name, _)| *name == table);
        let (_, table) =
            found.ok_or_else(|| PyValueError::new_err(format!("there is no table {table:?}")))?;
        let on_error = match on_error {
            "fail" => OnError::Fail,
            "quarantine" => OnError::Quarantine,
            other => {
                let message = format!("on_error is {other:?}, neither 'fail' nor 'quarantine'");
                return Err(PyValueError::new_err(message));
            }
        };
        let options = Options {
            on_error,
            topic: topic.to_owned(),
            as_of: as_of(as_of_offset, as_of_timestamp),
            config: config.map(config_in).transpose()?.unwrap_or_default(),
            beside: beside_in(log_end_offsets, live_topics)?,
        };
        Ok(Self {
            pump: Locked::new("this FramePump", Pump::new(*table, options)),
        })
    }

    /// Take the rows of a record batch.
    ///
    /// Args:
    ///     rows: how many.
    ///     columns: a dict of the buffers of each column by its name: `(first, validity, values)`, or `(first, validity,
    ///         offsets, bytes)` where values vary in size; `first` is the place of the first row in them. `timestamp` holds
    ///         numbers; `topic` may be missing.
    ///     ticks_per_second: of the timestamps.
    ///     wrong: what is wrong with the types of the columns, so that every row is bad; `None` when nothing is.
    ///
    /// Returns:
    ///     The batches that are complete, a new list; see `finish`.
    ///
    /// Raises:
    ///     ValueError: the buffers do not hold these rows; nothing has been changed.
    ///     RowError: a row cannot be used, and `on_error` is `"fail"`.
    #[pyo3(
        signature = (rows, columns, *, ticks_per_second = Int(1000), wrong = None),
        text_signature = "($self, rows, columns, *, ticks_per_second=1000, wrong=None)"
    )]
    fn push<'py>(
        &self,
        py: Python<'py>,
        rows: Int<usize>,
        #[pyo3(from_py_with = one)] columns: &Bound<'py, PyDict>,
        ticks_per_second: Int<i64>,
        #[pyo3(from_py_with = string_or_none)] wrong: Option<String>,
    ) -> PyResult<Bound<'py, PyList>> {
        let columns = ColumnsIn::extract(columns)?;
        let rows = rows.0;
        let view = columns.view(rows, ticks_per_second.0)?;
        let (pushed, batches) = self.pump.detached(py, |pump| {
            let mut all = (0..rows).try_for_each(|row| {
                let input: Input<'_> = view.row(row);
                match &wrong {
                    None => pump.push(&input),
                    Some(wrong) => {
                        let wrong = wrong.clone();
                        pump.push_bad(&input, Reason::WrongType { wrong })
                    }
                }
            });
            if let Err(error) = &mut all {
                // What the exception does not show need not be carried.
                error.key = None;
                error.value = None;
            }
            (all, pump.batches())
        })?;
        pushed.map_err(|error| row_error(py, &error))?;
        batches_out(py, batches)
    }

    /// Take the next records of a log, some thousands; no batch is made of them in between.
    ///
    /// Args:
    ///     scan: a `FrameScan` of which no batch has been taken, or all that are read.
    ///
    /// Returns:
    ///     The batches that are complete, a new list, as those of `push`; `None` when the log has ended.
    ///
    /// Raises:
    ///     ValueError: records wait in the scan for a batch of its own.
    ///     OSError: the disk fails.
    ///     RowError: a record cannot be used, and `on_error` is `"fail"`. Nothing more comes of the log.
    fn pull<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = one)] scan: &Bound<'py, FrameScan>,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        let reading = &scan.get().reading;
        let pulled = self.pump.detached(py, |pump| {
            let step = reading
                .lock()
                .run(|reading| (!reading.has_waiting()).then(|| reading.pump(pump)));
            (step, pump.batches())
        })?;
        let (step, batches) = pulled;
        let step = step.map_err(|panic| errors::poisoned(py, "the FrameScan", &panic))?;
        let step = step.ok_or_else(|| {
            PyValueError::new_err("records wait in the scan for a batch of its own")
        })?;
        let step = step.map_err(|error| scan_error(&error))?;
        match step.map_err(|mut error| {
            // What the exception does not show need not be carried.
            error.key = None;
            error.value = None;
            row_error(py, &error)
        })? {
            Step::More => batches_out(py, batches).map(Some),
            Step::Done(()) if batches.is_empty() => Ok(None),
            // The end is told by the next call.
            Step::Done(()) => batches_out(py, batches).map(Some),
        }
    }

    /// The input is over: return the batches that are left, a new list.
    ///
    /// A batch is a tuple: the number of rows, and a list with a column each: `(nulls, validity, values)`, where `values` is an
    /// array; or two arrays, offsets and bytes, where values vary in size; or an array of offsets and a list of columns, for
    /// lists. Times are µs since the epoch.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let batches = self.pump.detached(py, |pump| {
            pump.finish();
            pump.batches()
        })?;
        batches_out(py, batches)
    }

    /// Take out the bad rows that were put aside so far: batches of the table `"errors"`, as `finish` gives them.
    fn quarantined<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let batches = self.pump.detached(py, Pump::quarantined)?;
        batches_out(py, batches)
    }
}

fn batches_out(
    py: Python<'_>,
    batches: Vec<share_state_analysis::columns::Batch>,
) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for batch in batches {
        list.append(batch_out(py, batch)?)?;
    }
    Ok(list)
}

fn row_error(py: Python<'_>, error: &RowError) -> PyErr {
    Raise::new(py, "RowError", error)
        .fact("row", error.row)
        .fact("partition", error.partition)
        .fact("offset", error.offset)
        .fact("reason", error.reason.name())
        .done()
}

/// The tables of rows and their columns: a dict of lists of tuples `(name, kind, nullable, doc, elements)`, where `elements` is
/// such a list for lists.
#[pyfunction]
pub fn frame_tables(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("input", columns_told(py, Input::COLUMNS)?)?;
    for (name, table) in TABLES {
        dict.set_item(name, columns_told(py, table.columns())?)?;
    }
    dict.set_item("errors", columns_told(py, RowError::COLUMNS)?)?;
    Ok(dict)
}

fn columns_told<'py>(py: Python<'py>, columns: &[Column]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for column in columns {
        let kind: Kind = column.kind;
        let elements = columns_told(py, kind.elements())?;
        list.append((
            column.name,
            kind.name(),
            column.nullable,
            column.doc,
            elements,
        ))?;
    }
    Ok(list)
}
