//! Errors of an acknowledgement. The order of the variants is the order of the checks.

use core::fmt;

use crate::kafka_code::KafkaCode;
use crate::partition::record_state::AcknowledgeType;
use crate::partition::share_partition::Status;

/// Reason for which an acknowledgement was refused, whole; nothing has changed. `index` counts the batches of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcknowledgeError {
    /// The member id is empty.
    EmptyMemberId,
    /// The batch is inverted.
    Inverted {
        /// Index of the batch.
        index: usize,
        /// First offset given.
        first: i64,
        /// Last offset given.
        last: i64,
    },
    /// The batch has a negative offset (deliberate difference V6), or ends at the last offset there is.
    OutOfRange {
        /// Index of the batch.
        index: usize,
        /// First offset given.
        first: i64,
        /// Last offset given.
        last: i64,
    },
    /// The batch begins before the one before it, or touches its last offset (deliberate difference V1).
    NotAscending {
        /// Index of the batch.
        index: usize,
        /// First offset given.
        first: i64,
        /// Last offset of the batch before.
        previous_last: i64,
    },
    /// There is neither one type nor one for every offset (deliberate differences V2 and V5).
    TypeCount {
        /// Index of the batch.
        index: usize,
        /// Number of types given.
        types: usize,
        /// Number of offsets.
        offsets: u64,
    },
    /// The type is none of Kafka's.
    UnknownType {
        /// Index of the batch.
        index: usize,
        /// The id given.
        id: i8,
    },
    /// The share partition does not serve members (deliberate difference S9).
    NotActive(Status),
    /// No in-flight batch holds the range, or it reaches past the one that does.
    NotInFlight {
        /// Index of the batch.
        index: usize,
        /// First offset given.
        first: i64,
        /// Last offset given.
        last: i64,
    },
    /// The request would need a write of more state batches than one may have.
    TooManyStateBatches {
        /// Number of state batches that it would need.
        asked: usize,
        /// Number of state batches that it may have.
        allowed: usize,
    },
    /// A record is not acquired, is held by another member, or a change of it is under way.
    InvalidRecordState {
        /// Index of the batch.
        index: usize,
        /// The first such offset.
        offset: i64,
        /// Fault of that record.
        reason: RecordStateReason,
    },
}

/// Fault of a record that cannot be acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordStateReason {
    /// Nobody has acquired it.
    NotAcquired,
    /// Another member has acquired it.
    OtherMember,
    /// A change of it is being written.
    WriteUnderWay,
    /// The group does not allow renewal (`share.renew.acknowledge.enable`).
    RenewDisabled,
    /// No in-flight batch begins at or before the range.
    NotFound,
    /// A batch before in the same request holds it too.
    AcknowledgedTwice,
}

impl RecordStateReason {
    /// A short sentence part.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::NotAcquired => "is not acquired",
            Self::OtherMember => "is acquired by another member",
            Self::WriteUnderWay => "has a change under way",
            Self::RenewDisabled => "may not be renewed in this group",
            Self::NotFound => "is not in flight",
            Self::AcknowledgedTwice => "is acknowledged twice",
        }
    }
}

impl AcknowledgeError {
    /// The code for the member: 121 for the record's state, 42 for the request's form, or that of the status.
    #[must_use]
    pub const fn kafka_code(&self) -> KafkaCode {
        match self {
            Self::InvalidRecordState { .. } => KafkaCode::InvalidRecordState,
            Self::NotActive(status) => status.kafka_code(),
            _ => KafkaCode::InvalidRequest,
        }
    }

    /// The argument that is wrong, if it is one: a part of a batch, or the member.
    #[must_use]
    pub const fn field(&self) -> Option<&'static str> {
        match self {
            Self::EmptyMemberId => Some("member"),
            Self::TypeCount { .. } | Self::UnknownType { .. } => Some("acknowledge_type"),
            Self::OutOfRange { first, .. } if *first >= 0 => Some("last_offset"),
            Self::Inverted { .. }
            | Self::OutOfRange { .. }
            | Self::NotAscending { .. }
            | Self::NotInFlight { .. }
            | Self::InvalidRecordState { .. } => Some("first_offset"),
            Self::NotActive(_) | Self::TooManyStateBatches { .. } => None,
        }
    }

    /// Returns what is wrong, without the batch that it is wrong with: for a request of one range.
    #[must_use]
    pub const fn reason(&self) -> Reason<'_> {
        Reason(self)
    }

    /// Index of the batch at fault, if it is one batch's.
    #[must_use]
    pub const fn index(&self) -> Option<usize> {
        match self {
            Self::EmptyMemberId | Self::TooManyStateBatches { .. } | Self::NotActive(_) => None,
            Self::Inverted { index, .. }
            | Self::OutOfRange { index, .. }
            | Self::NotAscending { index, .. }
            | Self::TypeCount { index, .. }
            | Self::UnknownType { index, .. }
            | Self::NotInFlight { index, .. }
            | Self::InvalidRecordState { index, .. } => Some(*index),
        }
    }
}

impl fmt::Display for AcknowledgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(index) = self.index() {
            write!(f, "batch {index}: ")?;
        }
        self.reason().fmt(f)
    }
}

impl core::error::Error for AcknowledgeError {}

/// See [`AcknowledgeError::reason`].
#[derive(Clone, Copy, Debug)]
pub struct Reason<'a>(&'a AcknowledgeError);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use AcknowledgeError as E;
        match self.0 {
            E::EmptyMemberId => f.write_str("member is empty"),
            E::Inverted { first, last, .. } => {
                write!(f, "first_offset {first} is greater than last_offset {last}")
            }
            E::OutOfRange { first, last, .. } => {
                let greatest = i64::MAX - 1;
                write!(
                    f,
                    "offsets {first} to {last} are out of range; expected 0 to {greatest}"
                )
            }
            E::NotAscending {
                first,
                previous_last,
                ..
            } => write!(
                f,
                "first_offset {first} does not come after {previous_last}, where the batch before it ends"
            ),
            E::TypeCount {
                types, offsets: 1, ..
            } => write!(f, "expected 1 acknowledge type, got {types}"),
            E::TypeCount { types, offsets, .. } => {
                write!(f, "expected 1 or {offsets} acknowledge types, got {types}")
            }
            E::UnknownType { id, .. } => {
                write!(f, "acknowledge_type is {id}; expected")?;
                for (place, known) in AcknowledgeType::ALL.into_iter().enumerate() {
                    let before = if place == 0 { "" } else { "," };
                    write!(f, "{before} {} ({known:?})", known as i8)?;
                }
                Ok(())
            }
            E::NotActive(status) => status.say(f),
            E::NotInFlight { first, last, .. } => {
                write!(
                    f,
                    "offsets {first} to {last} extend past the in-flight batches"
                )
            }
            E::TooManyStateBatches { asked, allowed } => write!(
                f,
                "the write would need {asked} state batches; expected at most {allowed}"
            ),
            E::InvalidRecordState { offset, reason, .. } => {
                write!(f, "offset {offset} {}", reason.text())
            }
        }
    }
}
