//! State of a record, and a range of records in one: the words in which a share partition and the keeper of its state speak.

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

    /// Returns `true` if the record has reached its end.
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

/// `[first_offset, last_offset]` in one delivery state (Kafka: `PersisterStateBatch`, `StateBatch` of the records).
///
/// Plain data as it stands on the wire: nothing is promised about order of the offsets or known ids. State ids from 5
/// on, which no released Kafka writes, are carried along unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StateBatch {
    /// First offset.
    pub first_offset: i64,
    /// Last offset, inclusive.
    pub last_offset: i64,
    /// Id of the delivery state; see [`RecordState`].
    pub delivery_state: i8,
    /// Number of deliveries of each record.
    pub delivery_count: i16,
}
