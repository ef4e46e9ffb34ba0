//! Locks run out: what is due stands at the heads of the queues.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::extents::Extents;
use super::lease::{Lease, Queue};
use super::{Locks, NONE};
use crate::offset::OffsetRange;
use crate::time::LockTime;

/// Deadline of the first lease of a queue, when it was taken, and the number of the queue. Leases of one time and one deadline stand
/// in one queue, in the order in which they were taken.
type Head = (LockTime, LockTime, u32);

impl Locks {
    #[inline]
    pub(super) fn earliest(&self) -> Option<LockTime> {
        let first = self.first_deadline(&self.queue);
        if self
            .extended
            .as_ref()
            .is_none_or(|extended| extended.queues.is_empty())
        {
            return first;
        }
        let others = self.other_queues();
        let others = others.filter_map(|(_, queue)| self.first_deadline(queue));
        others.chain(first).min()
    }

    fn first_deadline(&self, queue: &Queue) -> Option<LockTime> {
        let lease = self.leases.get(queue.head as usize)?;
        Some(lease.acquired_at.plus(queue.duration_ms))
    }

    /// The earliest deadline of a lock that has not run out.
    pub const fn next_deadline(&self) -> Option<LockTime> {
        self.next_deadline
    }

    pub(super) fn extent(&self, id: u32, lease: &Lease) -> OffsetRange {
        let mut extent = lease.extent();
        if lease.is_vast()
            && let Some(rest) = self.vast(id)
        {
            extent.last = rest.last;
        }
        extent
    }

    /// Marks what is due as run out, `most` leases at most, the earliest first, and returns its extents. If more are due, the next
    /// deadline says so.
    pub fn expire(&mut self, now: LockTime, most: u32) -> Vec<OffsetRange> {
        let mut extents = Extents::default();
        let others: Vec<u32> = self.other_queues().map(|(number, _)| number).collect();
        if others.is_empty() {
            self.expire_queue(self.number, now, most, &mut extents);
        } else {
            self.expire_in_order(&others, now, most, &mut extents);
        }
        self.next_deadline = self.earliest();
        extents.merged()
    }

    /// Ends the lease that is due first among several queues, again and again.
    #[cold]
    fn expire_in_order(&mut self, others: &[u32], now: LockTime, most: u32, extents: &mut Extents) {
        let numbers = others.iter().copied().chain([self.number]);
        let mut heads: BinaryHeap<Reverse<Head>> = numbers
            .filter_map(|number| self.head(number))
            .map(Reverse)
            .collect();
        for _ in 0..most {
            let Some(Reverse((deadline, _, number))) = heads.pop() else {
                break;
            };
            if deadline > now {
                break;
            }
            self.expire_queue(number, now, 1, extents);
            heads.extend(self.head(number).map(Reverse));
        }
    }

    fn head(&mut self, number: u32) -> Option<Head> {
        let queue = *self.queue_mut(number);
        let acquired_at = self.leases.get(queue.head as usize)?.acquired_at;
        Some((acquired_at.plus(queue.duration_ms), acquired_at, number))
    }

    fn expire_queue(&mut self, number: u32, now: LockTime, most: u32, extents: &mut Extents) {
        let Queue {
            duration_ms,
            mut head,
            ..
        } = *self.queue_mut(number);
        let mut left = most;
        while let Some(lease) = self.leases.get_mut(head as usize) {
            if left == 0 || lease.acquired_at.plus(duration_ms) > now {
                break;
            }
            left -= 1;
            debug_assert!(
                lease.queue == number,
                "a lease stands in its queue until it runs out: {lease:?}"
            );
            lease.expire();
            let (next, id) = (lease.due.next, head);
            head = next;
            if lease.is_vast() {
                let lease = *lease;
                extents.add(self.extent(id, &lease));
            } else if lease.live > 0 {
                extents.add(lease.extent());
            } else {
                self.free(id);
            }
        }
        let queue = self.queue_mut(number);
        queue.head = head;
        if head == NONE {
            queue.tail = NONE;
        }
        if let Some(first) = self.leases.get_mut(head as usize) {
            first.due.prev = NONE;
        }
    }
}
