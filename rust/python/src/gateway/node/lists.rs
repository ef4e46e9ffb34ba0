//! Numbers of a node for metrics, and lists of what it has in memory.

use std::collections::HashSet;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use share_state_core::ids::SharePartitionKey;
use share_state_core::in_flight::StateCounts;
use share_state_core::limits::IsolationLevel;
use share_state_gateway::node::{ByTopic, Counts, Listed, Ring};

use super::Node;
use super::arguments::isolation_out;
use super::outputs::source_out;
use crate::args::{self, named, string};
use crate::convert;
use crate::named_tuples;

/// A share partition, copied out of the lock.
struct Row {
    key: SharePartitionKey,
    is_ready: bool,
    waiting: usize,
    lock_timeouts: u64,
    dead_lettered: u64,
    state_counts: StateCounts,
    start_offset: i64,
    isolation: IsolationLevel,
}

impl From<Listed<'_>> for Row {
    fn from(listed: Listed<'_>) -> Self {
        Self {
            key: listed.key.clone(),
            is_ready: listed.is_ready,
            waiting: listed.waiting,
            lock_timeouts: listed.lock_timeouts,
            dead_lettered: listed.dead_lettered,
            state_counts: listed.state_counts,
            start_offset: listed.start_offset,
            isolation: listed.source.isolation,
        }
    }
}

#[pymethods]
impl Node {
    /// Return what was counted so far, by name; no number ever falls.
    ///
    /// `request_errors` by API key and code; `malformed`; `fetched`, `fetch_failed`, `acknowledged` and `acknowledge_failed`
    /// partitions by topic id; `acknowledged_records` by the type of their acknowledgement; `hidden` by its cause: what clients were
    /// told as -1; `asked_partitions` and `acquired_partitions` by group; `acquire_times` by group: durations from a share fetch to
    /// its records, as `(buckets, total_ms)`; `expired_fetches`.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counts_out(py, self.0.attached(py, |node| node.counts().clone())?)
    }

    /// Forget what was counted of other groups: whoever may read any group makes up names of groups.
    fn keep_counts(&self, py: Python<'_>, groups: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut kept = HashSet::new();
        for (index, group) in args::items("groups", groups)?.enumerate() {
            kept.insert(named(py, string(&group?), format!("groups[{index}]"))?);
        }
        self.0.attached(py, |node| {
            node.keep_counts(|group| kept.contains(group));
        })
    }

    /// Return the numbers of what is in memory, by name: `waiting_fetches`, `sessions`, `session_partitions`, and `answer_bytes`,
    /// which clients have not taken.
    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let figures = self.0.attached(py, |node| node.figures())?;
        let dict = PyDict::new(py);
        dict.set_item("waiting_fetches", figures.waiting_fetches)?;
        dict.set_item("sessions", figures.sessions)?;
        dict.set_item("session_partitions", figures.session_partitions)?;
        dict.set_item("answer_bytes", figures.answer_bytes)?;
        Ok(dict)
    }

    /// List the share partitions that serve or are about to, in no order.
    ///
    /// Returns:
    ///     `(key, is_ready, waiting, lock_timeouts, dead_lettered, state_counts, start_offset, isolation)` of each: the number of
    ///     fetches that wait at it, its counters, and its records in flight by the name of their state.
    fn share_partitions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows: Vec<Row> = self
            .0
            .detached(py, |node| node.list().map(Row::from).collect())?;
        let list = PyList::empty(py);
        for row in rows {
            list.append((
                named_tuples::gateway_key_out(py, &row.key)?,
                row.is_ready,
                row.waiting,
                row.lock_timeouts,
                row.dead_lettered,
                convert::state_counts_out(py, row.state_counts)?,
                row.start_offset,
                isolation_out(row.isolation),
            ))?;
        }
        Ok(list)
    }

    /// List the rings, in no order.
    ///
    /// Returns:
    ///     `(topic_id, partition, isolation, nbytes, held_bytes)` of each: bytes of its batches, and of the frames that they keep.
    fn rings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rings: Vec<Ring> = self.0.detached(py, |node| node.rings().collect())?;
        let list = PyList::empty(py);
        for ring in rings {
            let (topic_id, partition, isolation) = source_out(ring.source);
            list.append((topic_id, partition, isolation, ring.nbytes, ring.held_bytes))?;
        }
        Ok(list)
    }
}

fn counts_out(py: Python<'_>, counts: Counts) -> PyResult<Bound<'_, PyDict>> {
    let Counts {
        request_errors,
        malformed,
        fetched,
        fetch_failed,
        acknowledged,
        acknowledge_failed,
        acknowledged_records,
        hidden,
        groups,
        expired_fetches,
    } = counts;
    let [asked, acquired, times] = [PyDict::new(py), PyDict::new(py), PyDict::new(py)];
    for (group, of) in groups {
        asked.set_item(&*group, of.asked_partitions)?;
        acquired.set_item(&*group, of.acquired_partitions)?;
        let total_ms = of.acquire_times.total_ms;
        times.set_item(&*group, (of.acquire_times.buckets.to_vec(), total_ms))?;
    }
    let dict = PyDict::new(py);
    dict.set_item("request_errors", request_errors)?;
    dict.set_item("malformed", malformed)?;
    dict.set_item("fetched", by_topic_out(py, &fetched)?)?;
    dict.set_item("fetch_failed", by_topic_out(py, &fetch_failed)?)?;
    dict.set_item("acknowledged", by_topic_out(py, &acknowledged)?)?;
    let failed = by_topic_out(py, &acknowledge_failed)?;
    dict.set_item("acknowledge_failed", failed)?;
    let types = PyDict::new(py);
    for (kind, records) in acknowledged_records.into_iter().enumerate() {
        types.set_item(kind, records)?;
    }
    dict.set_item("acknowledged_records", types)?;
    dict.set_item("hidden", hidden)?;
    dict.set_item("asked_partitions", asked)?;
    dict.set_item("acquired_partitions", acquired)?;
    dict.set_item("acquire_times", times)?;
    dict.set_item("expired_fetches", expired_fetches)?;
    Ok(dict)
}

fn by_topic_out<'py>(py: Python<'py>, counted: &ByTopic) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (topic_id, count) in counted {
        dict.set_item(topic_id.to_base64(), count)?;
    }
    Ok(dict)
}
