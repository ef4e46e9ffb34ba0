//! Giving records to a member.

use std::cell::Cell;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyList;
use share_state_core::share_partition::{AcquireMode, AcquireRequest, AcquiredRange};
use share_state_core::time::LockTime;

use super::SharePartition;
use crate::args::{Int, LockMs, text};
use crate::columns::column_out;
use crate::convert;
use crate::partition::engine::each;
use crate::partition::refusals;
use crate::words::Mode;

type AcquiredColumns<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i16>>,
);

/// The arguments of `acquire`, as Python gives them.
struct Asked<'a, 'py> {
    member: &'a str,
    fetched: &'a Bound<'py, PyAny>,
    now: LockTime,
    max_records: i32,
    batch_size: i32,
    mode: AcquireMode,
    fetch_offset: Option<i64>,
    aborted: Option<&'a Bound<'py, PyAny>>,
}

#[pymethods]
impl SharePartition {
    /// The offset from which to read the log for this share partition next (Kafka: `SharePartition.nextFetchOffset`).
    ///
    /// It is the first available record in the window, else the offset after the window. Sub-linear in the number of runs.
    fn next_fetch_offset(&self, py: Python<'_>) -> PyResult<i64> {
        self.attached(py, |e| each!(e, sp => sp.next_fetch_offset()))
    }

    /// Return True if records may be acquired: the share partition is ACTIVE, and the window is not full or holds available
    /// records (Kafka: `SharePartition.canAcquireRecords`).
    fn can_acquire(&self, py: Python<'_>) -> PyResult<bool> {
        self.attached(py, |e| each!(e, sp => sp.can_acquire()))
    }

    /// Give `member` what is available of the log batches that were read for it (Kafka: `SharePartition.acquire`, and
    /// `acquireWithRecordLimit` of KIP-1206). Nothing is written for it.
    ///
    /// Args:
    ///     member: id of the member.
    ///     fetched: the log batches, ascending and disjoint: a sequence of pairs `(base_offset, last_offset)` or `FetchedBatch`, or
    ///         an int64 array of shape (n, 2).
    ///     now_ms: now, on the monotonic clock; the lock runs `share.record.lock.duration.ms` from here.
    ///     max_records: how many records the member wants; 0 or less gives nothing.
    ///     batch_size: new records are handed out in batches of about this many.
    ///     mode: an `AcquireMode`, its id or its name: 0 may exceed `max_records` to keep log batches whole, 1 never does.
    ///     fetch_offset: the offset that was read from; the base of the first batch when absent.
    ///     aborted: `(producer_id, first_offset)` of the aborted transactions in what was read, as for
    ///         `share.isolation.level=read_committed`: their records are archived and not handed out. Pass the list of the very fetch
    ///         that gave `fetched`. It also names the transactions that were open where the fetch began, by their first offset
    ///         before it. A producer counts as aborted from the first offset of its transaction to its abort marker, so a list for
    ///         more than was read archives committed records. It is refused where it shows: with a negative number, or two
    ///         transactions of a producer without an abort marker between them. Transactions after what was read have no effect.
    ///
    /// Control records are handed out, with `aborted` too, as in Kafka: acknowledge them as GAP, as offsets without a record.
    ///
    /// Returns:
    ///     Ascending, disjoint ranges, each with the count of this delivery; empty when nothing is available.
    ///
    /// Raises:
    ///     SharePartitionNotActiveError: the share partition does not serve members; `status` says why.
    ///     InvalidRequestError: `field` names the argument: an empty `member`, a `batch_size` of 0 or less, a negative
    ///         `fetch_offset`, a batch in `fetched` (`index`) that is negative, inverted or out of order, or a transaction in
    ///         `aborted` (`index`) that what was read contradicts.
    ///     ArgumentTypeError, ArgumentValueError: `fetched`, `mode` or a control type is none of those above.
    #[pyo3(signature = (member, fetched, *, now_ms, max_records, batch_size = Int(500), mode = Mode(AcquireMode::BatchOptimized), fetch_offset = None,
        aborted = None), text_signature = "($self, member, fetched, *, now_ms, max_records, batch_size=500, mode=0, \
        fetch_offset=None, aborted=None)")]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn acquire<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = text)] member: &str,
        fetched: &Bound<'py, PyAny>,
        now_ms: LockMs,
        max_records: Int<i32>,
        batch_size: Int<i32>,
        mode: Mode,
        fetch_offset: Option<Int<i64>>,
        aborted: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let asked = Asked {
            member,
            fetched,
            now: now_ms.0,
            max_records: max_records.0,
            batch_size: batch_size.0,
            mode: mode.0,
            fetch_offset: fetch_offset.map(|offset| offset.0),
            aborted,
        };
        let acquired = self.acquired(py, &asked)?;
        let list = convert::acquired_out(py, &acquired);
        give_back(acquired);
        list
    }

    /// As `acquire`, with columns instead of an object a range.
    ///
    /// Returns:
    ///     Three arrays of one length: first offsets (int64), last offsets (int64), delivery counts (int16).
    #[pyo3(signature = (member, fetched, *, now_ms, max_records, batch_size = Int(500), mode = Mode(AcquireMode::BatchOptimized), fetch_offset = None,
        aborted = None), text_signature = "($self, member, fetched, *, now_ms, max_records, batch_size=500, mode=0, \
        fetch_offset=None, aborted=None)")]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn acquire_columns<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = text)] member: &str,
        fetched: &Bound<'py, PyAny>,
        now_ms: LockMs,
        max_records: Int<i32>,
        batch_size: Int<i32>,
        mode: Mode,
        fetch_offset: Option<Int<i64>>,
        aborted: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<AcquiredColumns<'py>> {
        let asked = Asked {
            member,
            fetched,
            now: now_ms.0,
            max_records: max_records.0,
            batch_size: batch_size.0,
            mode: mode.0,
            fetch_offset: fetch_offset.map(|offset| offset.0),
            aborted,
        };
        let acquired = self.acquired(py, &asked)?;
        let first: Vec<i64> = acquired.iter().map(|a| a.range.first).collect();
        let last: Vec<i64> = acquired.iter().map(|a| a.range.last).collect();
        let count: Vec<i16> = acquired.iter().map(|a| a.delivery_count).collect();
        give_back(acquired);
        Ok((
            column_out(py, first),
            column_out(py, last),
            column_out(py, count),
        ))
    }

    /// Take the right to read the log for this share partition; one reader at a time
    /// (Kafka: `SharePartition.maybeAcquireFetchLock`).
    ///
    /// Args:
    ///     fetch_id: names the reader, a number from 0 to 2**64 - 1 of the caller's choice.
    ///
    /// Returns:
    ///     Whether this reader has it now; `False` when another has it.
    fn acquire_fetch_lock(&self, py: Python<'_>, fetch_id: Int<u64>) -> PyResult<bool> {
        self.attached(py, |e| each!(e, sp => sp.acquire_fetch_lock(fetch_id.0)))
    }

    /// Give back the right to read (Kafka: `SharePartition.releaseFetchLock`).
    ///
    /// Returns:
    ///     Whether this reader had it.
    fn release_fetch_lock(&self, py: Python<'_>, fetch_id: Int<u64>) -> PyResult<bool> {
        self.attached(py, |e| each!(e, sp => sp.release_fetch_lock(fetch_id.0)))
    }
}

impl SharePartition {
    fn acquired(&self, py: Python<'_>, asked: &Asked<'_, '_>) -> PyResult<Vec<AcquiredRange>> {
        let fetched = convert::fetched_in(asked.fetched)?;
        let aborted = asked.aborted.map(convert::aborted_in).transpose()?;
        let request = AcquireRequest {
            member: asked.member,
            mode: asked.mode,
            batch_size: asked.batch_size,
            max_records: asked.max_records,
            fetch_offset: asked
                .fetch_offset
                .unwrap_or_else(|| fetched.first().map_or(0, |batch| batch.base_offset)),
            fetched: &fetched,
            aborted: aborted.as_deref(),
        };
        let now = asked.now;
        let mut acquired = SPARE.take();
        acquired.clear();
        // What came of it is written to its place: a value would be moved by each layer between here and the engine.
        let mut done = Ok(());
        self.sized(py, fetched.len(), |e| {
            done = each!(e, sp => sp.acquire_into(&request, now, &mut acquired))
        })?;
        done.map_err(|e| refusals::acquire(py, self.key_of(), &e))?;
        Ok(acquired)
    }
}

thread_local! {
    /// The room of the last answer of this thread: making it again would cost as much as a small answer.
    static SPARE: Cell<Vec<AcquiredRange>> = const { Cell::new(Vec::new()) };
}

/// Keeps the room of an answer for the next one, unless it is large.
fn give_back(acquired: Vec<AcquiredRange>) {
    if acquired.capacity() <= SPARE_RANGES {
        SPARE.set(acquired);
    }
}

/// 24 KiB.
const SPARE_RANGES: usize = 1_000;
