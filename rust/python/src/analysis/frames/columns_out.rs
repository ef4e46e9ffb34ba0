//! Columns that were made, as NumPy arrays over the same memory.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use share_state_analysis::columns::{Batch, Buffers, Values};

/// A batch as `FramePump.finish` says.
pub fn batch_out(py: Python<'_>, batch: Batch) -> PyResult<Bound<'_, PyTuple>> {
    (batch.rows, columns_out(py, batch.columns)?).into_pyobject(py)
}

fn columns_out(py: Python<'_>, columns: Vec<Buffers>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for column in columns {
        list.append(column_out(py, column)?)?;
    }
    Ok(list)
}

fn column_out(py: Python<'_>, column: Buffers) -> PyResult<Bound<'_, PyTuple>> {
    let Buffers {
        validity,
        nulls,
        values,
        ..
    } = column;
    let validity = validity.map(|bits| PyArray1::from_vec(py, bits.into_bytes()));
    let values = match values {
        Values::Bool(bits) => PyArray1::from_vec(py, bits.into_bytes()).into_any(),
        Values::Int8(list) => PyArray1::from_vec(py, list).into_any(),
        Values::Int16(list) => PyArray1::from_vec(py, list).into_any(),
        Values::Int32(list) => PyArray1::from_vec(py, list).into_any(),
        Values::Int64(list) | Values::Timestamp(list) => PyArray1::from_vec(py, list).into_any(),
        Values::Variable { offsets, bytes } => {
            let offsets = PyArray1::from_vec(py, offsets);
            (offsets, PyArray1::from_vec(py, bytes))
                .into_pyobject(py)?
                .into_any()
        }
        Values::List { offsets, elements } => {
            let offsets = PyArray1::from_vec(py, offsets);
            (offsets, columns_out(py, elements)?)
                .into_pyobject(py)?
                .into_any()
        }
    };
    (nulls, validity, values).into_pyobject(py)
}
