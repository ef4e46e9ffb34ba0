//! What is in flight, what has happened, and whether all is well.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use share_state_core::record_state::{Phase, RecordState};

use super::SharePartition;
use crate::engine::each;
use crate::errors;
use crate::seen::InFlight;

/// Stands for "none" in a column of times; a time of the caller's clock is rarely negative, and never needs to be.
const NO_TIME: i64 = -1;

#[pymethods]
impl SharePartition {
    /// Who holds what, since when and until when: the runs of in-flight records, ascending and coalesced. Two neighbours under
    /// different writes may look alike.
    fn in_flight(&self, py: Python<'_>) -> PyResult<Vec<InFlight>> {
        let (runs, _) = self.engine.detached(py, |e| {
            each!(e, sp => sp.in_flight().map(|run| InFlight {
                first_offset: run.range.first,
                last_offset: run.range.last,
                state: run.state as u8,
                delivery_count: run.delivery_count,
                pending: run.phase != Phase::Settled,
                member: run.holder.map(|(member, _, _)| member.to_owned()),
                acquired_at_ms: run.holder.map(|(_, since, _)| since.0),
                deadline_ms: run.holder.map(|(_, _, until)| until.0),
            }).collect())
        })?;
        Ok(runs)
    }

    /// As `in_flight`, in columns of one length n.
    ///
    /// Returns:
    ///     A dict of arrays of shape (n,): `first_offset` int64, `last_offset` int64, `state` int8 (a `RecordState`),
    ///     `delivery_count` int16, `pending` bool, `acquired_at_ms` int64 and `deadline_ms` int64, both -1 where nobody holds
    ///     the records. Members are not shown.
    fn in_flight_columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (mut first, mut last, mut state) = (Vec::new(), Vec::new(), Vec::new());
        let (mut count, mut pending) = (Vec::new(), Vec::new());
        let (mut acquired_at, mut deadline) = (Vec::new(), Vec::new());
        self.engine.detached(py, |e| {
            each!(e, sp => for run in sp.in_flight() {
                first.push(run.range.first);
                last.push(run.range.last);
                state.push(run.state.id());
                count.push(run.delivery_count);
                pending.push(run.phase != Phase::Settled);
                acquired_at.push(run.holder.map_or(NO_TIME, |(_, since, _)| since.0));
                deadline.push(run.holder.map_or(NO_TIME, |(_, _, until)| until.0));
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
        Ok(columns)
    }

    /// The number of in-flight records in each state, by the name of the `RecordState`. Does not walk the runs.
    fn state_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = self
            .engine
            .with(py, |e| each!(e, sp => sp.state_counts()))?;
        let dict = PyDict::new(py);
        for (state, count) in RecordState::ALL.into_iter().zip(counts) {
            dict.set_item(state.name(), count)?;
        }
        Ok(dict)
    }

    /// What has happened since the object was made, by name; no number ever falls.
    ///
    /// Records: `acquired` (each delivery), `acknowledged`, `made_available`, `archived`, `dead_lettered`, `renewed`,
    /// `lock_timeouts`, `delivery_limit_reached`, `log_start_archived`. Writes: `writes`, `writes_refused`. State batches:
    /// `state_batches_written`.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = self.engine.with(py, |e| each!(e, sp => sp.counters()))?;
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
        let (sound, _) = self.engine.detached(py, |e| each!(e, sp => sp.check()))?;
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
    fn _panic_for_test(&self, py: Python<'_>, text: &str) -> PyResult<()> {
        self.engine.with(py, |_| panic!("{text}"))
    }
}
