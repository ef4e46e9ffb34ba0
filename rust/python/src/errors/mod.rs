//! Conversion of the core's error enums to the exceptions of `share_state.errors`, by exhaustive matches.

mod arguments;
mod raise;
mod store;

pub use arguments::{
    UNNAMED, config, config_argument, config_word, out_of_range, property, wrong_field,
    wrong_number, wrong_type, wrong_value, wrong_word,
};
pub use raise::Raise;
pub use store::{coordinator, left, open, store};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_group::{GroupError, TopicsError};
use share_state_wire::WireError;
use share_state_wire::messages::protocol::FieldError;

pub fn poisoned(py: Python<'_>, what: &str, panic: &str) -> PyErr {
    let message = format!("{what} is unusable after a bug made a call panic: {panic}");
    Raise::new(py, "EnginePoisonedError", message).done()
}

/// A panic in a function that keeps nothing.
pub fn bug(py: Python<'_>, what: &str, panic: &str) -> PyErr {
    let message = format!("{what} panicked, which is a bug: {panic}");
    Raise::new(py, "EnginePoisonedError", message).done()
}

pub fn wire(py: Python<'_>, error: &WireError) -> PyErr {
    match error.kafka_code() {
        KafkaCode::UnsupportedVersion => {
            Raise::new(py, "UnsupportedVersionError", error).code(KafkaCode::UnsupportedVersion)
        }
        _ => Raise::new(py, "WireDecodeError", error)
            .fact("position", error.position)
            .fact("kind", error.kind.to_string()),
    }
    .done()
}

pub fn field(py: Python<'_>, error: &FieldError) -> PyErr {
    let Some(field) = error.field else {
        return wire(py, &error.error);
    };
    Raise::new(py, "WireDecodeError", error)
        .fact("position", error.error.position)
        .fact("kind", error.error.kind.to_string())
        .fact("field", field)
        .done()
}

pub fn group(py: Python<'_>, error: &GroupError) -> PyErr {
    Raise::new(py, "ShareGroupError", error)
        .code(error.kafka_code())
        .done()
}

pub fn topics(py: Python<'_>, error: &TopicsError) -> PyErr {
    let (TopicsError::ZeroId { name }
    | TopicsError::Repeated { name }
    | TopicsError::Partitions { name, .. }) = error;
    Raise::new(py, "InvalidRequestError", error)
        .fact("field", "topics")
        .fact("value", &**name)
        .done()
}

pub fn unknown_api(py: Python<'_>, api_key: i16) -> PyErr {
    Raise::new(
        py,
        "UnsupportedVersionError",
        format!("api_key {api_key} is not known"),
    )
    .fact("field", "api_key")
    .fact("value", api_key)
    .done()
}

pub fn unknown_record_type(py: Python<'_>, record_type: i16) -> PyErr {
    Raise::new(
        py,
        "UnsupportedVersionError",
        format!("record type {record_type} is not known"),
    )
    .fact("field", "type")
    .fact("value", record_type)
    .done()
}

/// An error that only a bug in this crate can cause.
pub fn internal(message: &str) -> PyErr {
    PyRuntimeError::new_err(message.to_owned())
}
