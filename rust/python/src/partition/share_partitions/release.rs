//! Taking back what members hold in many share partitions.

use numpy::PyArray1;
use pyo3::prelude::*;
use share_state_core::kafka_code::KafkaCode;

use super::{POISONED, SharePartitions, requests};
use crate::args::LockMs;
use crate::columns::{Column, column_out};

type CodesAndRecords<'py> = (Bound<'py, PyArray1<i16>>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl SharePartitions {
    /// Release everything that members hold, as when their share sessions end (Kafka: `SharePartition.releaseAcquiredRecords`, a
    /// call for each row).
    ///
    /// Args:
    ///     partition: int32 of shape (n,).
    ///     member: int32 of shape (n,): the member whose records of that share partition are released; one that holds none there
    ///         costs little.
    ///     now_ms: now, on the monotonic clock.
    ///
    /// Returns:
    ///     Two arrays of shape (n,): int16, 0 or Kafka's code where the persister of the share partition has refused the write;
    ///     int64, the number of records. Writes to poll come by `poll_writes`.
    ///
    /// Raises:
    ///     InvalidRequestError: columns do not fit together, or a number names nothing; `field` names the column, `value` and
    ///         `index` the row. Nothing has changed.
    ///     TypeError: a column is not of its dtype and of one dimension.
    #[pyo3(signature = (partition, member, *, now_ms))]
    fn release<'py>(
        &self,
        py: Python<'py>,
        partition: &Bound<'py, PyAny>,
        member: &Bound<'py, PyAny>,
        now_ms: LockMs,
    ) -> PyResult<CodesAndRecords<'py>> {
        let partition = Column::of("partition", partition)?;
        let partition = partition.get();
        let member = Column::<i32>::of("member", member)?;
        let member = member.get();
        requests::same_length(py, "member", member.len(), partition.len())?;
        requests::check_partitions(py, &partition, self)?;
        requests::check_members(py, &member, &self.members())?;
        let (codes, records) = py.detach(|| {
            let members = self.members();
            let mut released = (
                vec![KafkaCode::None.code(); partition.len()],
                vec![0_i64; partition.len()],
            );
            self.each_request(
                &partition,
                &mut released,
                |(_, records), row, share_partition, writes| {
                    let member = members.name(member[row]).unwrap_or_default();
                    records[row] = share_partition.release(member, now_ms.0, writes) as i64;
                },
                |(codes, records), row| {
                    codes[row] = POISONED;
                    records[row] = 0;
                },
                |(codes, _), row, code| codes[row] = code.code(),
            );
            released
        });
        Ok((column_out(py, codes), column_out(py, records)))
    }
}
