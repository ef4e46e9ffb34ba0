//! Errors of a share coordinator: the reasons for which it refuses a request.

use core::fmt;

use crate::ids::KeyError;
use crate::kafka_code::KafkaCode;

/// A part of a request that can be malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestField {
    /// The group id: its UTF-8 must have 1 to 32,767 bytes, or no record could name it. The value is its length.
    Group,
    /// The topic id: the zero id stands for no topic.
    TopicId,
    /// The partition, at least 0.
    Partition,
    /// The state epoch, at least 0.
    StateEpoch,
    /// The leader epoch, at least 0.
    LeaderEpoch,
    /// The start offset, at least -1.
    StartOffset,
    /// The delivery complete count, at least -1.
    DeliveryCompleteCount,
    /// A batch's last offset, at least its first offset.
    LastOffset,
    /// A batch's delivery state: 0, 2, 3 or 4.
    DeliveryState,
    /// A batch's delivery count, at least 0.
    DeliveryCount,
}

impl RequestField {
    /// The name of the argument.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::TopicId => "topic_id",
            Self::Partition => "partition",
            Self::StateEpoch => "state_epoch",
            Self::LeaderEpoch => "leader_epoch",
            Self::StartOffset => "start_offset",
            Self::DeliveryCompleteCount => "delivery_complete_count",
            Self::LastOffset => "last_offset",
            Self::DeliveryState => "delivery_state",
            Self::DeliveryCount => "delivery_count",
        }
    }

    /// The values that it may have.
    const fn expected(self) -> &'static str {
        match self {
            Self::Group => "1 to 32767 bytes",
            Self::TopicId => "any other",
            Self::Partition | Self::StateEpoch | Self::LeaderEpoch | Self::DeliveryCount => ">= 0",
            Self::StartOffset | Self::DeliveryCompleteCount => ">= -1",
            Self::LastOffset => ">= first_offset",
            Self::DeliveryState => "0, 2, 3 or 4",
        }
    }
}

/// A verb that needs state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// ReadShareGroupState.
    Read,
    /// WriteShareGroupState.
    Write,
}

/// Reason for which a share coordinator refuses a request. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoordinatorError {
    /// A field breaks the protocol's rules.
    InvalidRequest {
        /// The field.
        field: RequestField,
        /// Index of the state batch it belongs to, from 0.
        index: Option<usize>,
        /// Its value.
        value: i64,
    },
    /// The write holds more state batches than are accepted.
    TooManyStateBatches {
        /// Batches in the write.
        asked: usize,
        /// Batches accepted, [`MAX_STATE_BATCHES_PER_WRITE`](crate::persister::MAX_STATE_BATCHES_PER_WRITE).
        allowed: usize,
    },
    /// With the write, the state would hold more state batches than a snapshot may.
    StateFull {
        /// Batches that the state would hold.
        batches: usize,
        /// Batches accepted, [`MAX_STATE_BATCHES`](crate::persister::MAX_STATE_BATCHES).
        allowed: usize,
    },
    /// The share partition was never initialised, or was deleted (KAFKA-19338).
    Uninitialized {
        /// Operation that was asked for.
        operation: Operation,
    },
    /// A newer leader has read the state.
    FencedLeaderEpoch {
        /// Epoch in the request.
        requested: i32,
        /// Highest epoch known.
        current: i32,
    },
    /// The state was initialised again since.
    FencedStateEpoch {
        /// Epoch in the request.
        requested: i32,
        /// Highest epoch known.
        current: i32,
    },
    /// The topic or partition does not exist.
    UnknownTopicOrPartition,
    /// The key's snapshot epoch stands at `i32::MAX`, so the state cannot be initialised again before it is deleted.
    /// (Writes go on: they become updates.)
    SnapshotEpochExhausted,
}

impl CoordinatorError {
    /// The code for the wire. What only this implementation limits is `UNKNOWN_SERVER_ERROR`, as Kafka answers when its
    /// log refuses a group of records for its size.
    #[must_use]
    pub const fn kafka_code(&self) -> KafkaCode {
        match self {
            Self::InvalidRequest { .. } | Self::Uninitialized { .. } => KafkaCode::InvalidRequest,
            Self::FencedLeaderEpoch { .. } => KafkaCode::FencedLeaderEpoch,
            Self::FencedStateEpoch { .. } => KafkaCode::FencedStateEpoch,
            Self::UnknownTopicOrPartition => KafkaCode::UnknownTopicOrPartition,
            Self::TooManyStateBatches { .. }
            | Self::StateFull { .. }
            | Self::SnapshotEpochExhausted => KafkaCode::UnknownServerError,
        }
    }
}

impl fmt::Display for CoordinatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidRequest {
                field,
                index,
                value,
            } => {
                if let Some(index) = index {
                    write!(f, "state_batches[{index}].")?;
                }
                match field {
                    RequestField::Group => write!(f, "group has {value} bytes")?,
                    RequestField::TopicId => f.write_str("topic_id is the zero id")?,
                    _ => write!(f, "{} is {value}", field.name())?,
                }
                write!(f, "; expected {}", field.expected())
            }
            Self::TooManyStateBatches { asked, allowed } => {
                write!(
                    f,
                    "state_batches has {asked} of them; expected at most {allowed}"
                )
            }
            Self::StateFull { batches, allowed } => write!(
                f,
                "the state would hold {batches} state batches; expected at most {allowed}"
            ),
            Self::Uninitialized { operation } => {
                let operation = match operation {
                    Operation::Read => "read",
                    Operation::Write => "write",
                };
                write!(f, "{operation} on an uninitialized share partition")
            }
            Self::FencedLeaderEpoch { requested, current } => {
                write!(f, "leader epoch {requested} is fenced by {current}")
            }
            Self::FencedStateEpoch { requested, current } => {
                write!(f, "state epoch {requested} is fenced by {current}")
            }
            Self::UnknownTopicOrPartition => f.write_str("the topic or partition does not exist"),
            Self::SnapshotEpochExhausted => {
                f.write_str("the snapshot epoch is at its end; delete the state first")
            }
        }
    }
}

impl core::error::Error for CoordinatorError {}

impl From<KeyError> for CoordinatorError {
    fn from(error: KeyError) -> Self {
        let (field, value) = match error {
            KeyError::Group { bytes } => {
                let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
                (RequestField::Group, bytes)
            }
            KeyError::TopicId => (RequestField::TopicId, 0),
            KeyError::Partition { partition } => (RequestField::Partition, partition.into()),
        };
        Self::InvalidRequest {
            field,
            index: None,
            value,
        }
    }
}
