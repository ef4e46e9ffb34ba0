//! The acquisition locks of a store: one *lease* an acquisition, however many records it covers.
//!
//! A lease counts the records that refer to it and is freed when the last one leaves. Leases of one duration form a queue
//! in the order they were made; as the clock never goes back, that is the order of their deadlines, so that a due lock is
//! always at the head of a queue. Leases of one member form a list. All links are indices into one slab, and no
//! operation on one lease looks at another one that is not its neighbour.

mod check;
mod extents;

use std::collections::BTreeMap;

use extents::{gather, merged};

use super::{Lock, LockId, MemberIndex};
use crate::offset::OffsetRange;
use crate::time::LockTime;

/// No lease, no lock.
pub(in crate::in_flight) const NONE: u32 = u32::MAX;
/// In place of a queue: the lock was reported as run out.
const EXPIRED: u32 = u32::MAX;
/// In place of a queue: the slot is free, and `due.next` is the next free one.
const FREE: u32 = u32::MAX - 1;
/// Slots that are kept when no lease is left.
const KEPT: usize = 64;

/// The neighbours in a doubly linked list.
#[derive(Clone, Copy, Debug)]
struct Links {
    prev: u32,
    next: u32,
}

const UNLINKED: Links = Links {
    prev: NONE,
    next: NONE,
};

#[derive(Clone, Copy, Debug)]
struct Lease {
    deadline: LockTime,
    acquired_at: LockTime,
    extent: OffsetRange,
    /// Records that refer to it.
    live: u64,
    member: MemberIndex,
    queue: u32,
    due: Links,
    held: Links,
}

const _: () = assert!(size_of::<Lease>() == 64, "a lease fills one cache line");

impl Lease {
    const fn is_queued(&self) -> bool {
        self.queue < FREE
    }
}

/// The leases of one duration, the first due at the head.
#[derive(Clone, Copy, Debug)]
struct Queue {
    duration_ms: i64,
    head: u32,
    tail: u32,
}

/// The locks of one store.
#[derive(Clone, Debug)]
pub(in crate::in_flight) struct Locks {
    leases: Vec<Lease>,
    free: u32,
    used: usize,
    /// Empty ones are used again, so there are as many as durations were in force at once: hardly more than one.
    queues: Vec<Queue>,
    /// The newest lease of each member that has any.
    newest: BTreeMap<MemberIndex, u32>,
    /// The latest time seen.
    clock: LockTime,
}

impl Default for Locks {
    fn default() -> Self {
        Self {
            leases: Vec::new(),
            free: NONE,
            used: 0,
            queues: Vec::new(),
            newest: BTreeMap::new(),
            clock: LockTime(i64::MIN),
        }
    }
}

impl Locks {
    /// Makes a lease. No record refers to it yet.
    pub fn make(
        &mut self,
        extent: OffsetRange,
        member: MemberIndex,
        now: LockTime,
        duration_ms: i64,
    ) -> LockId {
        self.clock = self.clock.max(now);
        let queue = self.queue(duration_ms);
        let tail = self.queues[queue as usize].tail;
        let id = self.slot(Lease {
            deadline: self.clock.plus(duration_ms),
            acquired_at: self.clock,
            extent,
            live: 0,
            member,
            queue,
            due: Links {
                prev: tail,
                next: NONE,
            },
            held: UNLINKED,
        });
        match self.leases.get_mut(tail as usize) {
            Some(last) => last.due.next = id,
            None => self.queues[queue as usize].head = id,
        }
        self.queues[queue as usize].tail = id;
        if let Some(older) = self.newest.insert(member, id) {
            self.leases[older as usize].held.prev = id;
            self.leases[id as usize].held.next = older;
        }
        LockId(id)
    }

    /// The queue of a duration, perhaps one that was emptied.
    fn queue(&mut self, duration_ms: i64) -> u32 {
        let same = self
            .queues
            .iter()
            .position(|queue| queue.duration_ms == duration_ms);
        let empty = || self.queues.iter().position(|queue| queue.head == NONE);
        let queue = Queue {
            duration_ms,
            head: NONE,
            tail: NONE,
        };
        let at = same.or_else(empty).unwrap_or(self.queues.len());
        match self.queues.get_mut(at) {
            Some(old) if old.duration_ms == duration_ms => {}
            Some(old) => *old = queue,
            None => self.queues.push(queue),
        }
        at as u32
    }

    /// Puts the lease into a free slot. The slab grows by an eighth, since doubling could leave half of it empty.
    fn slot(&mut self, lease: Lease) -> u32 {
        self.used += 1;
        let id = self.free;
        if let Some(slot) = self.leases.get_mut(id as usize) {
            self.free = slot.due.next;
            *slot = lease;
            return id;
        }
        if self.leases.len() == self.leases.capacity() {
            self.leases.reserve_exact((self.leases.len() / 8).max(4));
        }
        self.leases.push(lease);
        (self.leases.len() - 1) as u32
    }

    /// The lock as it is reported.
    pub fn get(&self, id: u32) -> Option<Lock> {
        let lease = self.leases.get(id as usize)?;
        Some(Lock {
            member: lease.member,
            acquired_at: lease.acquired_at,
            deadline: lease.deadline,
            expired: lease.queue == EXPIRED,
        })
    }

    /// The lease of a lock that has not run out; [`NONE`] for any other.
    pub fn running(&self, lock: LockId) -> u32 {
        let lease = self.leases.get(lock.0 as usize);
        lease
            .filter(|lease| lease.is_queued())
            .map_or(NONE, |_| lock.0)
    }

    /// `records` more refer to the lease.
    pub fn enter(&mut self, id: u32, records: u64) {
        if let Some(lease) = self.leases.get_mut(id as usize) {
            lease.live = lease.live.saturating_add(records);
        }
    }

    /// `records` fewer refer to the lease; the last to leave frees it.
    pub fn leave(&mut self, id: u32, records: u64) {
        if let Some(lease) = self.leases.get_mut(id as usize) {
            lease.live = lease.live.saturating_sub(records);
            if lease.live == 0 {
                self.free(id);
            }
        }
    }

    fn free(&mut self, id: u32) {
        self.dequeue(id, FREE);
        let Lease { held, member, .. } = self.leases[id as usize];
        if let Some(next) = self.leases.get_mut(held.next as usize) {
            next.held.prev = held.prev;
        }
        match self.leases.get_mut(held.prev as usize) {
            Some(prev) => prev.held.next = held.next,
            None if held.next == NONE => {
                self.newest.remove(&member);
            }
            None => {
                self.newest.insert(member, held.next);
            }
        }
        self.leases[id as usize].due.next = self.free;
        self.free = id;
        self.used -= 1;
        if self.used == 0 {
            self.leases.clear();
            self.leases.shrink_to(KEPT);
            self.free = NONE;
        }
    }

    /// Takes the lease out of its queue, if it is in one, and notes why.
    fn dequeue(&mut self, id: u32, why: u32) {
        let lease = &mut self.leases[id as usize];
        let (queue, due) = (lease.queue, lease.due);
        lease.queue = why;
        lease.due = UNLINKED;
        let Some(queue) = self.queues.get_mut(queue as usize) else {
            return;
        };
        match self.leases.get_mut(due.prev as usize) {
            Some(prev) => prev.due.next = due.next,
            None => queue.head = due.next,
        }
        match self.leases.get_mut(due.next as usize) {
            Some(next) => next.due.prev = due.prev,
            None => queue.tail = due.prev,
        }
    }

    /// The earliest deadline of a lock that has not run out.
    pub fn next_deadline(&self) -> Option<LockTime> {
        let heads = self
            .queues
            .iter()
            .filter_map(|queue| self.leases.get(queue.head as usize));
        heads.map(|lease| lease.deadline).min()
    }

    /// Marks what is due as run out and returns its extents.
    pub fn expire(&mut self, now: LockTime) -> Vec<OffsetRange> {
        self.clock = self.clock.max(now);
        let mut extents = Vec::new();
        for queue in 0..self.queues.len() {
            loop {
                let id = self.queues[queue].head;
                let Some(lease) = self.leases.get(id as usize) else {
                    break;
                };
                if lease.deadline > self.clock {
                    break;
                }
                if lease.live == 0 {
                    self.free(id);
                } else {
                    gather(&mut extents, lease.extent);
                    self.dequeue(id, EXPIRED);
                }
            }
        }
        merged(extents)
    }

    /// The extents of the member's leases.
    pub fn held_by(&self, member: MemberIndex) -> Vec<OffsetRange> {
        let mut extents = Vec::new();
        let mut next = self.newest.get(&member).copied().unwrap_or(NONE);
        while let Some(lease) = self.leases.get(next as usize) {
            gather(&mut extents, lease.extent);
            next = lease.held.next;
        }
        merged(extents)
    }

    /// Bytes on the heap; those of the map by member are an estimate.
    pub fn heap_bytes(&self) -> usize {
        self.leases.capacity() * size_of::<Lease>()
            + self.queues.capacity() * size_of::<Queue>()
            + self.newest.len() * 2 * size_of::<(MemberIndex, u32)>()
    }
}
