//! Events that make a history: what clients saw, and when.

/// Nanoseconds of the clock that the history was taken with.
pub type Nanos = i64;

/// A name in the history's table of names.
pub type Name = u32;

/// A line of a history. `t` is when the answer came or the wait for it ended, `sent` when the request left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time at which it was seen.
    pub t: Nanos,
    /// The share partition, as far as it concerns one.
    pub place: Place,
    /// Kind of the event, with what the client saw.
    pub what: What,
}

/// Share partition, or a part of its name, that an event belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The group; `None` for the log itself.
    pub group: Option<Name>,
    /// The topic.
    pub topic: Option<Name>,
    /// The partition.
    pub partition: Option<i32>,
}

/// Kinds of events, each with what the client saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Records were produced, and committed.
    Produce(Span),
    /// A member was given records.
    Grant(Grant),
    /// A member acknowledged records.
    Ack(Ack),
    /// A member crashed or closed.
    Gone {
        /// The member.
        member: Name,
    },
    /// An answer that shows state.
    View(View),
    /// The log starts at `from`: what is below it is gone.
    Retained {
        /// The first offset that is left.
        from: i64,
    },
    /// The offsets of the group were reset.
    Reset {
        /// First offset that the share partition delivers from then on.
        start_offset: i64,
        /// The epoch of the new state.
        state_epoch: i64,
    },
    /// Nothing more is to be delivered.
    Drained,
}

/// Offsets from `first` to `last`, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first.
    pub first: i64,
    /// The last.
    pub last: i64,
}

/// Records that a member was given in one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Time at which the request left.
    pub sent: Nanos,
    /// The member.
    pub member: Name,
    /// The offsets.
    pub span: Span,
    /// Deliveries of each record, this one included.
    pub delivery_count: i64,
    /// Time for which the lock holds.
    pub lock: Nanos,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Time at which the request left.
    pub sent: Nanos,
    /// The member.
    pub member: Name,
    /// Place of its ranges in [`crate::History::ranges`].
    pub ranges: (u32, u32),
    /// Its outcome.
    pub outcome: Outcome,
}

/// End of an acknowledgement, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was confirmed.
    Ok,
    /// It was refused: nothing came of it.
    Refused,
    /// Nobody knows.
    Unknown,
}

impl Outcome {
    /// The outcome that a history calls `word`.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Ok, Self::Refused, Self::Unknown]
            .into_iter()
            .find(|outcome| outcome.word() == word)
    }

    /// Its word in a history.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }
}

/// Type of an acknowledgement: Kafka's `AcknowledgeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckType {
    /// 0: there is no such record.
    Gap,
    /// 1.
    Accept,
    /// 2.
    Release,
    /// 3.
    Reject,
    /// 4: the lock is to hold for its full time again.
    Renew,
}

impl AckType {
    /// The type with this id.
    #[must_use]
    pub const fn from_id(id: i64) -> Option<Self> {
        Some(match id {
            0 => Self::Gap,
            1 => Self::Accept,
            2 => Self::Release,
            3 => Self::Reject,
            4 => Self::Renew,
            _ => return None,
        })
    }

    /// Its id.
    #[must_use]
    pub const fn id(self) -> i64 {
        match self {
            Self::Gap => 0,
            Self::Accept => 1,
            Self::Release => 2,
            Self::Reject => 3,
            Self::Renew => 4,
        }
    }

    /// Returns true if the record ends with it.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Gap | Self::Accept | Self::Reject)
    }
}

/// Offsets and what they are acknowledged with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRange {
    /// The offsets.
    pub span: Span,
    /// The type.
    pub kind: AckType,
}

/// An answer that shows state; what it does not show is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Time at which the request left.
    pub sent: Nanos,
    /// The start offset.
    pub start_offset: Option<i64>,
    /// The epoch of the leader.
    pub leader_epoch: Option<i64>,
    /// The epoch of the state.
    pub state_epoch: Option<i64>,
}

impl Event {
    /// Time at which the request left, or the event itself was seen if it is none.
    #[must_use]
    pub const fn sent(&self) -> Nanos {
        match self.what {
            What::Grant(Grant { sent, .. })
            | What::Ack(Ack { sent, .. })
            | What::View(View { sent, .. }) => sent,
            _ => self.t,
        }
    }

    /// The member that it tells of.
    #[must_use]
    pub const fn member(&self) -> Option<Name> {
        match self.what {
            What::Grant(Grant { member, .. })
            | What::Ack(Ack { member, .. })
            | What::Gone { member } => Some(member),
            _ => None,
        }
    }
}
