//! Reading a state log that somebody else owns: never locks, never changes.

use std::ops::ControlFlow;
use std::path::PathBuf;

use pyo3::exceptions::{PyFileNotFoundError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use share_state_log::read::{self, Finding, LogRecord, ScanError};

use crate::coordinator::state_out;
use crate::guarded::Guarded;

type RecordTuple<'py> = (
    u32,
    String,
    i64,
    i64,
    Bound<'py, PyBytes>,
    Option<Bound<'py, PyBytes>>,
);

fn scan_error(error: &ScanError) -> PyErr {
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
    };
    dict.set_item("file", file.display().to_string())?;
    dict.set_item("position", position)?;
    dict.set_item("kind", kind)?;
    dict.set_item("message", finding.to_string())?;
    Ok(dict)
}

fn findings_out<'py>(py: Python<'py>, findings: &[Finding]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for finding in findings {
        list.append(finding_out(py, finding)?)?;
    }
    Ok(list)
}

/// The records of a state log, in order of state partition and offset.
#[pyclass(frozen, module = "share_state")]
pub struct Scan {
    scan: Guarded<read::Scan>,
}

#[pymethods]
impl Scan {
    const fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<RecordTuple<'py>>> {
        let next = self.scan.with(py, Iterator::next)?;
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

    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let findings = self.scan.with(py, |scan| scan.findings().to_vec())?;
        findings_out(py, &findings)
    }

    #[getter]
    fn progress(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let at = self.scan.with(py, |scan| scan.progress())?;
        Ok((at.bytes_done, at.bytes_total))
    }
}

/// Begins to read the records of a state log.
#[pyfunction]
pub fn scan_path(py: Python<'_>, path: PathBuf) -> PyResult<Scan> {
    let scan = py
        .detach(|| read::scan(&path))
        .map_err(|error| scan_error(&error))?;
    Ok(Scan {
        scan: Guarded::new("this Scan", scan),
    })
}

/// Folds a state log: the states of its share partitions, and what could not be read.
#[pyfunction]
#[pyo3(signature = (path, progress = None))]
pub fn fold_path<'py>(
    py: Python<'py>,
    path: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
    let mut stopped = None;
    let folded = py.detach(|| {
        read::fold(&path, |at| {
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
    });
    if let Some(error) = stopped {
        return Err(error);
    }
    let folded = folded.map_err(|error| scan_error(&error))?;
    let states = PyList::empty(py);
    for folded in &folded.states {
        states.append(state_out(py, &folded.key, &folded.state)?)?;
    }
    Ok((states, findings_out(py, &folded.findings)?))
}
