//! A window with a record in every state, and refusals that must leave it as it was.

use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_partition::{AcknowledgeError, AcquireError};

use crate::common::lab::{Fetch, Lab};
use crate::common::view::everything;

pub const ACCEPT: &[i8] = &[1];

/// Ranges of an acknowledgement with their types.
pub type Batches<'a> = &'a [(i64, i64, &'a [i8])];

/// m1 holds 0-9, m2 holds 20-29, 10-19 is a hole, 30-34 is accepted but not confirmed, and 35-39 waits to be acquired.
pub fn window<S: InFlightStore>() -> Lab<S> {
    let mut lab = Lab::new();
    lab.acquire("m1", &Fetch::of(&[(0, 9)])).unwrap();
    lab.acquire("m2", &Fetch::of(&[(20, 29)])).unwrap();
    lab.acquire("m1", &Fetch::of(&[(30, 39)])).unwrap();
    let token = lab.acknowledge("m1", &[(35, 39, &[2])]).unwrap().unwrap();
    lab.answer(token, KafkaCode::None).unwrap();
    lab.acknowledge("m1", &[(30, 34, ACCEPT)]).unwrap().unwrap();
    lab
}

pub fn refused<S: InFlightStore>(
    lab: &mut Lab<S>,
    member: &str,
    batches: Batches<'_>,
) -> AcknowledgeError {
    let before = everything(&lab.sp);
    let handed_out = lab.handed_out.clone();
    let error = lab.acknowledge(member, batches).unwrap_err();
    assert_eq!(everything(&lab.sp), before, "{error}");
    assert_eq!(lab.handed_out, handed_out, "{error}");
    assert!(error.to_string().ends_with(&error.reason().to_string()));
    // Only the size of the write is nobody's argument.
    let is_size = matches!(error, AcknowledgeError::TooManyStateBatches { .. });
    assert_eq!(error.field().is_none(), is_size);
    error
}

pub fn acquire_refused<S: InFlightStore>(lab: &mut Lab<S>, fetch: &Fetch) -> AcquireError {
    let before = everything(&lab.sp);
    let error = lab.acquire("m3", fetch).unwrap_err();
    assert_eq!(everything(&lab.sp), before, "{error}");
    assert_eq!(error.kafka_code(), KafkaCode::InvalidRequest);
    let field = error.field().unwrap();
    assert!(error.to_string().contains(field), "{error}");
    error
}
