//! Values of messages as plain Python values: numbers, text, lists, and a dict a struct.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use share_state_core::ids::TopicId;

use crate::args::{Int, Whole};
use crate::convert;
use crate::errors;

/// A value of a message as a Python value.
pub trait Plain: Sized {
    fn out<'py>(&self, py: Python<'py>, version: i16) -> PyResult<Bound<'py, PyAny>>;
    fn take(value: &Bound<'_, PyAny>) -> PyResult<Self>;
}

macro_rules! native {
    ($take:ident: $($type:ty),*) => {$(
        impl Plain for $type {
            fn out<'py>(&self, py: Python<'py>, _version: i16) -> PyResult<Bound<'py, PyAny>> {
                Ok(self.clone().into_pyobject(py)?.into_any())
            }

            fn take(value: &Bound<'_, PyAny>) -> PyResult<Self> {
                $take(value)
            }
        }
    )*};
}

native!(number: i8, i16, i32, i64);
native!(text: String, Option<String>);

fn number<T>(value: &Bound<'_, PyAny>) -> PyResult<T>
where
    T: Whole + for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    value.extract::<Int<T>>().map(|number| number.0)
}

fn text<T>(value: &Bound<'_, PyAny>) -> PyResult<T>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    value.extract()
}

impl Plain for TopicId {
    fn out<'py>(&self, py: Python<'py>, version: i16) -> PyResult<Bound<'py, PyAny>> {
        self.to_base64().out(py, version)
    }

    fn take(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        convert::topic_id(value.extract()?)
    }
}

impl<T: Plain> Plain for Vec<T> {
    fn out<'py>(&self, py: Python<'py>, version: i16) -> PyResult<Bound<'py, PyAny>> {
        let list = PyList::empty(py);
        for item in self {
            list.append(item.out(py, version)?)?;
        }
        Ok(list.into_any())
    }

    fn take(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        value.try_iter()?.map(|item| T::take(&item?)).collect()
    }
}

/// The field `name` in Kafka's spelling.
pub fn camel(name: &str) -> String {
    spelled(name).collect()
}

fn spelled(name: &str) -> impl Iterator<Item = char> {
    let mut upper = false;
    name.chars().filter_map(move |c| {
        let was_upper = std::mem::replace(&mut upper, c == '_');
        (c != '_').then(|| if was_upper { c.to_ascii_uppercase() } else { c })
    })
}

pub fn field<T: Plain>(dict: &Bound<'_, PyDict>, name: &str, absent: Option<T>) -> PyResult<T> {
    let spelled = camel(name);
    match (dict.get_item(&spelled)?, absent) {
        (Some(value), _) => T::take(&value).map_err(|error| {
            let text = error.value(dict.py()).to_string();
            let text = match text.strip_prefix(errors::UNNAMED) {
                Some(rest) => format!("{spelled}{rest}"),
                None => format!("{spelled}: {text}"),
            };
            errors::wrong_field(dict.py(), &spelled, text)
        }),
        (None, Some(absent)) => Ok(absent),
        (None, None) => {
            let text = format!("{spelled} is missing");
            Err(errors::wrong_field(dict.py(), &spelled, text))
        }
    }
}

/// Refuses a dict with a key that is no field; the fields around it are named before it.
pub fn only_known(
    dict: &Bound<'_, PyDict>,
    known: impl Fn(&Bound<'_, PyAny>) -> bool,
) -> PyResult<()> {
    match dict.iter().find(|(key, _)| !known(key)) {
        Some((key, _)) => {
            let text = format!("{key}: there is no such field");
            Err(errors::wrong_field(dict.py(), &key.to_string(), text))
        }
        None => Ok(()),
    }
}

/// The same, by the names of the fields in Rust's spelling.
pub fn only_fields(dict: &Bound<'_, PyDict>, names: &[&str]) -> PyResult<()> {
    only_known(dict, |key| {
        let text = key
            .cast::<PyString>()
            .ok()
            .and_then(|key| key.to_str().ok());
        text.is_some_and(|text| names.iter().any(|name| spelled(name).eq(text.chars())))
    })
}

pub fn as_dict<'a, 'py>(value: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyDict>> {
    value
        .cast::<PyDict>()
        .map_err(|_| PyTypeError::new_err(format!("a dict is needed, not {}", value.get_type())))
}

/// Implements [`Plain`] for a struct. The names are checked by the compiler; `since` names the first version that has the
/// field, `or` what it is when absent.
macro_rules! plain_struct {
    ($type:ident $(<$param:ident>)? { $($name:ident $(since $since:literal or $absent:literal)?),* $(,)? }) => {
        impl $(<$param: $crate::wire::plain::Plain>)? $crate::wire::plain::Plain for $type $(<$param>)? {
            fn out<'py>(&self, py: Python<'py>, version: i16) -> PyResult<Bound<'py, PyAny>> {
                let dict = PyDict::new(py);
                $(
                    if true $(&& version >= $since)? {
                        dict.set_item($crate::wire::plain::camel(stringify!($name)), self.$name.out(py, version)?)?;
                    }
                )*
                Ok(dict.into_any())
            }

            fn take(value: &Bound<'_, PyAny>) -> PyResult<Self> {
                let dict = $crate::wire::plain::as_dict(value)?;
                $crate::wire::plain::only_fields(dict, &[$(stringify!($name)),*])?;
                Ok(Self { $($name: {
                    #[allow(unused_mut, unused_assignments, reason = "most fields have no default")]
                    let mut absent = None;
                    $(absent = Some($absent);)?
                    $crate::wire::plain::field(dict, stringify!($name), absent)?
                },)* })
            }
        }
    };
}
pub(crate) use plain_struct;
