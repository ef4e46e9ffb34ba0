//! Deadlines in order: one next timer for all locks and all waiting requests.

use std::collections::BTreeMap;

use share_state_core::share_session::ConnectionId;
use share_state_core::time::LockTime;

use super::names::ServedId;

/// Cause of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// The earliest lock of a share partition.
    Locks(ServedId),
    /// The request of a connection has waited for its time.
    Request(ConnectionId),
}

/// Handle of a timer, by which it is taken back.
pub(super) type TimerId = (LockTime, u64);

/// The timers. Invariant: each stands for something alive, since whoever sets one takes it back; two of one moment go off in the
/// order in which they were set.
#[derive(Debug, Default)]
pub(super) struct Timers {
    set: BTreeMap<TimerId, Timer>,
    made: u64,
}

impl Timers {
    pub fn set(&mut self, at: LockTime, timer: Timer) -> TimerId {
        let id = (at, self.made);
        self.made += 1;
        self.set.insert(id, timer);
        id
    }

    pub fn take_back(&mut self, id: TimerId) {
        let was = self.set.remove(&id);
        debug_assert!(was.is_some(), "a timer is taken back once");
    }

    /// The moment of the next timer.
    pub fn next(&self) -> Option<LockTime> {
        self.set.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes the next timer that is due.
    pub fn due(&mut self, now: LockTime) -> Option<Timer> {
        let next = self.set.first_entry()?;
        (next.key().0 <= now).then(|| next.remove())
    }

    pub fn len(&self) -> usize {
        self.set.len()
    }
}
