//! States and anomalies that the rows of a history come to.

use std::collections::{HashMap, HashSet};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use share_state_analysis::anomaly::{Anomaly, AnomalyConfig, Beside, Finder, Sample};
use share_state_analysis::anomaly::{AnomalyKind, Severity};
use share_state_analysis::state::StateReplay as Replay;
use share_state_core::history::HistoryRow;

use crate::analysis::history_rows::row_in;
use crate::args::Int;
use crate::convert;
use crate::locked::Locked;
use crate::tuples::{Class, tuple_out};

static STATE_ROW: Class = Class::new("share_state.operate.analysis.read_states", "StateRow");
static ANOMALY: Class = Class::new("share_state.operate.analysis.anomaly", "Anomaly");

/// The states that the rows of a history come to, for a caller who brings the rows of one state partition in their order.
///
/// Args:
///     state_partition: its number, for the rows.
#[pyclass(frozen, module = "share_state")]
pub struct StateReplay {
    state_partition: u32,
    replay: Locked<Replay>,
}

#[pymethods]
impl StateReplay {
    #[new]
    #[pyo3(signature = (state_partition = Int(0)), text_signature = "(state_partition=0)")]
    fn new(state_partition: Int<u32>) -> Self {
        Self {
            state_partition: state_partition.0,
            replay: Locked::new("this StateReplay", Replay::new()),
        }
    }

    /// Apply the next `HistoryRow`.
    fn apply(&self, py: Python<'_>, row: &Bound<'_, PyAny>) -> PyResult<()> {
        let (_, row) = row_in(row)?;
        self.replay.attached(py, |replay| replay.apply(&row))
    }

    /// Return the states, a new list of `StateRow`, ordered by group, topic id and partition.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let rows: Vec<_> = self
            .replay
            .attached(py, |replay| replay.rows(self.state_partition).collect())?;
        for row in &rows {
            list.append(tuple_out(py, &STATE_ROW, row)?)?;
        }
        Ok(list)
    }
}

/// The finder, and the rows of the record that is being read.
struct Reading {
    finder: Finder,
    rows: Vec<HistoryRow>,
    state_partition: u32,
}

impl Reading {
    /// Takes the next row; those of one record are looked at together, once all are there.
    fn take(&mut self, state_partition: u32, row: HistoryRow, out: &mut Vec<Anomaly>) {
        let is_same = |last: &HistoryRow| last.at.offset == row.at.offset;
        if !(self.state_partition == state_partition && self.rows.last().is_none_or(is_same)) {
            self.flush(out);
        }
        self.state_partition = state_partition;
        self.rows.push(row);
    }

    fn flush(&mut self, out: &mut Vec<Anomaly>) {
        self.finder.record(self.state_partition, &self.rows, out);
        self.rows.clear();
    }
}

/// Finds what is wrong by the rows of a history, in their order.
///
/// Args:
///     config: an `AnomalyConfig`.
///     log_end_offsets: a mapping of topic id and partition to pairs of a time in ms and the log end offset then, or `None`.
///     live_topics: the ids of the topics that there are, or `None`.
#[pyclass(frozen, module = "share_state")]
pub struct AnomalyFinder {
    reading: Locked<Reading>,
}

#[pymethods]
impl AnomalyFinder {
    #[new]
    #[pyo3(
        signature = (config, *, log_end_offsets = None, live_topics = None),
        text_signature = "(config, *, log_end_offsets=None, live_topics=None)"
    )]
    fn new(
        config: &Bound<'_, PyAny>,
        log_end_offsets: Option<&Bound<'_, PyAny>>,
        live_topics: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let finder = Finder::new(config_in(config)?, beside_in(log_end_offsets, live_topics)?);
        let reading = Reading {
            finder,
            rows: Vec::new(),
            state_partition: 0,
        };
        Ok(Self {
            reading: Locked::new("this AnomalyFinder", reading),
        })
    }

    /// Take the next `HistoryRow` and return what is known by now to be wrong, a new list of `Anomaly`.
    fn see<'py>(&self, py: Python<'py>, row: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let (state_partition, row) = row_in(row)?;
        let found = self.reading.attached(py, |reading| {
            let mut found = Vec::new();
            reading.take(state_partition, row, &mut found);
            found
        })?;
        anomalies_out(py, &found)
    }

    /// All rows are over: return what lasts, and what only the whole log tells, a new list of `Anomaly`.
    fn end<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let found = self.reading.attached(py, |reading| {
            let mut found = Vec::new();
            reading.flush(&mut found);
            reading.finder.end(&mut found);
            found
        })?;
        anomalies_out(py, &found)
    }
}

/// Named tuples.
pub fn anomalies_out<'py>(py: Python<'py>, found: &[Anomaly]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for anomaly in found {
        list.append(tuple_out(py, &ANOMALY, anomaly)?)?;
    }
    Ok(list)
}

/// Reads the attributes of an `AnomalyConfig`.
pub fn config_in(config: &Bound<'_, PyAny>) -> PyResult<AnomalyConfig> {
    let number = |name: &str| -> PyResult<i64> {
        let value = config.getattr(name)?.extract::<Int<i64>>()?.0;
        at_least_one(name, value)?;
        Ok(value)
    };
    let count = |name: &str| number(name).map(i64::unsigned_abs);
    let by_group = |name: &str| -> PyResult<HashMap<String, i64>> {
        let values: HashMap<String, Int<i64>> = config
            .getattr(name)?
            .call_method0("items")?
            .try_iter()?
            .map(|item| item?.extract())
            .collect::<PyResult<_>>()?;
        values
            .into_iter()
            .map(|(group, value)| {
                at_least_one(name, value.0)?;
                Ok((group, value.0))
            })
            .collect()
    };
    let optional = |name: &str| -> PyResult<Option<i64>> {
        let is_given = !config.getattr(name)?.is_none();
        is_given.then(|| number(name)).transpose()
    };
    Ok(AnomalyConfig {
        stuck_ms: number("stuck_ms")?,
        stuck_records: count("stuck_records")?,
        delivery_count_limit: optional("delivery_count_limit")?,
        delivery_count_limits: by_group("delivery_count_limits")?,
        highest_released: by_group("highest_released")?,
        burst_records: count("burst_records")?,
        burst_ms: number("burst_ms")?,
        max_record_locks: optional("max_record_locks")?,
        max_record_locks_by_group: by_group("max_record_locks_by_group")?,
        record_lock_duration_ms: optional("record_lock_duration_ms")?,
        record_lock_durations_ms: by_group("record_lock_durations_ms")?,
        loop_releases: count("loop_releases")?,
        count_records: count("count_records")?,
        gap_ms: number("gap_ms")?,
        cold_ms: number("cold_ms")?,
        cold_records: number("cold_records")?,
        lag_ms: number("lag_ms")?,
        lag_records: number("lag_records")?,
    })
}

fn at_least_one(name: &str, value: i64) -> PyResult<()> {
    if value < 1 {
        return Err(PyValueError::new_err(format!("{name} is {value}, below 1")));
    }
    Ok(())
}

/// Facts that the log does not hold.
pub fn beside_in(
    log_end_offsets: Option<&Bound<'_, PyAny>>,
    live_topics: Option<&Bound<'_, PyAny>>,
) -> PyResult<Beside> {
    let mut beside = Beside::default();
    if let Some(all) = log_end_offsets {
        for item in all.call_method0("items")?.try_iter()? {
            type Item<'py> = ((String, Int<i32>), Bound<'py, PyAny>);
            let ((topic_id, partition), samples): Item<'_> = item?.extract()?;
            let of_partition = beside
                .log_end_offsets
                .entry((convert::topic_id(&topic_id)?, partition.0))
                .or_default();
            for sample in samples.try_iter()? {
                let (timestamp, end_offset): (Int<i64>, Int<i64>) = sample?.extract()?;
                of_partition.push(Sample {
                    timestamp: timestamp.0,
                    end_offset: end_offset.0,
                });
            }
        }
    }
    if let Some(topics) = live_topics {
        let ids: HashSet<_> = topics
            .try_iter()?
            .map(|id| convert::topic_id(id?.extract()?))
            .collect::<PyResult<_>>()?;
        beside.live_topics = Some(ids);
    }
    Ok(beside)
}

/// The names of the kinds of anomalies, and of the severities, and the thresholds by default: what Python declares again, so
/// that a checker of types sees it, is held to this by a test.
pub fn add_names(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ANOMALY_KINDS", AnomalyKind::ALL.map(AnomalyKind::name))?;
    module.add("SEVERITIES", Severity::ALL.map(Severity::name))?;
    let AnomalyConfig {
        stuck_ms,
        stuck_records,
        delivery_count_limit,
        delivery_count_limits,
        highest_released,
        burst_records,
        burst_ms,
        record_lock_duration_ms,
        record_lock_durations_ms,
        max_record_locks,
        max_record_locks_by_group,
        loop_releases,
        count_records,
        gap_ms,
        cold_ms,
        cold_records,
        lag_ms,
        lag_records,
    } = AnomalyConfig::default();
    let defaults = PyDict::new(module.py());
    defaults.set_item("stuck_ms", stuck_ms)?;
    defaults.set_item("stuck_records", stuck_records)?;
    defaults.set_item("delivery_count_limit", delivery_count_limit)?;
    defaults.set_item("delivery_count_limits", delivery_count_limits)?;
    defaults.set_item("highest_released", highest_released)?;
    defaults.set_item("burst_records", burst_records)?;
    defaults.set_item("burst_ms", burst_ms)?;
    defaults.set_item("record_lock_duration_ms", record_lock_duration_ms)?;
    defaults.set_item("record_lock_durations_ms", record_lock_durations_ms)?;
    defaults.set_item("max_record_locks", max_record_locks)?;
    defaults.set_item("max_record_locks_by_group", max_record_locks_by_group)?;
    defaults.set_item("loop_releases", loop_releases)?;
    defaults.set_item("count_records", count_records)?;
    defaults.set_item("gap_ms", gap_ms)?;
    defaults.set_item("cold_ms", cold_ms)?;
    defaults.set_item("cold_records", cold_records)?;
    defaults.set_item("lag_ms", lag_ms)?;
    defaults.set_item("lag_records", lag_records)?;
    module.add("ANOMALY_DEFAULTS", defaults)
}
