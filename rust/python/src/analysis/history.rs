//! History of every record: the rows of a log, or of records that the caller brings.

use std::collections::VecDeque;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use share_state_core::history::{At, History as Machine};
use share_state_log::read::{self, HistoryFilter, LoggedRow, ScanError};
use share_state_wire::state_record::{self, Decoded};

use crate::analysis::as_of::{AsOfOffset, as_of};
use crate::analysis::history_rows::{columns_out, row_out};
use crate::analysis::scan::{findings_out, scan_error, shown};
use crate::args::{Int, Topic, WallMs, bytes, bytes_or_none, path, string_or_none};
use crate::errors;
use crate::locked::Locked;

/// Rows that are read ahead of the one that Python asks for.
const AHEAD: usize = 256;
/// Records between two looks at signals; a filter may leave all of them without a row.
const RECORDS_A_STEP: usize = 4096;

/// A log that is being read, and the rows that wait for Python.
struct Reader {
    scan: read::HistoryScan,
    ready: VecDeque<LoggedRow>,
    ended: bool,
}

impl Reader {
    /// Reads until `rows` are ready, the log ends, or a step is over.
    fn fill(&mut self, rows: usize) -> Result<(), ScanError> {
        for _ in 0..RECORDS_A_STEP {
            if self.ended || self.ready.len() >= rows {
                break;
            }
            match self.scan.next_record() {
                Ok(Some(told)) => self.ready.extend(told),
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

/// History of every record, as a state log tells it; made by `history_path`.
///
/// An iterator of `HistoryRow`, ordered by state partition and offset. Memory is bounded by the live states of one state
/// partition. Next raises `OSError` when the disk fails. Damage raises nothing: reading goes on after it, and `findings`
/// tells.
#[pyclass(frozen, module = "share_state.operate.analysis")]
pub struct HistoryScan {
    reader: Locked<Reader>,
    on_progress: Option<Py<PyAny>>,
}

impl HistoryScan {
    /// Reads on until `rows` rows are ready or the log ends; Ctrl-C is heard meanwhile.
    fn fill(&self, py: Python<'_>, rows: usize) -> PyResult<()> {
        loop {
            let (enough, at) = self
                .reader
                .detached(py, |reader| {
                    reader.fill(rows)?;
                    let enough = reader.ended || reader.ready.len() >= rows;
                    Ok((enough, reader.scan.progress()))
                })?
                .map_err(|error: ScanError| scan_error(&error))?;
            if let Some(progress) = &self.on_progress {
                progress.call1(py, (at.bytes_done, at.bytes_total))?;
            }
            if enough {
                return Ok(());
            }
            py.check_signals()?;
        }
    }
}

#[pymethods]
impl HistoryScan {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let at = self.reader.attached(py, |reader| reader.scan.progress())?;
        Ok(shown("HistoryScan", at))
    }

    const fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut next = self
            .reader
            .attached(py, |reader| reader.ready.pop_front())?;
        if next.is_none() {
            self.fill(py, AHEAD)?;
            next = self
                .reader
                .attached(py, |reader| reader.ready.pop_front())?;
        }
        next.map(|logged| row_out(py, logged.partition, &logged.row))
            .transpose()
    }

    /// The next rows as columns, up to `max_rows` (a record's rows stay together, so a few more may come), or `None` at the
    /// end.
    ///
    /// A dict of arrays, one value a row: the numbers of `HistoryRow` under its names as int64, -1 where the row has `None`;
    /// `cause`, an index into `HISTORY_CAUSES`; and `key`, an index into the list `keys` of this call's `SharePartitionKey`.
    #[pyo3(signature = (max_rows = Int(65536)), text_signature = "($self, max_rows=65536)")]
    fn columns<'py>(
        &self,
        py: Python<'py>,
        max_rows: Int<usize>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        if max_rows.0 == 0 {
            return Err(PyValueError::new_err("max_rows is 0"));
        }
        self.fill(py, max_rows.0)?;
        let rows = self
            .reader
            .attached(py, |reader| std::mem::take(&mut reader.ready))?;
        (!rows.is_empty())
            .then(|| columns_out(py, &rows))
            .transpose()
    }

    /// Parts that could not be read so far, as `Scan.findings`. The rows of those state partitions may be wrong from there on.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let findings = self.reader.attached(py, |reader| reader.scan.findings())?;
        findings_out(py, &findings)
    }

    /// Bytes read so far, and bytes there are.
    #[getter]
    fn progress(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let at = self.reader.attached(py, |reader| reader.scan.progress())?;
        Ok((at.bytes_done, at.bytes_total))
    }
}

/// Begin to tell what became of every record in a state log, beside a writer if need be. Nothing is locked or changed.
///
/// Args:
///     path: as for `scan_path`.
///     group: only this group.
///     topic_id: only this topic, a hyphenated UUID or 22 characters of URL-safe base64.
///     partition: only this partition of the topic.
///     offset: only rows of this offset, and those of the share partition as a whole.
///     progress: called with bytes read and bytes there are, now and then; what it raises comes out of the
///         iteration, and the rows are not lost by it.
///     as_of_offset, as_of_timestamp: as for `scan_path`.
///
/// Raises:
///     ValueError: `topic_id` is none.
///     FileNotFoundError: there is no such path, or it is no state log.
///     OSError: the disk fails.
#[pyfunction]
#[pyo3(signature = (
    path, *, group = None, topic_id = None, partition = None, offset = None, progress = None,
    as_of_offset = None, as_of_timestamp = None
))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn history_path(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] path: PathBuf,
    #[pyo3(from_py_with = string_or_none)] group: Option<String>,
    topic_id: Option<Topic>,
    partition: Option<Int<i32>>,
    offset: Option<Int<i64>>,
    progress: Option<Py<PyAny>>,
    as_of_offset: Option<AsOfOffset>,
    as_of_timestamp: Option<WallMs>,
) -> PyResult<HistoryScan> {
    let filter = filter(group, topic_id, partition, offset)?;
    let prefix = as_of(as_of_offset, as_of_timestamp);
    let scan = py
        .detach(|| read::history_as_of(&path, prefix, filter))
        .map_err(|error| scan_error(&error))?;
    let reader = Reader {
        scan,
        ready: VecDeque::new(),
        ended: false,
    };
    Ok(HistoryScan {
        reader: Locked::new("this HistoryScan", reader),
        on_progress: progress,
    })
}

fn filter(
    group: Option<String>,
    topic_id: Option<Topic>,
    partition: Option<Int<i32>>,
    offset: Option<Int<i64>>,
) -> PyResult<HistoryFilter> {
    Ok(HistoryFilter {
        group,
        topic_id: topic_id.map(|topic| topic.0),
        partition: partition.map(|partition| partition.0),
        offset: offset.map(|offset| offset.0),
    })
}

/// History of every record, for a caller who brings the records of one state partition in the order of their offsets.
///
/// Args:
///     state_partition: its number, for the rows.
///     group, topic_id, partition, offset: which rows to tell, as for `history_path`.
///
/// Raises:
///     ValueError: `topic_id` is none.
#[pyclass(frozen, module = "share_state.operate.analysis")]
pub struct History {
    state_partition: u32,
    filter: HistoryFilter,
    machine: Locked<Machine>,
}

#[pymethods]
impl History {
    #[new]
    #[pyo3(
        signature = (state_partition = Int(0), *, group = None, topic_id = None, partition = None, offset = None),
        text_signature = "(state_partition=0, *, group=None, topic_id=None, partition=None, offset=None)"
    )]
    fn new(
        state_partition: Int<u32>,
        #[pyo3(from_py_with = string_or_none)] group: Option<String>,
        topic_id: Option<Topic>,
        partition: Option<Int<i32>>,
        offset: Option<Int<i64>>,
    ) -> PyResult<Self> {
        Ok(Self {
            state_partition: state_partition.0,
            filter: filter(group, topic_id, partition, offset)?,
            machine: Locked::new("this History", Machine::new()),
        })
    }

    /// Apply the next record and return the rows that it makes, a new list of `HistoryRow`; a record of an unknown type makes
    /// none.
    ///
    /// Args:
    ///     offset: of the record in its state partition.
    ///     timestamp: of the record, ms since the epoch.
    ///     key: its key.
    ///     value: its value, `None` for a tombstone.
    ///
    /// Raises:
    ///     WireDecodeError: key or value cannot be read; nothing has been changed.
    fn replay<'py>(
        &self,
        py: Python<'py>,
        offset: Int<i64>,
        timestamp: Int<i64>,
        #[pyo3(from_py_with = bytes)] key: &[u8],
        #[pyo3(from_py_with = bytes_or_none)] value: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let decoded = state_record::decode(key, value).map_err(|error| errors::wire(py, &error))?;
        let Decoded::Record(record) = decoded else {
            return Ok(list);
        };
        if !self.filter.takes_key(&record.key) {
            return Ok(list);
        }
        let at = At {
            offset: offset.0,
            timestamp: timestamp.0,
        };
        let rows = self.machine.attached(py, |machine| {
            let mut rows = Vec::new();
            machine.apply(at, &record, &mut rows);
            rows
        })?;
        for row in rows.iter().filter(|row| self.filter.takes_row(row)) {
            list.append(row_out(py, self.state_partition, row)?)?;
        }
        Ok(list)
    }
}
