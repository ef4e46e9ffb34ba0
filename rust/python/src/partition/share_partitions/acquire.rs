//! Giving records of many share partitions to members.

use numpy::PyArray1;
use pyo3::prelude::*;
use share_state_core::share_partition::{AcquireMode, AcquireRequest, FetchedBatch};

use super::SharePartitions;
use super::acquired::{Acquired, Growing};
use super::requests::{self, Requests};
use crate::args::{Int, LockMs};
use crate::columns::{Column, column_out};
use crate::partition::engine::each;
use crate::words::Mode;

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
        let partition = Column::of("partition", partition)?;
        let partition = partition.get();
        requests::check_partitions(py, &partition, self)?;
        let offsets = py.detach(|| {
            let mut offsets = vec![NO_OFFSET; partition.len()];
            self.each_request(
                &partition,
                &mut offsets,
                |offsets, row, share_partition, _| {
                    offsets[row] = each!(&mut share_partition.engine, sp => sp.next_fetch_offset());
                },
                |offsets, row| offsets[row] = NO_OFFSET,
            );
            offsets
        });
        Ok(column_out(py, offsets))
    }

    /// Give members what is available of the log batches that were read for them (Kafka: `SharePartition.acquire`, a call for
    /// each request).
    ///
    /// The batches count as plain records, and the log as read from the first of them on. Where that is not so, call
    /// `SharePartition.acquire`: it is told of aborted transactions, as `share.isolation.level=read_committed` wants, and of the
    /// offset that was read from. Control records are handed out either way, as in Kafka: acknowledge them as GAP.
    ///
    /// Args:
    ///     partition: int32 of shape (n,): share partition of each request.
    ///     member: int32 of shape (n,): member of each request.
    ///     first_offset: int64 of shape (n,): base offset of the log batch of each request.
    ///     last_offset: int64 of shape (n,): its last offset, inclusive.
    ///     now_ms: now, on the monotonic clock.
    ///     max_records: how many records each request may be given.
    ///     batch_size: new records are handed out in batches of about this many.
    ///     mode: an `AcquireMode`, its id or its name: 0 may exceed `max_records` to keep log batches whole, 1 never does.
    ///
    /// Returns:
    ///     An `Acquired`.
    ///
    /// Raises:
    ///     InvalidRequestError: columns do not fit together, or a number names nothing; `field` names the column, `value` and
    ///         `index` the row. Nothing has changed.
    ///     TypeError: a column is not of its dtype and of one dimension.
    ///     ArgumentTypeError, ArgumentValueError: `mode` is none of those above.
    #[pyo3(signature = (partition, member, first_offset, last_offset, *, now_ms, max_records, batch_size = Int(500),
        mode = Mode(AcquireMode::BatchOptimized)), text_signature = "($self, partition, member, first_offset, last_offset, \
        *, now_ms, max_records, batch_size=500, mode=0)")]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn acquire<'py>(
        &self,
        py: Python<'py>,
        partition: &Bound<'py, PyAny>,
        member: &Bound<'py, PyAny>,
        first_offset: &Bound<'py, PyAny>,
        last_offset: &Bound<'py, PyAny>,
        now_ms: LockMs,
        max_records: Int<i32>,
        batch_size: Int<i32>,
        mode: Mode,
    ) -> PyResult<Acquired> {
        let partition = Column::of("partition", partition)?;
        let member = Column::of("member", member)?;
        let first = Column::of("first_offset", first_offset)?;
        let last = Column::of("last_offset", last_offset)?;
        let asked = Requests {
            partition: partition.get(),
            member: member.get(),
            first: first.get(),
            last: last.get(),
            starts: None,
        };
        asked.check(py, self)?;

        let grown = py.detach(|| {
            let members = self.members();
            let mut growing = Growing::with_room(asked.len());
            self.each_request(
                &asked.partition,
                &mut growing,
                |growing, request, share_partition, _| {
                    let first = asked.first[request];
                    let wanted = AcquireRequest {
                        member: members.name(asked.member[request]).unwrap_or_default(),
                        mode: mode.0,
                        batch_size: batch_size.0,
                        max_records: max_records.0,
                        fetch_offset: first,
                        fetched: &[FetchedBatch::plain(first, asked.last[request])],
                        aborted: None,
                    };
                    growing.give(&mut share_partition.engine, request, &wanted, now_ms.0);
                },
                Growing::fail,
            );
            growing
        });
        Ok(grown.done(py))
    }
}
