//! THE TABLE: every legal change of a record, and the look-up in it.

use super::Phase;
use super::circumstance::{Circumstance, When};
use super::trigger::Trigger;
use crate::delivery::RecordState;

/// Effect of a row on the acquisition lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockRule {
    /// The member takes a new lock; the delivery count rises by one with [`Trigger::Acquire`] only.
    Take,
    /// The lock, if there is one, stays and keeps running.
    Keep,
    /// The lock, if there is one, ends.
    End,
}

/// Row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// State before.
    pub from: RecordState,
    /// Phase before.
    pub phase: Phase,
    /// Trigger of the transition.
    pub trigger: Trigger,
    /// Applies to a record below the start offset, to any other, or to both.
    pub below_start_offset: When,
    /// Applies to a record that was delivered as often as allowed, to any other, or to both.
    pub attempts_over: When,
    /// Applies to a group with a dead-letter queue, to any other, or to both.
    pub dead_letter_queue: When,
    /// State after. A write under way is for this state: once it is confirmed, the record stays in it, without a lock.
    pub to: RecordState,
    /// Phase after: [`Phase::Pending`] until the write is answered, for a trigger that a member waits for.
    pub to_phase: Phase,
    /// Effect on the lock.
    pub lock: LockRule,
}

impl Transition {
    /// Returns `true` if the row applies in this circumstance.
    #[must_use]
    pub const fn applies(&self, circumstance: Circumstance) -> bool {
        self.below_start_offset
            .applies(circumstance.below_start_offset)
            && self.attempts_over.applies(circumstance.attempts_over)
            && self
                .dead_letter_queue
                .applies(circumstance.dead_letter_queue)
    }

    /// Returns `true` if the record would have become available again, had it not been delivered as often as allowed.
    #[must_use]
    pub const fn reaches_delivery_limit(&self) -> bool {
        matches!(self.attempts_over, When::Yes)
    }
}

const fn row(
    (from, phase): (RecordState, Phase),
    trigger: Trigger,
    [below_start_offset, attempts_over, dead_letter_queue]: [When; 3],
    (to, to_phase): (RecordState, Phase),
    lock: LockRule,
) -> Transition {
    Transition {
        from,
        phase,
        trigger,
        below_start_offset,
        attempts_over,
        dead_letter_queue,
        to,
        to_phase,
        lock,
    }
}

use LockRule::{End, Keep, Take};
use Phase::{Pending, PendingFinal, Stable};
use RecordState::{Acknowledged, Acquired, Archived, Archiving, Available};
use Trigger as T;
use When::{Any, No, Yes};

/// Every legal change of a record. What is not here cannot happen.
///
/// The three columns after the trigger are the circumstances: below the start offset, attempts over, dead-letter queue.
/// A record that would become available is archived below the start offset, and given up when its attempts are over
/// (`SharePartition.releaseAcquiredRecords`, `InFlightState.tryUpdateState`).
#[rustfmt::skip]
pub const TABLE: &[Transition] = &[
    // Delivery.
    row((Available,    Stable),       T::Acquire,            [Any, Any, Any], (Acquired,     Stable),       Take),
    row((Acquired,     Stable),       T::Renew,              [Any, Any, Any], (Acquired,     Stable),       Take),
    // Acknowledgement: the member is answered after the write. What lies below the start offset is ignored before it comes here.
    row((Acquired,     Stable),       T::Accept,             [Any, Any, Any], (Acknowledged, Pending),      Keep),
    row((Acquired,     Stable),       T::Release,            [Any, No,  Any], (Available,    Pending),      Keep),
    row((Acquired,     Stable),       T::Release,            [Any, Yes, No ], (Archived,     Pending),      Keep),
    row((Acquired,     Stable),       T::Release,            [Any, Yes, Yes], (Archiving,    Pending),      Keep),
    row((Acquired,     Stable),       T::Reject,             [Any, Any, No ], (Archived,     Pending),      Keep),
    row((Acquired,     Stable),       T::Reject,             [Any, Any, Yes], (Archiving,    Pending),      Keep),
    row((Acquired,     Stable),       T::Gap,                [Any, Any, Any], (Archived,     Pending),      Keep),
    // Release by the end of a share session: confirmed by its write too.
    row((Acquired,     Stable),       T::SessionRelease,     [Yes, Any, Any], (Archived,     Pending),      Keep),
    row((Acquired,     Stable),       T::SessionRelease,     [No,  No,  Any], (Available,    Pending),      Keep),
    row((Acquired,     Stable),       T::SessionRelease,     [No,  Yes, No ], (Archived,     Pending),      Keep),
    row((Acquired,     Stable),       T::SessionRelease,     [No,  Yes, Yes], (Archiving,    Pending),      Keep),
    // Lock time-out: nobody waits for it, so it shows at once and is written afterwards.
    row((Acquired,     Stable),       T::LockTimeout,        [Yes, Any, Any], (Archived,     Stable),       End),
    row((Acquired,     Stable),       T::LockTimeout,        [No,  No,  Any], (Available,    Stable),       End),
    row((Acquired,     Stable),       T::LockTimeout,        [No,  Yes, No ], (Archived,     Stable),       End),
    row((Acquired,     Stable),       T::LockTimeout,        [No,  Yes, Yes], (Archiving,    Stable),       End),
    // The answer to the write.
    row((Available,    Pending),      T::Written,            [Any, Any, Any], (Available,    Stable),       End),
    row((Acknowledged, Pending),      T::Written,            [Any, Any, Any], (Acknowledged, Stable),       End),
    row((Archiving,    Pending),      T::Written,            [Any, Any, Any], (Archiving,    Stable),       End),
    row((Archived,     Pending),      T::Written,            [Any, Any, Any], (Archived,     Stable),       End),
    row((Available,    Pending),      T::Refused,            [Any, Any, Any], (Acquired,     Stable),       Keep),
    row((Acknowledged, Pending),      T::Refused,            [Any, Any, Any], (Acquired,     Stable),       Keep),
    row((Archiving,    Pending),      T::Refused,            [Any, Any, Any], (Acquired,     Stable),       Keep),
    row((Archived,     Pending),      T::Refused,            [Any, Any, Any], (Acquired,     Stable),       Keep),
    // Records that vanish from the log: in memory only, no write.
    row((Available,    Stable),       T::LogStartMove,       [Any, Any, Any], (Archived,     Stable),       Keep),
    row((Available,    Pending),      T::LogStartMove,       [Any, Any, Any], (Archived,     PendingFinal), End),
    row((Archived,     PendingFinal), T::Written,            [Any, Any, Any], (Archived,     Stable),       Keep),
    row((Archived,     PendingFinal), T::Refused,            [Any, Any, Any], (Archived,     Stable),       Keep),
    row((Available,    Stable),       T::Compaction,         [Any, Any, Any], (Archived,     Stable),       Keep),
    row((Available,    Pending),      T::Compaction,         [Any, Any, Any], (Archived,     PendingFinal), End),
    row((Acquired,     Stable),       T::AbortedTransaction, [Any, Any, Any], (Archived,     Stable),       End),
    // Dead-letter queue, second phase.
    row((Archiving,    Stable),       T::DeadLetterDone,     [Any, Any, Any], (Archived,     Stable),       Keep),
];

const NONE: u8 = u8::MAX;
type ByCircumstance = [u8; Circumstance::ALL.len()];
type Index = [[[ByCircumstance; Trigger::ALL.len()]; Phase::ALL.len()]; RecordState::ALL.len()];

/// `TABLE` by (state, phase, trigger, circumstance), so that a look-up costs one load.
static INDEX: Index = index();

const fn index() -> Index {
    let nowhere = [NONE; Circumstance::ALL.len()];
    let mut index = [[[nowhere; Trigger::ALL.len()]; Phase::ALL.len()]; RecordState::ALL.len()];
    let mut i = 0;
    while i < TABLE.len() {
        let r = TABLE[i];
        let mut c = 0;
        while c < Circumstance::ALL.len() {
            if r.applies(Circumstance::ALL[c]) {
                let cell = &mut index[r.from as usize][r.phase as usize][r.trigger as usize][c];
                assert!(*cell == NONE, "two rows for one case");
                *cell = i as u8;
            }
            c += 1;
        }
        i += 1;
    }
    index
}

/// Returns the row for a record in this state and phase, or `None` when the trigger changes nothing there.
#[inline]
#[must_use]
pub fn decide(
    from: RecordState,
    phase: Phase,
    trigger: Trigger,
    circumstance: Circumstance,
) -> Option<&'static Transition> {
    let by_circumstance = &INDEX[from as usize][phase as usize][trigger as usize];
    TABLE.get(usize::from(by_circumstance[circumstance.index()]))
}
