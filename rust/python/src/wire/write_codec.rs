//! The hot path of a client: WriteShareGroupState (RPC 85) from `WriteState` objects to bytes, and its answer, without dicts.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use share_state_core::coordinator::ShareCoordinator;
use share_state_core::ids::TopicId;
use share_state_core::persister as core;
use share_state_wire::messages::{WriteResponse, encode_write_request};

use crate::args::{Int, bytes, one, text};
use crate::convert;
use crate::errors;
use crate::locked::caught;
use crate::state::data::WriteState;

/// Partitions of one topic with what is written of each.
type Topic<'a> = (TopicId, Vec<(i32, &'a core::WriteState)>);

/// Check the form of a write as every share coordinator does, without one.
///
/// Returns:
///     How many state batches it has.
///
/// Raises:
///     InvalidRequestError: the key or the request is malformed; `field`, `index` and `value` say where.
///     LimitExceededError: the write has more state batches than allowed.
#[pyfunction]
pub fn check_write_state(
    py: Python<'_>,
    key: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = one)] state: &Bound<'_, WriteState>,
) -> PyResult<usize> {
    let key = convert::key_in(key)?;
    let state = &state.get().inner;
    ShareCoordinator::check_write(&key, state)
        .map_err(|error| errors::coordinator(py, &key, &error))?;
    Ok(state.state_batches.len())
}

/// The bytes of WriteShareGroupState (RPC 85) without its header: those of `encode_message` for the same content.
///
/// Args:
///     version: version of the message.
///     group: the group.
///     writes: `(topic_id, partition, state)` of each share partition. Topics come in the order in which they are first named.
///
/// Raises:
///     ValueError: a topic id is none.
///     WireDecodeError: the group is longer than the format can say.
///     UnsupportedVersionError: there is no such version.
#[pyfunction]
pub fn encode_write_states<'py>(
    py: Python<'py>,
    version: Int<i16>,
    #[pyo3(from_py_with = text)] group: &str,
    #[pyo3(from_py_with = one)] writes: &Bound<'py, PyList>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut given = Vec::with_capacity(writes.len());
    for item in writes {
        given.push(item.extract::<(Bound<'py, PyString>, Int<i32>, Bound<'py, WriteState>)>()?);
    }
    let mut topics: Vec<Topic<'_>> = Vec::new();
    let mut named: Option<(&Bound<'py, PyString>, usize)> = None;
    for (text, partition, state) in &given {
        let at = match named {
            Some((before, at)) if before.is(text) => at,
            _ => {
                let topic_id = convert::topic_id(text.to_str()?)?;
                let known = topics.iter().position(|(id, _)| *id == topic_id);
                known.unwrap_or_else(|| {
                    topics.push((topic_id, Vec::new()));
                    topics.len() - 1
                })
            }
        };
        named = Some((text, at));
        if let Some((_, partitions)) = topics.get_mut(at) {
            partitions.push((partition.0, &state.get().inner));
        }
    }
    let topics: Vec<_> = topics
        .iter()
        .map(|(topic_id, partitions)| (*topic_id, partitions.as_slice()))
        .collect();
    let bytes = encode_write_request(group, &topics, version.0);
    Ok(PyBytes::new(
        py,
        &bytes.map_err(|error| errors::wire(py, &error))?,
    ))
}

/// Decode an answer to WriteShareGroupState (RPC 85): for each share partition `(topic_id, partition, error_code,
/// error_message)`, the topic id in URL-safe base64.
///
/// Raises:
///     WireDecodeError: the bytes are no such answer.
///     UnsupportedVersionError: there is no such version.
#[pyfunction]
pub fn decode_write_results<'py>(
    py: Python<'py>,
    version: Int<i16>,
    #[pyo3(from_py_with = bytes)] data: &[u8],
) -> PyResult<Bound<'py, PyList>> {
    let answer = caught(|| WriteResponse::decode(data, version.0))
        .map_err(|panic| errors::bug(py, "decode_write_results", &panic))?
        .map_err(|error| errors::wire(py, &error))?;
    let results = PyList::empty(py);
    for topic in &answer.results {
        let topic_id = PyString::new(py, &topic.topic_id.to_base64());
        for result in &topic.partitions {
            results.append((
                &topic_id,
                result.partition,
                result.error_code,
                result.error_message.as_deref(),
            ))?;
        }
    }
    Ok(results)
}
