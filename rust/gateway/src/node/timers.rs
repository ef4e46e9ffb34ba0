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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_go_off_in_their_order_and_those_of_one_moment_as_they_were_set() {
        let mut timers = Timers::default();
        assert_eq!(timers.next(), None);
        for (at, connection) in [(30, 0), (10, 1), (20, 2), (20, 3), (21, 4)] {
            timers.set(LockTime(at), Timer::Request(connection));
        }
        assert_eq!(timers.next(), Some(LockTime(10)));
        let due: Vec<_> = std::iter::from_fn(|| timers.due(LockTime(20))).collect();
        assert_eq!(due, [1, 2, 3].map(Timer::Request));
        assert_eq!(timers.next(), Some(LockTime(21)));
        assert_eq!(timers.due(LockTime(20)), None);
    }

    #[test]
    fn a_timer_that_was_taken_back_does_not_go_off_and_no_other_goes_with_it() {
        let mut timers = Timers::default();
        let [_, second] = [5, 6].map(|of| timers.set(LockTime(10), Timer::Request(of)));
        timers.take_back(second);
        assert_eq!((timers.len(), timers.next()), (1, Some(LockTime(10))));
        assert_eq!(timers.due(LockTime(99)), Some(Timer::Request(5)));
        assert_eq!(timers.next(), None);
    }
}
