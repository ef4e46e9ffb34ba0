//! Columns of numbers from whoever has them: NumPy, Arrow, or anything else that `numpy.asarray` shows as it lies in memory.

use std::borrow::Cow;

use numpy::{
    Element, IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple};

use crate::args::{Whole, named};
use crate::errors;

static ASARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Number of elements that take less time to copy than to lend an array for, or to give it memory of ours.
const FEW: usize = 1_000;

/// A column of `T`: one that is long is borrowed.
pub enum Column<'py, T: Element> {
    Copied(Vec<T>),
    Borrowed(PyReadonlyArray1<'py, T>),
}

impl<'py, T: Element + Copy + Whole + TryFrom<i128>> Column<'py, T> {
    /// The column called `name`. int64 is taken for a narrower dtype if each number fits. Any other dtype or shape is refused and
    /// not converted: what looks like offsets and is not would be taken for offsets.
    pub fn of(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = value.cast() {
            return Self::taken(array);
        }
        let py = value.py();
        let refused = |given: &Bound<'py, PyAny>| {
            let expected = format!("{} of shape (n,)", T::get_dtype(py));
            named(py, Err(errors::wrong_type(given, &expected)), name)
        };
        if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            return refused(value);
        }
        let array = ASARRAY
            .get_or_try_init(py, || {
                py.import("numpy")?.getattr("asarray").map(Bound::unbind)
            })?
            .bind(py)
            .call1((value,))?;
        match array.cast() {
            Ok(column) => Self::taken(column),
            Err(_) => match named(py, fitted(&array), name)? {
                Some(numbers) => Ok(Self::Copied(numbers)),
                None => refused(&array),
            },
        }
    }

    fn taken(array: &Bound<'py, PyArray1<T>>) -> PyResult<Self> {
        if array.len() <= FEW
            && let Ok(few) = array.to_vec()
        {
            return Ok(Self::Copied(few));
        }
        Ok(Self::Borrowed(array.try_readonly()?))
    }

    /// Its elements, without a copy where they are contiguous.
    pub fn get(&self) -> Cow<'_, [T]> {
        match self {
            Self::Copied(few) => Cow::Borrowed(few),
            Self::Borrowed(array) => match array.as_slice() {
                Ok(slice) => Cow::Borrowed(slice),
                Err(_) => Cow::Owned(array.as_array().iter().copied().collect()),
            },
        }
    }
}

/// The numbers of an int64 column, which is what NumPy makes of whole numbers, where a narrower one is expected.
fn fitted<T: Whole + TryFrom<i128>>(array: &Bound<'_, PyAny>) -> PyResult<Option<Vec<T>>> {
    let Ok(array) = array.cast::<PyArray1<i64>>() else {
        return Ok(None);
    };
    let view = array.try_readonly()?;
    let mut fitted = Vec::with_capacity(array.len());
    for number in view.as_array() {
        let Ok(number) = T::try_from(i128::from(*number)) else {
            let number = number.into_pyobject(array.py())?;
            return Err(errors::out_of_range(&number, T::LEAST, T::GREATEST));
        };
        fitted.push(number);
    }
    Ok(Some(fitted))
}

/// A column for Python.
pub fn column_out<T: Element + Copy>(py: Python<'_>, column: Vec<T>) -> Bound<'_, PyArray1<T>> {
    if column.len() <= FEW {
        PyArray1::from_slice(py, &column)
    } else {
        column.into_pyarray(py)
    }
}
