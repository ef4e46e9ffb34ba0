//! The states of an in-flight record and THE TABLE of their transitions.
//!
//! A record's state changes only by a row of [`TABLE`] (Kafka: `RecordState`, `InFlightState`; KIP-932, KIP-1191,
//! KIP-1222). Each record is in a [`RecordState`] and a [`Phase`]: a change that somebody waits for (an acknowledgement,
//! a release by session) is *pending* while its write is under way, shows its target state to nobody, and is then
//! written or refused. A lock time-out is visible at once and written afterwards, so it has no pending phase.
//!
//! Two triggers are drawn from circumstances instead of being asked for, see [`Trigger::effective`]: a record that would
//! become available at its delivery limit meets [`Trigger::DeliveryLimit`], one below the start offset meets
//! [`Trigger::LogStartMove`]. A refusal after the lock ran out is two rows: refused, then lock time-out.

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

/// What a member says about an acquired record. The ids are Kafka's (`AcknowledgeType`; 0 is a gap).
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

/// What happens to a record.
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
    /// The record would become available, but was delivered as often as it may be.
    DeliveryLimit = 7,
    /// The member's share session ended.
    SessionRelease = 8,
    /// The log start offset passed the record.
    LogStartMove = 9,
    /// A fetch shows that the record was compacted away.
    Compaction = 10,
    /// The record belongs to an aborted transaction (read_committed).
    AbortedTransaction = 11,
    /// The dead-letter queue has taken the record, or finally failed to.
    DeadLetterDone = 12,
    /// The write under way was confirmed.
    Written = 13,
    /// The write under way was refused.
    Refused = 14,
}

impl Trigger {
    /// Every trigger.
    pub const ALL: [Self; 15] = [
        Self::Acquire,
        Self::Accept,
        Self::Release,
        Self::Reject,
        Self::Gap,
        Self::Renew,
        Self::LockTimeout,
        Self::DeliveryLimit,
        Self::SessionRelease,
        Self::LogStartMove,
        Self::Compaction,
        Self::AbortedTransaction,
        Self::DeadLetterDone,
        Self::Written,
        Self::Refused,
    ];

    /// The trigger that counts for a record in these circumstances (`InFlightState.tryUpdateState`,
    /// `SharePartition.releaseAcquiredRecords`): whatever would give a record back archives it below the start offset,
    /// and gives it up at the delivery limit.
    #[must_use]
    pub const fn effective(self, below_start_offset: bool, at_delivery_limit: bool) -> Self {
        match self {
            Self::SessionRelease | Self::LockTimeout if below_start_offset => Self::LogStartMove,
            Self::Release | Self::SessionRelease | Self::LockTimeout if at_delivery_limit => {
                Self::DeliveryLimit
            }
            other => other,
        }
    }
}

/// When a row counts: some rows depend on whether the group has a dead-letter queue (KIP-1191).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// The group has a dead-letter queue.
    DeadLetterOn,
    /// The group has none.
    DeadLetterOff,
}

impl When {
    const fn holds(self, dead_letter: bool) -> bool {
        match self {
            Self::Always => true,
            Self::DeadLetterOn => dead_letter,
            Self::DeadLetterOff => !dead_letter,
        }
    }
}

/// What a row does with the acquisition lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockRule {
    /// The member takes a new lock; the delivery count rises by one with [`Trigger::Acquire`] only.
    Take,
    /// The lock, if there is one, stays and keeps running.
    Keep,
    /// The lock, if there is one, ends.
    End,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// State before.
    pub from: RecordState,
    /// Phase before.
    pub phase: Phase,
    /// What happens.
    pub trigger: Trigger,
    /// When the row counts.
    pub when: When,
    /// State after.
    pub to: RecordState,
    /// Phase after, for a trigger that somebody waits for: [`Phase::Pending`] until the write is answered.
    pub to_phase: Phase,
    /// What becomes of the lock.
    pub lock: LockRule,
}

const fn row(
    from: RecordState,
    phase: Phase,
    trigger: Trigger,
    when: When,
    to: RecordState,
    to_phase: Phase,
    lock: LockRule,
) -> Transition {
    Transition {
        from,
        phase,
        trigger,
        when,
        to,
        to_phase,
        lock,
    }
}

use LockRule::{End, Keep, Take};
use Phase::{Pending, PendingFinal, Settled};
use RecordState::{Acknowledged, Acquired, Archived, Archiving, Available};
use When::{Always, DeadLetterOff, DeadLetterOn};

/// Every legal change of a record. What is not here cannot happen.
#[rustfmt::skip]
pub const TABLE: &[Transition] = &[
    // Delivery.
    row(Available,    Settled,      Trigger::Acquire,            Always,        Acquired,     Settled,      Take),
    row(Acquired,     Settled,      Trigger::Renew,              Always,        Acquired,     Settled,      Take),
    // Acknowledgement and session release: the caller is answered after the write.
    row(Acquired,     Settled,      Trigger::Accept,             Always,        Acknowledged, Pending,      Keep),
    row(Acquired,     Settled,      Trigger::Release,            Always,        Available,    Pending,      Keep),
    row(Acquired,     Settled,      Trigger::SessionRelease,     Always,        Available,    Pending,      Keep),
    row(Acquired,     Settled,      Trigger::Reject,             DeadLetterOff, Archived,     Pending,      Keep),
    row(Acquired,     Settled,      Trigger::Reject,             DeadLetterOn,  Archiving,    Pending,      Keep),
    row(Acquired,     Settled,      Trigger::Gap,                Always,        Archived,     Pending,      Keep),
    row(Acquired,     Settled,      Trigger::DeliveryLimit,      DeadLetterOff, Archived,     Pending,      Keep),
    row(Acquired,     Settled,      Trigger::DeliveryLimit,      DeadLetterOn,  Archiving,    Pending,      Keep),
    row(Acquired,     Settled,      Trigger::LogStartMove,       Always,        Archived,     Pending,      Keep),
    // Lock time-out: visible at once, written afterwards (`Trigger::shown_before_written`).
    row(Acquired,     Settled,      Trigger::LockTimeout,        Always,        Available,    Settled,      End),
    // The answer to the write.
    row(Available,    Pending,      Trigger::Written,            Always,        Available,    Settled,      End),
    row(Acknowledged, Pending,      Trigger::Written,            Always,        Acknowledged, Settled,      End),
    row(Archiving,    Pending,      Trigger::Written,            Always,        Archiving,    Settled,      End),
    row(Archived,     Pending,      Trigger::Written,            Always,        Archived,     Settled,      End),
    row(Available,    Pending,      Trigger::Refused,            Always,        Acquired,     Settled,      Keep),
    row(Acknowledged, Pending,      Trigger::Refused,            Always,        Acquired,     Settled,      Keep),
    row(Archiving,    Pending,      Trigger::Refused,            Always,        Acquired,     Settled,      Keep),
    row(Archived,     Pending,      Trigger::Refused,            Always,        Acquired,     Settled,      Keep),
    // Records that vanish from the log: in memory only, no write.
    row(Available,    Settled,      Trigger::LogStartMove,       Always,        Archived,     Settled,      Keep),
    row(Available,    Pending,      Trigger::LogStartMove,       Always,        Archived,     PendingFinal, End),
    row(Archived,     PendingFinal, Trigger::Written,            Always,        Archived,     Settled,      Keep),
    row(Archived,     PendingFinal, Trigger::Refused,            Always,        Archived,     Settled,      Keep),
    row(Available,    Settled,      Trigger::Compaction,         Always,        Archived,     Settled,      Keep),
    row(Available,    Pending,      Trigger::Compaction,         Always,        Archived,     PendingFinal, End),
    row(Acquired,     Settled,      Trigger::AbortedTransaction, Always,        Archived,     Settled,      End),
    // Dead-letter queue, second phase.
    row(Archiving,    Settled,      Trigger::DeadLetterDone,     Always,        Archived,     Settled,      Keep),
];

const NONE: u8 = u8::MAX;
type Index = [[[[u8; 2]; Trigger::ALL.len()]; Phase::ALL.len()]; RecordState::ALL.len()];

/// `TABLE` by (state, phase, trigger, dead letter), so that a look-up costs one load.
static INDEX: Index = index();

const fn index() -> Index {
    let mut index = [[[[NONE; 2]; Trigger::ALL.len()]; Phase::ALL.len()]; RecordState::ALL.len()];
    let mut i = 0;
    while i < TABLE.len() {
        let r = TABLE[i];
        let mut dead_letter = 0;
        while dead_letter < 2 {
            if r.when.holds(dead_letter == 1) {
                let cell =
                    &mut index[r.from as usize][r.phase as usize][r.trigger as usize][dead_letter];
                assert!(*cell == NONE, "two rows for one case");
                *cell = i as u8;
            }
            dead_letter += 1;
        }
        i += 1;
    }
    index
}

/// The row for a record in this state and phase, or `None` when the trigger is illegal there.
#[must_use]
pub fn transition(
    from: RecordState,
    phase: Phase,
    trigger: Trigger,
    dead_letter: bool,
) -> Option<&'static Transition> {
    let at = INDEX[from as usize][phase as usize][trigger as usize][usize::from(dead_letter)];
    TABLE.get(usize::from(at))
}

impl Trigger {
    /// Whether the change shows before it is written: nobody waits for a lock time-out, and a record that nobody holds
    /// any more must not wait for the persister (`SharePartition.releaseAcquisitionLockOnTimeout`). Such a change has no
    /// pending phase, whatever its row says, and ends the lock.
    #[must_use]
    pub const fn shown_before_written(self) -> bool {
        matches!(self, Self::LockTimeout)
    }
}
