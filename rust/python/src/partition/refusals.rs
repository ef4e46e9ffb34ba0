//! Refusals of a share partition, as exceptions of `share_state.errors`.

use pyo3::prelude::*;
use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_partition::{
    AcknowledgeError, AcquireError, InitializeError, Status, UnknownToken,
};

use crate::errors::Raise;
use crate::named_tuples;
use crate::partition::inline_writes::RefusedWrite;

/// Form in which a caller gave the records to acknowledge; it names the argument at fault.
#[derive(Clone, Copy)]
pub enum Given {
    /// A range, with an argument for each part of it.
    Range,
    /// A column for each part.
    Columns,
    /// Everything in the one argument `batches`.
    Batches,
}

fn not_active(
    py: Python<'_>,
    key: &SharePartitionKey,
    status: Status,
    error: impl ToString,
) -> PyErr {
    Raise::new(py, "SharePartitionNotActiveError", error)
        .of(key)
        .fact("status", status.name())
        .code(status.kafka_code())
        .done()
}

pub fn acquire(py: Python<'_>, key: &SharePartitionKey, error: &AcquireError) -> PyErr {
    let raise = Raise::new(py, "InvalidRequestError", error)
        .of(key)
        .fact("field", error.field());
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
        AcquireError::Aborted {
            index,
            producer_id,
            first_offset,
        } => raise
            .fact("index", *index)
            .fact("value", (*producer_id, *first_offset)),
        AcquireError::NotActive(status) => return not_active(py, key, *status, error),
    }
    .done()
}

pub fn acknowledge(
    py: Python<'_>,
    key: &SharePartitionKey,
    error: &AcknowledgeError,
    given: Given,
) -> PyErr {
    use AcknowledgeError as E;
    let class = match error {
        E::InvalidRecordState { .. } => "InvalidRecordStateError",
        E::TooManyStateBatches { .. } => "LimitExceededError",
        E::NotActive(status) => return not_active(py, key, *status, error),
        _ => "InvalidRequestError",
    };
    let text = match given {
        Given::Range => error.reason().to_string(),
        Given::Columns | Given::Batches => error.to_string(),
    };
    let raise = Raise::new(py, class, text).of(key);
    if let E::TooManyStateBatches { asked, allowed } = error {
        return raise
            .fact("limit", "state batches per write")
            .fact("asked", *asked)
            .fact("allowed", *allowed)
            .code(error.kafka_code())
            .done();
    }
    let field = match (given, error.field()) {
        (Given::Batches, Some(field)) if field != "member" => Some("batches"),
        (_, field) => field,
    };
    let index = match given {
        Given::Range => None,
        Given::Columns | Given::Batches => error.index(),
    };
    let raise = raise.fact("field", field).fact("index", index);
    match error {
        E::EmptyMemberId => raise.fact("value", ""),
        E::Inverted { first, last, .. }
        | E::OutOfRange { first, last, .. }
        | E::NotInFlight { first, last, .. } => raise.fact("value", (*first, *last)),
        E::NotAscending { first, .. } => raise.fact("value", *first),
        E::TypeCount { types, .. } => raise.fact("value", *types),
        E::UnknownType { id, .. } => raise.fact("value", *id),
        E::InvalidRecordState { offset, .. } => raise.fact("value", *offset),
        E::TooManyStateBatches { .. } | E::NotActive(_) => raise,
    }
    .done()
}

/// `answered` is the code of the persister, where it is the persister that refuses.
pub fn initialize(
    py: Python<'_>,
    key: &SharePartitionKey,
    error: &InitializeError,
    answered: KafkaCode,
) -> PyErr {
    match error {
        InitializeError::Status(status) => Raise::new(py, "InvalidRequestError", error)
            .fact("field", "status")
            .fact("value", status.name()),
        InitializeError::Persister(code) => {
            let text = format!("the persister refused the read: {}", answered.name());
            persister(py, &text, *code, answered)
        }
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
    .of(key)
    .done()
}

/// The persister has refused the write that a member waits for; what a store says of it is the cause of the exception.
pub fn write_refused(py: Python<'_>, key: &SharePartitionKey, refused: &RefusedWrite) -> PyErr {
    let answered = refused.persister_code;
    let why = refused.why();
    let text = format!(
        "the persister refused the write, and its change is undone: {}{}",
        why.as_deref()
            .map_or(String::new(), |why| format!("{why}: ")),
        answered.name()
    );
    let error = persister(py, &text, refused.member_code, answered)
        .of(key)
        .fact("persister_message", why)
        .done();
    if let Some(cause) = refused.cause(py, key) {
        error.set_cause(py, Some(cause));
    }
    error
}

fn persister<'py>(
    py: Python<'py>,
    text: &str,
    member: KafkaCode,
    answered: KafkaCode,
) -> Raise<'py> {
    Raise::new(py, "PersisterError", text)
        .code(member)
        .fact("persister_code", answered.code())
        .fact("persister_code_name", answered.name())
}

pub fn unknown_token(py: Python<'_>, key: &SharePartitionKey, error: UnknownToken) -> PyErr {
    Raise::new(py, "InvalidRequestError", error)
        .of(key)
        .fact("field", "token")
        .fact("value", error.0)
        .done()
}

/// Tells the log of the package that the persister has refused a write.
pub fn log_write(
    py: Python<'_>,
    key: &SharePartitionKey,
    code: KafkaCode,
    why: Option<&str>,
) -> PyResult<()> {
    py.import("share_state.logs")?
        .call_method1(
            "write_refused",
            (named_tuples::key_out(py, key)?, code.code(), why),
        )
        .map(drop)
}
