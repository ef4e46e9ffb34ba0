//! Following the log starts of many partitions.

use numpy::PyArray1;
use pyo3::prelude::*;

use super::{SharePartitions, requests};
use crate::columns::{Column, column_out};
use crate::partition::engine::each;

#[pymethods]
impl SharePartitions {
    /// Follow the log start offsets of many partitions: records below them are archived (Kafka:
    /// `SharePartition.updateCacheAndOffsets`, a call for each row). See `SharePartition.move_log_start_offset`.
    ///
    /// Args:
    ///     partition: int32 of shape (n,).
    ///     log_start_offset: int64 of shape (n,).
    ///
    /// Returns:
    ///     bool of shape (n,): whether the start offset moved; `False` for a share partition that is unusable after a bug.
    ///
    /// Raises:
    ///     InvalidRequestError: columns do not fit together, or a number names no share partition. Nothing has changed.
    ///     TypeError: a column is not of its dtype and of one dimension.
    fn move_log_start_offset<'py>(
        &self,
        py: Python<'py>,
        partition: &Bound<'py, PyAny>,
        log_start_offset: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let partition = Column::of("partition", partition)?;
        let partition = partition.get();
        let offset = Column::<i64>::of("log_start_offset", log_start_offset)?;
        let offset = offset.get();
        requests::same_length(py, "log_start_offset", offset.len(), partition.len())?;
        requests::check_partitions(py, &partition, self)?;
        let moved = py.detach(|| {
            let mut moved = vec![false; partition.len()];
            self.each_request(
                &partition,
                &mut moved,
                |moved, row, share_partition, _| {
                    moved[row] =
                        each!(&mut share_partition.engine, sp => sp.move_log_start_offset(offset[row]));
                },
                |moved, row| moved[row] = false,
                |_, _, _| {},
            );
            moved
        });
        Ok(column_out(py, moved))
    }
}
