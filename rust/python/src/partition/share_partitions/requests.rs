//! Columns of requests, checked as a whole before the first is carried out.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::Range;

use pyo3::prelude::*;

use super::{Members, SharePartitions};
use crate::errors::Raise;

/// Requests and their ranges of offsets, all of a length that fits.
pub struct Requests<'a> {
    /// Share partition of each request.
    pub partition: Cow<'a, [i32]>,
    /// Member of each request.
    pub member: Cow<'a, [i32]>,
    /// First offset of each range.
    pub first: Cow<'a, [i64]>,
    /// Last offset of each range.
    pub last: Cow<'a, [i64]>,
    /// Places where the ranges of each request begin, and the number of ranges; `None` when each request has one range.
    pub starts: Option<Cow<'a, [i64]>>,
}

impl Requests<'_> {
    pub fn len(&self) -> usize {
        self.partition.len()
    }

    /// The ranges of a request.
    pub fn ranges(&self, request: usize) -> Range<usize> {
        match &self.starts {
            None => request..request + 1,
            Some(starts) => starts[request] as usize..starts[request + 1] as usize,
        }
    }

    /// Refuses columns that do not fit together, and numbers that name nothing.
    pub fn check(&self, py: Python<'_>, set: &SharePartitions) -> PyResult<()> {
        same_length(py, "member", self.member.len(), self.len())?;
        same_length(py, "last_offset", self.last.len(), self.first.len())?;
        match &self.starts {
            None => same_length(py, "first_offset", self.first.len(), self.len())?,
            Some(starts) => check_starts(py, starts, self.len(), self.first.len())?,
        }
        check_partitions(py, &self.partition, set)?;
        check_members(py, &self.member, &set.members())
    }
}

/// Refuses a column that does not say where the ranges of each request begin.
fn check_starts(py: Python<'_>, starts: &[i64], requests: usize, ranges: usize) -> PyResult<()> {
    let field = "request_starts";
    same_length(py, field, starts.len(), requests + 1)?;
    let legal = starts.windows(2).all(|pair| pair[0] <= pair[1])
        && starts.first() == Some(&0)
        && starts.last() == Some(&(ranges as i64));
    if legal {
        return Ok(());
    }
    let message = format!("{field} does not rise from 0 to the number of ranges, {ranges}");
    Err(Raise::new(py, "InvalidRequestError", message)
        .fact("field", field)
        .fact("value", ranges)
        .done())
}

/// Refuses an index that names no share partition of the set.
pub fn check_partitions(py: Python<'_>, partitions: &[i32], set: &SharePartitions) -> PyResult<()> {
    let homes = set.homes();
    refuse(py, "partition", partitions, |index| {
        usize::try_from(index).is_ok_and(|index| index < homes.len())
    })
}

/// Refuses a number that names no member of the set.
fn check_members(py: Python<'_>, numbers: &[i32], members: &Members) -> PyResult<()> {
    let mut known = None;
    refuse(py, "member", numbers, |number| {
        let is_known = known == Some(number) || members.name(number).is_some();
        known = Some(number);
        is_known
    })
}

/// Refuses a column with a number that names nothing.
pub fn refuse<'py, T: Copy + Display + IntoPyObject<'py>>(
    py: Python<'py>,
    field: &'static str,
    column: &[T],
    mut is_legal: impl FnMut(T) -> bool,
) -> PyResult<()> {
    match column.iter().position(|number| !is_legal(*number)) {
        None => Ok(()),
        Some(row) => Err(Raise::new(
            py,
            "InvalidRequestError",
            format!(
                "row {row}: {} is no {field} of this SharePartitions",
                column[row]
            ),
        )
        .fact("field", field)
        .fact("value", column[row])
        .fact("index", row)
        .done()),
    }
}

/// Refuses a column that has another length than it must.
pub fn same_length(py: Python<'_>, field: &'static str, len: usize, wanted: usize) -> PyResult<()> {
    if len == wanted {
        return Ok(());
    }
    Err(Raise::new(
        py,
        "InvalidRequestError",
        format!("{field} has {len} rows, not {wanted}"),
    )
    .fact("field", field)
    .fact("value", len)
    .done())
}
