//! The state topic of a running cluster, followed while it grows.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use share_state_analysis::anomaly::{Anomaly, AnomalyConfig};
use share_state_analysis::live::{Change, Follower, Refused};
use share_state_core::history::At;
use share_state_log::read::{self, ScanError};

use crate::analysis::anomalies::{anomalies_out, config_in};
use crate::analysis::scan::scan_error;
use crate::args::{Int, bytes, path};
use crate::convert;
use crate::locked::Locked;
use crate::named_tuples;
use crate::tuples::{Class, tuple_out};

static LIVE_ROW: Class = Class::new("share_state.operate.live.live_row", "LiveRow");

/// Records between two looks at signals.
const RECORDS_A_STEP: usize = 1 << 16;

/// The followers by state partition, and what they look for anomalies with.
#[derive(Default)]
struct Followers {
    all: BTreeMap<u32, Follower>,
    config: Arc<AnomalyConfig>,
}

/// The next offset, where the new batches are, and what was refused.
type Taken = (i64, (usize, usize), Vec<(i64, String)>);

impl Followers {
    fn of(&mut self, state_partition: u32) -> &mut Follower {
        self.all.entry(state_partition).or_insert_with(|| {
            let mut follower = Follower::new(state_partition, 0);
            follower.configure(Arc::clone(&self.config));
            follower
        })
    }

    /// The anomalies since a time, in an order of their own, and since when that is all of them.
    fn anomalies(&mut self, since_ms: i64) -> (i64, Vec<Anomaly>) {
        let mut found = Vec::new();
        let since = self
            .all
            .values_mut()
            .map(|one| one.anomalies(since_ms, &mut found));
        let since = since.max().unwrap_or(since_ms);
        found.sort_by(|a, b| {
            let first = |one: &Anomaly| one.range.map(|range| range.first);
            (&a.key, a.since_offset, first(a)).cmp(&(&b.key, b.since_offset, first(b)))
        });
        (since, found)
    }
}

/// State of the share partitions of a state topic, kept up to date by the batches of Fetch answers.
///
/// It looks for anomalies by default thresholds, unless `configure` gives others.
///
/// Memory is that of the live states. A method waits for a call of another thread.
#[pyclass(frozen, module = "share_state")]
pub struct StateTopicFollower {
    followers: Locked<Followers>,
}

#[pymethods]
impl StateTopicFollower {
    #[new]
    fn new() -> Self {
        Self {
            followers: Locked::new("this StateTopicFollower", Followers::default()),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (partitions, live) = self.followers.attached(py, |followers| {
            let live: usize = followers.all.values().map(Follower::len).sum();
            (followers.all.len(), live)
        })?;
        Ok(format!(
            "StateTopicFollower(state_partitions={partitions}, share_partitions={live})"
        ))
    }

    /// Forget what is known of a state partition, and begin again at an offset.
    ///
    /// Its share partitions are among the next `changes`: as gone, unless they are read again before.
    ///
    /// Args:
    ///     state_partition: its number.
    ///     next_offset: of the first record to take; earlier ones are passed over.
    fn begin(
        &self,
        py: Python<'_>,
        state_partition: Int<u32>,
        next_offset: Int<i64>,
    ) -> PyResult<()> {
        self.followers.attached(py, |followers| {
            followers.of(state_partition.0).begin_again(next_offset.0);
        })
    }

    /// Take the whole record batches in `data[start:end]`, as an answer to Fetch has them: the first may begin before the next
    /// offset of the state partition, and the last may be cut off.
    ///
    /// Args:
    ///     state_partition: its number.
    ///     data: the bytes.
    ///     start, end: where the batches are in it; None for its end.
    ///
    /// Returns:
    ///     The next offset to fetch from; where in `data` the batches are that hold something new, a start and an end; and what
    ///     could not be read, pairs of an offset and a text. That is passed over, and has changed nothing.
    #[pyo3(
        signature = (state_partition, data, start = Int(0), end = None),
        text_signature = "($self, state_partition, data, start=0, end=None)"
    )]
    fn take(
        &self,
        py: Python<'_>,
        state_partition: Int<u32>,
        #[pyo3(from_py_with = bytes)] data: &[u8],
        start: Int<usize>,
        end: Option<Int<usize>>,
    ) -> PyResult<Taken> {
        let (next_offset, new, refused) = self.followers.detached(py, |followers| {
            let follower = followers.of(state_partition.0);
            let mut refused = Vec::new();
            let end = end.map_or(data.len(), |end| end.0);
            let new = follower.take(data, start.0, end, &mut refused);
            (follower.next_offset(), (new.start, new.end), refused)
        })?;
        let told = |refused: Refused| (refused.offset, refused.error.to_string());
        Ok((next_offset, new, refused.into_iter().map(told).collect()))
    }

    /// Take the records of a state log on this machine, beside a writer if need be. Nothing is locked or changed.
    ///
    /// Args:
    ///     path: as for `scan_path`.
    ///
    /// Returns:
    ///     What could not be read, a text each. That is passed over.
    ///
    /// Raises:
    ///     FileNotFoundError: there is no such path, or it is no state log.
    ///     OSError: the disk fails.
    fn take_path(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = path)] path: PathBuf,
    ) -> PyResult<Vec<String>> {
        let mut refused = Vec::new();
        let mut scan = py
            .detach(|| read::scan(&path))
            .map_err(|error| scan_error(&error))?;
        loop {
            let ended = self
                .followers
                .detached(py, |followers| step(followers, &mut scan, &mut refused))?
                .map_err(|error| scan_error(&error))?;
            if ended {
                refused.extend(scan.findings().iter().map(ToString::to_string));
                return Ok(refused);
            }
            py.check_signals()?;
        }
    }

    /// Return the changes since the last call: rows of the share partitions that have a state, and keys of those whose state
    /// was deleted, in no order.
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let changes = self.followers.detached(py, |followers| {
            let changes = followers.all.values_mut().flat_map(Follower::changes);
            changes.collect::<Vec<_>>()
        })?;
        let (rows, gone) = (PyList::empty(py), PyList::empty(py));
        for change in changes {
            match change {
                Change::Now(row) => rows.append(tuple_out(py, &LIVE_ROW, &*row)?)?,
                Change::Gone(key) => gone.append(named_tuples::key_out(py, &key)?)?,
            }
        }
        Ok((rows, gone))
    }

    /// Look for anomalies by other thresholds from here on. Of what was found, what the new delivery limits allow is not told
    /// any more.
    ///
    /// Args:
    ///     config: an `AnomalyConfig`.
    fn configure(&self, py: Python<'_>, config: &Bound<'_, PyAny>) -> PyResult<()> {
        let config = Arc::new(config_in(config)?);
        self.followers.attached(py, |followers| {
            for follower in followers.all.values_mut() {
                follower.configure(Arc::clone(&config));
            }
            followers.config = config;
        })
    }

    /// The anomalies that last, and those that were not over before a time. Those that were over before are let go.
    ///
    /// Of each state partition the latest 1,000 that are over are kept, and those that last. `growing_lag` and `deleted_topic`,
    /// which the state topic does not tell, are not among them.
    ///
    /// Args:
    ///     since_ms: the time, ms since the epoch.
    ///
    /// Returns:
    ///     Since when these are all, `since_ms` or later where they were too many; and a list of `Anomaly`, ordered by group,
    ///     topic id, partition and `since_offset`.
    fn anomalies<'py>(
        &self,
        py: Python<'py>,
        since_ms: Int<i64>,
    ) -> PyResult<(i64, Bound<'py, PyList>)> {
        let (since, found) = self
            .followers
            .detached(py, |followers| followers.anomalies(since_ms.0))?;
        Ok((since, anomalies_out(py, &found)?))
    }

    /// Count the anomalies of each share partition, by kind; as `anomalies`, for which the rows would be too many.
    ///
    /// Args:
    ///     since_ms: as for `anomalies`.
    ///
    /// Returns:
    ///     Since when these are all, as from `anomalies`; and a list of pairs of a `SharePartitionKey` and a dict of numbers of
    ///     findings by kind.
    fn anomaly_counts<'py>(
        &self,
        py: Python<'py>,
        since_ms: Int<i64>,
    ) -> PyResult<(i64, Bound<'py, PyList>)> {
        let (since, found) = self
            .followers
            .detached(py, |followers| followers.anomalies(since_ms.0))?;
        let list = PyList::empty(py);
        for of_key in found.chunk_by(|a, b| a.key == b.key) {
            let mut counts = BTreeMap::<_, usize>::new();
            for one in of_key {
                *counts.entry(one.kind.name()).or_default() += 1;
            }
            if let Some(one) = of_key.first() {
                list.append((named_tuples::key_out(py, &one.key)?, counts))?;
            }
        }
        Ok((since, list))
    }

    /// Return the states of the records of a share partition: a new list of `StateBatch`, sorted and coalesced; None where
    /// there is no state.
    fn state_batches<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        let key = convert::key_in(key)?;
        let batches = self.followers.attached(py, |followers| {
            let mut states = followers.all.values().filter_map(|one| one.state(&key));
            states.next().map(|state| state.state_batches.to_vec())
        })?;
        batches
            .map(|batches| named_tuples::state_batches_out(py, &batches))
            .transpose()
    }

    /// Return the place up to which each state partition was read: a dict by its number of dicts `next_offset`, `needed_from`
    /// (the first offset that a loader still needs; None where a snapshot is missing or nothing is live), `records` (read so
    /// far) and `share_partitions` (with a state).
    fn places<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let places = self.followers.detached(py, |followers| {
            let places = followers.all.iter().map(|(number, one)| {
                let needed_from = one.needed_from();
                (
                    *number,
                    one.next_offset(),
                    needed_from,
                    one.records(),
                    one.len(),
                )
            });
            places.collect::<Vec<_>>()
        })?;
        let dict = PyDict::new(py);
        for (number, next_offset, needed_from, records, share_partitions) in places {
            let place = PyDict::new(py);
            place.set_item("next_offset", next_offset)?;
            place.set_item("needed_from", needed_from)?;
            place.set_item("records", records)?;
            place.set_item("share_partitions", share_partitions)?;
            dict.set_item(number, place)?;
        }
        Ok(dict)
    }
}

/// Takes the records of one step; whether the log has ended.
fn step(
    followers: &mut Followers,
    scan: &mut read::Scan,
    refused: &mut Vec<String>,
) -> Result<bool, ScanError> {
    for _ in 0..RECORDS_A_STEP {
        let Some(record) = scan.next().transpose()? else {
            return Ok(true);
        };
        let at = At {
            offset: record.offset,
            timestamp: record.timestamp,
        };
        let key = record.key.as_deref().unwrap_or_default();
        let follower = followers.of(record.partition);
        if let Err(error) = follower.read(at, key, record.value.as_deref()) {
            refused.push(format!(
                "state partition {}: the record at offset {} cannot be decoded and is passed over: {error}",
                record.partition, record.offset
            ));
        }
    }
    Ok(false)
}
