//! An argument that is one value for all requests of a call, or a column with a value for each.

use std::borrow::Cow;

use numpy::Element;
use pyo3::prelude::*;

use super::requests::same_length;
use crate::args::{Int, Whole};
use crate::columns::Column;

/// The argument as Python gives it.
pub enum PerRequest<'py, T: Element> {
    One(T),
    Each(Column<'py, T>),
}

/// The argument, to be read without the interpreter.
pub enum Each<'a, T: Clone> {
    One(T),
    Of(Cow<'a, [T]>),
}

impl<'py, T> PerRequest<'py, T>
where
    T: Element + Copy + Whole + TryFrom<i128>,
    Int<T>: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    /// The argument called `name`.
    pub fn of(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        match value.extract::<Int<T>>() {
            Ok(one) => Ok(Self::One(one.0)),
            Err(_) => Column::of(name, value).map(Self::Each),
        }
    }

    /// As [`Self::of`], for an argument that may be absent.
    pub fn or(name: &str, value: Option<&Bound<'py, PyAny>>, absent: T) -> PyResult<Self> {
        value.map_or(Ok(Self::One(absent)), |value| Self::of(name, value))
    }

    /// Its values for so many requests; a column of another length is refused.
    pub fn get(
        &self,
        py: Python<'_>,
        name: &'static str,
        requests: usize,
    ) -> PyResult<Each<'_, T>> {
        match self {
            Self::One(one) => Ok(Each::One(*one)),
            Self::Each(column) => {
                let column = column.get();
                same_length(py, name, column.len(), requests)?;
                Ok(Each::Of(column))
            }
        }
    }
}

impl<T: Copy> Each<'_, T> {
    pub fn at(&self, request: usize) -> T {
        match self {
            Self::One(one) => *one,
            Self::Of(each) => each[request],
        }
    }
}
