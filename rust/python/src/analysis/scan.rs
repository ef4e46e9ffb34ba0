//! Reading a state log that somebody else owns: never locks, never changes.

use std::ops::ControlFlow;
use std::path::PathBuf;

use pyo3::exceptions::{PyFileNotFoundError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use share_state_log::Progress;
use share_state_log::read::{self, Finding, LogRecord, ScanError};

use crate::analysis::as_of::{AsOfOffset, as_of};
use crate::args::{WallMs, path};
use crate::errors;
use crate::locked::{Locked, caught};
use crate::state::folded::state_out;

type RecordTuple<'py> = (
    u32,
    String,
    i64,
    i64,
    Bound<'py, PyBytes>,
    Option<Bound<'py, PyBytes>>,
);

pub fn scan_error(error: &ScanError) -> PyErr {
    match error {
        ScanError::NoStateLog { .. } => PyFileNotFoundError::new_err(error.to_string()),
        ScanError::Interrupted(_) => PyOSError::new_err(error.to_string()),
        ScanError::Io(failure) => match failure.os_error {
            // With a number, Python picks the subclass: FileNotFoundError, PermissionError, …
            Some(number) => PyOSError::new_err((
                number,
                failure.message.clone(),
                failure.path.display().to_string(),
            )),
            None => PyOSError::new_err(error.to_string()),
        },
    }
}

fn finding_out<'py>(py: Python<'py>, finding: &Finding) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let (file, position, kind) = match finding {
        Finding::TornTail(torn) => (&torn.segment, torn.position, "torn_tail"),
        Finding::Damage { corrupt, .. } => (&corrupt.segment, corrupt.position, "damage"),
        Finding::Hole { corrupt, .. } => (&corrupt.segment, corrupt.position, "hole"),
    };
    dict.set_item("file", file.display().to_string())?;
    dict.set_item("position", position)?;
    dict.set_item("kind", kind)?;
    dict.set_item("message", finding.to_string())?;
    Ok(dict)
}

pub fn findings_out<'py>(py: Python<'py>, findings: &[Finding]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for finding in findings {
        list.append(finding_out(py, finding)?)?;
    }
    Ok(list)
}

/// The records of a state log that somebody else may own, in order of state partition and offset; made by `scan_path`.
///
/// An iterator of tuples: state partition (int), name of the segment (str), offset (int), timestamp in ms since the epoch (int),
/// key (bytes), value (bytes, or `None` for a tombstone). Nothing is locked or changed.
///
/// Next raises `OSError` when the disk fails. Damage raises nothing: reading goes on after it, and `findings` tells.
#[pyclass(frozen, module = "share_state.operate.analysis")]
pub struct Scan {
    scan: Locked<read::Scan>,
}

/// A reader as Python shows it.
pub fn shown(class: &str, at: Progress) -> String {
    format!(
        "{class}({} of {} bytes read)",
        at.bytes_done, at.bytes_total
    )
}

#[pymethods]
impl Scan {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let at = self.scan.attached(py, |scan| scan.progress())?;
        Ok(shown("Scan", at))
    }

    const fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<RecordTuple<'py>>> {
        let next = self.scan.attached(py, Iterator::next)?;
        let Some(record) = next.transpose().map_err(|error| scan_error(&error))? else {
            return Ok(None);
        };
        let LogRecord {
            partition,
            segment,
            offset,
            timestamp,
            key,
            value,
            ..
        } = record;
        Ok(Some((
            partition,
            segment.to_string(),
            offset,
            timestamp,
            PyBytes::new(py, key.as_deref().unwrap_or_default()),
            value.map(|value| PyBytes::new(py, &value)),
        )))
    }

    /// Parts that could not be read so far, a new list of dicts: `file`, `position` (the byte in it), `kind` (`"torn_tail"`,
    /// `"damage"` or `"hole"`), `message`. A torn tail is a crash, or a writer at work at this moment. A hole is between batches
    /// that are whole: records are missing, as where a broker's state topic was compacted.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let findings = self.scan.attached(py, |scan| scan.findings().to_vec())?;
        findings_out(py, &findings)
    }

    /// Bytes read so far, and bytes there are.
    #[getter]
    fn progress(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let at = self.scan.attached(py, |scan| scan.progress())?;
        Ok((at.bytes_done, at.bytes_total))
    }
}

/// Begin to read the records of a state log, beside a writer if need be. Nothing is locked or changed.
///
/// Args:
///     path: a directory with `__share_group_state-N` folders, one such folder, or one segment, from a Kafka 4.2 to 4.4 broker
///         or from a `StateStore`, in any compression.
///     as_of_offset: the last offset that counts, one for all state partitions, or a mapping from state partition to offset; one
///         that is not named counts whole. What lies after is not read.
///     as_of_timestamp: each state partition ends before its first record of a later time, `WallTime` or ms since the epoch.
///
/// Raises:
///     FileNotFoundError: there is no such path, or it is none of these.
///     OSError: the disk fails.
#[pyfunction]
#[pyo3(signature = (path, *, as_of_offset = None, as_of_timestamp = None))]
pub fn scan_path(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] path: PathBuf,
    as_of_offset: Option<AsOfOffset>,
    as_of_timestamp: Option<WallMs>,
) -> PyResult<Scan> {
    let prefix = as_of(as_of_offset, as_of_timestamp);
    let scan = py
        .detach(|| read::scan(&path))
        .map_err(|error| scan_error(&error))?
        .as_of(prefix);
    Ok(Scan {
        scan: Locked::new("this Scan", scan),
    })
}

/// Fold a state log, beside a writer if need be: the states of its share partitions. Nothing is locked or changed.
///
/// Ctrl-C is heard about once a MiB.
///
/// Args:
///     path: as for `scan_path`.
///     progress: called with bytes read and bytes there are, about once a MiB; what it raises ends the call.
///     as_of_offset, as_of_timestamp: as for `scan_path`.
///
/// Returns:
///     The states, each as `ShareCoordinator.states` gives it, and the state partition that holds it, ordered by group, topic
///     id and partition; and what could not be read, as `Scan.findings`.
///
/// Raises:
///     FileNotFoundError: there is no such path, or it is no state log.
///     OSError: the disk fails.
#[pyfunction]
#[pyo3(signature = (path, progress = None, *, as_of_offset = None, as_of_timestamp = None))]
pub fn fold_path<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = path)] path: PathBuf,
    progress: Option<Py<PyAny>>,
    as_of_offset: Option<AsOfOffset>,
    as_of_timestamp: Option<WallMs>,
) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
    let prefix = as_of(as_of_offset, as_of_timestamp);
    let mut stopped = None;
    let fold = || {
        read::fold_as_of(&path, prefix, |at| {
            let heard = Python::attach(|py| {
                py.check_signals()?;
                match &progress {
                    Some(progress) => progress
                        .call1(py, (at.bytes_done, at.bytes_total))
                        .map(|_| ()),
                    None => Ok(()),
                }
            });
            match heard {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    stopped = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    };
    let folded = py.detach(|| caught(fold));
    if let Some(error) = stopped {
        return Err(error);
    }
    let folded = folded
        .map_err(|panic| errors::bug(py, "fold_path", &panic))?
        .map_err(|error| scan_error(&error))?;
    let states = PyList::empty(py);
    for folded in &folded.states {
        let state = state_out(py, &folded.key, &folded.state)?;
        state.set_item("state_partition", folded.partition)?;
        states.append(state)?;
    }
    Ok((states, findings_out(py, &folded.findings)?))
}

/// Tell where the logs of state partitions begin and end, beside a writer if need be. Nothing is locked or changed.
///
/// Args:
///     path: as for `scan_path`.
///
/// Returns:
///     A tuple a state partition, in order: state partition, the offset at which its first segment begins, the offset after the
///     last batch that is whole.
///
/// Raises:
///     FileNotFoundError: there is no such path, or it is no state log.
///     OSError: the disk fails.
#[pyfunction]
pub fn log_ends(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] path: PathBuf,
) -> PyResult<Vec<(u32, i64, i64)>> {
    let ends = py
        .detach(|| read::log_ends(&path))
        .map_err(|error| scan_error(&error))?;
    Ok(ends
        .into_iter()
        .map(|one| (one.partition, one.first_offset, one.next_offset))
        .collect())
}
