//! The acquisition locks of a store: one *lease* an acquisition, however many records it covers.
//!
//! A lease counts the records that refer to it and is freed when the last one leaves. Leases of one duration form a queue
//! in the order they were made; as the clock never goes back, that is the order of their deadlines, so that a due lock is
//! always at the head of a queue. Links are indices into one slab, and no operation on one lease looks at another one that
//! is not its neighbour. What few share partitions have (many leases at once, several durations, vast leases) is kept apart,
//! so that the others neither carry nor ask for it.

mod check;
mod due;
mod emptied;
mod extended;
mod extents;
mod lease;
mod leases;
mod members;

pub(in crate::partition::in_flight) use emptied::Emptied;
use extended::Extended;
use extents::Extents;
pub(in crate::partition::in_flight) use lease::NewLease;
use lease::{Lease, Links, Queue};

pub(in crate::partition::in_flight) use leases::Leases;

use super::MemberIndex;
use crate::offset::OffsetRange;
use crate::time::LockTime;

/// No lease, no lock.
pub(in crate::partition::in_flight) const NONE: u32 = u32::MAX;
/// Slots that are kept when no lease is left.
const KEPT: usize = 64;
/// Number of leases up to which those of a member are searched for one by one.
const FEW: u32 = 64;

/// The locks of one store.
#[derive(Clone, Debug)]
pub(in crate::partition::in_flight) struct Locks {
    leases: Vec<Lease>,
    free: u32,
    used: u32,
    /// The earliest deadline of a queue.
    next_deadline: Option<LockTime>,
    /// The queue of the duration last asked for: nearly always the only one.
    queue: Queue,
    /// Its number.
    number: u32,
    extended: Option<Box<Extended>>,
}

impl Default for Locks {
    fn default() -> Self {
        Self {
            leases: Vec::new(),
            free: NONE,
            used: 0,
            next_deadline: None,
            queue: Queue::of(0),
            number: 0,
            extended: None,
        }
    }
}

/// Lets a list grow by a sixteenth, since doubling could leave half of it empty.
fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / 16).max(1));
    }
}

impl Locks {
    /// As [`Leases::make`].
    #[inline]
    fn add(&mut self, made: &NewLease) -> u32 {
        let (extent, duration_ms) = (made.extent, made.duration_ms);
        if self.queue.duration_ms != duration_ms {
            self.switch_to(duration_ms);
        }
        let tail = self.queue.tail;
        let mut lease = Lease::new(made);
        (lease.queue, lease.due.prev) = (self.number, tail);
        let id = self.slot(lease);
        self.queue.leases += 1;
        self.queue.tail = id;
        match self.leases.get_mut(tail as usize) {
            Some(last) => {
                debug_assert!(last.due.next == NONE, "the last of a queue has no next");
                debug_assert!(
                    last.acquired_at <= made.now,
                    "a queue is in the order of time: {last:?}, {made:?}"
                );
                last.due.next = id;
            }
            None => {
                self.queue.head = id;
                let deadline = made.now.plus(duration_ms);
                let next = self.next_deadline;
                self.next_deadline = Some(next.map_or(deadline, |next| next.min(deadline)));
            }
        }
        if lease.is_vast() {
            self.note_vast(id, extent.last, if made.held { extent.len() } else { 0 });
        }
        if self.used > FEW || self.extended.is_some() {
            self.list(id);
        }
        id
    }

    /// Puts the lease into a free slot.
    #[inline]
    fn slot(&mut self, lease: Lease) -> u32 {
        self.used += 1;
        let id = self.free;
        if let Some(slot) = self.leases.get_mut(id as usize) {
            debug_assert!(
                slot.is_free(),
                "a lease of the free list is in use: {slot:?}"
            );
            self.free = slot.due.next;
            *slot = lease;
            return id;
        }
        make_room(&mut self.leases);
        self.leases.push(lease);
        (self.leases.len() - 1) as u32
    }

    #[inline]
    fn duration_ms(&self, queue: u32) -> i64 {
        if queue == self.number {
            self.queue.duration_ms
        } else {
            self.other_duration_ms(queue)
        }
    }

    #[inline]
    fn free(&mut self, id: u32) {
        if self.used == 1 {
            return self.clear();
        }
        let Some(slot) = self.leases.get_mut(id as usize) else {
            return;
        };
        let lease = *slot;
        debug_assert!(
            lease.is_vast() || lease.live == 0,
            "records refer to the lease that is freed: {lease:?}"
        );
        slot.give_back(id, &mut self.free);
        self.used -= 1;
        let number = lease.queue();
        self.queue_mut(number).leases -= 1;
        if lease.is_running() {
            self.unlink(number, lease.due);
        }
        if let Some(extended) = &mut self.extended {
            extended.forget(id, &lease, self.used);
        }
    }

    /// Takes a lease out of its queue.
    #[inline]
    fn unlink(&mut self, number: u32, due: Links) {
        debug_assert!(
            self.leases
                .get(due.prev as usize)
                .zip(self.leases.get(due.next as usize))
                .is_none_or(|(prev, next)| prev.due.next == next.due.prev),
            "both neighbours in a queue name the lease between them"
        );
        match self.leases.get_mut(due.next as usize) {
            Some(next) => next.due.prev = due.prev,
            None => self.queue_mut(number).tail = due.prev,
        }
        match self.leases.get_mut(due.prev as usize) {
            Some(prev) => prev.due.next = due.next,
            None => {
                self.queue_mut(number).head = due.next;
                self.next_deadline = self.earliest();
            }
        }
    }

    /// No lease is left.
    fn clear(&mut self) {
        debug_assert!(
            self.leases
                .iter()
                .all(|lease| lease.is_free() || lease.is_vast() || lease.live == 0),
            "records refer to a lease that is cleared"
        );
        self.leases.clear();
        self.leases.shrink_to(KEPT);
        self.free = NONE;
        self.used = 0;
        self.next_deadline = None;
        self.queue = Queue::of(self.queue.duration_ms);
        self.number = 0;
        self.extended = None;
    }

    /// Returns `true` if there is a lease of the member.
    pub fn holds(&self, member: MemberIndex) -> bool {
        match self.listed() {
            Some(listed) => listed.leases(member.0).next().is_some(),
            None => {
                let held = |lease: &Lease| lease.member == member.0 && !lease.is_free();
                self.leases.iter().any(held)
            }
        }
    }

    /// The extents of the member's leases.
    pub fn held_by(&self, member: MemberIndex) -> Vec<OffsetRange> {
        let mut extents = Extents::default();
        let mut look_at = |id: u32| {
            let lease = self.leases.get(id as usize);
            // Of a listed lease the member is known; it stands in the other half, which whoever asks will need too.
            let held = |lease: &&Lease| lease.member == member.0 && !lease.is_free();
            if let Some(lease) = lease.filter(held) {
                extents.add(self.extent(id, lease));
            }
        };
        match self.listed() {
            Some(listed) => listed.leases(member.0).for_each(&mut look_at),
            None => (0..self.leases.len() as u32).for_each(&mut look_at),
        }
        extents.merged()
    }

    /// Bytes on the heap; those of the map of vast leases are an estimate.
    pub fn heap_bytes(&self) -> usize {
        let extended = self
            .extended
            .as_ref()
            .map_or(0, |extended| extended.heap_bytes());
        self.leases.capacity() * size_of::<Lease>() + extended
    }
}
