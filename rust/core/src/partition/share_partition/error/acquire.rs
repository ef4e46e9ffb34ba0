//! Errors of an acquire. The order of the variants is the order of the checks.

use core::fmt;

use crate::kafka_code::KafkaCode;
use crate::partition::share_partition::Status;

/// Reason for which an acquire was refused; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcquireError {
    /// The member id is empty: it would stand for "nobody" (`SharePartition.EMPTY_MEMBER_ID`).
    EmptyMemberId,
    /// The batch size is not positive (deliberate difference V4).
    BatchSize {
        /// The size given.
        batch_size: i32,
    },
    /// The fetch offset is negative.
    FetchOffset {
        /// The offset given.
        fetch_offset: i64,
    },
    /// A fetched batch is negative, inverted, ends at the last offset there is, or does not lie after the one before it.
    FetchedBatch {
        /// Its index.
        index: usize,
        /// Its base offset.
        base_offset: i64,
        /// Its last offset.
        last_offset: i64,
    },
    /// An aborted transaction is negative, or its producer is named twice without the abort marker between: the list is not
    /// that of what was read (deliberate difference V6).
    Aborted {
        /// Its index.
        index: usize,
        /// Its producer.
        producer_id: i64,
        /// Its first offset.
        first_offset: i64,
    },
    /// The share partition does not serve members (deliberate difference S9).
    NotActive(Status),
}

impl AcquireError {
    /// The code for the member.
    #[must_use]
    pub const fn kafka_code(&self) -> KafkaCode {
        match self {
            Self::NotActive(status) => status.kafka_code(),
            _ => KafkaCode::InvalidRequest,
        }
    }

    /// The argument that is wrong, if it is one.
    #[must_use]
    pub const fn field(&self) -> Option<&'static str> {
        match self {
            Self::EmptyMemberId => Some("member"),
            Self::BatchSize { .. } => Some("batch_size"),
            Self::FetchOffset { .. } => Some("fetch_offset"),
            Self::FetchedBatch { .. } => Some("fetched"),
            Self::Aborted { .. } => Some("aborted"),
            Self::NotActive(_) => None,
        }
    }
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyMemberId => f.write_str("member is empty"),
            Self::BatchSize { batch_size } => {
                write!(f, "batch_size is {batch_size}; expected >= 1")
            }
            Self::FetchOffset { fetch_offset } => {
                write!(f, "fetch_offset is {fetch_offset}; expected >= 0")
            }
            Self::FetchedBatch {
                index,
                base_offset,
                last_offset,
            } => write!(
                f,
                "fetched[{index}] is {base_offset}-{last_offset}; expected 0 <= base_offset <= last_offset < {}, after the batch before \
                 it",
                i64::MAX
            ),
            Self::Aborted {
                index,
                producer_id,
                first_offset,
            } => write!(
                f,
                "aborted[{index}] is producer {producer_id} from offset {first_offset}; expected numbers of 0 or more, and an abort \
                 marker in fetched between two transactions of a producer"
            ),
            Self::NotActive(status) => status.say(f),
        }
    }
}

impl core::error::Error for AcquireError {}
