//! Records in flight, counts, and the check of the invariants.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use share_state_core::record_state::Phase;

use super::SharePartition;
use super::calls::LONG;
use crate::args::{Int, flag, text};
use crate::convert;
use crate::errors;
use crate::partition::engine::each;
use crate::partition::seen::Run;

/// Stands for "none" in a column of times; a time of the caller's clock is rarely negative, and never needs to be.
const NO_TIME: i64 = -1;

#[pymethods]
impl SharePartition {
    /// Return the runs of in-flight records, ascending and coalesced: their holders, since when and until when. Two neighbours
    /// under different writes may look alike; none reaches across the start offset.
    ///
    /// Returns:
    ///     A list of `InFlight`.
    fn in_flight<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let runs = self.sized(py, LONG, |e| {
            each!(e, sp => {
                let start_offset = sp.start_offset();
                sp.in_flight().map(|run| Run::of(&run, start_offset)).collect::<Vec<_>>()
            })
        })?;
        runs.iter().map(|run| run.out(py)).collect()
    }

    /// As `in_flight`, in columns of one length n.
    ///
    /// Returns:
    ///     A dict of arrays of shape (n,): `first_offset` int64, `last_offset` int64, `state` int8 (a `RecordState`),
    ///     `delivery_count` int16, `pending` bool, `acquired_at_ms` int64 and `deadline_ms` int64, both -1 where nobody holds
    ///     the records, `below_start_offset` bool. Members are not shown.
    fn in_flight_columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (mut first, mut last, mut state) = (Vec::new(), Vec::new(), Vec::new());
        let (mut count, mut pending) = (Vec::new(), Vec::new());
        let (mut acquired_at, mut deadline, mut below) = (Vec::new(), Vec::new(), Vec::new());
        self.sized(py, LONG, |e| {
            each!(e, sp => for run in sp.in_flight() {
                first.push(run.range.first);
                last.push(run.range.last);
                state.push(run.state.id());
                count.push(run.delivery_count);
                pending.push(run.phase != Phase::Stable);
                acquired_at.push(run.holder.map_or(NO_TIME, |(_, since, _)| since.0));
                deadline.push(run.holder.map_or(NO_TIME, |(_, _, until)| until.0));
                below.push(run.range.first < sp.start_offset());
            });
        })?;
        let columns = PyDict::new(py);
        columns.set_item("first_offset", first.into_pyarray(py))?;
        columns.set_item("last_offset", last.into_pyarray(py))?;
        columns.set_item("state", state.into_pyarray(py))?;
        columns.set_item("delivery_count", count.into_pyarray(py))?;
        columns.set_item("pending", pending.into_pyarray(py))?;
        columns.set_item("acquired_at_ms", acquired_at.into_pyarray(py))?;
        columns.set_item("deadline_ms", deadline.into_pyarray(py))?;
        columns.set_item("below_start_offset", below.into_pyarray(py))?;
        Ok(columns)
    }

    /// The number of in-flight records in each state, by the name of the `RecordState`. Walks only what lies below the start
    /// offset.
    ///
    /// Args:
    ///     below_start_offset: count what the start offset has passed instead of the window. Members may still hold such records
    ///         when the log start has moved; they are archived when the members let go of them.
    #[pyo3(signature = (*, below_start_offset = false))]
    fn state_counts<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = flag)] below_start_offset: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let counts = self.attached(py, |e| {
            each!(e, sp => if below_start_offset {
                sp.state_counts_below_start_offset()
            } else {
                sp.state_counts()
            })
        })?;
        convert::state_counts_out(py, counts)
    }

    /// True if nothing in the window is left to deliver or to settle: no record is held or available, no gap is unread, and no
    /// write is under way. Never of a share partition that is not ACTIVE.
    #[getter]
    fn is_settled(&self, py: Python<'_>) -> PyResult<bool> {
        self.attached(py, |e| each!(e, sp => sp.is_settled()))
    }

    /// Tell if nothing before `end_offset` is left to deliver or to settle, in the window or after it. Ask this for "is it
    /// drained?": `start_offset` stays before a hole or an aborted batch that stands at the head of the window.
    ///
    /// Args:
    ///     end_offset: the end of the log. Where the log ends in a hole (its last batch was compacted away), the offset from which a
    ///         read finds nothing more: ask `is_settled` when a read from `next_fetch_offset()` has found nothing.
    ///
    /// Raises:
    ///     ArgumentValueError: the offset is negative.
    fn settled_to(&self, py: Python<'_>, end_offset: Int<i64>) -> PyResult<bool> {
        if end_offset.0 < 0 {
            return Err(errors::wrong_number(
                py,
                "end_offset",
                end_offset.0,
                "an offset from 0 on",
            ));
        }
        self.attached(py, |e| each!(e, sp => sp.settled_to(end_offset.0)))
    }

    /// Return the counts since the object was made, by name; no number ever falls.
    ///
    /// Records: `acquired` (each delivery), `acknowledged`, `made_available`, `archived`, `dead_lettered`, `renewed`,
    /// `lock_timeouts`, `delivery_limit_reached`, `log_start_archived`. Writes: `writes`, `writes_refused`. State batches:
    /// `state_batches_written`.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = self.attached(py, |e| each!(e, sp => sp.counters()))?;
        let dict = PyDict::new(py);
        for (name, count) in counters.entries() {
            dict.set_item(name, count)?;
        }
        Ok(dict)
    }

    /// Check the invariants of the whole object, for tests and for the wary. Walks every run.
    ///
    /// Raises:
    ///     RuntimeError: one is broken, which is a bug; the text says which.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let sound = self.sized(py, LONG, |e| each!(e, sp => sp.check()))?;
        sound.map_err(|broken| errors::internal(&broken))
    }

    /// Panic inside the engine with this text, so that tests can see what becomes of it.
    ///
    /// Raises:
    ///     EnginePoisonedError: always, and from then on by every call of this object.
    #[expect(
        clippy::panic,
        reason = "the deliberate panic that the tests of poisoning need"
    )]
    fn _panic_for_test(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] text: &str,
    ) -> PyResult<()> {
        self.attached(py, |_| panic!("{text}"))
    }
}
