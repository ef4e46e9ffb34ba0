//! The two answers that carry records: the upstream's, read in place, and the member's, written with one copy.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use share_state_wire::WireError;
use share_state_wire::messages::data::{
    FetchAnswer, FetchedPartition, ShareFetchAnswer, ShareFetchPartition, TopicRef,
};
use share_state_wire::messages::share::NodeEndpoint;

use super::Delivery;
use crate::args::{Int, bytes, text_or_none};
use crate::convert;
use crate::errors;
use crate::locked::caught;

/// Topic id, partition, error of the fetch, error of the acknowledgements, leader id, leader epoch, delivery.
type AnsweredPartition<'py> = (
    Bound<'py, PyString>,
    Int<i32>,
    Int<i16>,
    Int<i16>,
    Int<i32>,
    Int<i32>,
    Option<Bound<'py, Delivery>>,
);
type Endpoint = (Int<i32>, String, Int<i32>, Option<String>);

/// Read the answer to a Fetch (1) without a copy of its records.
///
/// Memory is bounded by the length of `frame`, whatever counts it announces.
///
/// Args:
///     version: version of the request, 4 to 17.
///     frame: the frame.
///     start: where the body begins in it, after the header of the answer.
///
/// Returns:
///     `(throttle_ms, error_code, session_id, partitions, node_endpoints)`. A partition is `(topic, partition, error_code,
///     high_watermark, last_stable_offset, log_start_offset, aborted, preferred_read_replica, diverging_epoch, current_leader,
///     records_start, records_end)`: `topic` is the name up to version 12 and then the id in URL-safe base64; `aborted` is `None`
///     or a list of `(producer_id, first_offset)`; `diverging_epoch` is `None` or `(epoch, end_offset)`; `current_leader` is `None`
///     or `(leader_id, leader_epoch)`; the records are `frame[records_start:records_end]`. A node endpoint is
///     `(node_id, host, port)`. What a version does not have is 0 for the error and the session, and -1 for offsets and replicas.
///
/// Raises:
///     WireDecodeError: the bytes are not such an answer; `position` and `kind` say where and why.
///     UnsupportedVersionError: there is no such version.
#[pyfunction]
pub fn decode_fetch_answer<'py>(
    py: Python<'py>,
    version: Int<i16>,
    #[pyo3(from_py_with = bytes)] frame: &[u8],
    start: Int<usize>,
) -> PyResult<Bound<'py, PyTuple>> {
    let answer = caught(|| FetchAnswer::decode(frame, start.0, version.0))
        .map_err(|panic| errors::bug(py, "decode_fetch_answer", &panic))?
        .map_err(|error| errors::wire(py, &error))?;
    let partitions = PyList::empty(py);
    let mut named: Option<(TopicRef<'_>, Bound<'py, PyString>)> = None;
    for partition in &answer.partitions {
        let topic = match named.take() {
            Some((topic, text)) if topic == partition.topic => text,
            _ => match partition.topic {
                TopicRef::Name(name) => PyString::new(py, name),
                TopicRef::Id(id) => PyString::new(py, &id.to_base64()),
            },
        };
        partitions.append(partition_out(py, &topic, partition)?)?;
        named = Some((partition.topic, topic));
    }
    let endpoints = answer.node_endpoints.iter();
    let endpoints = PyList::new(py, endpoints.map(|n| (n.node_id, n.host, n.port)))?;
    let (error_code, session_id) = (answer.error_code, answer.session_id);
    (
        answer.throttle_time_ms,
        error_code,
        session_id,
        partitions,
        endpoints,
    )
        .into_pyobject(py)
}

fn partition_out<'py>(
    py: Python<'py>,
    topic: &Bound<'py, PyString>,
    partition: &FetchedPartition<'_>,
) -> PyResult<Bound<'py, PyTuple>> {
    let aborted = partition.aborted.as_ref().map(|aborted| {
        let pairs = aborted.iter().map(|t| (t.producer_id, t.first_offset));
        PyList::new(py, pairs)
    });
    (
        topic,
        partition.partition,
        partition.error_code,
        partition.high_watermark,
        partition.last_stable_offset,
        partition.log_start_offset,
        aborted.transpose()?,
        partition.preferred_read_replica,
        partition.diverging_epoch,
        partition.current_leader,
        partition.records.start,
        partition.records.end,
    )
        .into_pyobject(py)
}

/// The whole frame of an answer to ShareFetch (78), its length and header included. The records of the deliveries are copied
/// into it once.
///
/// Args:
///     version: version of the request, 1 or 2.
///     correlation_id: that of the request.
///     partitions: `(topic_id, partition, error_code, acknowledge_error_code, leader_id, leader_epoch, delivery)` of each
///         partition. Partitions of one topic are put together, topics come in the order in which they are first named. The leader
///         is -1 and -1 unless it is a hint; without a delivery the records are empty.
///     lock_timeout_ms: the group's lock duration.
///     throttle_ms: how long the client must wait.
///     error_code: error of the whole request.
///     error_message: its text.
///     node_endpoints: `(node_id, host, port, rack)` of leaders that the partitions name.
///
/// Raises:
///     ValueError: a topic id is none.
///     WireDecodeError: a text or the frame is longer than the format can say.
///     UnsupportedVersionError: there is no such version.
#[pyfunction]
#[pyo3(signature = (version, correlation_id, partitions, *, lock_timeout_ms, throttle_ms = Int(0), error_code = Int(0),
    error_message = None, node_endpoints = Vec::new()), text_signature = "(version, correlation_id, partitions, *, \
    lock_timeout_ms, throttle_ms=0, error_code=0, error_message=None, node_endpoints=())")]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments of a Python function"
)]
pub fn encode_share_fetch_answer<'py>(
    py: Python<'py>,
    version: Int<i16>,
    correlation_id: Int<i32>,
    partitions: &Bound<'py, PyAny>,
    lock_timeout_ms: Int<i32>,
    throttle_ms: Int<i32>,
    error_code: Int<i16>,
    #[pyo3(from_py_with = text_or_none)] error_message: Option<&str>,
    node_endpoints: Vec<Endpoint>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut given = Vec::new();
    for item in partitions.try_iter()? {
        given.push(item?.extract::<AnsweredPartition<'py>>()?);
    }
    let answer = ShareFetchAnswer {
        correlation_id: correlation_id.0,
        throttle_time_ms: throttle_ms.0,
        error_code: error_code.0,
        error_message,
        acquisition_lock_timeout_ms: lock_timeout_ms.0,
        partitions: given.iter().map(partition_in).collect::<PyResult<_>>()?,
        node_endpoints: node_endpoints.iter().map(endpoint_in).collect(),
    };
    let refuse = |error: WireError| errors::wire(py, &error);
    let bug = |panic: String| errors::bug(py, "encode_share_fetch_answer", &panic);
    let frame = caught(|| answer.frame(version.0))
        .map_err(bug)?
        .map_err(refuse)?;
    PyBytes::new_with(py, frame.size(), |out| {
        caught(|| frame.write(out)).map_err(bug)
    })
}

fn partition_in<'a>(given: &'a AnsweredPartition<'_>) -> PyResult<ShareFetchPartition<'a>> {
    let (topic_id, partition, error, acknowledge_error, leader_id, leader_epoch, delivery) = given;
    let delivery = delivery.as_ref().map(|delivery| &delivery.get().inner);
    Ok(ShareFetchPartition {
        topic_id: convert::topic_id(topic_id.to_str()?)?,
        partition: partition.0,
        error_code: error.0,
        acknowledge_error_code: acknowledge_error.0,
        current_leader: (leader_id.0, leader_epoch.0),
        records: delivery.map_or_else(Vec::new, |delivery| delivery.pieces().collect()),
        acquired: delivery.map_or(&[], |delivery| &delivery.acquired),
    })
}

fn endpoint_in(given: &Endpoint) -> NodeEndpoint<'_> {
    let (node_id, host, port, rack) = given;
    NodeEndpoint {
        node_id: node_id.0,
        host: Cow::Borrowed(host),
        port: port.0,
        rack: rack.as_deref().map(Cow::Borrowed),
    }
}
