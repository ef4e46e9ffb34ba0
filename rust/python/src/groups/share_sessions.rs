//! Share sessions.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use share_state_core::ids::TopicId;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_session as core;
use share_state_core::share_session::{Outcome, ShareFetchRequest, TopicIdPartition};

use crate::args::{Int, Topic, flag, text};
use crate::convert;
use crate::locked::Locked;

/// Topic id and partition as Python gives them.
type Named<'a> = (&'a str, Int<i32>);
/// An outcome as Python gives it.
type OutcomeIn<'a> = (&'a str, Int<i32>, bool, bool, bool);

/// The share sessions of a broker (Kafka: `ShareSessionCache`): which partitions each member fetches, the epoch of its next
/// request, and the connection its session lives on.
///
/// A refusal is a code and no exception, as it is an answer like any other; it has changed nothing. Topic ids come in either
/// form and go out as Kafka's base64. Who holds which record is the share partitions' affair: whoever ends a session releases
/// the member's records.
///
/// Args:
///     max_sessions: how many sessions fit (`group.share.max.share.sessions`); a full cache turns new members away and
///         evicts nobody.
#[pyclass(frozen, module = "share_state.gateway")]
pub struct ShareSessions(Locked<core::ShareSessions>);

/// Admission of a ShareFetch request, or the reason why it is refused.
#[pyclass(frozen, module = "share_state.gateway")]
pub struct ShareFetchContext(Result<core::ShareFetchContext, KafkaCode>);

#[pymethods]
impl ShareFetchContext {
    /// 0, or the code that answers the whole request: 42, 122, 123 or 133.
    #[getter]
    fn error_code(&self) -> i16 {
        self.0.as_ref().err().map_or(0, |code| code.code())
    }

    /// True if the request ends the session (epoch -1): nothing is fetched, and `close` comes after the answer.
    #[getter]
    fn r#final(&self) -> bool {
        self.0.as_ref().is_ok_and(core::ShareFetchContext::is_final)
    }

    /// True if the request has opened the session (epoch 0): the answer lists every partition.
    #[getter]
    fn full(&self) -> bool {
        self.0.as_ref().is_ok_and(core::ShareFetchContext::is_full)
    }

    /// The partitions to fetch as `(topic id, partition)`, in the order in which they get their share of the bytes and records,
    /// which rotates with the epoch. Made again at every reading.
    #[getter]
    fn partitions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        if let Ok(context) = &self.0 {
            each_named(context.partitions(), |topic_id, partition| {
                list.append((topic_id, partition))
            })?;
        }
        Ok(list)
    }
}

#[pymethods]
impl ShareSessions {
    #[new]
    #[pyo3(signature = (max_sessions = Int(2000)), text_signature = "(max_sessions=2000)")]
    fn new(max_sessions: Int<u32>) -> Self {
        let sessions = core::ShareSessions::new(max_sessions.0 as usize);
        Self(Locked::new("ShareSessions", sessions))
    }

    /// Admit a ShareFetch request (Kafka: `SharePartitionManager.newContext`).
    ///
    /// Epoch 0 opens the session or replaces it, epoch -1 ends it, another must be the one that the session expects.
    ///
    /// Args:
    ///     added: partitions to fetch from now on, as `(topic id, partition)`; repeated ones count once.
    ///     forgotten: partitions not to fetch any more.
    ///     acknowledges: whether the request brings acknowledgements.
    ///
    /// Raises:
    ///     ValueError: a topic id is none.
    #[pyo3(signature = (group, member, epoch, connection, added, forgotten, *, acknowledges))]
    #[expect(clippy::too_many_arguments, reason = "the fields of a request")]
    fn fetch(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
        #[pyo3(from_py_with = text)] member: &str,
        epoch: Int<i32>,
        connection: Int<u64>,
        added: &Bound<'_, PyAny>,
        forgotten: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = flag)] acknowledges: bool,
    ) -> PyResult<ShareFetchContext> {
        let (added, forgotten) = (named_in(added)?, named_in(forgotten)?);
        let request = ShareFetchRequest {
            group,
            member,
            epoch: epoch.0,
            connection: connection.0,
            added: &added,
            forgotten: &forgotten,
            acknowledges,
        };
        let admitted = self.0.attached(py, |sessions| sessions.fetch(&request))?;
        Ok(ShareFetchContext(
            admitted.map_err(core::ShareSessionError::kafka_code),
        ))
    }

    /// Say what the answer to an admitted ShareFetch request lists (Kafka: `updateAndGenerateResponseData`).
    ///
    /// Args:
    ///     outcomes: `(topic id, partition, has records, has an error, was acknowledged)` of every partition that was fetched or
    ///         acknowledged.
    ///
    /// Returns:
    ///     Whether the answer lists each of them; `None` when another request was admitted meanwhile or the session has ended:
    ///     then the answer is INVALID_SHARE_SESSION_EPOCH (123) for the whole request.
    ///
    /// Raises:
    ///     ValueError: the request was refused, or a topic id is none.
    fn answer(
        &self,
        py: Python<'_>,
        context: &ShareFetchContext,
        outcomes: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Vec<bool>>> {
        let context = context.0.as_ref().map_err(|code| {
            let text = format!("context is of a request refused with {}", code.name());
            pyo3::exceptions::PyValueError::new_err(text)
        })?;
        let mut rows = Vec::new();
        let mut last = LastTopic::default();
        for row in outcomes.try_iter()? {
            let row = row?;
            let (topic_id, partition, has_records, has_error, acknowledged): OutcomeIn<'_> =
                row.extract()?;
            rows.push(Outcome {
                id: last.id(topic_id, partition.0)?,
                has_records,
                has_error,
                acknowledged,
            });
        }
        self.0.attached(py, |s| s.answer(context, &rows))
    }

    /// Admit a ShareAcknowledge request (Kafka: `SharePartitionManager.acknowledgeSessionUpdate`) and return its code: 0, 122 or
    /// 123. Epoch -1 ends the session, by `close` after the answer; epoch 0 opens none here. `connection` does not matter, as a
    /// session lives on the connection that opened it.
    fn acknowledge(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
        #[pyo3(from_py_with = text)] member: &str,
        epoch: Int<i32>,
        connection: Int<u64>,
    ) -> PyResult<i16> {
        let _ = connection;
        let admitted = self
            .0
            .attached(py, |sessions| sessions.acknowledge(group, member, epoch.0))?;
        Ok(admitted.map_or_else(|error| error.kafka_code().code(), |()| 0))
    }

    /// End a session, and return whether there was one. For after a final request.
    fn close(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = text)] group: &str,
        #[pyo3(from_py_with = text)] member: &str,
    ) -> PyResult<bool> {
        self.0.attached(py, |s| s.close(group, member))
    }

    /// End the sessions that this connection opened, and return the group and member of each: their records are to be released.
    fn connection_closed(
        &self,
        py: Python<'_>,
        connection: Int<u64>,
    ) -> PyResult<Vec<(String, String)>> {
        let keys = self
            .0
            .attached(py, |sessions| sessions.connection_closed(connection.0))?;
        let keys = keys.iter();
        Ok(keys
            .map(|key| (key.group.to_string(), key.member.to_string()))
            .collect())
    }

    /// Take a deleted topic out of every session, and return how many partitions that were.
    ///
    /// Raises:
    ///     ValueError: the topic id is none.
    fn remove_topic(&self, py: Python<'_>, topic_id: Topic) -> PyResult<usize> {
        let topic_id = topic_id.0;
        self.0.attached(py, |s| s.remove_topic(topic_id))
    }

    /// Number of partitions in all sessions; one that is in two sessions counts twice.
    #[getter]
    fn partition_count(&self, py: Python<'_>) -> PyResult<usize> {
        self.0.attached(py, |sessions| sessions.partition_count())
    }

    /// Number of sessions that fit.
    #[getter]
    fn max_sessions(&self, py: Python<'_>) -> PyResult<usize> {
        self.0.attached(py, |sessions| sessions.max_sessions())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.0.attached(py, |sessions| {
            format!(
                "ShareSessions(sessions={}, partitions={}, max_sessions={})",
                sessions.len(),
                sessions.partition_count(),
                sessions.max_sessions(),
            )
        })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.0.attached(py, |sessions| sessions.len())
    }

    /// Every session as a dict of `group`, `member`, `epoch` (of its next request), `connection` and `partitions`: `(topic id,
    /// partition, whether the next answer must list it)` in the session's order.
    fn sessions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let seen: Vec<_> = self.0.attached(py, |sessions| {
            let views = sessions.sessions();
            views.map(Seen::from).collect()
        })?;
        let list = PyList::empty(py);
        for session in seen {
            let partitions = PyList::empty(py);
            for (id, requires_update) in &session.partitions {
                let topic_id = id.topic_id.to_base64();
                partitions.append((topic_id, id.partition, requires_update))?;
            }
            let dict = PyDict::new(py);
            dict.set_item("group", session.group)?;
            dict.set_item("member", session.member)?;
            dict.set_item("epoch", session.epoch)?;
            dict.set_item("connection", session.connection)?;
            dict.set_item("partitions", partitions)?;
            list.append(dict)?;
        }
        Ok(list)
    }
}

/// A session, copied out of the lock.
struct Seen {
    group: String,
    member: String,
    epoch: i32,
    connection: u64,
    partitions: Vec<(TopicIdPartition, bool)>,
}

impl From<core::SessionView<'_>> for Seen {
    fn from(view: core::SessionView<'_>) -> Self {
        Self {
            group: view.group.to_owned(),
            member: view.member.to_owned(),
            epoch: view.next_epoch(),
            connection: view.connection(),
            partitions: view.partitions().collect(),
        }
    }
}

fn named_in(partitions: &Bound<'_, PyAny>) -> PyResult<Vec<TopicIdPartition>> {
    let mut out = Vec::new();
    let mut last = LastTopic::default();
    for item in partitions.try_iter()? {
        let item = item?;
        let (topic_id, partition): Named<'_> = item.extract()?;
        out.push(last.id(topic_id, partition.0)?);
    }
    Ok(out)
}

/// Reads topic ids that mostly repeat the one before.
#[derive(Default)]
struct LastTopic {
    text: String,
    id: TopicId,
}

impl LastTopic {
    fn id(&mut self, text: &str, partition: i32) -> PyResult<TopicIdPartition> {
        if self.text != text {
            self.id = convert::topic_id(text)?;
            text.clone_into(&mut self.text);
        }
        Ok(TopicIdPartition {
            topic_id: self.id,
            partition,
        })
    }
}

/// Calls `each` with the text of the topic id, which is made once for neighbours of one topic, and the partition.
fn each_named(
    ids: impl Iterator<Item = TopicIdPartition>,
    mut each: impl FnMut(&str, i32) -> PyResult<()>,
) -> PyResult<()> {
    let mut last: Option<(TopicId, String)> = None;
    for id in ids {
        let text = match &last {
            Some((topic_id, text)) if *topic_id == id.topic_id => text,
            _ => &last.insert((id.topic_id, id.topic_id.to_base64())).1,
        };
        each(text, id.partition)?;
    }
    Ok(())
}
