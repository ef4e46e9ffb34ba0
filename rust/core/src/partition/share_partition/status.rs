//! The life of a share partition (`SharePartitionState`), and what a member is told while it does not serve.

use core::fmt;

use crate::kafka_code::KafkaCode;

/// Life of a share partition (`SharePartitionState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Made, and nothing read yet.
    Empty,
    /// The state is being read.
    Initializing,
    /// Serves members.
    Active,
    /// The state could not be read; make a new share partition.
    Failed,
    /// Another leader or another state has taken over; make a new share partition.
    Fenced,
}

impl Status {
    /// Kafka's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "EMPTY",
            Self::Initializing => "INITIALIZING",
            Self::Active => "ACTIVE",
            Self::Failed => "FAILED",
            Self::Fenced => "FENCED",
        }
    }

    /// The code for a member whose request finds the share partition so (`SharePartition.maybeInitialize`,
    /// `SharePartitionManager`): it may try again, unless the state could not be read.
    #[must_use]
    pub const fn kafka_code(self) -> KafkaCode {
        match self {
            Self::Active => KafkaCode::None,
            Self::Empty | Self::Initializing | Self::Fenced => KafkaCode::LeaderNotAvailable,
            Self::Failed => KafkaCode::UnknownServerError,
        }
    }

    /// Says that a request finds the share partition so, and what to do.
    pub(super) fn say(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let advice = match self {
            Self::Empty => "initialize it first",
            Self::Initializing => "its state is being read",
            Self::Active => "it serves members",
            Self::Failed => "its state could not be read; make a new share partition",
            Self::Fenced => "another leader or state has taken over; make a new share partition",
        };
        write!(f, "the share partition is {}: {advice}", self.name())
    }
}
