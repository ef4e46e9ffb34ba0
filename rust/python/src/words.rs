//! Arguments that stand for one of Kafka's words: a member of its enum, the bare id, or the name.

use pyo3::prelude::*;
use pyo3::types::PyString;
use share_state_core::record_state::{AcknowledgeType, RecordState};
use share_state_core::share_partition::{AcquireMode, ControlType};

use crate::args::Int;
use crate::errors;

/// An id of [`AcknowledgeType`]. One that is none is left to the engine, which knows the batch it stands in.
pub struct TypeId(pub i8);

/// `share.acquire.mode` (KIP-1206).
pub struct Mode(pub AcquireMode);

/// An id of `RecordState`. One that is none is left to the engine, which knows the batch it stands in.
pub struct State(pub i8);

/// Type of a control batch: the end of a transaction.
pub struct Control(pub ControlType);

/// The words of an enum, in the order of their ids from 0.
type Words = &'static [&'static str];

const TYPES: Words = &["GAP", "ACCEPT", "RELEASE", "REJECT", "RENEW"];
const MODES: Words = &["BATCH_OPTIMIZED", "RECORD_LIMIT"];
const CONTROLS: Words = &["ABORT", "COMMIT"];

impl<'a, 'py> FromPyObject<'a, 'py> for TypeId {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if !value.is_instance_of::<PyString>() {
            return value.extract::<Int<i8>>().map(|id| Self(id.0));
        }
        let place = place(value, TYPES)?;
        let named = AcknowledgeType::ALL.get(place);
        named.map_or_else(|| Err(unknown(value, TYPES)), |word| Ok(Self(*word as i8)))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for State {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let Ok(name) = value.cast::<PyString>() else {
            return value.extract::<Int<i8>>().map(|id| Self(id.0));
        };
        let name = name.to_str()?;
        let named = RecordState::ALL
            .into_iter()
            .find(|state| state.name().eq_ignore_ascii_case(name));
        named.map_or_else(
            || Err(unknown(value, &RecordState::ALL.map(RecordState::name))),
            |state| Ok(Self(state.id())),
        )
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Mode {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match place(value, MODES)? {
            0 => Ok(Self(AcquireMode::BatchOptimized)),
            1 => Ok(Self(AcquireMode::RecordLimit)),
            _ => Err(unknown(value, MODES)),
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Control {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match place(value, CONTROLS)? {
            0 => Ok(Self(ControlType::Abort)),
            1 => Ok(Self(ControlType::Commit)),
            _ => Err(unknown(value, CONTROLS)),
        }
    }
}

/// The id that is given, or the place of the name that is given among `words`; whether a name is in capitals does not matter.
fn place(value: Borrowed<'_, '_, PyAny>, words: Words) -> PyResult<usize> {
    if let Ok(name) = value.cast::<PyString>() {
        let Ok(name) = name.to_str() else {
            return Err(unknown(value, words));
        };
        return words
            .iter()
            .position(|word| word.eq_ignore_ascii_case(name))
            .ok_or_else(|| unknown(value, words));
    }
    let id = value.extract::<Int<i64>>()?.0;
    usize::try_from(id).map_err(|_| unknown(value, words))
}

#[cold]
fn unknown(value: Borrowed<'_, '_, PyAny>, words: &[&str]) -> PyErr {
    let known: Vec<String> = words
        .iter()
        .enumerate()
        .map(|(id, word)| format!("{word} ({id})"))
        .collect();
    errors::wrong_value(&value, &format!("one of {}", known.join(", ")))
}
