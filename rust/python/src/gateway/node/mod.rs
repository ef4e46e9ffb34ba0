//! `Node` for Python: the data plane of a gateway. This file makes it, tells it of connections and time, and polls it; `states` has
//! states and rounds of writes, `upstream` records, `settings` what the control plane swaps, `lists` numbers for metrics.

mod arguments;
mod lists;
mod outputs;
mod round;
mod settings;
mod states;
mod upstream;

pub use round::WriteRound;

use std::iter::from_fn;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyList;
use share_state_core::time::LockTime;
use share_state_gateway::node as data_plane;
use share_state_gateway::node::{Event, Limits, Need, Slots};

use crate::args::{Int, LockMs, bytes, one, text_or_none};
use crate::errors;
use crate::groups::config::GroupConfig;
use crate::locked::Locked;

/// The data plane of a gateway as one machine without I/O: bytes of ShareFetch (78) and ShareAcknowledge (79) in, bytes of answers
/// out.
///
/// It has no clock, no socket, no disk and no thread. Whoever drives it calls one method for each thing that happens, and then
/// `poll` and `poll_round`. An argument that cannot be used changes nothing. Topic ids come in either form and go out as Kafka's
/// base64. Times are on one monotonic clock. An `isolation` is 0 for read_uncommitted, 1 for read_committed.
///
/// Args:
///     leader_epoch: epoch in which it reads and writes states.
///     config: the configuration of groups that have none.
///     frame: bytes that a request may have.
///     elements: elements of all arrays of a request altogether.
///     answers: bytes of all answers that clients have not taken; fetches wait then.
///     sessions: number of share sessions (`group.share.max.share.sessions`).
///     fetch_max_bytes: bytes of records in one answer (`fetch.max.bytes`).
///     rings: bytes of frames with batches that are kept in memory.
#[pyclass(frozen, module = "share_state.gateway")]
pub struct Node(Locked<data_plane::Node>);

/// Outputs that were waiting, and the next time-out.
type Outputs = (Vec<Event>, Vec<Need>, Option<LockTime>);

#[pymethods]
impl Node {
    #[new]
    #[pyo3(signature = (*, leader_epoch, config, frame, elements, answers, sessions, fetch_max_bytes, rings))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python constructor"
    )]
    fn new(
        py: Python<'_>,
        leader_epoch: Int<i32>,
        #[pyo3(from_py_with = one)] config: &Bound<'_, GroupConfig>,
        frame: Int<usize>,
        elements: Int<usize>,
        answers: Int<usize>,
        sessions: Int<usize>,
        fetch_max_bytes: Int<usize>,
        rings: Int<usize>,
    ) -> PyResult<Self> {
        let limits = Limits {
            frame: frame.0,
            elements: elements.0,
            answers: answers.0,
            sessions: sessions.0,
            fetch_max_bytes: fetch_max_bytes.0,
            rings: rings.0,
            ..Limits::default()
        };
        let config = Arc::clone(&config.get().inner);
        let node = data_plane::Node::new(limits, Slots::one(leader_epoch.0), config)
            .map_err(|error| errors::config_argument(py, &error))?;
        Ok(Self(Locked::new("this Node", node)))
    }

    /// Take a connection. Its number is not used twice: share sessions live on it.
    ///
    /// Args:
    ///     connection: its number.
    ///     principal: that of its client, such as `User:alice`; `None` of one that has not logged in, which is not served here.
    fn opened(
        &self,
        py: Python<'_>,
        connection: Int<u64>,
        #[pyo3(from_py_with = text_or_none)] principal: Option<&str>,
    ) -> PyResult<()> {
        let principal = principal.map(Arc::from);
        self.0
            .attached(py, |node| node.opened(connection.0, principal))
    }

    /// Take the end of a connection: its request is answered to nobody, and the sessions that it opened end.
    #[pyo3(signature = (connection, *, now_ms))]
    fn closed(&self, py: Python<'_>, connection: Int<u64>, now_ms: LockMs) -> PyResult<()> {
        self.0
            .detached(py, |node| node.closed(connection.0, now_ms.0))
    }

    /// Take bytes of a client, cut anywhere.
    #[pyo3(signature = (connection, data, *, now_ms))]
    fn feed(
        &self,
        py: Python<'_>,
        connection: Int<u64>,
        #[pyo3(from_py_with = bytes)] data: &[u8],
        now_ms: LockMs,
    ) -> PyResult<()> {
        self.0
            .detached(py, |node| node.feed(connection.0, data, now_ms.0))
    }

    /// Take note that the operating system has taken bytes of the answers of a connection.
    #[pyo3(signature = (connection, count, *, now_ms))]
    fn sent(
        &self,
        py: Python<'_>,
        connection: Int<u64>,
        count: Int<usize>,
        now_ms: LockMs,
    ) -> PyResult<()> {
        self.0
            .detached(py, |node| node.sent(connection.0, count.0, now_ms.0))
    }

    /// Do everything that is due.
    #[pyo3(signature = (*, now_ms))]
    fn tick(&self, py: Python<'_>, now_ms: LockMs) -> PyResult<()> {
        self.0.detached(py, |node| node.tick(now_ms.0))
    }

    /// Take the outputs that wait, oldest first.
    ///
    /// Returns:
    ///     The events, the needs, and the time in ms at which `tick` has something to do, or `None`.
    ///
    ///     An event is `("send", connection, bytes)` with whole frames, for which `sent` is to be called; `("close", connection,
    ///     error)`, after which `closed` is to be called, with the exception for the log, or `None` where an answer could not be
    ///     written; `("request", connection, frame)`, a request that is not served here; `("loaded", served, key, code, error)`, the
    ///     end of a load, with 0 or the code for those that wait, and with the exception for the log where the load has one;
    ///     `("denied", connection, resource, name)`, a topic or group that the client may not read; or `("start_kept", ticket, state)`,
    ///     the outcome of `keep_start`: the state that is kept, or `None`.
    ///
    ///     A need is `("state", served, key, leader_epoch)`, for `state_read`; `("start", served, topic_id, partition, isolation,
    ///     strategy)`, for `start_found`, with a value of `share.auto.offset.reset`; `("topics", connection, topic_ids)`, for
    ///     `looked_up`; `("log_start", topic_id, partition, isolation)`, for `log_starts_told`; or `("records", topic_id, partition,
    ///     isolation, life, offset)`, for `records_read`.
    fn poll<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>, Option<i64>)> {
        let (given, needed, next): Outputs = self.0.attached(py, |node| {
            let events = from_fn(|| node.poll_event()).collect();
            let needs = from_fn(|| node.poll_need()).collect();
            (events, needs, node.poll_timeout())
        })?;
        let (events, needs) = (PyList::empty(py), PyList::empty(py));
        for event in given {
            events.append(outputs::event_out(py, event)?)?;
        }
        for need in needed {
            needs.append(outputs::need_out(py, need)?)?;
        }
        Ok((events, needs, next.map(|at| at.0)))
    }
}
