//! Why an acquire is refused. The order of the variants is the order of the checks.

use core::fmt;

use crate::kafka_code::KafkaCode;

/// Why an acquire was refused; nothing has changed.
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
    /// A fetched batch is negative, inverted, ends at the last offset there is, or does not lie behind the one before it.
    FetchedBatch {
        /// Its index.
        index: usize,
        /// Its base offset.
        base_offset: i64,
        /// Its last offset.
        last_offset: i64,
    },
}

impl AcquireError {
    /// The code for the member.
    #[must_use]
    pub const fn kafka_code(&self) -> KafkaCode {
        KafkaCode::InvalidRequest
    }

    /// The argument that is wrong.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self {
            Self::EmptyMemberId => "member",
            Self::BatchSize { .. } => "batch_size",
            Self::FetchOffset { .. } => "fetch_offset",
            Self::FetchedBatch { .. } => "fetched",
        }
    }
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyMemberId => f.write_str("member is empty"),
            Self::BatchSize { batch_size } => write!(f, "batch_size is {batch_size}, not positive"),
            Self::FetchOffset { fetch_offset } => {
                write!(f, "fetch_offset is {fetch_offset}, negative")
            }
            Self::FetchedBatch {
                index,
                base_offset,
                last_offset,
            } => write!(
                f,
                "fetched[{index}] is {base_offset}-{last_offset}: negative, inverted, at the end of the offset space, or not \
                 behind the batch before it"
            ),
        }
    }
}

impl core::error::Error for AcquireError {}
