//! Outputs of a node as tuples that begin with their kind.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use share_state_core::ids::TopicId;
use share_state_gateway::node::{Closing, Event, Need, Resource, SourceKey};

use super::arguments::isolation_out;
use crate::convert;
use crate::errors::Raise;
use crate::groups::config::auto_offset_reset_out;
use crate::named_tuples;
use crate::partition::refusals;
use crate::state::data::WriteState;

pub fn event_out(py: Python<'_>, event: Event) -> PyResult<Bound<'_, PyTuple>> {
    match event {
        Event::Send { connection, bytes } => {
            ("send", connection, PyBytes::new(py, &bytes)).into_pyobject(py)
        }
        Event::Loaded {
            served,
            key,
            code,
            cause,
        } => {
            let answered = convert::kafka_code(code);
            let error = cause.map(|cause| refusals::initialize(py, &key, &cause, answered));
            let error = error.map(|error| error.into_value(py));
            let key = named_tuples::gateway_key_out(py, &key)?;
            ("loaded", served.0, key, code, error).into_pyobject(py)
        }
        Event::StartKept { ticket, kept } => {
            let kept = kept.map(|inner| WriteState { inner });
            ("start_kept", ticket.0, kept).into_pyobject(py)
        }
        Event::Denied {
            connection,
            resource,
            name,
        } => {
            let resource = match resource {
                Resource::Topic => "TOPIC",
                Resource::Group => "GROUP",
            };
            ("denied", connection, resource, &*name).into_pyobject(py)
        }
        Event::Request { connection, frame } => {
            ("request", connection, PyBytes::new(py, &frame)).into_pyobject(py)
        }
        Event::Close { connection, cause } => {
            let error = closing(py, &cause).map(|error| error.into_value(py));
            ("close", connection, error).into_pyobject(py)
        }
    }
}

/// The cause for which a connection ends; `None` for one that only a fault of ours has.
fn closing(py: Python<'_>, cause: &Closing) -> Option<PyErr> {
    let raise = match cause {
        Closing::Frame(error) => Raise::new(py, "WireDecodeError", error)
            .fact("position", 0)
            .fact("kind", "length"),
        // Who has fed the request knows which it is.
        Closing::Malformed { error, .. } => Raise::new(py, "WireDecodeError", error)
            .fact("position", error.position)
            .fact("kind", error.kind.to_string()),
        Closing::Version { api_key, version } => {
            let message = format!("request {api_key} version {version} is not served");
            Raise::new(py, "UnsupportedVersionError", message)
        }
        Closing::Queued { bytes, limit } => {
            let message = format!(
                "{bytes} bytes of its requests wait, and those of all clients are more than {limit}"
            );
            Raise::new(py, "LimitExceededError", message)
                .fact("limit", "queued")
                .fact("asked", *bytes)
                .fact("allowed", *limit)
        }
        Closing::Asked => return None,
    };
    Some(raise.done())
}

pub fn need_out(py: Python<'_>, need: Need) -> PyResult<Bound<'_, PyTuple>> {
    match need {
        Need::State {
            served,
            key,
            leader_epoch,
        } => {
            let key = named_tuples::gateway_key_out(py, &key)?;
            ("state", served.0, key, leader_epoch).into_pyobject(py)
        }
        Need::Start {
            served,
            source,
            strategy,
        } => {
            let (topic_id, partition, isolation) = source_out(source);
            let strategy = auto_offset_reset_out(strategy);
            ("start", served.0, topic_id, partition, isolation, strategy).into_pyobject(py)
        }
        Need::Topics {
            connection,
            topic_ids,
        } => {
            let topic_ids: Vec<_> = topic_ids.into_iter().map(TopicId::to_base64).collect();
            ("topics", connection, topic_ids).into_pyobject(py)
        }
        Need::LogStart { source } => {
            let (topic_id, partition, isolation) = source_out(source);
            ("log_start", topic_id, partition, isolation).into_pyobject(py)
        }
        Need::Records {
            source,
            life,
            offset,
        } => {
            let (topic_id, partition, isolation) = source_out(source);
            ("records", topic_id, partition, isolation, life, offset).into_pyobject(py)
        }
    }
}

/// Topic id, partition and number of the isolation level.
pub fn source_out(source: SourceKey) -> (String, i32, i8) {
    let SourceKey { id, isolation } = source;
    (
        id.topic_id.to_base64(),
        id.partition,
        isolation_out(isolation),
    )
}
