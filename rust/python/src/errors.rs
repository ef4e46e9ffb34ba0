//! From the core's error enums to the exceptions of `share_state.errors`, by exhaustive matches.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use share_state_core::coordinator::{CoordinatorError, RequestField};
use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ConfigError;
use share_state_core::share_group::{GroupError, TopicsError};
use share_state_log::{ConfigError as StoreConfigError, CorruptLog, Damage, OpenError, StoreError};
use share_state_wire::WireError;
use share_state_wire::messages::protocol::FieldError;

use crate::convert;

static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// An exception of `share_state.errors` being put together.
pub struct Raise<'py> {
    py: Python<'py>,
    class: &'static str,
    message: String,
    facts: Bound<'py, PyDict>,
    /// The share partition that it is about.
    key: Option<SharePartitionKey>,
}

impl<'py> Raise<'py> {
    pub fn new(py: Python<'py>, class: &'static str, message: impl ToString) -> Self {
        Self {
            py,
            class,
            message: message.to_string(),
            facts: PyDict::new(py),
            key: None,
        }
    }

    /// Adds an attribute.
    pub fn fact(self, name: &str, value: impl IntoPyObject<'py>) -> Self {
        // Setting an item of a fresh dict can only fail for want of memory; then the fact is missing, not the error.
        let _ = self.facts.set_item(name, value);
        self
    }

    /// Says which share partition it is about, in the text and as the attribute `key`.
    pub fn of(mut self, key: &SharePartitionKey) -> Self {
        self.key = Some(key.clone());
        self
    }

    pub fn code(self, code: KafkaCode) -> Self {
        self.fact("kafka_code", code.code())
    }

    pub fn done(self) -> PyErr {
        self.made().unwrap_or_else(|error| error)
    }

    fn made(self) -> PyResult<PyErr> {
        let module = MODULE.get_or_try_init(self.py, || {
            self.py.import("share_state.errors").map(Bound::unbind)
        })?;
        let message = match &self.key {
            Some(SharePartitionKey {
                group,
                topic_id,
                partition,
            }) => format!(
                "{} (share partition {:?}, {topic_id}, {partition})",
                self.message,
                cut(group)
            ),
            None => self.message,
        };
        let class = module.bind(self.py).getattr(self.class)?;
        let error = class.call((message,), Some(&self.facts))?;
        if let Some(key) = &self.key {
            error.setattr("key", convert::key_out(self.py, key)?)?;
        }
        Ok(PyErr::from_value(error))
    }
}

/// Stands in a text where the name of the argument is to be, see `add_note` of `share_state.errors`.
pub const UNNAMED: &str = "a value";

/// A number that its argument cannot hold. Whoever takes the argument says its name, see [`crate::args::named`].
#[cold]
pub fn out_of_range(value: &Bound<'_, PyAny>, least: i128, greatest: i128) -> PyErr {
    let message = format!(
        "{UNNAMED} is {}; expected {least} to {greatest}",
        shown(value)
    );
    Raise::new(value.py(), "ArgumentRangeError", message)
        .fact("value", value)
        .fact("minimum", least)
        .fact("maximum", greatest)
        .done()
}

/// A value that its argument cannot have; its name is said as for [`out_of_range`].
#[cold]
pub fn wrong_value(value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let message = format!("{UNNAMED} is {}; expected {expected}", shown(value));
    Raise::new(value.py(), "ArgumentValueError", message)
        .fact("value", value)
        .done()
}

/// A word that an argument does not have.
#[cold]
pub fn wrong_word(py: Python<'_>, field: &str, word: &str, expected: &str) -> PyErr {
    let message = format!("{field} is {:?}; expected {expected}", cut(word));
    Raise::new(py, "ArgumentValueError", message)
        .fact("field", field)
        .fact("value", word)
        .done()
}

/// A number that an argument does not have.
#[cold]
pub fn wrong_number(py: Python<'_>, field: &str, number: i64, expected: &str) -> PyErr {
    Raise::new(
        py,
        "ArgumentValueError",
        format!("{field} is {number}; expected {expected}"),
    )
    .fact("field", field)
    .fact("value", number)
    .done()
}

/// A value of a type that its argument cannot have; its name is said as for [`out_of_range`].
#[cold]
pub fn wrong_type(value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let message = format!("{UNNAMED} is {}; expected {expected}", kind(value));
    Raise::new(value.py(), "ArgumentTypeError", message)
        .fact("value", value)
        .done()
}

/// What a value is: the dtype and the shape of an array, the class of all else.
fn kind(value: &Bound<'_, PyAny>) -> String {
    let array = value.getattr("dtype").and_then(|dtype| {
        let shape = value.getattr("shape")?;
        Ok(format!("{dtype} of shape {shape}"))
    });
    array.unwrap_or_else(|_| {
        let class = value.get_type();
        format!(
            "of type {}",
            class
                .name()
                .map_or_else(|_| "unknown".into(), |name| name.to_string())
        )
    })
}

/// A value as Python shows it, cut where it is long.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value
        .repr()
        .map_or_else(|_| kind(value), |text| text.to_string());
    cut(&text)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// Characters of a value in the text of an error; the attribute has all of it.
const LONGEST_SHOWN: usize = 80;

pub fn poisoned(py: Python<'_>, what: &str, panic: &str) -> PyErr {
    let message = format!("{what} is unusable after a bug made a call panic: {panic}");
    Raise::new(py, "EnginePoisonedError", message).done()
}

/// A panic in a function that keeps nothing.
pub fn bug(py: Python<'_>, what: &str, panic: &str) -> PyErr {
    let message = format!("{what} panicked, which is a bug: {panic}");
    Raise::new(py, "EnginePoisonedError", message).done()
}

pub fn config(py: Python<'_>, error: &ConfigError) -> PyErr {
    config_called(py, error, error.name.to_owned())
}

/// As [`config`], of an argument, which is called as the property is: `delivery_count_limit` for `share.delivery.count.limit`.
pub fn config_argument(py: Python<'_>, error: &ConfigError) -> PyErr {
    let name = error.name.trim_start_matches("share.");
    let name = name.trim_start_matches("coordinator.").replace('.', "_");
    config_called(py, error, name)
}

fn config_called(py: Python<'_>, error: &ConfigError, name: String) -> PyErr {
    let ConfigError {
        value, min, max, ..
    } = error;
    Raise::new(
        py,
        "ConfigError",
        format!("{name} is {value}; expected {min} to {max}"),
    )
    .fact("field", name)
    .fact("value", *value)
    .fact("minimum", *min)
    .fact("maximum", *max)
    .done()
}

/// A text that a setting cannot have; `field` is what the caller calls the setting.
pub fn config_word(py: Python<'_>, field: &str, text: &str, expected: &str) -> PyErr {
    let message = format!("{field} is {:?}; expected {expected}", cut(text));
    Raise::new(py, "ConfigError", message)
        .fact("field", field)
        .fact("value", text)
        .done()
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

pub fn coordinator(py: Python<'_>, key: &SharePartitionKey, error: &CoordinatorError) -> PyErr {
    let raise = coordinator_raise(py, error).of(key);
    let is_group = matches!(
        error,
        CoordinatorError::InvalidRequest {
            field: RequestField::Group,
            ..
        }
    );
    // The core tells its length, the caller gave its text.
    if is_group {
        raise.fact("value", &*key.group)
    } else {
        raise
    }
    .done()
}

fn coordinator_raise<'py>(py: Python<'py>, error: &CoordinatorError) -> Raise<'py> {
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
        OpenError::Config(StoreConfigError::Coordinator(setting)) => {
            return if setting.name.starts_with("share.coordinator.") {
                config_argument(py, setting)
            } else {
                config(py, setting)
            };
        }
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

/// `key` is the share partition that the store was asked about, if it was one.
pub fn store(py: Python<'_>, key: Option<&SharePartitionKey>, error: &StoreError) -> PyErr {
    let raise = store_raise(py, error);
    match key {
        Some(key) => raise.of(key),
        None => raise,
    }
    .done()
}

fn store_raise<'py>(py: Python<'py>, error: &StoreError) -> Raise<'py> {
    match error {
        StoreError::Refused(refused) => coordinator_raise(py, refused),
        StoreError::Timestamp { wall_ms } => Raise::new(py, "InvalidRequestError", error)
            .fact("field", "wall_ms")
            .fact("value", *wall_ms),
        StoreError::TooLarge { bytes, limit } => Raise::new(py, "LimitExceededError", error)
            .fact("limit", "bytes per group commit")
            .fact("asked", *bytes)
            .fact("allowed", *limit)
            .code(error.kafka_code()),
        StoreError::Unwritable(_)
        | StoreError::OffsetEnd
        | StoreError::Closed
        | StoreError::Forked { .. }
        | StoreError::Poisoned { .. }
        | StoreError::Prune(_) => Raise::new(py, "StoreError", error)
            .code(error.kafka_code())
            .fact("errno", error.os_error()),
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

/// What leaving a `with` statement comes to: an exception of its body is not hidden by one of the closing, which it is told of.
pub fn left(closed: PyResult<()>, raised: &Bound<'_, PyTuple>) -> PyResult<()> {
    let (Err(error), Ok(body)) = (&closed, raised.get_item(1)) else {
        return closed;
    };
    if body.is_none() {
        return closed;
    }
    let note = format!("closing failed too: {}", error.value(raised.py()));
    body.call_method1("add_note", (note,)).map(drop)
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
