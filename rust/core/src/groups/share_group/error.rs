//! Errors of a share group: the reasons for which it refuses a request.

use core::fmt;
use std::sync::Arc;

use crate::kafka_code::KafkaCode;

/// Reason for which a share group refuses a request, in Kafka's words. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupError {
    /// A field must not be empty, nor blank.
    Empty {
        /// Kafka's name of the field.
        field: &'static str,
    },
    /// A field is longer than allowed.
    TooLong {
        /// Kafka's name of the field.
        field: &'static str,
        /// Its length.
        length: usize,
        /// The greatest length allowed.
        max: usize,
    },
    /// The member epoch is below -1.
    MemberEpoch {
        /// The epoch.
        epoch: i32,
    },
    /// A member joins without topics.
    NoTopics,
    /// A partition is negative or a topic id is the zero id.
    Partition {
        /// The partition.
        partition: i32,
    },
    /// The group id is empty, for a verb that tells this apart.
    InvalidGroupId,
    /// There is no such group.
    GroupIdNotFound {
        /// Its id.
        group: Arc<str>,
    },
    /// There is no such member.
    UnknownMemberId {
        /// Id of the group.
        group: Arc<str>,
        /// Id of the member.
        member: Arc<str>,
    },
    /// The member epoch is neither the member's nor the one before it.
    FencedMemberEpoch {
        /// Epoch in the request.
        requested: i32,
        /// The member's epoch.
        current: i32,
        /// The one before it.
        previous: i32,
    },
    /// The group has no room for another member.
    GroupMaxSizeReached {
        /// `group.share.max.size`.
        max: i64,
    },
    /// The group still has members.
    NonEmptyGroup,
    /// The group epoch stands at its end.
    EpochEnd,
}

impl GroupError {
    /// The code for the wire.
    #[must_use]
    pub const fn kafka_code(&self) -> KafkaCode {
        match self {
            Self::Empty { .. }
            | Self::TooLong { .. }
            | Self::MemberEpoch { .. }
            | Self::NoTopics
            | Self::Partition { .. } => KafkaCode::InvalidRequest,
            Self::InvalidGroupId => KafkaCode::InvalidGroupId,
            Self::GroupIdNotFound { .. } => KafkaCode::GroupIdNotFound,
            Self::UnknownMemberId { .. } => KafkaCode::UnknownMemberId,
            Self::FencedMemberEpoch { .. } => KafkaCode::FencedMemberEpoch,
            Self::GroupMaxSizeReached { .. } => KafkaCode::GroupMaxSizeReached,
            Self::NonEmptyGroup => KafkaCode::NonEmptyGroup,
            Self::EpochEnd => KafkaCode::UnknownServerError,
        }
    }
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { field } => write!(f, "{field} can't be empty."),
            Self::TooLong { field, length, max } => {
                write!(
                    f,
                    "{field} has a length of {length}, at most {max} is allowed."
                )
            }
            Self::MemberEpoch { .. } => f.write_str("MemberEpoch is invalid."),
            Self::NoTopics => f.write_str("SubscribedTopicNames must be set in first request."),
            Self::Partition { partition } => {
                write!(f, "Partition {partition} of this topic id cannot exist.")
            }
            Self::InvalidGroupId => f.write_str("The group id is empty."),
            Self::GroupIdNotFound { group } => write!(f, "Group {group} not found."),
            Self::UnknownMemberId { group, member } => {
                write!(f, "Member {member} is not a member of group {group}.")
            }
            Self::FencedMemberEpoch {
                requested,
                current,
                previous,
            } => {
                let (which, besides) = if requested > current {
                    ("greater", String::new())
                } else {
                    let text =
                        format!(", and it does not match the previous member epoch ({previous})");
                    ("smaller", text)
                };
                write!(
                    f,
                    "The share group member has a {which} member epoch ({requested}) than the one known by the group \
                     coordinator ({current}){besides}. The member must abandon all its partitions and rejoin."
                )
            }
            Self::GroupMaxSizeReached { max } => write!(
                f,
                "The share group has reached its maximum capacity of {max} members."
            ),
            Self::NonEmptyGroup => f.write_str("The group is not empty."),
            Self::EpochEnd => f.write_str("The group epoch is at its end; delete the group."),
        }
    }
}

impl core::error::Error for GroupError {}
