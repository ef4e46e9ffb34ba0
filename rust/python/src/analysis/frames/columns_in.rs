//! The buffers of a record batch's columns, checked once and then read row by row.

use numpy::{PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use share_state_analysis::input::Input;

use crate::args::Int;

type Array<'py, T> = PyReadonlyArray1<'py, T>;

/// Numbers of a column, and which of them are there.
struct NumbersIn<'py, T: numpy::Element> {
    first: usize,
    validity: Option<Array<'py, u8>>,
    values: Array<'py, T>,
}

/// Places where values of varying size begin.
enum Offsets<'py> {
    Short(Array<'py, i32>),
    Long(Array<'py, i64>),
}

/// Bytes of a column, and which of them are there.
struct BytesIn<'py> {
    first: usize,
    validity: Option<Array<'py, u8>>,
    offsets: Offsets<'py>,
    bytes: Array<'py, u8>,
}

/// The columns of a record batch.
pub struct ColumnsIn<'py> {
    topic: Option<BytesIn<'py>>,
    key: BytesIn<'py>,
    value: BytesIn<'py>,
    partition: NumbersIn<'py, i32>,
    offset: NumbersIn<'py, i64>,
    timestamp: NumbersIn<'py, i64>,
}

impl<'py> ColumnsIn<'py> {
    pub fn extract(columns: &Bound<'py, PyDict>) -> PyResult<Self> {
        let named = |name: &str| {
            columns
                .get_item(name)?
                .ok_or_else(|| PyKeyError::new_err(name.to_owned()))
        };
        Ok(Self {
            topic: columns
                .get_item("topic")?
                .map(|topic| bytes_in(&topic))
                .transpose()?,
            key: bytes_in(&named("key")?)?,
            value: bytes_in(&named("value")?)?,
            partition: numbers_in(&named("partition")?)?,
            offset: numbers_in(&named("offset")?)?,
            timestamp: numbers_in(&named("timestamp")?)?,
        })
    }

    /// The rows, once it is known that the buffers hold them.
    pub fn view(&self, rows: usize, ticks_per_second: i64) -> PyResult<View<'_>> {
        if ticks_per_second < 1 {
            let message = format!("ticks_per_second is {ticks_per_second}");
            return Err(PyValueError::new_err(message));
        }
        Ok(View {
            topic: self
                .topic
                .as_ref()
                .map(|topic| topic.view("topic", rows))
                .transpose()?,
            key: self.key.view("key", rows)?,
            value: self.value.view("value", rows)?,
            partition: self.partition.view("partition", rows)?,
            offset: self.offset.view("offset", rows)?,
            timestamp: self.timestamp.view("timestamp", rows)?,
            ticks_per_second,
        })
    }
}

fn numbers_in<'py, T: numpy::Element>(column: &Bound<'py, PyAny>) -> PyResult<NumbersIn<'py, T>> {
    let (first, validity, values): (Int<usize>, _, _) = column.extract()?;
    Ok(NumbersIn {
        first: first.0,
        validity,
        values,
    })
}

fn bytes_in<'py>(column: &Bound<'py, PyAny>) -> PyResult<BytesIn<'py>> {
    type Parts<'py> = (
        Int<usize>,
        Option<Array<'py, u8>>,
        Bound<'py, PyAny>,
        Array<'py, u8>,
    );
    let (first, validity, offsets, bytes): Parts<'py> = column.extract()?;
    let untyped = offsets.cast::<numpy::PyUntypedArray>()?;
    let offsets = if untyped.dtype().itemsize() == size_of::<i32>() {
        Offsets::Short(offsets.extract()?)
    } else {
        Offsets::Long(offsets.extract()?)
    };
    Ok(BytesIn {
        first: first.0,
        validity,
        offsets,
        bytes,
    })
}

fn unfit(name: &str) -> PyErr {
    PyValueError::new_err(format!("the buffers of column {name} do not hold its rows"))
}

/// The bits and the end of `rows` rows from `first` on.
fn placed<'a>(
    name: &str,
    first: usize,
    rows: usize,
    validity: Option<&'a Array<'_, u8>>,
) -> PyResult<(Option<&'a [u8]>, usize)> {
    let end = first.checked_add(rows).ok_or_else(|| unfit(name))?;
    let validity = validity.map(PyReadonlyArray1::as_slice).transpose()?;
    if validity.is_some_and(|bits| bits.len() < end.div_ceil(8)) {
        return Err(unfit(name));
    }
    Ok((validity, end))
}

impl<T: numpy::Element + Copy> NumbersIn<'_, T> {
    fn view(&self, name: &str, rows: usize) -> PyResult<Numbers<'_, T>> {
        let (validity, end) = placed(name, self.first, rows, self.validity.as_ref())?;
        let values = self.values.as_slice()?.get(self.first..end);
        Ok(Numbers {
            first: self.first,
            validity,
            values: values.ok_or_else(|| unfit(name))?,
        })
    }
}

impl BytesIn<'_> {
    fn view(&self, name: &str, rows: usize) -> PyResult<Bytes<'_>> {
        let (validity, end) = placed(name, self.first, rows, self.validity.as_ref())?;
        let bytes = self.bytes.as_slice()?;
        let ends = match &self.offsets {
            Offsets::Short(array) => Ends::Short(window(array.as_slice()?, self.first, end)),
            Offsets::Long(array) => Ends::Long(window(array.as_slice()?, self.first, end)),
        };
        // A batch without rows may come without offsets.
        if rows > 0 && !ends.fit(rows, bytes.len()) {
            return Err(unfit(name));
        }
        Ok(Bytes {
            first: self.first,
            validity,
            ends,
            bytes,
        })
    }
}

/// The offsets of rows `first..end`, and where the last of them ends.
fn window<T>(offsets: &[T], first: usize, end: usize) -> &[T] {
    offsets.get(first..=end).unwrap_or_default()
}

struct Numbers<'a, T> {
    first: usize,
    validity: Option<&'a [u8]>,
    values: &'a [T],
}

enum Ends<'a> {
    Short(&'a [i32]),
    Long(&'a [i64]),
}

impl Ends<'_> {
    /// Returns true if they rise, and end inside so many bytes.
    fn fit(&self, rows: usize, bytes: usize) -> bool {
        fn fit<T: Copy + PartialOrd + Default + TryInto<usize>>(
            ends: &[T],
            rows: usize,
            bytes: usize,
        ) -> bool {
            ends.len() == rows + 1
                && ends.is_sorted()
                && ends.first().is_some_and(|first| *first >= T::default())
                && ends
                    .last()
                    .and_then(|last| (*last).try_into().ok())
                    .is_some_and(|last| last <= bytes)
        }
        match self {
            Self::Short(ends) => fit(ends, rows, bytes),
            Self::Long(ends) => fit(ends, rows, bytes),
        }
    }

    fn of(&self, row: usize) -> Option<(usize, usize)> {
        fn of<T: Copy + TryInto<usize>>(ends: &[T], row: usize) -> Option<(usize, usize)> {
            let begin = (*ends.get(row)?).try_into().ok()?;
            Some((begin, (*ends.get(row + 1)?).try_into().ok()?))
        }
        match self {
            Self::Short(ends) => of(ends, row),
            Self::Long(ends) => of(ends, row),
        }
    }
}

struct Bytes<'a> {
    first: usize,
    validity: Option<&'a [u8]>,
    ends: Ends<'a>,
    bytes: &'a [u8],
}

fn is_there(validity: Option<&[u8]>, place: usize) -> bool {
    validity.is_none_or(|bits| {
        bits.get(place / 8)
            .is_some_and(|byte| byte >> (place % 8) & 1 == 1)
    })
}

impl<T: Copy> Numbers<'_, T> {
    fn at(&self, row: usize) -> Option<T> {
        is_there(self.validity, self.first + row)
            .then(|| self.values.get(row).copied())
            .flatten()
    }
}

impl<'a> Bytes<'a> {
    fn at(&self, row: usize) -> Option<&'a [u8]> {
        if !is_there(self.validity, self.first + row) {
            return None;
        }
        let (begin, end) = self.ends.of(row)?;
        self.bytes.get(begin..end)
    }
}

/// Rows that can be read without the interpreter.
pub struct View<'a> {
    topic: Option<Bytes<'a>>,
    key: Bytes<'a>,
    value: Bytes<'a>,
    partition: Numbers<'a, i32>,
    offset: Numbers<'a, i64>,
    timestamp: Numbers<'a, i64>,
    ticks_per_second: i64,
}

impl<'a> View<'a> {
    /// A row; what is not text where text should be names no topic that anybody expects.
    pub fn row(&self, row: usize) -> Input<'a> {
        Input {
            topic: self
                .topic
                .as_ref()
                .map(|topic| str::from_utf8(topic.at(row).unwrap_or_default()).unwrap_or_default()),
            partition: self.partition.at(row),
            offset: self.offset.at(row),
            timestamp: self.timestamp.at(row).map(|ticks| self.ms(ticks)),
            key: self.key.at(row),
            value: self.value.at(row),
        }
    }

    /// Whole ms; what is finer is before the next ms.
    fn ms(&self, ticks: i64) -> i64 {
        let ms = i128::from(ticks) * 1000;
        let ms = ms.div_euclid(i128::from(self.ticks_per_second));
        ms.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }
}
