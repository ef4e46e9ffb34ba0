//! Messages that have a table, as plain dicts: see [`crate::wire::codec`].
//!
//! On the path of every request of a gateway: the names of fields are made once, and texts and bytes are not copied on their
//! way from Python to the writer.

use std::collections::BTreeMap;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyMemoryView, PyString};
use share_state_core::ids::TopicId;
use share_state_wire::messages::protocol::apis::APIS;
use share_state_wire::messages::protocol::schema::{Api, Field, Fields, Kind};
use share_state_wire::messages::protocol::{Borrowed, Direction, FieldError, Value};

use crate::args::{Int, Whole};
use crate::convert;
use crate::errors;
use crate::locked::caught;
use crate::wire::plain::{as_dict, only_known};

static TABLES: PyOnceLock<BTreeMap<i16, Table>> = PyOnceLock::new();

/// The table of an RPC with its names as Python strings.
pub struct Table {
    api: &'static Api,
    request: Vec<Named>,
    response: Vec<Named>,
}

/// A field, its name as an interned string, by which a dict finds it without comparing text, and the fields within it.
struct Named {
    field: &'static Field,
    name: Py<PyString>,
    inner: Vec<Self>,
}

fn named(py: Python<'_>, fields: Fields) -> Vec<Named> {
    let one = |field: &'static Field| Named {
        field,
        name: PyString::intern(py, field.name).unbind(),
        inner: match field.kind {
            Kind::Struct(fields) | Kind::Structs(fields) => named(py, fields),
            _ => Vec::new(),
        },
    };
    fields.iter().map(one).collect()
}

/// The table of an RPC, if it has one.
pub fn table(py: Python<'_>, api_key: i16) -> Option<&'static Table> {
    let made = TABLES.get_or_init(py, || {
        let of = |api: &&'static Api| Table {
            api,
            request: named(py, api.request),
            response: named(py, api.response),
        };
        APIS.iter().map(|api| (api.key, of(api))).collect()
    });
    made.get(&api_key)
}

impl Table {
    fn names(&self, direction: Direction) -> &[Named] {
        match direction {
            Direction::Request => &self.request,
            Direction::Response => &self.response,
        }
    }

    /// Reads a message.
    pub fn decode<'py>(
        &self,
        py: Python<'py>,
        direction: Direction,
        version: i16,
        data: &[u8],
        elements: usize,
        trailing: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let read = || {
            self.api
                .decode_within(direction, version, data, elements, trailing)
        };
        let message = caught(read)
            .map_err(|panic| errors::bug(py, "decode_message", &panic))?
            .map_err(|error| errors::field(py, &error))?;
        dict_out(py, self.names(direction), &message)
    }

    /// The bytes of a message.
    pub fn encode<'py>(
        &self,
        direction: Direction,
        version: i16,
        message: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = message.py();
        let refuse = |error: FieldError| errors::field(py, &error);
        self.api.check_version(version).map_err(refuse)?;
        let values = dict_in(self.names(direction), version, message)?;
        let bytes = caught(|| self.api.encode(direction, version, &values))
            .map_err(|panic| errors::bug(py, "encode_message", &panic))?
            .map_err(refuse)?;
        Ok(PyBytes::new(py, &bytes))
    }
}

fn dict_out<'py>(
    py: Python<'py>,
    names: &[Named],
    message: &Borrowed<'_>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    if let Value::Struct(values) = message {
        for (named, value) in names.iter().zip(values) {
            if let Some(value) = value {
                dict.set_item(named.name.bind(py), value_out(py, named, value)?)?;
            }
        }
    }
    Ok(dict)
}

fn value_out<'py>(
    py: Python<'py>,
    named: &Named,
    value: &Borrowed<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Int(value) => value.into_pyobject(py)?.into_any(),
        Value::Uuid(id) => PyString::new(py, &id.to_base64()).into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::Struct(_) => dict_out(py, &named.inner, value)?.into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(value_out(py, named, item)?)?;
            }
            list.into_any()
        }
    })
}

/// A value as Python gave it. It holds on to the Python objects, so texts and bytes stay where they are.
type Given = Value<PyBackedStr, Blob>;

/// Bytes as Python gave them.
enum Blob {
    /// `bytes`, which nobody can change.
    Kept(PyBackedBytes),
    /// Anything that somebody could.
    Copied(Vec<u8>),
}

impl AsRef<[u8]> for Blob {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Kept(bytes) => bytes,
            Self::Copied(bytes) => bytes,
        }
    }
}

fn dict_in(names: &[Named], version: i16, dict: &Bound<'_, PyDict>) -> PyResult<Given> {
    let mut values = Vec::with_capacity(names.len());
    let mut taken = 0;
    for named in names {
        let field = named.field;
        let given = if field.is_in(version) {
            dict.get_item(named.name.bind(dict.py()))?
        } else {
            None
        };
        taken += usize::from(given.is_some());
        values.push(match given {
            Some(value) => Some(value_in(named, version, &value).map_err(|error| {
                let reason = error.value(dict.py());
                PyValueError::new_err(format!("{}: {reason}", field.name))
            })?),
            None if field.is_in(version) && field.must_be_given() => {
                let message = format!("{} is missing", field.name);
                return Err(PyValueError::new_err(message));
            }
            None => None,
        });
    }
    // Mostly every key was one of them; else it is a field of another version, or none.
    if taken < dict.len() {
        only_known(dict, |key| {
            names
                .iter()
                .any(|named| key.eq(named.name.bind(dict.py())).unwrap_or(false))
        })?;
    }
    Ok(Value::Struct(values))
}

fn value_in(named: &Named, version: i16, value: &Bound<'_, PyAny>) -> PyResult<Given> {
    if value.is_none() {
        return if named.field.is_nullable(version) {
            Ok(Value::Null)
        } else {
            Err(PyTypeError::new_err("None where null is not allowed"))
        };
    }
    Ok(match named.field.kind {
        Kind::Bool => Value::Bool(value.extract()?),
        Kind::Int8 => int::<i8>(value)?,
        Kind::Int16 => int::<i16>(value)?,
        Kind::Int32 => int::<i32>(value)?,
        Kind::Int64 => int::<i64>(value)?,
        Kind::Uuid => Value::Uuid(uuid(value)?),
        Kind::String => Value::Text(value.extract()?),
        Kind::Bytes => Value::Bytes(blob(value)?),
        Kind::Int8s => Value::Bytes(int8s(value)?),
        Kind::Int32s => array(value, int::<i32>)?,
        Kind::Strings => array(value, |item| Ok(Value::Text(item.extract()?)))?,
        Kind::Struct(_) => dict_in(&named.inner, version, as_dict(value)?)?,
        Kind::Structs(_) => array(value, |item| dict_in(&named.inner, version, as_dict(item)?))?,
    })
}

fn int<T>(value: &Bound<'_, PyAny>) -> PyResult<Given>
where
    T: Whole + Into<i64> + for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    value
        .extract::<Int<T>>()
        .map(|value| Value::Int(value.0.into()))
}

fn uuid(value: &Bound<'_, PyAny>) -> PyResult<TopicId> {
    convert::topic_id(value.extract()?)
}

fn array<'py>(
    value: &Bound<'py, PyAny>,
    mut element: impl FnMut(&Bound<'py, PyAny>) -> PyResult<Given>,
) -> PyResult<Given> {
    if value.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("a list is needed, not a text"));
    }
    let items = value.try_iter()?.map(|item| element(&item?));
    items.collect::<PyResult<_>>().map(Value::Array)
}

fn blob(value: &Bound<'_, PyAny>) -> PyResult<Blob> {
    if value.is_instance_of::<PyBytes>() {
        return Ok(Blob::Kept(value.extract()?));
    }
    if value.is_instance_of::<PyMemoryView>() || value.is_instance_of::<PyByteArray>() {
        let buffer = PyBuffer::<u8>::get(value)?;
        return buffer.to_vec(value.py()).map(Blob::Copied);
    }
    Err(PyTypeError::new_err(format!(
        "bytes are needed, not {}",
        value.get_type()
    )))
}

fn int8s(value: &Bound<'_, PyAny>) -> PyResult<Blob> {
    if value.is_instance_of::<PyList>() {
        let items = value
            .try_iter()?
            .map(|item| item?.extract::<Int<i8>>().map(|item| item.0 as u8));
        return items.collect::<PyResult<_>>().map(Blob::Copied);
    }
    blob(value)
}
