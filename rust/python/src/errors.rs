//! From the core's error enums to the exceptions of `share_state.errors`, by exhaustive matches.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use share_state_core::coordinator::CoordinatorError;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ConfigError;
use share_state_core::share_group::{GroupError, TopicsError};
use share_state_core::share_partition::{
    AcknowledgeError, AcquireError, InitializeError, UnknownToken,
};
use share_state_log::{ConfigError as StoreConfigError, CorruptLog, Damage, OpenError, StoreError};
use share_state_wire::WireError;
use share_state_wire::messages::protocol::FieldError;

static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// An exception of `share_state.errors` being put together.
pub struct Raise<'py> {
    py: Python<'py>,
    class: &'static str,
    message: String,
    facts: Bound<'py, PyDict>,
}

impl<'py> Raise<'py> {
    pub fn new(py: Python<'py>, class: &'static str, message: impl ToString) -> Self {
        Self {
            py,
            class,
            message: message.to_string(),
            facts: PyDict::new(py),
        }
    }

    /// Adds an attribute.
    pub fn fact(self, name: &str, value: impl IntoPyObject<'py>) -> Self {
        // Setting an item of a fresh dict can only fail for want of memory; then the fact is missing, not the error.
        let _ = self.facts.set_item(name, value);
        self
    }

    pub fn code(self, code: KafkaCode) -> Self {
        self.fact("kafka_code", code.code())
    }

    pub fn done(self) -> PyErr {
        let raised = MODULE
            .get_or_try_init(self.py, || {
                self.py.import("share_state.errors").map(Bound::unbind)
            })
            .and_then(|module| {
                module
                    .bind(self.py)
                    .getattr(self.class)?
                    .call((self.message.as_str(),), Some(&self.facts))
            });
        match raised {
            Ok(error) => PyErr::from_value(error),
            Err(error) => error,
        }
    }
}

pub fn poisoned(py: Python<'_>, what: &str, panic: &str) -> PyErr {
    let message = format!("{what} is unusable after a bug made a call panic: {panic}");
    Raise::new(py, "EnginePoisonedError", message).done()
}

/// A panic in a function that keeps nothing.
pub fn bug(py: Python<'_>, what: &str, panic: &str) -> PyErr {
    let message = format!("{what} panicked, which is a bug: {panic}");
    Raise::new(py, "EnginePoisonedError", message).done()
}

pub fn unknown_token(py: Python<'_>, error: UnknownToken) -> PyErr {
    Raise::new(py, "InvalidRequestError", error)
        .fact("field", "token")
        .fact("value", error.0)
        .done()
}

pub fn config(py: Python<'_>, error: &ConfigError) -> PyErr {
    Raise::new(py, "ConfigError", error)
        .fact("field", error.name)
        .fact("value", error.value)
        .fact("minimum", error.min)
        .fact("maximum", error.max)
        .done()
}

pub fn acquire(py: Python<'_>, error: &AcquireError) -> PyErr {
    let raise = Raise::new(py, "InvalidRequestError", error).fact("field", error.field());
    match error {
        AcquireError::EmptyMemberId => raise.fact("value", ""),
        AcquireError::BatchSize { batch_size } => raise.fact("value", *batch_size),
        AcquireError::FetchOffset { fetch_offset } => raise.fact("value", *fetch_offset),
        AcquireError::FetchedBatch {
            index,
            base_offset,
            last_offset,
        } => raise
            .fact("index", *index)
            .fact("value", (*base_offset, *last_offset)),
    }
    .done()
}

pub fn acknowledge(py: Python<'_>, error: &AcknowledgeError) -> PyErr {
    use AcknowledgeError as E;
    let class = match error {
        E::InvalidRecordState { .. } => "InvalidRecordStateError",
        E::TooManyStateBatches { .. } => "LimitExceededError",
        _ => "InvalidRequestError",
    };
    let raise = Raise::new(py, class, error);
    if let E::TooManyStateBatches { asked, allowed } = error {
        return raise
            .fact("limit", "state batches per write")
            .fact("asked", *asked)
            .fact("allowed", *allowed)
            .code(error.kafka_code())
            .done();
    }
    let raise = raise
        .fact("field", error.field())
        .fact("index", error.index());
    match error {
        E::EmptyMemberId => raise.fact("value", ""),
        E::Inverted { first, last, .. }
        | E::OutOfRange { first, last, .. }
        | E::NotInFlight { first, last, .. } => raise.fact("value", (*first, *last)),
        E::NotAscending { first, .. } => raise.fact("value", *first),
        E::TypeCount { types, .. } => raise.fact("value", *types),
        E::UnknownType { id, .. } => raise.fact("value", *id),
        E::InvalidRecordState { offset, .. } => raise.fact("value", *offset),
        E::TooManyStateBatches { asked, .. } => raise.fact("value", *asked),
    }
    .done()
}

pub fn initialize(py: Python<'_>, error: &InitializeError) -> PyErr {
    match error {
        InitializeError::Status(status) => Raise::new(py, "InvalidRequestError", error)
            .fact("field", "status")
            .fact("value", status.name()),
        InitializeError::Persister(code) => Raise::new(py, "PersisterError", error).code(*code),
        InitializeError::Corrupt {
            field,
            index,
            value,
        } => Raise::new(py, "CorruptStateError", error)
            .fact("field", field.name())
            .fact("index", *index)
            .fact("value", *value),
        InitializeError::Unresolvable { start_offset } => {
            Raise::new(py, "InvalidRequestError", error)
                .fact("field", "start_offset")
                .fact("value", *start_offset)
        }
    }
    .done()
}

/// The persister has refused the write that a member waits for.
pub fn write_refused(py: Python<'_>, code: KafkaCode) -> PyErr {
    let message = format!(
        "the write was refused and its change undone: {}",
        code.name()
    );
    Raise::new(py, "PersisterError", message).code(code).done()
}

/// The exception class for a Kafka code that a coordinator answered.
pub const fn class_for(code: KafkaCode) -> &'static str {
    match code {
        KafkaCode::InvalidRequest => "InvalidRequestError",
        KafkaCode::InvalidRecordState => "InvalidRecordStateError",
        KafkaCode::FencedLeaderEpoch => "FencedLeaderEpochError",
        KafkaCode::FencedStateEpoch => "FencedStateEpochError",
        KafkaCode::UnknownTopicOrPartition => "UnknownPartitionError",
        KafkaCode::UnsupportedVersion => "UnsupportedVersionError",
        _ => "PersisterError",
    }
}

pub fn coordinator(py: Python<'_>, error: &CoordinatorError) -> PyErr {
    use CoordinatorError as E;
    let code = error.kafka_code();
    match error {
        E::TooManyStateBatches { asked, allowed } => Raise::new(py, "LimitExceededError", error)
            .fact("limit", "state batches per write")
            .fact("asked", *asked)
            .fact("allowed", *allowed)
            .code(code),
        E::InvalidRequest {
            field,
            index,
            value,
        } => Raise::new(py, class_for(code), error)
            .fact("field", field.name())
            .fact("index", *index)
            .fact("value", *value)
            .code(code),
        _ => Raise::new(py, class_for(code), error).code(code),
    }
    .done()
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

pub fn corrupt(py: Python<'_>, error: &CorruptLog) -> PyErr {
    place(Raise::new(py, "CorruptLogError", error), error).done()
}

fn place<'py>(raise: Raise<'py>, error: &CorruptLog) -> Raise<'py> {
    raise
        .fact("segment", error.segment.display().to_string())
        .fact("position", error.position)
        .fact("kind", error.kind.to_string())
}

/// Logs that the option `repair` cuts where their damage begins: the first one's place, and the costs of all.
fn damaged(py: Python<'_>, damages: &[Damage]) -> PyErr {
    let costs: Vec<_> = damages
        .iter()
        .map(|damage| (damage.corrupt.to_string(), damage.loss.to_string()))
        .collect();
    let texts: Vec<_> = costs
        .iter()
        .map(|(place, loss)| format!("{place} (repair=True {loss})"))
        .collect();
    let raise = Raise::new(py, "CorruptLogError", texts.join("; ")).fact("repairs", costs);
    match damages.first() {
        Some(damage) => place(raise, &damage.corrupt),
        None => raise,
    }
    .done()
}

pub fn open(py: Python<'_>, error: &OpenError) -> PyErr {
    let class = match error {
        OpenError::Corrupt(corrupt) => return self::corrupt(py, corrupt),
        OpenError::Damaged(damages) => return damaged(py, damages),
        OpenError::Config(StoreConfigError::Coordinator(setting)) => return config(py, setting),
        OpenError::Config(StoreConfigError::Range {
            name,
            value,
            min,
            max,
        }) => {
            return Raise::new(py, "ConfigError", error)
                .fact("field", *name)
                .fact("value", *value)
                .fact("minimum", *min)
                .fact("maximum", *max)
                .done();
        }
        OpenError::Meta { .. } if error.kafka_code() == KafkaCode::UnsupportedVersion => {
            "UnsupportedVersionError"
        }
        OpenError::PartitionCount { asked, .. } => {
            return Raise::new(py, "StoreError", error)
                .fact("field", "partitions")
                .fact("value", *asked)
                .done();
        }
        OpenError::Locked { .. }
        | OpenError::NotAStore { .. }
        | OpenError::Meta { .. }
        | OpenError::Interrupted(_)
        | OpenError::Io(_) => "StoreError",
    };
    Raise::new(py, class, error).done()
}

pub fn store(py: Python<'_>, error: &StoreError) -> PyErr {
    match error {
        StoreError::Refused(refused) => coordinator(py, refused),
        StoreError::Timestamp { wall_ms } => Raise::new(py, "InvalidRequestError", error)
            .fact("field", "wall_ms")
            .fact("value", *wall_ms)
            .done(),
        StoreError::TooLarge { bytes, limit } => Raise::new(py, "LimitExceededError", error)
            .fact("limit", "bytes per group commit")
            .fact("asked", *bytes)
            .fact("allowed", *limit)
            .code(error.kafka_code())
            .done(),
        StoreError::Unwritable(_)
        | StoreError::OffsetEnd
        | StoreError::Closed
        | StoreError::Forked { .. }
        | StoreError::Poisoned { .. }
        | StoreError::Prune(_) => Raise::new(py, "StoreError", error)
            .code(error.kafka_code())
            .done(),
    }
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
