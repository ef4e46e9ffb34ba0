//! Error of a message, with the field at fault.

use core::fmt;

use super::schema::Field;
use crate::error::WireError;

/// A message that cannot be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The innermost field at fault, in Kafka's spelling; `None` if it is none of them.
    pub field: Option<&'static str>,
    /// Fault, with its position.
    pub error: WireError,
}

impl FieldError {
    /// The same error, of a field that has it within.
    pub(super) fn within(self, field: &Field) -> Self {
        Self {
            field: self.field.or(Some(field.name)),
            ..self
        }
    }
}

impl From<WireError> for FieldError {
    fn from(error: WireError) -> Self {
        Self { field: None, error }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field {
            Some(field) => write!(f, "{field}: {}", self.error),
            None => self.error.fmt(f),
        }
    }
}

impl core::error::Error for FieldError {}
