//! What a broker asks of many share partitions before it reads their logs.

use numpy::PyArray1;
use pyo3::prelude::*;

use super::{SharePartitions, requests};
use crate::columns::{Column, column_out};
use crate::engine::{Engine, each};

/// In the place of an offset of a share partition that is unusable after a bug.
const NO_OFFSET: i64 = -1;

#[pymethods]
impl SharePartitions {
    /// The offset from which to read the log next, for each of these share partitions (Kafka: `SharePartition.nextFetchOffset`).
    ///
    /// Args:
    ///     partition: int32 of shape (n,).
    ///
    /// Returns:
    ///     int64 of shape (n,); -1 for a share partition that is unusable after a bug.
    ///
    /// Raises:
    ///     InvalidRequestError: a number names no share partition.
    ///     TypeError: the column is not of its dtype and of one dimension.
    fn next_fetch_offset<'py>(
        &self,
        py: Python<'py>,
        partition: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.answers(
            py,
            partition,
            NO_OFFSET,
            |engine| each!(engine, sp => sp.next_fetch_offset()),
        )
    }

    /// The first offset that may still be delivered (SPSO) of each of these share partitions; as `next_fetch_offset`.
    fn start_offset<'py>(
        &self,
        py: Python<'py>,
        partition: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.answers(
            py,
            partition,
            NO_OFFSET,
            |engine| each!(engine, sp => sp.start_offset()),
        )
    }

    /// Whether records of each of these share partitions may be acquired (Kafka: `SharePartition.canAcquireRecords`): bool of
    /// shape (n,), `False` for one that is unusable after a bug.
    ///
    /// Raises:
    ///     InvalidRequestError: a number names no share partition.
    ///     TypeError: the column is not of its dtype and of one dimension.
    fn can_acquire<'py>(
        &self,
        py: Python<'py>,
        partition: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        self.answers(
            py,
            partition,
            false,
            |engine| each!(engine, sp => sp.can_acquire()),
        )
    }
}

impl SharePartitions {
    fn answers<'py, T: numpy::Element + Copy>(
        &self,
        py: Python<'py>,
        partition: &Bound<'py, PyAny>,
        unusable: T,
        ask: impl Fn(&mut Engine) -> T + Sync,
    ) -> PyResult<Bound<'py, PyArray1<T>>> {
        let partition = Column::of("partition", partition)?;
        let partition = partition.get();
        requests::check_partitions(py, &partition, self)?;
        let answers = py.detach(|| {
            let mut answers = vec![unusable; partition.len()];
            self.each_request(
                &partition,
                &mut answers,
                |answers, row, watched, _| answers[row] = ask(&mut watched.engine),
                |answers, row| answers[row] = unusable,
                |_, _, _| {},
            );
            answers
        });
        Ok(column_out(py, answers))
    }
}
