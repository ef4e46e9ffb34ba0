//! Locks run out: what is due stands at the heads of the queues.

use super::extents::{gather, merged};
use super::lease::{Lease, Queue};
use super::{Locks, NONE};
use crate::offset::OffsetRange;
use crate::time::LockTime;

impl Locks {
    pub(super) fn earliest(&self) -> Option<LockTime> {
        let heads = self.queues.iter().filter_map(|queue| {
            let lease = self.leases.get(queue.head as usize)?;
            Some(lease.acquired_at.plus(queue.duration_ms))
        });
        heads.min()
    }

    /// The earliest deadline of a lock that has not run out.
    pub const fn next_deadline(&self) -> Option<LockTime> {
        self.next_deadline
    }

    pub(super) fn extent(&self, id: u32, lease: &Lease) -> OffsetRange {
        let mut extent = lease.extent();
        if lease.is_vast()
            && let Some(rest) = self.vast.get(&id)
        {
            extent.last = rest.last;
        }
        extent
    }

    /// Marks what is due as run out and returns its extents.
    pub fn expire(&mut self, now: LockTime) -> Vec<OffsetRange> {
        let mut extents = Vec::new();
        for number in 0..self.queues.len() {
            let Queue {
                duration_ms,
                mut head,
                ..
            } = self.queues[number];
            while let Some(&lease) = self.leases.get(head as usize) {
                if lease.acquired_at.plus(duration_ms) > now {
                    break;
                }
                self.leases[head as usize].expire();
                if lease.live > 0 || lease.is_vast() {
                    gather(&mut extents, self.extent(head, &lease));
                } else {
                    self.free(head);
                }
                head = lease.due.next;
            }
            let queue = &mut self.queues[number];
            queue.head = head;
            match self.leases.get_mut(head as usize) {
                Some(first) => first.due.prev = NONE,
                None => queue.tail = NONE,
            }
        }
        self.next_deadline = self.earliest();
        merged(extents)
    }
}
