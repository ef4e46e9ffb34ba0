//! Refusals of a share coordinator, and the errors of a store or its log.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use share_state_core::coordinator::{CoordinatorError, RequestField};
use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;
use share_state_log::{ConfigError as StoreConfigError, CorruptLog, Damage, OpenError, StoreError};

use super::{Raise, config, config_argument};

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
        E::TooManyStateBatches { asked, allowed } => {
            limit_exceeded(py, error, "state batches per write", *asked, *allowed).code(code)
        }
        E::StateFull { batches, allowed } => {
            limit_exceeded(py, error, "state batches per state", *batches, *allowed).code(code)
        }
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

fn limit_exceeded<'py>(
    py: Python<'py>,
    error: &impl core::fmt::Display,
    limit: &str,
    asked: usize,
    allowed: usize,
) -> Raise<'py> {
    Raise::new(py, "LimitExceededError", error)
        .fact("limit", limit)
        .fact("asked", asked)
        .fact("allowed", allowed)
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
        OpenError::Io(failure) => {
            return Raise::new(py, "StoreError", error)
                .fact("errno", failure.os_error)
                .done();
        }
        OpenError::Locked { .. }
        | OpenError::NotAStore { .. }
        | OpenError::Meta { .. }
        | OpenError::Interrupted(_) => "StoreError",
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
        StoreError::TooLarge { bytes, limit } => {
            limit_exceeded(py, error, "bytes per group commit", *bytes, *limit)
                .code(error.kafka_code())
        }
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

/// Outcome of leaving a `with` statement: an exception of its body is not hidden by one of the closing, which it is told of.
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
