//! THE TABLE: every legal change of a record, and the look-up in it.

use super::state::{Phase, RecordState};
use super::trigger::Trigger;

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
