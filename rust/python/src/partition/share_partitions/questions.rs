//! Questions of a broker about many share partitions before it reads their logs.

use numpy::PyArray1;
use pyo3::prelude::*;

use super::{SharePartitions, requests};
use crate::columns::{Column, column_out};
use crate::partition::engine::{Engine, each};

/// Stands in the place of an offset of a share partition that is unusable after a bug.
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
            |engine, _| each!(engine, sp => sp.next_fetch_offset()),
        )
    }

    /// The first offset of the window (SPSO) of each of these share partitions; as `next_fetch_offset`.
    fn start_offset<'py>(
        &self,
        py: Python<'py>,
        partition: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.answers(
            py,
            partition,
            NO_OFFSET,
            |engine, _| each!(engine, sp => sp.start_offset()),
        )
    }

    /// Return for each of these share partitions if its records may be acquired (Kafka: `SharePartition.canAcquireRecords`):
    /// bool of shape (n,), `False` for one that is unusable after a bug.
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
            |engine, _| each!(engine, sp => sp.can_acquire()),
        )
    }

    /// Tell if nothing before `end_offset` is left to deliver or to settle, for each of these share partitions
    /// (`SharePartition.settled_to`): bool of shape (n,), `False` for one that is unusable after a bug.
    ///
    /// Args:
    ///     partition: int32 of shape (n,).
    ///     end_offset: int64 of shape (n,): the end of each log.
    ///
    /// Raises:
    ///     InvalidRequestError: a number names no share partition, an offset is negative, or the columns differ in length.
    ///     TypeError: a column is not of its dtype and of one dimension.
    fn settled_to<'py>(
        &self,
        py: Python<'py>,
        partition: &Bound<'py, PyAny>,
        end_offset: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let end_offset = Column::<i64>::of("end_offset", end_offset)?;
        let end_offset = end_offset.get();
        requests::refuse(py, "end_offset", &end_offset, |offset| offset >= 0)?;
        let rows = Column::<i32>::of("partition", partition)?.get().len();
        requests::same_length(py, "end_offset", end_offset.len(), rows)?;
        self.answers(
            py,
            partition,
            false,
            |engine, row| each!(engine, sp => sp.settled_to(end_offset[row])),
        )
    }
}

impl SharePartitions {
    fn answers<'py, T: numpy::Element + Copy>(
        &self,
        py: Python<'py>,
        partition: &Bound<'py, PyAny>,
        unusable: T,
        ask: impl Fn(&mut Engine, usize) -> T + Sync,
    ) -> PyResult<Bound<'py, PyArray1<T>>> {
        let partition = Column::of("partition", partition)?;
        let partition = partition.get();
        requests::check_partitions(py, &partition, self)?;
        let answers = py.detach(|| {
            let mut answers = vec![unusable; partition.len()];
            self.each_request(
                &partition,
                &mut answers,
                |answers, row, share_partition, _| {
                    answers[row] = ask(&mut share_partition.engine, row)
                },
                |answers, row| answers[row] = unusable,
                |_, _, _| {},
            );
            answers
        });
        Ok(column_out(py, answers))
    }
}
