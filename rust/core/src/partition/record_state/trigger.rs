//! Triggers of a record's transitions, and the acknowledgements that a member may send.

/// Acknowledgement of an acquired record by a member. The ids are Kafka's (`AcknowledgeType`; 0 is a gap).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i8)]
pub enum AcknowledgeType {
    /// There is no record at the offset.
    Gap = 0,
    /// Processed.
    Accept = 1,
    /// Give it to somebody else.
    Release = 2,
    /// Never deliver it again.
    Reject = 3,
    /// Still being processed: lock it for another full lock duration (KIP-1222).
    Renew = 4,
}

impl AcknowledgeType {
    /// Every type, in the order of the ids.
    pub const ALL: [Self; 5] = [
        Self::Gap,
        Self::Accept,
        Self::Release,
        Self::Reject,
        Self::Renew,
    ];

    /// The type with this id.
    #[must_use]
    pub const fn from_id(id: i8) -> Option<Self> {
        match id {
            0 => Some(Self::Gap),
            1 => Some(Self::Accept),
            2 => Some(Self::Release),
            3 => Some(Self::Reject),
            4 => Some(Self::Renew),
            _ => None,
        }
    }

    /// The trigger that the type pulls.
    #[must_use]
    pub const fn trigger(self) -> Trigger {
        match self {
            Self::Gap => Trigger::Gap,
            Self::Accept => Trigger::Accept,
            Self::Release => Trigger::Release,
            Self::Reject => Trigger::Reject,
            Self::Renew => Trigger::Renew,
        }
    }
}

/// Trigger of a record's transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Trigger {
    /// A member takes the record.
    Acquire = 0,
    /// Acknowledged with ACCEPT.
    Accept = 1,
    /// Acknowledged with RELEASE.
    Release = 2,
    /// Acknowledged with REJECT.
    Reject = 3,
    /// Acknowledged with GAP.
    Gap = 4,
    /// Acknowledged with RENEW.
    Renew = 5,
    /// The acquisition lock ran out.
    LockTimeout = 6,
    /// The member's share session ended.
    SessionRelease = 7,
    /// The log start offset passed the record.
    LogStartMove = 8,
    /// A fetch shows that the record was compacted away.
    Compaction = 9,
    /// The record belongs to an aborted transaction (read_committed).
    AbortedTransaction = 10,
    /// The dead-letter queue has taken the record, or finally failed to.
    DeadLetterDone = 11,
    /// The write under way was confirmed.
    Written = 12,
    /// The write under way was refused.
    Refused = 13,
}

impl Trigger {
    /// Every trigger.
    pub const ALL: [Self; 14] = [
        Self::Acquire,
        Self::Accept,
        Self::Release,
        Self::Reject,
        Self::Gap,
        Self::Renew,
        Self::LockTimeout,
        Self::SessionRelease,
        Self::LogStartMove,
        Self::Compaction,
        Self::AbortedTransaction,
        Self::DeadLetterDone,
        Self::Written,
        Self::Refused,
    ];
}
