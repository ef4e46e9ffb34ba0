//! The records of a log as columns.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use share_state_log::read;

use super::columns_out::batch_out;
use super::reading::{Reading, Step};
use crate::analysis::scan::{findings_out, scan_error};
use crate::args::{Int, path};
use crate::locked::Locked;

/// The records of a state log as batches of the table `"input"`, in order of state partition and offset. Nothing is locked or
/// changed.
///
/// Args:
///     path: as for `scan_path`.
///     batch_rows: records of a batch, but for the last of all and for very large ones.
///
/// Raises:
///     ValueError: `batch_rows` is 0.
///     FileNotFoundError: there is no such path, or it is no state log.
///     OSError: the disk fails.
#[pyclass(frozen, module = "share_state")]
pub struct FrameScan {
    rows: usize,
    pub(super) reading: Locked<Reading>,
}

#[pymethods]
impl FrameScan {
    #[new]
    #[pyo3(signature = (path, *, batch_rows = Int(16384)), text_signature = "(path, *, batch_rows=16384)")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = path)] path: PathBuf,
        batch_rows: Int<usize>,
    ) -> PyResult<Self> {
        if batch_rows.0 == 0 {
            return Err(PyValueError::new_err("batch_rows is 0"));
        }
        let scan = py
            .detach(|| read::scan(&path))
            .map_err(|error| scan_error(&error))?;
        Ok(Self {
            rows: batch_rows.0,
            reading: Locked::new("this FrameScan", Reading::new(scan)),
        })
    }

    /// Return the next batch, as those of `FramePump.finish`; `None` at the end. Ctrl-C is heard meanwhile.
    ///
    /// Raises:
    ///     OSError: the disk fails.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        loop {
            let step = self
                .reading
                .detached(py, |reading| reading.batch(self.rows))?;
            if let Step::Done(batch) = step.map_err(|error| scan_error(&error))? {
                return (batch.rows > 0).then(|| batch_out(py, batch)).transpose();
            }
            py.check_signals()?;
        }
    }

    /// Parts that could not be read so far, as `Scan.findings`.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let findings = self
            .reading
            .attached(py, |reading| reading.scan.findings().to_vec())?;
        findings_out(py, &findings)
    }

    /// Bytes read so far, and bytes there are.
    #[getter]
    fn progress(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let at = self
            .reading
            .attached(py, |reading| reading.scan.progress())?;
        Ok((at.bytes_done, at.bytes_total))
    }
}
