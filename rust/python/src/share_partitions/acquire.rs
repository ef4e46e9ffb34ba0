//! Giving records of many share partitions to members.

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_partition::{AcquireMode, AcquireRequest, AcquiredRange, FetchedBatch};
use share_state_core::time::LockTime;

use super::requests::Requests;
use super::{POISONED, SharePartitions, requests};
use crate::args::{Int, LockMs};
use crate::columns::{Column, column_out};
use crate::engine::{Engine, each};

/// What the requests of one `SharePartitions.acquire` were given.
#[pyclass(frozen, get_all, module = "share_state")]
pub struct Acquired {
    /// int16 of shape (requests,): 0, or Kafka's code for a request that was refused.
    error_code: Py<PyArray1<i16>>,
    /// int64 of shape (n,): the request that each range was given to, ascending.
    request: Py<PyArray1<i64>>,
    /// int64 of shape (n,).
    first_offset: Py<PyArray1<i64>>,
    /// int64 of shape (n,), inclusive.
    last_offset: Py<PyArray1<i64>>,
    /// int16 of shape (n,): the count of this delivery.
    delivery_count: Py<PyArray1<i16>>,
}

#[pymethods]
impl Acquired {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.request.bind(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "Acquired({} ranges for {} requests)",
            self.__len__(py)?,
            self.error_code.bind(py).len()?
        ))
    }
}

/// The columns while they grow.
#[derive(Default)]
struct Growing {
    error_code: Vec<i16>,
    request: Vec<i64>,
    first: Vec<i64>,
    last: Vec<i64>,
    count: Vec<i16>,
    /// The log batches of the request at hand.
    fetched: Vec<FetchedBatch>,
    /// What it was given.
    acquired: Vec<AcquiredRange>,
}

impl Growing {
    fn give(
        &mut self,
        engine: &mut Engine,
        request: usize,
        wanted: &AcquireRequest<'_>,
        now: LockTime,
    ) {
        self.acquired.clear();
        match each!(engine, sp => sp.acquire_into(wanted, now, &mut self.acquired)) {
            Ok(()) => {
                for given in &self.acquired {
                    self.request.push(request as i64);
                    self.first.push(given.range.first);
                    self.last.push(given.range.last);
                    self.count.push(given.delivery_count);
                }
                self.error_code.push(KafkaCode::None.code());
            }
            Err(error) => self.error_code.push(error.kafka_code().code()),
        }
    }

    /// The share partition of the request is unusable: what it was given before does not count.
    fn fail(&mut self, request: usize) {
        self.error_code.truncate(request);
        self.error_code.push(POISONED);
        let kept = self
            .request
            .partition_point(|given| *given < request as i64);
        self.request.truncate(kept);
        self.first.truncate(kept);
        self.last.truncate(kept);
        self.count.truncate(kept);
    }
}

#[pymethods]
impl SharePartitions {
    /// Give members what is available of the log batches that were read for them (Kafka: `SharePartition.acquire`, a call for
    /// each request).
    ///
    /// The batches hold plain records: for `read_committed`, use `SharePartition.acquire`.
    ///
    /// Args:
    ///     partition: int32 of shape (m,): share partition of each request.
    ///     member: int32 of shape (m,): member of each request.
    ///     first_offset: int64 of shape (n,): base offsets of the log batches.
    ///     last_offset: int64 of shape (n,): their last offsets, inclusive.
    ///     now_ms: now, on the monotonic clock.
    ///     max_records: how many records each request may be given, an int or int32 of shape (m,).
    ///     batch_size: new records are handed out in batches of about this many.
    ///     mode: an `AcquireMode`: 0 may exceed `max_records` to keep log batches whole, 1 never does.
    ///     request_starts: int64 of shape (m + 1,): the batches of request i are those from `request_starts[i]` to before
    ///         `request_starts[i + 1]`. Without it each request has one batch, and m is n.
    ///
    /// Returns:
    ///     An `Acquired`. The log was read from the first batch of each request on; one without batches is given nothing.
    ///
    /// Raises:
    ///     InvalidRequestError: columns do not fit together, or a number names nothing; `field` names the column, `value` and
    ///         `index` the row. Nothing has changed.
    ///     TypeError: a column is not of its dtype and of one dimension.
    ///     ValueError: `mode` is none of those above.
    #[pyo3(signature = (partition, member, first_offset, last_offset, *, now_ms, max_records, batch_size = Int(500),
        mode = Int(0), request_starts = None), text_signature = "($self, partition, member, first_offset, last_offset, *, \
        now_ms, max_records, batch_size=500, mode=0, request_starts=None)")]
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
        batch_size: Int<i32>,
        mode: Int<u8>,
        request_starts: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Acquired> {
        let mode = match mode.0 {
            0 => AcquireMode::BatchOptimized,
            1 => AcquireMode::RecordLimit,
            other => {
                return Err(PyValueError::new_err(format!(
                    "mode is {other}, neither 0 nor 1"
                )));
            }
        };
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
        let one_for_all = max_records.extract::<Int<i32>>().ok();
        let each = match one_for_all {
            Some(_) => None,
            None => Some(Column::<i32>::of("max_records", max_records)?),
        };
        let each = each.as_ref().map(Column::get);
        if let Some(each) = &each {
            requests::same_length(py, "max_records", each.len(), asked.len())?;
        }
        let max_records = |request: usize| match (&each, &one_for_all) {
            (Some(each), _) => each[request],
            (None, one) => one.as_ref().map_or(0, |one| one.0),
        };

        let grown =
            py.detach(|| {
                let members = self.members();
                let mut growing = Growing {
                    error_code: Vec::with_capacity(asked.len()),
                    request: Vec::with_capacity(asked.len()),
                    first: Vec::with_capacity(asked.len()),
                    last: Vec::with_capacity(asked.len()),
                    count: Vec::with_capacity(asked.len()),
                    ..Growing::default()
                };
                self.each_request(
                    &asked.partition,
                    &mut growing,
                    |growing, request, watched, _| {
                        let mut fetched = std::mem::take(&mut growing.fetched);
                        fetched.clear();
                        fetched.extend(asked.ranges(request).map(|range| {
                            FetchedBatch::plain(asked.first[range], asked.last[range])
                        }));
                        let wanted = AcquireRequest {
                            member: members.name(asked.member[request]).unwrap_or_default(),
                            mode,
                            batch_size: batch_size.0,
                            max_records: max_records(request),
                            fetch_offset: fetched.first().map_or(0, |batch| batch.base_offset),
                            fetched: &fetched,
                            aborted: None,
                        };
                        growing.give(&mut watched.engine, request, &wanted, now_ms.0);
                        growing.fetched = fetched;
                    },
                    Growing::fail,
                    |_, _, _| {},
                );
                growing
            });
        Ok(Acquired {
            error_code: column_out(py, grown.error_code).unbind(),
            request: column_out(py, grown.request).unbind(),
            first_offset: column_out(py, grown.first).unbind(),
            last_offset: column_out(py, grown.last).unbind(),
            delivery_count: column_out(py, grown.count).unbind(),
        })
    }
}
