//! Errors of a request, which is refused as a whole.

use core::fmt;

use crate::kafka_code::KafkaCode;

/// Reason for which a request is refused as a whole; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareSessionError {
    /// A request that opens a session brings acknowledgements: of which session would they be (KAFKA-19485)?
    AcknowledgementsAtOpening,
    /// The member has no session.
    NotFound,
    /// The request carries another epoch than the session expects.
    Epoch {
        /// The epoch that the session expects; `None` where epoch 0 is never right.
        expected: Option<i32>,
        /// The epoch of the request.
        actual: i32,
    },
    /// There is no room for another session.
    LimitReached {
        /// Number of sessions that fit.
        max_sessions: usize,
    },
}

impl ShareSessionError {
    /// The code to answer with.
    #[must_use]
    pub const fn kafka_code(self) -> KafkaCode {
        match self {
            Self::AcknowledgementsAtOpening => KafkaCode::InvalidRequest,
            Self::NotFound => KafkaCode::ShareSessionNotFound,
            Self::Epoch { .. } => KafkaCode::InvalidShareSessionEpoch,
            Self::LimitReached { .. } => KafkaCode::ShareSessionLimitReached,
        }
    }
}

impl fmt::Display for ShareSessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AcknowledgementsAtOpening => {
                f.write_str("a request that opens a share session brings acknowledgements")
            }
            Self::NotFound => f.write_str("the member has no share session"),
            Self::Epoch {
                expected: Some(expected),
                actual,
            } => write!(
                f,
                "the share session epoch is {actual}, not {expected} as expected"
            ),
            Self::Epoch {
                expected: None,
                actual,
            } => write!(
                f,
                "the share session epoch is {actual}, with which nothing can be acknowledged"
            ),
            Self::LimitReached { max_sessions } => {
                write!(f, "all {max_sessions} share sessions are in use")
            }
        }
    }
}

impl core::error::Error for ShareSessionError {}
