//! A row as a named tuple: its cells in their order.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyInt, PyString, PyTuple, PyType};
use share_state_analysis::table::{Cell, Cells, Row};

use crate::named_tuples;

/// The fields that are there so far; what failed first is kept.
struct Fields<'py> {
    py: Python<'py>,
    fields: Vec<Bound<'py, PyAny>>,
    failed: Option<PyErr>,
}

impl Cells for Fields<'_> {
    fn put(&mut self, cell: Cell<'_>) {
        match field(self.py, cell) {
            Ok(field) => self.fields.push(field),
            Err(error) => {
                self.failed.get_or_insert(error);
            }
        }
    }
}

fn field<'py>(py: Python<'py>, cell: Cell<'_>) -> PyResult<Bound<'py, PyAny>> {
    let number = |number: i64| PyInt::new(py, number).into_any();
    Ok(match cell {
        Cell::Null => py.None().into_bound(py),
        Cell::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Cell::Int8(value) => number(value.into()),
        Cell::Int16(value) => number(value.into()),
        Cell::Int32(value) => number(value.into()),
        Cell::Int64(value) | Cell::Timestamp(value) => number(value),
        Cell::Text(text) => PyString::new(py, text).into_any(),
        Cell::Word(word) => PyString::intern(py, word).into_any(),
        Cell::TopicId(id) => {
            let text = id.hyphenated();
            PyString::from_bytes(py, &text)?.into_any()
        }
        Cell::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Cell::Batches(batches) => named_tuples::state_batches_out(py, batches)?
            .to_tuple()
            .into_any(),
        Cell::DeliveryCounts(counts) => PyTuple::new(py, counts.iter().copied())?.into_any(),
    })
}

/// Place of a class of named tuples.
pub struct Class {
    cell: PyOnceLock<Py<PyType>>,
    module: &'static str,
    name: &'static str,
}

impl Class {
    pub const fn new(module: &'static str, name: &'static str) -> Self {
        Self {
            cell: PyOnceLock::new(),
            module,
            name,
        }
    }

    pub fn of<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyType>> {
        self.cell.import(py, self.module, self.name)
    }
}

/// A row as an instance of `class`, whose fields are the columns of the row.
pub fn tuple_out<'py, R: Row>(
    py: Python<'py>,
    class: &Class,
    row: &R,
) -> PyResult<Bound<'py, PyAny>> {
    let mut fields = Fields {
        py,
        fields: Vec::with_capacity(R::COLUMNS.len()),
        failed: None,
    };
    row.cells(&mut fields);
    if let Some(error) = fields.failed {
        return Err(error);
    }
    let class = class.of(py)?;
    named_tuples::named_tuple(class, PyTuple::new(py, fields.fields)?)
}
