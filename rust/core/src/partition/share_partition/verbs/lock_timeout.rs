//! Acquisition locks run out (`SharePartition.releaseAcquisitionLockOnTimeout`, `AcquisitionLockTimerTask`).
//!
//! A lock has run out when `now >= deadline`. However many locks are due, they yield one coalesced change. A configuration can bound
//! how many run out in one call ([`max_lock_timeouts_per_call`]); the others hold until a later one, as in Kafka, where a timer ends
//! one lock after the other.
//!
//! [`max_lock_timeouts_per_call`]: crate::limits::ShareGroupConfig::max_lock_timeouts_per_call
//!
//! Steps:
//! 1. the store marks the locks that are due, some thousand at a time, and names ranges that cover their records;
//! 2. each record is given back at once, or archived, or given up; one whose write is under way is left to its answer;
//! 3. one write for all of them is queued. Nobody waits for it, and its refusal undoes nothing.

use crate::partition::in_flight::{Holder, InFlightStore};
use crate::partition::record_state::Trigger;
use crate::partition::share_partition::SharePartition;
use crate::partition::share_partition::change::changes::Changes;
use crate::partition::share_partition::change::pending_writes::WriteKind;
use crate::time::LockTime;

/// Locks that run out in one go: what a near cache still holds when their records change.
const AT_ONCE: u32 = 4_096;

impl<S: InFlightStore> SharePartition<S> {
    /// Time at which [`SharePartition::handle_timeout`] has something to do next. A time that has passed means: at once.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<LockTime> {
        self.store.next_deadline()
    }

    /// Lets the locks run out that are due, or as many as the configuration allows in one call. Returns the number of records that
    /// were given back, archived or given up.
    pub fn handle_timeout(&mut self, now: LockTime) -> u64 {
        self.observe(now)
    }

    /// Takes note of the time: what is due now has run out before anything else happens, as far as the configuration allows.
    #[inline]
    pub(in crate::partition::share_partition) fn observe(&mut self, now: LockTime) -> u64 {
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
        let mut left = self.config.max_lock_timeouts_per_call;
        while left > 0 && self.is_due() {
            let most = left.min(AT_ONCE);
            left -= most;
            let ranges = self.store.expire(self.now, most);
            let ranges = ranges.iter().copied();
            self.pull(ranges, Holder::RunOut, Trigger::LockTimeout, &mut changes);
        }
        let changes = changes.in_order();
        self.count(&changes);
        self.count_stable(&changes);
        let records = changes.records;
        self.activity.make().tally.rest.make().lock_timeouts += records;
        self.queue_write(changes, WriteKind::Noted);
        records
    }
}
