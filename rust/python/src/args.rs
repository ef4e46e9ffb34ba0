//! Arguments that are checked more closely than Python does: a bool is no number, a lock time is no wall-clock time, and what
//! does not fit is told with the argument's name, its value and what is expected.

use std::fmt::Display;
use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::type_object::PyTypeCheck;
use pyo3::types::{PyBool, PyInt, PyIterator, PyString, PyType};
use share_state_core::ids::TopicId;
use share_state_core::time::{LockTime, WallTime};

use crate::errors;

static LOCK_TIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static WALL_TIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static UUID: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The whole numbers that arguments have.
pub trait Whole: Sized {
    const LEAST: i128;
    const GREATEST: i128;
}

macro_rules! whole {
    ($($number:ty)*) => {$(
        impl Whole for $number {
            const LEAST: i128 = Self::MIN as i128;
            const GREATEST: i128 = Self::MAX as i128;
        }
    )*};
}
whole!(i8 i16 i32 i64 u8 u32 u64 usize);

/// A whole number: anything with `__index__` but a bool, which would hide a slip.
pub struct Int<T>(pub T);

impl<'a, 'py, T> FromPyObject<'a, 'py> for Int<T>
where
    T: Whole + FromPyObject<'a, 'py, Error = PyErr>,
{
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyBool>() {
            return Err(no_number::<T>(value));
        }
        value.extract().map(Self).map_err(|_| no_number::<T>(value))
    }
}

#[cold]
fn no_number<T: Whole>(value: Borrowed<'_, '_, PyAny>) -> PyErr {
    let is_number =
        !value.is_instance_of::<PyBool>() && value.hasattr("__index__").unwrap_or(false);
    if is_number {
        errors::out_of_range(&value, T::LEAST, T::GREATEST)
    } else {
        errors::wrong_type(&value, "a whole number")
    }
}

/// Says which argument it was that did not fit, or which part of it. PyO3 does the same for the arguments of a call.
pub fn named<T>(py: Python<'_>, part: PyResult<T>, name: impl Display) -> PyResult<T> {
    part.inspect_err(|error| self::name(py, error, name))
}

/// As [`named`], of an error alone.
pub fn name(py: Python<'_>, error: &PyErr, name: impl Display) {
    let note = format!("while processing '{name}'");
    // An error that takes no note is told without one.
    let _ = error.value(py).call_method1("add_note", (note,));
}

/// A text, which has to be one in UTF-8 too: a lone surrogate is none.
///
/// This and those below are for `from_py_with`, in place of conversions whose errors are Python's own.
pub fn text<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    value.extract().map_err(|_| {
        if value.is_instance_of::<PyString>() {
            errors::wrong_value(value, "a str without lone surrogates")
        } else {
            errors::wrong_type(value, "a str")
        }
    })
}

/// As [`text`], with memory of its own.
pub fn string(value: &Bound<'_, PyAny>) -> PyResult<String> {
    text(value).map(str::to_owned)
}

/// Bytes.
pub fn bytes<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    value
        .extract()
        .map_err(|_| errors::wrong_type(value, "bytes"))
}

/// `True` or `False`.
pub fn flag(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value
        .extract()
        .map_err(|_| errors::wrong_type(value, "a bool"))
}

/// A path of the file system.
pub fn path(value: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    value
        .extract()
        .map_err(|_| errors::wrong_type(value, "a path"))
}

/// An object of this class.
pub fn one<'a, 'py, T: PyTypeCheck>(value: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, T>> {
    value.cast().map_err(|_| {
        let class = T::classinfo_object(value.py());
        let name = class.getattr("__name__").map(|name| name.to_string());
        errors::wrong_type(value, &format!("a {}", name.unwrap_or_default()))
    })
}

/// Result of `read` for anything but `None`.
fn or_none<'a, 'py, T>(
    value: &'a Bound<'py, PyAny>,
    read: impl FnOnce(&'a Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Option<T>> {
    if value.is_none() {
        return Ok(None);
    }
    read(value).map(Some)
}

/// As [`text`], or `None`.
pub fn text_or_none<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Option<&'a str>> {
    or_none(value, text)
}

/// As [`string`], or `None`.
pub fn string_or_none(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    or_none(value, string)
}

/// As [`bytes`], or `None`.
pub fn bytes_or_none<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Option<&'a [u8]>> {
    or_none(value, bytes)
}

/// As [`one`], or `None`.
pub fn one_or_none<'a, 'py, T: PyTypeCheck>(
    value: &'a Bound<'py, PyAny>,
) -> PyResult<Option<&'a Bound<'py, T>>> {
    or_none(value, one)
}

/// Ids of topics.
pub fn topics(value: &Bound<'_, PyAny>) -> PyResult<Vec<Topic>> {
    items_of(value)?.map(|item| item?.extract()).collect()
}

/// Texts, or `None`.
pub fn strings_or_none(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    or_none(value, |value| {
        items_of(value)?.map(|item| string(&item?)).collect()
    })
}

/// The items of the argument `name`.
pub fn items<'py>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    named(value.py(), items_of(value), name)
}

fn items_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    // The letters of a text would be taken for items.
    if value.is_instance_of::<PyString>() {
        return Err(errors::wrong_type(value, "a list"));
    }
    value
        .try_iter()
        .map_err(|_| errors::wrong_type(value, "a list"))
}

/// A time on the caller's monotonic clock: `LockTime`, or a number of ms.
pub struct LockMs(pub LockTime);

impl<'a, 'py> FromPyObject<'a, 'py> for LockMs {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        time_in(value, &LOCK_TIME, "LockTime").map(|ms| Self(LockTime(ms)))
    }
}

/// A time on the wall clock: `WallTime`, or a number of ms since the epoch.
pub struct WallMs(pub WallTime);

impl<'a, 'py> FromPyObject<'a, 'py> for WallMs {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        time_in(value, &WALL_TIME, "WallTime").map(|ms| Self(WallTime(ms)))
    }
}

/// Numbers first: they are what a busy caller passes. A time of the other clock has no `__index__` and so is refused.
fn time_in(
    value: Borrowed<'_, '_, PyAny>,
    class: &PyOnceLock<Py<PyType>>,
    name: &str,
) -> PyResult<i64> {
    if !value.is_instance_of::<PyInt>()
        && value.is_instance(class.import(value.py(), "share_state.types", name)?)?
    {
        return value.getattr("ms")?.extract::<Int<i64>>().map(|ms| ms.0);
    }
    value.extract::<Int<i64>>().map(|ms| ms.0).map_err(|error| {
        if error.is_instance_of::<PyTypeError>(value.py()) {
            errors::wrong_type(&value, &format!("a {name}, or a whole number of ms"))
        } else {
            error
        }
    })
}

/// The id of a topic: a hyphenated UUID, 22 characters of URL-safe base64, or a `uuid.UUID`.
#[derive(Clone, Copy)]
pub struct Topic(pub TopicId);

/// Forms that the id of a topic may have.
pub const TOPIC_ID: &str = "a uuid.UUID, a hyphenated UUID or 22 characters of URL-safe base64";

impl<'a, 'py> FromPyObject<'a, 'py> for Topic {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyString>() {
            return TopicId::parse(text(&value)?)
                .map(Self)
                .ok_or_else(|| errors::wrong_value(&value, TOPIC_ID));
        }
        if value.is_instance(UUID.import(value.py(), "uuid", "UUID")?)? {
            return value
                .getattr("bytes")?
                .extract()
                .map(|id| Self(TopicId(id)));
        }
        Err(errors::wrong_type(&value, TOPIC_ID))
    }
}
