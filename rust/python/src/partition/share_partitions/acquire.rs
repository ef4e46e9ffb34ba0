//! Giving records of many share partitions to members.

use numpy::PyArray1;
use pyo3::prelude::*;
use share_state_core::share_partition::{AcquireMode, AcquireRequest, FetchedBatch};

use super::SharePartitions;
use super::acquired::{Acquired, Growing};
use super::per_request::{Each, PerRequest};
use super::requests::{self, Requests};
use crate::args::{LockMs, named};
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
                |_, _, _| {},
            );
            offsets
        });
        Ok(column_out(py, offsets))
    }

    /// Give members what is available of the log batches that were read for them (Kafka: `SharePartition.acquire`, a call for
    /// each request).
    ///
    /// The batches count as plain records. For `share.isolation.level=read_committed` call `SharePartition.acquire`, which is told
    /// of the aborted transactions. Control records are handed out either way, as in Kafka: acknowledge them as GAP.
    ///
    /// Args:
    ///     partition: int32 of shape (m,): share partition of each request.
    ///     member: int32 of shape (m,): member of each request.
    ///     first_offset: int64 of shape (n,): base offsets of the log batches.
    ///     last_offset: int64 of shape (n,): their last offsets, inclusive.
    ///     now_ms: now, on the monotonic clock.
    ///     max_records: how many records each request may be given, an int or int32 of shape (m,).
    ///     batch_size: new records are handed out in batches of about this many, an int or int32 of shape (m,).
    ///     mode: an `AcquireMode`, an int or int8 of shape (m,): 0 may exceed `max_records` to keep log batches whole, 1 never
    ///         does.
    ///     request_starts: int64 of shape (m + 1,): the batches of request i are those from `request_starts[i]` to before
    ///         `request_starts[i + 1]`. Without it each request has one batch, and m is n.
    ///     fetch_offset: int64 of shape (m,): from where the log was read for each request. Without it, from its first batch on.
    ///
    /// Returns:
    ///     An `Acquired`. A request without batches is given nothing.
    ///
    /// Raises:
    ///     InvalidRequestError: columns do not fit together, or a number names nothing; `field` names the column, `value` and
    ///         `index` the row. Nothing has changed.
    ///     TypeError: a column is not of its dtype and of one dimension.
    ///     ValueError: `mode` is none of those above.
    #[pyo3(signature = (partition, member, first_offset, last_offset, *, now_ms, max_records, batch_size = None, mode = None,
        request_starts = None, fetch_offset = None), text_signature = "($self, partition, member, first_offset, last_offset, \
        *, now_ms, max_records, batch_size=500, mode=0, request_starts=None, fetch_offset=None)")]
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
        max_records: &Bound<'py, PyAny>,
        batch_size: Option<&Bound<'py, PyAny>>,
        mode: Option<&Bound<'py, PyAny>>,
        request_starts: Option<&Bound<'py, PyAny>>,
        fetch_offset: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Acquired> {
        let partition = Column::of("partition", partition)?;
        let member = Column::of("member", member)?;
        let first = Column::of("first_offset", first_offset)?;
        let last = Column::of("last_offset", last_offset)?;
        let starts = request_starts
            .map(|starts| Column::of("request_starts", starts))
            .transpose()?;
        let asked = Requests {
            partition: partition.get(),
            member: member.get(),
            first: first.get(),
            last: last.get(),
            starts: starts.as_ref().map(Column::get),
        };
        asked.check(py, self)?;
        let max_records = PerRequest::<i32>::of("max_records", max_records)?;
        let max_records = max_records.get(py, "max_records", asked.len())?;
        let batch_size = PerRequest::<i32>::or("batch_size", batch_size, 500)?;
        let batch_size = batch_size.get(py, "batch_size", asked.len())?;
        let mode = PerRequest::<i8>::or("mode", mode, 0)?;
        let mode = mode.get(py, "mode", asked.len())?;
        check_modes(py, &mode)?;
        let fetch_offset = fetch_offset
            .map(|offsets| Column::<i64>::of("fetch_offset", offsets))
            .transpose()?;
        let fetch_offset = fetch_offset.as_ref().map(Column::get);
        if let Some(offsets) = &fetch_offset {
            requests::same_length(py, "fetch_offset", offsets.len(), asked.len())?;
        }

        let grown = py.detach(|| {
            let members = self.members();
            // The columns, and the log batches of the request at hand.
            let mut state = (Growing::with_room(asked.len()), Vec::new());
            self.each_request(
                &asked.partition,
                &mut state,
                |(growing, fetched), request, share_partition, _| {
                    fetched.clear();
                    let batch = |row| FetchedBatch::plain(asked.first[row], asked.last[row]);
                    fetched.extend(asked.ranges(request).map(batch));
                    let wanted = AcquireRequest {
                        member: members.name(asked.member[request]).unwrap_or_default(),
                        mode: if mode.at(request) == 0 {
                            AcquireMode::BatchOptimized
                        } else {
                            AcquireMode::RecordLimit
                        },
                        batch_size: batch_size.at(request),
                        max_records: max_records.at(request),
                        fetch_offset: match &fetch_offset {
                            Some(offsets) => offsets[request],
                            None => fetched.first().map_or(0, |batch| batch.base_offset),
                        },
                        fetched,
                        aborted: None,
                    };
                    growing.give(&mut share_partition.engine, request, &wanted, now_ms.0);
                },
                |(growing, _), request| growing.fail(request),
                |_, _, _| {},
            );
            state.0
        });
        Ok(grown.done(py))
    }
}

/// Refuses what is no `AcquireMode`.
fn check_modes(py: Python<'_>, modes: &Each<'_, i8>) -> PyResult<()> {
    match modes {
        Each::One(0 | 1) => Ok(()),
        Each::One(other) => {
            let mode = other.into_pyobject(py)?.into_any();
            named(py, mode.extract::<Mode>().map(|_| ()), "mode")
        }
        Each::Of(modes) => requests::refuse(py, "mode", modes, |mode| matches!(mode, 0 | 1)),
    }
}
