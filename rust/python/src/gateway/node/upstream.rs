//! Records and offsets of the cluster upstream on their way into a node.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use share_state_gateway::{AppendError, Buffer, Read};
use share_state_wire::record_batch::Checksums;

use super::Node;
use super::arguments::{Isolation, place, source};
use crate::args::{Int, LockMs, Topic};
use crate::convert;
use crate::errors::{self, Raise};

/// The offset after the tail, the leader epoch there, bytes of the batches, and bytes of the frames that they keep.
type Ring = (Option<i64>, i32, usize, usize);
/// Names of a ring, and the start of its log.
type Told<'a> = (Topic, Int<i32>, Isolation, Option<Int<i64>>);

#[pymethods]
impl Node {
    /// Take the record batches of a Fetch answer, and let those try again that wait for some.
    ///
    /// Args:
    ///     topic_id, partition, isolation, life: as in the need.
    ///     asked_offset: the offset in the need.
    ///     data: the frame of the answer, which is held and not copied.
    ///     start: where the records begin in it.
    ///     end: where they end.
    ///     aborted: with read_committed, `(producer_id, first_offset)` of the aborted transactions that the answer names.
    ///     now_ms: now.
    ///
    /// Returns:
    ///     The offset after the last whole batch, and the bytes of the batches that are new; `None` for a read of another life,
    ///     which changes nothing.
    ///
    /// Raises:
    ///     WireDecodeError: a batch is malformed, not of format 2, or does not follow the one before it, or none is whole; `position`
    ///         counts from the start of `data`. Nothing has changed, and the read is still needed.
    ///     InvalidRequestError: `asked_offset` is negative.
    ///     ValueError: `start` and `end` are no part of `data`.
    #[pyo3(signature = (topic_id, partition, isolation, life, asked_offset, data, start, end, aborted, *, now_ms))]
    #[expect(clippy::too_many_arguments, reason = "the parts of an answer")]
    fn records_read(
        &self,
        py: Python<'_>,
        topic_id: Topic,
        partition: Int<i32>,
        isolation: Isolation,
        life: Int<u64>,
        asked_offset: Int<i64>,
        data: Bound<'_, PyBytes>,
        start: Int<usize>,
        end: Int<usize>,
        aborted: Option<&Bound<'_, PyAny>>,
        now_ms: LockMs,
    ) -> PyResult<Option<(i64, usize)>> {
        let key = source(topic_id, partition, isolation);
        let aborted = aborted.map(convert::aborted_in).transpose()?;
        let read = Read {
            asked_offset: asked_offset.0,
            buffer: Buffer::new(PyBackedBytes::from(data)),
            start: start.0,
            end: end.0,
            aborted: aborted.as_deref().unwrap_or_default(),
            checksums: Checksums::Trusted,
        };
        let appended = self
            .0
            .detached(py, |node| node.records_read(key, life.0, read, now_ms.0))?;
        let appended = appended.map_err(|error| refused(py, &error, start.0))?;
        Ok(appended.map(|appended| (appended.next_offset, appended.bytes)))
    }

    /// Take note of the start of a log.
    #[pyo3(signature = (topic_id, partition, isolation, offset, *, now_ms))]
    fn log_start_moved(
        &self,
        py: Python<'_>,
        topic_id: Topic,
        partition: Int<i32>,
        isolation: Isolation,
        offset: Int<i64>,
        now_ms: LockMs,
    ) -> PyResult<()> {
        let key = source(topic_id, partition, isolation);
        self.0
            .detached(py, |node| node.log_start_moved(key, offset.0, now_ms.0))
    }

    /// Take the starts of logs that were asked for. Fetches try again once all of them are taken.
    ///
    /// Args:
    ///     told: `(topic_id, partition, isolation, offset)` of each; without an offset upstream has not told it in time, and what is
    ///         at hand is given out.
    ///     now_ms: now.
    #[pyo3(signature = (told, *, now_ms))]
    fn log_starts_told(&self, py: Python<'_>, told: Vec<Told<'_>>, now_ms: LockMs) -> PyResult<()> {
        let told = told
            .into_iter()
            .map(|(topic_id, partition, isolation, offset)| {
                let offset = offset.map(|offset| offset.0);
                (source(topic_id, partition, isolation), offset)
            });
        let told: Vec<_> = told.collect();
        self.0
            .detached(py, |node| node.log_starts_told(&told, now_ms.0))
    }

    /// Take note that upstream has given no batches for so long that fetches are told so, until a read comes.
    fn upstream_lost(
        &self,
        py: Python<'_>,
        topic_id: Topic,
        partition: Int<i32>,
        isolation: Isolation,
    ) -> PyResult<()> {
        let key = source(topic_id, partition, isolation);
        self.0.attached(py, |node| node.upstream_lost(key))
    }

    /// Forget the batches of a partition: the log upstream is not the log that it was.
    #[pyo3(signature = (topic_id, partition, isolation, *, now_ms))]
    fn history_changed(
        &self,
        py: Python<'_>,
        topic_id: Topic,
        partition: Int<i32>,
        isolation: Isolation,
        now_ms: LockMs,
    ) -> PyResult<()> {
        let key = source(topic_id, partition, isolation);
        self.0
            .detached(py, |node| node.history_changed(key, now_ms.0))
    }

    /// Take note that the log of a partition ends at an offset, and that its states are about to be changed. Share partitions that
    /// know of more are dropped, and none of the partition is loaded until `let_go`. Each call needs one of that.
    #[pyo3(signature = (topic_id, partition, offset, *, now_ms))]
    fn truncated(
        &self,
        py: Python<'_>,
        topic_id: Topic,
        partition: Int<i32>,
        offset: Int<i64>,
        now_ms: LockMs,
    ) -> PyResult<()> {
        let id = place(topic_id, partition);
        self.0
            .detached(py, |node| node.truncated(id, offset.0, now_ms.0))
    }

    /// Take note that the states of a partition were changed, or could not be, and have those loaded that are asked for.
    #[pyo3(signature = (topic_id, partition, *, now_ms))]
    fn let_go(
        &self,
        py: Python<'_>,
        topic_id: Topic,
        partition: Int<i32>,
        now_ms: LockMs,
    ) -> PyResult<()> {
        let id = place(topic_id, partition);
        self.0.detached(py, |node| node.let_go(id, now_ms.0))
    }

    /// Tell of the batches of a partition.
    ///
    /// Returns:
    ///     The offset after the tail, or `None` where there are no batches; epoch of the leader that appended the last batch of the
    ///     tail, or -1; bytes of the batches; and bytes of the frames that they keep. `None` where no share partition reads it.
    fn ring(
        &self,
        py: Python<'_>,
        topic_id: Topic,
        partition: Int<i32>,
        isolation: Isolation,
    ) -> PyResult<Option<Ring>> {
        let key = source(topic_id, partition, isolation);
        self.0.attached(py, |node| {
            let ring = node.ring(key)?;
            let bytes = (ring.nbytes(), ring.held_bytes());
            Some((ring.end_offset(), ring.leader_epoch(), bytes.0, bytes.1))
        })
    }
}

/// The error for a read that cannot be taken; `start` is the place where its batches begin.
fn refused(py: Python<'_>, error: &AppendError, start: usize) -> PyErr {
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
