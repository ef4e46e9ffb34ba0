//! Time: locks that run out, and requests that have waited long enough.

use share_state_core::share_session::ConnectionId;
use share_state_core::time::LockTime;

use super::Node;
use super::names::ServedId;
use super::requests::Work;
use super::timers::Timer;

impl Node {
    /// Does everything that is due.
    pub fn tick(&mut self, now: LockTime) {
        while let Some(timer) = self.timers.due(now) {
            match timer {
                Timer::Locks(served) => self.expire_locks(served, now),
                Timer::Request(connection) => self.expire_request(connection, now),
            }
            // One after the other: what the first gives back may be what the second waits for.
            self.run(now);
        }
    }

    fn expire_locks(&mut self, id: ServedId, now: LockTime) {
        let Some(served) = self.partitions.get_mut(id) else {
            return;
        };
        // It has gone off.
        served.timer = None;
        if served.engine.handle_timeout(now) > 0 {
            self.changed(id);
        } else {
            // The lock that the timer was set for was renewed or given up meanwhile.
            self.noted(id);
        }
    }

    fn expire_request(&mut self, connection: ConnectionId, now: LockTime) {
        let found = self.connections.get_mut(&connection);
        let is_late = |work: &mut Work| matches!(work, Work::Late { .. });
        match found.and_then(|found| found.work.take_if(is_late)) {
            Some(Work::Late { head, code, .. }) => {
                self.refuse_fetch(connection, head, code);
                self.done.push_back(connection);
            }
            _ => self.expire(connection, now),
        }
    }

    /// Carries on after a change of a share partition: what is to be written is, and who may gain is woken.
    pub(super) fn changed(&mut self, id: ServedId) {
        self.noted(id);
        self.wake_later(id);
    }

    /// Carries on after a change of a share partition from which no fetch can gain.
    pub(super) fn noted(&mut self, id: ServedId) {
        let Some(served) = self.partitions.get_mut(id) else {
            return;
        };
        if served.engine.writes_to_poll() > 0 {
            self.mark_dirty(id);
        }
        self.arm(id);
    }

    /// Has the fetches that wait at a share partition try again before the call ends.
    pub(super) fn wake_later(&mut self, id: ServedId) {
        if let Some(served) = self.partitions.get_mut(id)
            && !served.waiting.is_empty()
            && !served.is_woken
        {
            served.is_woken = true;
            self.wakes.push_back(id);
        }
    }

    /// Sees to it that the earliest lock of a share partition is not missed. Its locks mostly have one duration, so the timer that
    /// is set is mostly early enough; it is set again where a later lock is shorter.
    fn arm(&mut self, id: ServedId) {
        let Some(served) = self
            .partitions
            .get_mut(id)
            .filter(|served| served.is_ready())
        else {
            return;
        };
        let Some(deadline) = served.engine.poll_timeout() else {
            return;
        };
        if let Some(set) = served.timer {
            if set.0 <= deadline {
                return;
            }
            self.timers.take_back(set);
        }
        served.timer = Some(self.timers.set(deadline, Timer::Locks(id)));
    }
}
