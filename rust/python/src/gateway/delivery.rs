//! Delivery to a member, as a Python object that holds the frames in which it came.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use share_state_gateway as gateway;

/// Delivery of one share partition to a member: the ranges that it now holds, and the whole record batches around them. The
/// batches stay in the frames in which they came until `encode_share_fetch_answer` copies them.
#[pyclass(frozen, module = "share_state")]
pub struct Delivery {
    pub inner: gateway::Delivery,
}

#[pymethods]
impl Delivery {
    /// `(first offset, last offset, delivery count)` of each range, ascending; empty when nothing was available.
    #[getter]
    fn ranges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let ranges = self.inner.acquired.iter();
        PyList::new(
            py,
            ranges.map(|a| (a.range.first, a.range.last, a.delivery_count)),
        )
    }

    /// Number of offsets in the ranges, those without a record included.
    #[getter]
    fn record_count(&self) -> u64 {
        self.inner.record_count()
    }

    /// Bytes of the record batches.
    #[getter]
    fn nbytes(&self) -> usize {
        self.inner.nbytes()
    }

    /// The offset from which the share partition wanted records.
    #[getter]
    const fn fetch_offset(&self) -> i64 {
        self.inner.fetch_offset
    }

    /// Number of record batches.
    #[getter]
    const fn batches(&self) -> usize {
        self.inner.batches
    }

    /// The record batches, copied together.
    fn records<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, self.inner.nbytes(), |out| {
            let mut rest = out;
            for piece in self.inner.pieces() {
                if let Some((head, tail)) =
                    std::mem::take(&mut rest).split_at_mut_checked(piece.len())
                {
                    head.copy_from_slice(piece);
                    rest = tail;
                }
            }
            Ok(())
        })
    }

    fn __repr__(&self) -> String {
        format!(
            "Delivery(fetch_offset={}, record_count={}, batches={}, nbytes={})",
            self.inner.fetch_offset,
            self.inner.record_count(),
            self.inner.batches,
            self.inner.nbytes(),
        )
    }
}
