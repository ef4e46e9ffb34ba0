//! Acquisition locks run out (`SharePartition.releaseAcquisitionLockOnTimeout`, `AcquisitionLockTimerTask`).
//!
//! A lock has run out when `now >= deadline`. However many locks are due, they yield one coalesced change.
//!
//! Steps:
//! 1. the store marks the locks that are due, some thousand at a time, and names ranges that cover their records;
//! 2. each record is given back at once, or archived, or given up; one whose write is under way is left to its answer;
//! 3. one write for all of them is queued. Nobody waits for it, and its refusal undoes nothing.

use crate::in_flight::{Holder, InFlightStore};
use crate::record_state::Trigger;
use crate::share_partition::SharePartition;
use crate::share_partition::change::changes::Changes;
use crate::share_partition::change::pending_writes::WriteKind;
use crate::time::LockTime;

impl<S: InFlightStore> SharePartition<S> {
    /// When [`SharePartition::handle_timeout`] has something to do next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<LockTime> {
        self.store.next_deadline()
    }

    /// Lets the locks run out that are due. Returns the number of records that were given back, archived or given up.
    pub fn handle_timeout(&mut self, now: LockTime) -> u64 {
        self.observe(now)
    }

    /// Takes note of the time: what is due now has run out before anything else happens.
    #[inline]
    pub(in crate::share_partition) fn observe(&mut self, now: LockTime) -> u64 {
        self.now = self.now.max(now);
        if self.is_due() {
            self.let_locks_run_out()
        } else {
            0
        }
    }

    #[inline]
    fn is_due(&self) -> bool {
        let deadline = self.store.next_deadline();
        deadline.is_some_and(|deadline| deadline <= self.now)
    }

    #[cold]
    fn let_locks_run_out(&mut self) -> u64 {
        let mut changes = Changes::default();
        // A record whose write is under way keeps its change: its lock counts again only if the write is refused.
        while self.is_due() {
            let ranges = self.store.expire(self.now);
            let ranges = ranges.iter().copied();
            self.pull(ranges, Holder::RunOut, Trigger::LockTimeout, &mut changes);
        }
        let changes = changes.in_order();
        self.count(&changes);
        self.count_settled(&changes);
        let records = changes.records;
        self.activity.make().tally.rest.make().lock_timeouts += records;
        self.queue_write(changes, WriteKind::Noted);
        records
    }
}
