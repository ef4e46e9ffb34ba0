//! The upstream's answer to Fetch, read in place.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use share_state_wire::messages::data::{FetchAnswer, FetchedPartition, TopicRef};

use crate::args::{Int, bytes};
use crate::errors;
use crate::locked::caught;

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
