//! Requests of members.

use pyo3::prelude::*;
use share_state_core::share_group::Heartbeat;

use super::ShareGroupStore;
use crate::args::{Int, LockMs, WallMs, strings_or_none, text, text_or_none};
use crate::convert;
use crate::partition::seen;

#[pymethods]
impl ShareGroupStore {
    /// The share partitions whose state is to be initialised before this heartbeat is let in, as (topic id, partition, state
    /// epoch, start offset). Empty when there is none, or when the heartbeat would be refused. Changes nothing.
    ///
    /// Args:
    ///     group, member, member_epoch, topics: as for `heartbeat`.
    ///
    /// Raises:
    ///     StoreError: the store cannot be used.
    #[pyo3(signature = (*, group, member, member_epoch, topics))]
    fn to_initialize(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
        #[pyo3(from_py_with = text)] member: &str,
        member_epoch: Int<i32>,
        #[pyo3(from_py_with = strings_or_none)] topics: Option<Vec<String>>,
    ) -> PyResult<Vec<(String, i32, i32, i64)>> {
        let topics = borrowed(topics.as_deref());
        let request = Heartbeat {
            group,
            member,
            member_epoch: member_epoch.0,
            rack: None,
            topics: topics.as_deref(),
            client_id: "",
            client_host: "",
        };
        let new = self.call(py, |store| store.to_initialize(&request))?;
        let new = new.into_iter().map(|new| {
            let id = new.topic_id.to_base64();
            (id, new.partition, new.state_epoch, new.start_offset)
        });
        Ok(new.collect())
    }

    /// Take a member in, keep it, or let it go (ShareGroupHeartbeat, RPC 76).
    ///
    /// A member of a group that does not exist is answered UNKNOWN_MEMBER_ID (25), where Kafka answers GROUP_ID_NOT_FOUND: that
    /// one is fatal to clients, and with this one they join again.
    ///
    /// Args:
    ///     group, member: ids, as the client names them.
    ///     member_epoch: what the member was told last; 0 joins, -1 leaves.
    ///     rack, topics: `None` when they have not changed.
    ///     client_id, client_host: of the client.
    ///     now_ms: the caller's monotonic clock; the member's session begins again.
    ///     wall_ms: ms since the epoch.
    ///     initialized: (topic id, partition) of share partitions whose state was initialised for this heartbeat; they are
    ///         assigned with it. Those that do not exist any more are passed over.
    ///
    /// Raises:
    ///     InvalidRequestError: `wall_ms` is negative.
    ///     ValueError: a topic id is not one.
    ///     StoreError: the store cannot be used.
    #[pyo3(signature = (*, group, member, member_epoch, rack, topics, client_id, client_host, now_ms, wall_ms,
        initialized = Vec::new()),
        text_signature = "($self, *, group, member, member_epoch, rack, topics, client_id, client_host, now_ms, wall_ms, \
        initialized=())")]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn heartbeat<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = text)] group: &str,
        #[pyo3(from_py_with = text)] member: &str,
        member_epoch: Int<i32>,
        #[pyo3(from_py_with = text_or_none)] rack: Option<&str>,
        #[pyo3(from_py_with = strings_or_none)] topics: Option<Vec<String>>,
        #[pyo3(from_py_with = text)] client_id: &str,
        #[pyo3(from_py_with = text)] client_host: &str,
        now_ms: LockMs,
        wall_ms: WallMs,
        initialized: Vec<(String, Int<i32>)>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let topics = borrowed(topics.as_deref());
        let request = Heartbeat {
            group,
            member,
            member_epoch: member_epoch.0,
            rack,
            topics: topics.as_deref(),
            client_id,
            client_host,
        };
        let initialized = initialized
            .iter()
            .map(|(id, partition)| Ok((convert::topic_id(id)?, partition.0)))
            .collect::<PyResult<Vec<_>>>()?;
        let accepted = self.call(py, |store| {
            store.heartbeat(&request, &initialized, now_ms.0, wall_ms.0)
        })?;
        let ticket = accepted.ticket;
        seen::heartbeat_answer(py, accepted.answer, ticket)
    }
}

fn borrowed(topics: Option<&[String]>) -> Option<Vec<&str>> {
    topics.map(|topics| topics.iter().map(String::as_str).collect())
}
