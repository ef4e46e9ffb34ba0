//! Values that the engine shows or hands out, as the named tuples of `share_state.types`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use share_state_core::record_state::Phase;
use share_state_core::share_group::{GroupError, HeartbeatAnswer};
use share_state_core::share_partition::{self as core, DeadLetterCause};

use crate::groups::assignor::topics_out;
use crate::named_tuples::named_tuple;
use crate::state::data::WriteState;
use crate::tuples::Class;

const TYPES: &str = "share_state.types";

static PENDING_WRITE: Class = Class::new(TYPES, "PendingWrite");
static RECORD: Class = Class::new(TYPES, "Record");
static DECISION: Class = Class::new(TYPES, "Decision");
static DEAD_LETTER: Class = Class::new(TYPES, "DeadLetter");
static HEARTBEAT_ANSWER: Class = Class::new(TYPES, "HeartbeatAnswer");
static IN_FLIGHT: Class = Class::new(TYPES, "InFlight");

type Object<'py> = PyResult<Bound<'py, PyAny>>;

pub fn pending_write(py: Python<'_>, write: core::PendingWrite) -> Object<'_> {
    let state = Py::new(py, WriteState { inner: write.state })?;
    named_tuple(
        PENDING_WRITE.of(py)?,
        (write.token.0, state).into_pyobject(py)?,
    )
}

/// A record of `__share_group_state`, as bytes.
pub fn record<'py>(py: Python<'py>, key: &[u8], value: Option<&[u8]>) -> Object<'py> {
    let fields = (
        PyBytes::new(py, key),
        value.map(|value| PyBytes::new(py, value)),
    );
    named_tuple(RECORD.of(py)?, fields.into_pyobject(py)?)
}

pub fn decision<'py>(
    py: Python<'py>,
    records: Bound<'py, PyList>,
    answer: Py<PyAny>,
) -> Object<'py> {
    named_tuple(DECISION.of(py)?, (records, answer).into_pyobject(py)?)
}

pub fn dead_letter<'py>(py: Python<'py>, letter: &core::DeadLetter) -> Object<'py> {
    let fields = (
        letter.token.0,
        letter.range.first,
        letter.range.last,
        letter.delivery_count,
        match letter.cause {
            DeadLetterCause::ClientReject => "client_reject",
            DeadLetterCause::DeliveryCountExceeded => "delivery_count_exceeded",
        },
    );
    named_tuple(DEAD_LETTER.of(py)?, fields.into_pyobject(py)?)
}

/// `ticket` is what to wait for before the answer leaves.
pub fn heartbeat_answer(
    py: Python<'_>,
    answer: Result<HeartbeatAnswer, GroupError>,
    ticket: i64,
) -> Object<'_> {
    let (error, answer) = match answer {
        Ok(answer) => (None, Some(answer)),
        Err(refused) => (Some(refused), None),
    };
    let fields = (
        error.as_ref().map_or(0, |error| error.kafka_code().code()),
        error.map(|error| error.to_string()),
        answer.as_ref().map_or(0, |answer| answer.member_epoch),
        answer
            .as_ref()
            .map_or(0, |answer| answer.heartbeat_interval_ms),
        answer.and_then(|answer| answer.assignment.as_ref().map(topics_out)),
        ticket,
    );
    named_tuple(HEARTBEAT_ANSWER.of(py)?, fields.into_pyobject(py)?)
}

/// A run of in-flight records, away from the share partition that has it.
pub struct Run {
    run: core::InFlight<'static>,
    member: Option<String>,
    is_below_start_offset: bool,
}

impl Run {
    /// `start_offset` is that of the share partition; no run reaches across it.
    pub fn of(run: &core::InFlight<'_>, start_offset: i64) -> Self {
        Self {
            run: core::InFlight {
                holder: run.holder.map(|(_, since, until)| ("", since, until)),
                ..*run
            },
            member: run.holder.map(|(member, _, _)| member.to_owned()),
            is_below_start_offset: run.range.first < start_offset,
        }
    }

    pub fn out<'py>(&self, py: Python<'py>) -> Object<'py> {
        let run = &self.run;
        let fields = (
            run.range.first,
            run.range.last,
            run.state.id(),
            run.delivery_count,
            run.phase != Phase::Stable,
            self.member.as_deref(),
            run.holder.map(|(_, since, _)| since.0),
            run.holder.map(|(_, _, until)| until.0),
            self.is_below_start_offset,
        );
        named_tuple(IN_FLIGHT.of(py)?, fields.into_pyobject(py)?)
    }
}
