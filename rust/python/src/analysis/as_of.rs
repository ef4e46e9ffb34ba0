//! Place where a log is cut, as Python says it.

use std::collections::HashMap;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use share_state_core::history::{self, AsOf, At};

use crate::args::{Int, WallMs};
use crate::columns::Column;

/// `as_of_offset`: the last offset that counts, one for all state partitions or one for each.
pub enum AsOfOffset {
    /// An offset for all.
    All(i64),
    /// Offsets by state partition; those that are not named count whole.
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

/// As far as a state partition counts, where a log is looked at as of earlier.
///
/// Args:
///     state_partition: its number; what is the number of no state partition is named by no mapping.
///     as_of_offset: the last offset that counts, one for all state partitions or a mapping.
///     as_of_timestamp: a state partition ends before its first record that is later, ms since the epoch.
#[pyclass(frozen, module = "share_state")]
pub struct Prefix(history::Prefix);

#[pymethods]
impl Prefix {
    #[new]
    #[pyo3(
        signature = (state_partition, *, as_of_offset = None, as_of_timestamp = None),
        text_signature = "(state_partition, *, as_of_offset=None, as_of_timestamp=None)"
    )]
    fn new(
        state_partition: Int<i64>,
        as_of_offset: Option<AsOfOffset>,
        as_of_timestamp: Option<WallMs>,
    ) -> Self {
        let mut as_of = as_of(as_of_offset, as_of_timestamp);
        Self(match u32::try_from(state_partition.0) {
            Ok(partition) => as_of.of(partition),
            Err(_) => {
                as_of.offsets.clear();
                as_of.of(0)
            }
        })
    }

    /// The last offset that counts; `None` where no offset ends it.
    #[getter]
    fn last_offset(&self) -> Option<i64> {
        self.0.last_offset()
    }

    /// Return True if it goes as far as a record, by its offset and its time in ms since the epoch.
    fn reaches(&self, offset: Int<i64>, timestamp: Int<i64>) -> bool {
        let (offset, timestamp) = (offset.0, timestamp.0);
        self.0.reaches(At { offset, timestamp })
    }

    /// Return how many records stand before the first that it does not reach.
    ///
    /// Args:
    ///     offsets, timestamps: int64 columns, a place a record.
    ///
    /// Raises:
    ///     ArgumentTypeError: a column is not int64.
    fn count(&self, offsets: &Bound<'_, PyAny>, timestamps: &Bound<'_, PyAny>) -> PyResult<usize> {
        let offsets = Column::<i64>::of("offsets", offsets)?;
        let timestamps = Column::<i64>::of("timestamps", timestamps)?;
        let (offsets, timestamps) = (offsets.get(), timestamps.get());
        let places = offsets.iter().zip(timestamps.iter());
        let reached = places.take_while(|&(&offset, &timestamp)| {
            let at = At { offset, timestamp };
            self.0.reaches(at)
        });
        Ok(reached.count())
    }
}
