//! Columns of numbers from whoever has them: NumPy, Arrow, or anything else that `numpy.asarray` shows as it lies in memory.

use std::borrow::Cow;

use numpy::{Element, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple};

static ASARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A borrowed column of `T`.
pub struct Column<'py, T: Element>(PyReadonlyArray1<'py, T>);

impl<'py, T: Element + Copy> Column<'py, T> {
    /// The column called `name`. Another dtype or shape is refused and not converted: what looks like offsets and is not
    /// would be taken for offsets.
    pub fn of(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = value.extract() {
            return Ok(Self(array));
        }
        let py = value.py();
        let dtype = T::get_dtype(py);
        if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            let class = value.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "{name} is a {class}, not {dtype} of shape (n,) in one piece of memory"
            )));
        }
        let array = ASARRAY
            .get_or_try_init(py, || {
                py.import("numpy")?.getattr("asarray").map(Bound::unbind)
            })?
            .bind(py)
            .call1((value,))?;
        array.extract().map(Self).map_err(|_| {
            let shown = array
                .getattr("dtype")
                .and_then(|dtype| Ok(format!("{dtype} of shape {}", array.getattr("shape")?)))
                .unwrap_or_default();
            PyTypeError::new_err(format!("{name} is {shown}, not {dtype} of shape (n,)"))
        })
    }

    /// Its elements, without a copy where they are contiguous.
    pub fn get(&self) -> Cow<'_, [T]> {
        match self.0.as_slice() {
            Ok(slice) => Cow::Borrowed(slice),
            Err(_) => Cow::Owned(self.0.as_array().iter().copied().collect()),
        }
    }
}
