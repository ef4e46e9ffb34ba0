//! Where a log is cut, as Python says it.

use std::collections::HashMap;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use share_state_core::history::AsOf;

use crate::args::{Int, WallMs};

/// `as_of_offset`: the last offset that counts, one for all state partitions or one for each.
pub enum AsOfOffset {
    /// For all.
    All(i64),
    /// By state partition; those that are not named count whole.
    Each(HashMap<u32, i64>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for AsOfOffset {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let Ok(mapping) = value.cast::<PyMapping>() else {
            return value
                .extract::<Int<i64>>()
                .map(|offset| Self::All(offset.0));
        };
        let mut offsets = HashMap::new();
        for item in mapping.items()?.iter() {
            let (partition, offset) = item.extract::<(Int<u32>, Int<i64>)>()?;
            if offsets.insert(partition.0, offset.0).is_some() {
                return Err(PyTypeError::new_err("a state partition is named twice"));
            }
        }
        Ok(Self::Each(offsets))
    }
}

/// The prefix that both arguments mean together.
pub fn as_of(offset: Option<AsOfOffset>, timestamp: Option<WallMs>) -> AsOf {
    let mut prefix = AsOf {
        timestamp: timestamp.map(|WallMs(time)| time.0),
        ..AsOf::default()
    };
    match offset {
        None => {}
        Some(AsOfOffset::All(offset)) => prefix.offset = Some(offset),
        Some(AsOfOffset::Each(offsets)) => prefix.offsets = offsets,
    }
    prefix
}
