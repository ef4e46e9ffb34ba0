//! The acquisition locks of a store: one *lease* an acquisition, however many records it covers.
//!
//! A lease counts the records that refer to it and is freed when the last one leaves. Leases of one duration form a queue
//! in the order they were made; as the clock never goes back, that is the order of their deadlines, so that a due lock is
//! always at the head of a queue. Leases of one member form a list. All links are indices into one slab, and no
//! operation on one lease looks at another one that is not its neighbour.

mod check;
mod due;
mod extents;
mod lease;

use std::collections::BTreeMap;

use extents::{gather, merged};
use lease::{FREE, Lease, Queue, VAST, Vast};

use super::{Lock, LockId, MemberIndex};
use crate::offset::OffsetRange;
use crate::time::LockTime;

/// No lease, no lock.
pub(in crate::in_flight) const NONE: u32 = u32::MAX;
/// Slots that are kept when no lease is left.
const KEPT: usize = 64;

/// The neighbours in a doubly linked list.
#[derive(Clone, Copy, Debug)]
struct Links {
    prev: u32,
    next: u32,
}

/// The locks of one store.
#[derive(Clone, Debug)]
pub(in crate::in_flight) struct Locks {
    leases: Vec<Lease>,
    free: u32,
    used: u32,
    /// The earliest deadline of a queue.
    next_deadline: Option<LockTime>,
    /// One that no lease refers to is used again, so there are as many as durations were in force at once: mostly one.
    queues: Vec<Queue>,
    /// The newest lease of each member, by its number.
    newest: Vec<u32>,
    /// The rest of leases too long for 32 bits; there are hardly ever any.
    vast: BTreeMap<u32, Vast>,
}

impl Default for Locks {
    fn default() -> Self {
        Self {
            leases: Vec::new(),
            free: NONE,
            used: 0,
            next_deadline: None,
            queues: Vec::new(),
            newest: Vec::new(),
            vast: BTreeMap::new(),
        }
    }
}

/// Lets a list grow by an eighth, since doubling could leave half of it empty.
fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / 8).max(4));
    }
}

impl Locks {
    /// Makes a lease. No record refers to it yet. `now` never goes back.
    pub fn make(
        &mut self,
        extent: OffsetRange,
        member: MemberIndex,
        now: LockTime,
        duration_ms: i64,
    ) -> LockId {
        let number = self.queue(duration_ms);
        let newest = self.newest.get(member.0 as usize).copied().unwrap_or(NONE);
        let queue = &mut self.queues[number];
        let tail = queue.tail;
        queue.leases += 1;
        let len = u32::try_from(extent.len()).unwrap_or(VAST);
        let id = self.slot(Lease {
            acquired_at: now,
            first: extent.first,
            len,
            live: 0,
            queue: number as u32,
            member: member.0,
            due: Links {
                prev: tail,
                next: NONE,
            },
            held: Links {
                prev: NONE,
                next: newest,
            },
        });
        if len == VAST {
            let rest = Vast {
                last: extent.last,
                live: 0,
            };
            self.vast.insert(id, rest);
        }
        let queue = &mut self.queues[number];
        queue.tail = id;
        match self.leases.get_mut(tail as usize) {
            Some(last) => last.due.next = id,
            None => {
                queue.head = id;
                let deadline = now.plus(duration_ms);
                let earliest = self
                    .next_deadline
                    .map_or(deadline, |next| next.min(deadline));
                self.next_deadline = Some(earliest);
            }
        }
        if let Some(older) = self.leases.get_mut(newest as usize) {
            older.held.prev = id;
        }
        self.note_newest(member.0, id);
        LockId(id)
    }

    fn note_newest(&mut self, member: u32, id: u32) {
        let member = member as usize;
        if member >= self.newest.len() {
            self.newest.reserve_exact(member + 1 - self.newest.len());
            self.newest.resize(member + 1, NONE);
        }
        self.newest[member] = id;
    }

    /// The number of the queue of a duration, perhaps one that was emptied.
    fn queue(&mut self, duration_ms: i64) -> usize {
        let mut queues = self.queues.iter();
        if let Some(same) = queues.position(|queue| queue.duration_ms == duration_ms) {
            return same;
        }
        let queue = Queue::of(duration_ms);
        if let Some(unused) = self.queues.iter().position(|queue| queue.leases == 0) {
            self.queues[unused] = queue;
            return unused;
        }
        self.queues.reserve_exact(1);
        self.queues.push(queue);
        self.queues.len() - 1
    }

    /// Puts the lease into a free slot.
    fn slot(&mut self, lease: Lease) -> u32 {
        self.used += 1;
        let id = self.free;
        if let Some(slot) = self.leases.get_mut(id as usize) {
            self.free = slot.due.next;
            *slot = lease;
            return id;
        }
        make_room(&mut self.leases);
        self.leases.push(lease);
        (self.leases.len() - 1) as u32
    }

    /// The lock as it is reported.
    pub fn get(&self, id: u32) -> Option<Lock> {
        let lease = self.leases.get(id as usize)?;
        let queue = self.queues.get(lease.queue())?;
        Some(Lock {
            member: MemberIndex(lease.member),
            acquired_at: lease.acquired_at,
            deadline: lease.acquired_at.plus(queue.duration_ms),
            expired: lease.is_expired(),
        })
    }

    /// The lease of a lock that has not run out; [`NONE`] for any other.
    pub fn running(&self, lock: LockId) -> u32 {
        let lease = self.leases.get(lock.0 as usize);
        lease
            .filter(|lease| lease.is_running())
            .map_or(NONE, |_| lock.0)
    }

    /// `records` more refer to the lease.
    pub fn enter(&mut self, id: u32, records: u64) {
        let Some(lease) = self.leases.get_mut(id as usize) else {
            return;
        };
        if lease.is_vast() {
            if let Some(rest) = self.vast.get_mut(&id) {
                rest.live = rest.live.saturating_add(records);
            }
        } else {
            // Not more than the extent, which fits.
            lease.live += records as u32;
        }
    }

    /// `records` fewer refer to the lease; the last to leave frees it.
    pub fn leave(&mut self, id: u32, records: u64) {
        let Some(lease) = self.leases.get_mut(id as usize) else {
            return;
        };
        let empty = if lease.is_vast() {
            let rest = self.vast.get_mut(&id);
            rest.is_none_or(|rest| {
                rest.live = rest.live.saturating_sub(records);
                rest.live == 0
            })
        } else {
            lease.live = lease.live.wrapping_sub(records as u32);
            lease.live == 0
        };
        if empty {
            self.free(id);
        }
    }

    fn free(&mut self, id: u32) {
        let Lease {
            held, member, due, ..
        } = self.leases[id as usize];
        let lease = self.leases[id as usize];
        let queue = &mut self.queues[lease.queue()];
        queue.leases -= 1;
        if lease.is_running() {
            match self.leases.get_mut(due.next as usize) {
                Some(next) => next.due.prev = due.prev,
                None => queue.tail = due.prev,
            }
            match self.leases.get_mut(due.prev as usize) {
                Some(prev) => prev.due.next = due.next,
                None => {
                    queue.head = due.next;
                    self.next_deadline = self.earliest();
                }
            }
        }
        if let Some(next) = self.leases.get_mut(held.next as usize) {
            next.held.prev = held.prev;
        }
        match self.leases.get_mut(held.prev as usize) {
            Some(prev) => prev.held.next = held.next,
            None => self.note_newest(member, held.next),
        }
        if lease.is_vast() {
            self.vast.remove(&id);
        }
        self.used -= 1;
        if self.used == 0 {
            self.leases.clear();
            self.leases.shrink_to(KEPT);
            self.free = NONE;
        } else {
            let slot = &mut self.leases[id as usize];
            slot.queue = FREE;
            slot.due.next = self.free;
            self.free = id;
        }
    }

    /// The extents of the member's leases.
    pub fn held_by(&self, member: MemberIndex) -> Vec<OffsetRange> {
        let mut extents = Vec::new();
        let mut next = self.newest.get(member.0 as usize).copied().unwrap_or(NONE);
        while let Some(lease) = self.leases.get(next as usize) {
            gather(&mut extents, self.extent(next, lease));
            next = lease.held.next;
        }
        merged(extents)
    }

    /// Bytes on the heap; those of the map of vast leases are an estimate.
    pub fn heap_bytes(&self) -> usize {
        self.leases.capacity() * size_of::<Lease>()
            + self.queues.capacity() * size_of::<Queue>()
            + self.newest.capacity() * size_of::<u32>()
            + self.vast.len() * 2 * size_of::<(u32, Vast)>()
    }
}
