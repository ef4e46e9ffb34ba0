//! A range that a member holds, as Python sees it.
//!
//! A class of the extension and not a named tuple: to make one of those from here takes four tuples, which costs more than the
//! acquisition itself. Whoever reads a field makes its number, and nobody else does.

use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyNotImplemented, PyTuple, PyType};
use share_state_core::share_partition as core;

use crate::args::Int;

/// Records that a member now holds, offsets inclusive: a sequence of three numbers that have names.
///
/// It unpacks, compares, hashes and slices as the tuple `(first_offset, last_offset, delivery_count)`, to which it is equal, and
/// has what a named tuple has: `_fields`, `_asdict`, `_replace` and `_make`. It is no instance of `tuple`.
///
/// Args:
///     first_offset: first offset.
///     last_offset: last offset, inclusive.
///     delivery_count: how often the records were delivered, this delivery included.
#[pyclass(frozen, sequence, module = "share_state")]
#[derive(Clone, Copy)]
pub struct AcquiredRange {
    first: i64,
    last: i64,
    count: i16,
}

const FIELDS: [&str; 3] = ["first_offset", "last_offset", "delivery_count"];

#[pymethods]
impl AcquiredRange {
    #[classattr]
    const fn _fields() -> (&'static str, &'static str, &'static str) {
        (FIELDS[0], FIELDS[1], FIELDS[2])
    }

    #[classattr]
    const fn __match_args__() -> (&'static str, &'static str, &'static str) {
        Self::_fields()
    }

    #[new]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "arguments of a Python constructor"
    )]
    const fn new(first_offset: Int<i64>, last_offset: Int<i64>, delivery_count: Int<i16>) -> Self {
        Self {
            first: first_offset.0,
            last: last_offset.0,
            count: delivery_count.0,
        }
    }

    /// First offset.
    #[getter]
    const fn first_offset(&self) -> i64 {
        self.first
    }

    /// Last offset, inclusive.
    #[getter]
    const fn last_offset(&self) -> i64 {
        self.last
    }

    /// Number of deliveries of the records, this one included.
    #[getter]
    const fn delivery_count(&self) -> i16 {
        self.count
    }

    fn __len__(&self) -> usize {
        FIELDS.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.tuple(py)?.try_iter()
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.tuple(py)?.as_any().get_item(index)
    }

    fn __add__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match sequence(other)? {
            Some(other) => self.tuple(py)?.add(other),
            None => Ok(PyNotImplemented::get(py).to_owned().into_any()),
        }
    }

    fn __radd__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match sequence(other)? {
            Some(other) => other.add(self.tuple(py)?),
            None => Ok(PyNotImplemented::get(py).to_owned().into_any()),
        }
    }

    fn __richcmp__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        match sequence(other)? {
            Some(other) => self.tuple(py)?.rich_compare(other, op),
            None => Ok(PyNotImplemented::get(py).to_owned().into_any()),
        }
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.tuple(py)?.hash()
    }

    /// Return the number of the three numbers that equal `value`.
    fn count(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.tuple(py)?.as_sequence().count(value)
    }

    /// The place of the first of the three numbers that equals `value`, from `start` on and before `stop`.
    ///
    /// Raises:
    ///     ValueError: none does.
    #[pyo3(signature = (value, start = 0, stop = isize::MAX, /),
        text_signature = "($self, value, start=0, stop=sys.maxsize, /)")]
    fn index(
        &self,
        py: Python<'_>,
        value: &Bound<'_, PyAny>,
        start: isize,
        stop: isize,
    ) -> PyResult<usize> {
        let place = self
            .tuple(py)?
            .call_method1("index", (value, start, stop))?;
        place.extract()
    }

    /// A dict of the fields by their names.
    fn _asdict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, field) in FIELDS.iter().zip(self.tuple(py)?) {
            dict.set_item(name, field)?;
        }
        Ok(dict)
    }

    /// A range with other values for the fields that are named.
    #[pyo3(signature = (*, first_offset = None, last_offset = None, delivery_count = None))]
    fn _replace(
        &self,
        first_offset: Option<Int<i64>>,
        last_offset: Option<Int<i64>>,
        delivery_count: Option<Int<i16>>,
    ) -> Self {
        Self {
            first: first_offset.map_or(self.first, |offset| offset.0),
            last: last_offset.map_or(self.last, |offset| offset.0),
            count: delivery_count.map_or(self.count, |count| count.0),
        }
    }

    /// A range of the three values of an iterable.
    #[classmethod]
    fn _make(_class: &Bound<'_, PyType>, iterable: &Bound<'_, PyAny>) -> PyResult<Self> {
        let values = iterable.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        let (first, last, count) =
            PyTuple::new(iterable.py(), values)?.extract::<(Int<i64>, Int<i64>, Int<i16>)>()?;
        Ok(Self::new(first, last, count))
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.tuple(py)
    }

    fn __repr__(&self) -> String {
        let Self { first, last, count } = self;
        format!("AcquiredRange(first_offset={first}, last_offset={last}, delivery_count={count})")
    }
}

impl AcquiredRange {
    fn tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (self.first, self.last, self.count).into_pyobject(py)
    }
}

impl From<&core::AcquiredRange> for AcquiredRange {
    fn from(range: &core::AcquiredRange) -> Self {
        Self {
            first: range.range.first,
            last: range.range.last,
            count: range.delivery_count,
        }
    }
}

/// Tuple that a range compares with and is joined to: a tuple itself, or another range as one.
fn sequence<'py>(other: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    if let Ok(range) = other.cast::<AcquiredRange>() {
        return range.get().tuple(other.py()).map(Some);
    }
    Ok(other.cast::<PyTuple>().ok().cloned())
}
