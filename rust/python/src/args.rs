//! Arguments, taken more strictly than PyO3 does: no bool for a number, no wall-clock time for a lock time.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyInt, PyType};
use share_state_core::time::{LockTime, WallTime};

static LOCK_TIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static WALL_TIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A whole number: anything with `__index__` but a bool, which would hide a slip. Out of range is `OverflowError`.
pub struct Int<T>(pub T);

impl<'a, 'py, T: FromPyObject<'a, 'py, Error = PyErr>> FromPyObject<'a, 'py> for Int<T> {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyBool>() {
            return Err(PyTypeError::new_err("a whole number is needed, not a bool"));
        }
        value.extract().map(Self)
    }
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
    value.extract::<Int<i64>>().map(|ms| ms.0)
}
