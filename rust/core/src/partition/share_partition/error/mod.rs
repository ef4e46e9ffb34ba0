//! Errors of the calls, one enum a verb.

mod acknowledge;
mod acquire;
mod initialize;
mod unknown_token;

pub use acknowledge::{AcknowledgeError, RecordStateReason};
pub use acquire::AcquireError;
pub use initialize::{CorruptField, InitializeError};
pub use unknown_token::UnknownToken;
