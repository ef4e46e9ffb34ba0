//! `BatchRing` for Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use share_state_gateway as gateway;
use share_state_gateway::{AppendError, Buffer, Read, Wanted, deliver};
use share_state_wire::record_batch::Checksums;

use super::Delivery;
use crate::args::{Int, LockMs, flag, one, text};
use crate::convert;
use crate::errors::{self, Raise};
use crate::locked::Locked;
use crate::partition::engine::each;
use crate::partition::refusals;
use crate::partition::share_partition::SharePartition;
use crate::words::Mode;

/// The record batches that are cached of one upstream partition at one isolation level, for all groups and members.
///
/// It holds the frames of Fetch answers themselves, without a copy, and knows of each batch what its header says. Reads that
/// follow each other form a run, in which a hole before a batch is a fact: the log has no records there (compaction). The run
/// that reaches furthest is the tail; reads further back form runs of their own.
///
/// Threads may share an object: its calls run one after the other. `deliver` takes the lock of the share partition first and
/// this one's inside it.
#[pyclass(frozen, module = "share_state")]
pub struct BatchRing {
    inner: Locked<gateway::BatchRing>,
}

#[pymethods]
impl BatchRing {
    #[new]
    fn new() -> Self {
        Self {
            inner: Locked::new("this BatchRing", gateway::BatchRing::new()),
        }
    }

    /// Take the record batches of a Fetch answer in. What follows the last whole batch is dropped, and so are batches that end
    /// before `asked_offset` or that the run holds already which the read extends.
    ///
    /// Args:
    ///     asked_offset: the offset that was asked for.
    ///     data: the frame of the answer, which is held and not copied.
    ///     start: where the records begin in it.
    ///     end: where they end.
    ///     aborted: with read_committed, `(producer_id, first_offset)` of the aborted transactions that the answer names. Each
    ///         batch is judged by them now, and by no later answer's.
    ///     check_crc: whether to compute the checksums of the batches, which consumers do.
    ///
    /// Returns:
    ///     The offset after the last whole batch, which is `asked_offset` when there is none, and the bytes of the batches that
    ///     are new here.
    ///
    /// Raises:
    ///     WireDecodeError: a batch is malformed, not of format 2, or does not follow the one before it; `position` counts from
    ///         the start of `data`.
    ///     InvalidRequestError: `asked_offset` is negative.
    ///     ValueError: `start` and `end` are no part of `data`.
    #[pyo3(signature = (asked_offset, data, start, end, *, aborted = None, check_crc = false))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn append(
        &self,
        py: Python<'_>,
        asked_offset: Int<i64>,
        data: Bound<'_, PyBytes>,
        start: Int<usize>,
        end: Int<usize>,
        aborted: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = flag)] check_crc: bool,
    ) -> PyResult<(i64, usize)> {
        let aborted = aborted.map(convert::aborted_in).transpose()?;
        let read = Read {
            asked_offset: asked_offset.0,
            buffer: Buffer::new(PyBackedBytes::from(data)),
            start: start.0,
            end: end.0,
            aborted: aborted.as_deref().unwrap_or_default(),
            checksums: if check_crc {
                Checksums::Checked
            } else {
                Checksums::Trusted
            },
        };
        let appended = self.inner.attached(py, |ring| ring.append(read))?;
        let appended = appended.map_err(|error| refused(py, &error, start.0))?;
        Ok((appended.next_offset, appended.bytes))
    }

    /// Drop whole batches until at most `keep_bytes` of them are left: from the old end of a run, and of several runs from the
    /// one whose old end was filled or given out longest ago.
    ///
    /// Returns:
    ///     How many bytes went.
    fn evict(&self, py: Python<'_>, keep_bytes: Int<usize>) -> PyResult<usize> {
        self.inner.attached(py, |ring| ring.evict(keep_bytes.0))
    }

    /// Copy what is left of a frame into memory of its own, where that is less than half of it and was here at the last call
    /// already: a batch of a quiet partition would otherwise keep the frame of all partitions. For a timer.
    ///
    /// Returns:
    ///     How many bytes were copied.
    fn compact(&self, py: Python<'_>) -> PyResult<usize> {
        self.inner.attached(py, gateway::BatchRing::compact)
    }

    /// Forget everything.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.inner.attached(py, gateway::BatchRing::clear)
    }

    /// The offset after the tail, where its next read begins; `None` when the ring is empty.
    #[getter]
    fn end_offset(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        self.inner.attached(py, |ring| ring.end_offset())
    }

    /// The first offset of which any run knows; `None` when the ring is empty.
    #[getter]
    fn first_offset(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        self.inner.attached(py, |ring| ring.first_offset())
    }

    /// Bytes of the batches.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.inner.attached(py, |ring| ring.nbytes())
    }

    /// Number of batches.
    #[getter]
    fn batches(&self, py: Python<'_>) -> PyResult<usize> {
        self.inner.attached(py, |ring| ring.batches())
    }

    /// Bytes of the frames that the batches keep in memory, a frame once for each read. Rings of one answer share its frame.
    #[getter]
    fn held_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.inner.attached(py, |ring| ring.held_bytes())
    }

    /// Epoch of the leader that appended the last batch of the tail, as its header says; -1 when the ring is empty.
    #[getter]
    fn leader_epoch(&self, py: Python<'_>) -> PyResult<i32> {
        self.inner.attached(py, |ring| ring.leader_epoch())
    }

    /// Return True if records from `offset` on can be given without a read.
    fn holds(&self, py: Python<'_>, offset: Int<i64>) -> PyResult<bool> {
        self.inner.attached(py, |ring| ring.holds(offset.0))
    }

    /// Bytes of the batches from `offset` on, counted up to `limit`; 0 when the ring does not hold it.
    fn bytes_from(&self, py: Python<'_>, offset: Int<i64>, limit: Int<usize>) -> PyResult<usize> {
        self.inner
            .attached(py, |ring| ring.bytes_from(offset.0, limit.0))
    }

    /// Bytes of the batch that holds `offset`, or of the first after it, which cannot be given in parts; 0 when the ring does not
    /// hold it.
    fn first_batch_bytes(&self, py: Python<'_>, offset: Int<i64>) -> PyResult<usize> {
        self.inner
            .attached(py, |ring| ring.first_batch_bytes(offset.0))
    }

    /// Give `member` what is available from where the share partition wants to read next, in one step under its lock
    /// (Kafka: `SharePartition.acquire` and the slicing of `ShareFetchUtils`).
    ///
    /// Args:
    ///     share_partition: decides.
    ///     member: id of the member.
    ///     now_ms: now, on the monotonic clock.
    ///     max_records: how many records the member wants; 0 or less gives nothing.
    ///     batch_size: new records are handed out in batches of about this many.
    ///     mode: an `AcquireMode`.
    ///     max_bytes: bytes of record batches to look at; the first batch is looked at whatever its size.
    ///
    /// Returns:
    ///     What the member holds now, with the whole batches from the one that holds its first offset to the one that holds its
    ///     last. `None` when the ring does not hold the offset that the share partition wants: a read is needed.
    ///
    /// Raises:
    ///     InvalidRequestError: `field` names the argument: an empty `member`, or a `batch_size` of 0 or less.
    ///     ArgumentValueError: `mode` is neither 0 nor 1.
    ///     SharePartitionNotActiveError: the share partition does not serve members.
    ///     PersisterError: as for any call of a share partition with a persister.
    #[pyo3(signature = (share_partition, member, *, now_ms, max_records, batch_size, mode, max_bytes))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn deliver(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = one)] share_partition: &Bound<'_, SharePartition>,
        #[pyo3(from_py_with = text)] member: &str,
        now_ms: LockMs,
        max_records: Int<i32>,
        batch_size: Int<i32>,
        mode: Mode,
        max_bytes: Int<usize>,
    ) -> PyResult<Option<Delivery>> {
        let wanted = Wanted {
            member,
            mode: mode.0,
            batch_size: batch_size.0,
            max_records: max_records.0,
            max_bytes: max_bytes.0,
            first_bytes: None,
        };
        // Nobody who has the lock of a ring waits for that of a share partition, nor for the interpreter.
        let delivered = share_partition.get().attached(py, |engine| {
            self.inner
                .lock()
                .run(|ring| each!(engine, sp => deliver(ring, sp, &wanted, now_ms.0)))
        })?;
        let delivered =
            delivered.map_err(|panic| errors::poisoned(py, "this BatchRing", &panic))?;
        let delivery = delivered
            .map_err(|error| refusals::acquire(py, share_partition.get().key_of(), &error))?;
        Ok(delivery.map(|inner| Delivery { inner }))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.inner.attached(py, |ring| {
            let offset = |offset: Option<i64>| offset.map_or("None".to_owned(), |o| o.to_string());
            format!(
                "BatchRing(first_offset={}, end_offset={}, batches={}, nbytes={})",
                offset(ring.first_offset()),
                offset(ring.end_offset()),
                ring.batches(),
                ring.nbytes(),
            )
        })
    }
}

/// A read that was refused, whose records begin at `start` of its data.
pub fn refused(py: Python<'_>, error: &AppendError, start: usize) -> PyErr {
    match error {
        AppendError::Batches(error) => errors::wire(py, error),
        AppendError::AskedOffset { asked_offset } => Raise::new(py, "InvalidRequestError", error)
            .fact("field", "asked_offset")
            .fact("value", *asked_offset)
            .done(),
        AppendError::NoWholeBatch { .. } => Raise::new(py, "WireDecodeError", error)
            .fact("position", start)
            .fact("kind", "batches")
            .done(),
        AppendError::Part { .. } => PyValueError::new_err(error.to_string()),
    }
}
