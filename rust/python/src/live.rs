//! The state topic of a running cluster, followed while it grows.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use share_state_analysis::live::{Change, Follower, Refused};
use share_state_core::history::At;
use share_state_log::read::{self, ScanError};

use crate::args::Int;
use crate::convert;
use crate::guarded::Guarded;
use crate::scan::scan_error;
use crate::tuples::{Class, tuple_out};

static LIVE_ROW: Class = Class::new("share_state.live.live_row", "LiveRow");

/// Records between two looks at signals.
const RECORDS_A_STEP: usize = 1 << 16;

type Followers = BTreeMap<u32, Follower>;
/// The next offset, where the new batches are, and what was refused.
type Taken = (i64, (usize, usize), Vec<(i64, String)>);

fn follower(followers: &mut Followers, state_partition: u32) -> &mut Follower {
    followers
        .entry(state_partition)
        .or_insert_with(|| Follower::new(state_partition, 0))
}

/// How the share partitions of a state topic stand, kept up to date by the batches of Fetch answers.
///
/// Memory is that of the live states. A method waits for a call of another thread.
#[pyclass(frozen, module = "share_state")]
pub struct StateTopicFollower {
    followers: Guarded<Followers>,
}

#[pymethods]
impl StateTopicFollower {
    #[new]
    fn new() -> Self {
        Self {
            followers: Guarded::new("this StateTopicFollower", Followers::new()),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (partitions, live) = self.followers.with(py, |followers| {
            let live: usize = followers.values().map(Follower::len).sum();
            (followers.len(), live)
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
        self.followers.with(py, |followers| {
            follower(followers, state_partition.0).begin_again(next_offset.0);
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
        data: &[u8],
        start: Int<usize>,
        end: Option<Int<usize>>,
    ) -> PyResult<Taken> {
        let (next_offset, new, refused) = self.followers.detached(py, |followers| {
            let follower = follower(followers, state_partition.0);
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
    fn take_path(&self, py: Python<'_>, path: PathBuf) -> PyResult<Vec<String>> {
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

    /// What changed since the last call: rows of the share partitions that have a state, and keys of those whose state was
    /// deleted, in no order.
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let changes = self.followers.detached(py, |followers| {
            let changes = followers.values_mut().flat_map(Follower::changes);
            changes.collect::<Vec<_>>()
        })?;
        let (rows, gone) = (PyList::empty(py), PyList::empty(py));
        for change in changes {
            match change {
                Change::Now(row) => rows.append(tuple_out(py, &LIVE_ROW, &*row)?)?,
                Change::Gone(key) => gone.append(convert::key_out(py, &key)?)?,
            }
        }
        Ok((rows, gone))
    }

    /// What is known of the records of a share partition: a new list of `StateBatch`, sorted and coalesced; None where there is
    /// no state.
    fn state_batches<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        let key = convert::key_in(key)?;
        let batches = self.followers.with(py, |followers| {
            let mut states = followers.values().filter_map(|one| one.state(&key));
            states.next().map(|state| state.state_batches.to_vec())
        })?;
        batches
            .map(|batches| convert::state_batches_out(py, &batches))
            .transpose()
    }

    /// How far each state partition was read: a dict by its number of dicts `next_offset`, `needed_from` (the first offset that
    /// a loader still needs; None where a snapshot is missing or nothing is live), `records` (read so far) and
    /// `share_partitions` (with a state).
    fn places<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let places = self.followers.detached(py, |followers| {
            let places = followers.iter().map(|(number, one)| {
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
        let follower = follower(followers, record.partition);
        if let Err(error) = follower.read(at, key, record.value.as_deref()) {
            refused.push(format!(
                "state partition {}: the record at offset {} cannot be decoded and is passed over: {error}",
                record.partition, record.offset
            ));
        }
    }
    Ok(false)
}
