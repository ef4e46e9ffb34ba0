//! Where a record stands.

/// State of a record in a share partition. The ids are Kafka's and are persisted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RecordState {
    /// May be acquired.
    Available = 0,
    /// Locked by one member. Never persisted.
    Acquired = 1,
    /// Accepted; terminal.
    Acknowledged = 2,
    /// Given up, and waiting for the dead-letter queue; neither terminal nor available (KIP-1191).
    Archiving = 3,
    /// Given up; terminal.
    Archived = 4,
}

impl RecordState {
    /// Every state, in the order of the ids.
    pub const ALL: [Self; 5] = [
        Self::Available,
        Self::Acquired,
        Self::Acknowledged,
        Self::Archiving,
        Self::Archived,
    ];

    /// The persisted id.
    #[must_use]
    pub const fn id(self) -> i8 {
        self as i8
    }

    /// The state with this persisted id.
    #[must_use]
    pub const fn from_id(id: i8) -> Option<Self> {
        match id {
            0 => Some(Self::Available),
            1 => Some(Self::Acquired),
            2 => Some(Self::Acknowledged),
            3 => Some(Self::Archiving),
            4 => Some(Self::Archived),
            _ => None,
        }
    }

    /// Whether the record has reached its end.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Acknowledged | Self::Archived)
    }

    /// Kafka's name of the state.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Available => "AVAILABLE",
            Self::Acquired => "ACQUIRED",
            Self::Acknowledged => "ACKNOWLEDGED",
            Self::Archiving => "ARCHIVING",
            Self::Archived => "ARCHIVED",
        }
    }
}

/// Where a record's last change stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum Phase {
    /// No write is under way that could undo the state.
    #[default]
    Settled = 0,
    /// The state is the target of a write under way; its refusal gives the record back to the member.
    Pending = 1,
    /// A write is under way, but the log start has passed the record: it stays archived whatever the answer.
    PendingFinal = 2,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Self; 3] = [Self::Settled, Self::Pending, Self::PendingFinal];
}
