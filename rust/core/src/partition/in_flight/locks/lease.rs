//! A lease in 40 bytes, and the queue it stands in.

use super::NONE;
use crate::offset::{OffsetRange, plus_saturating};
use crate::partition::in_flight::{Holder, MemberIndex, NewLock};
use crate::time::LockTime;

/// Value in place of a queue: the slot is free, and `due.next` is the next free one.
pub(super) const FREE: u32 = u32::MAX;
/// Mark on the queue: the lock was reported as run out, and stands in no queue any more.
pub(super) const EXPIRED: u32 = 1 << 31;
/// Value in place of the length: the lease is longer, and its extent and count are kept elsewhere.
pub(super) const VAST: u16 = u16::MAX;

/// The neighbours in a doubly linked list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    pub prev: u32,
    pub next: u32,
}

/// Facts that a new lease is made of.
#[derive(Clone, Copy, Debug)]
pub(in crate::partition::in_flight) struct NewLease {
    pub extent: OffsetRange,
    pub member: MemberIndex,
    /// It never goes back.
    pub now: LockTime,
    pub duration_ms: i64,
    /// Set if the records of the whole extent refer to it, clear while none do.
    pub held: bool,
}

impl NewLease {
    pub const fn of(lock: NewLock, extent: OffsetRange, held: bool) -> Self {
        Self {
            extent,
            member: lock.member,
            now: lock.now,
            duration_ms: lock.duration_ms,
            held,
        }
    }
}

/// Lease: the lock of one acquisition. Its deadline follows from the queue, as all leases of a queue run equally long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lease {
    pub acquired_at: LockTime,
    /// First offset of the extent.
    pub first: i64,
    /// Offsets of the extent, or [`VAST`].
    pub len: u16,
    /// Records that refer to it, unless it is vast.
    pub live: u16,
    /// The queue's number, perhaps with [`EXPIRED`]; or [`FREE`].
    pub queue: u32,
    pub member: u32,
    /// Neighbours among the leases of the same duration.
    pub due: Links,
    /// Place among the leases of its member, once those are listed.
    pub place: u32,
}

const _: () = assert!(size_of::<Lease>() == 40, "a lease takes 40 bytes");

impl Lease {
    /// A lease of the first queue.
    pub fn new(made: &NewLease) -> Self {
        let len = made.extent.len().min(u64::from(VAST)) as u16;
        Self {
            acquired_at: made.now,
            first: made.extent.first,
            len,
            live: if made.held { len } else { 0 },
            queue: 0,
            member: made.member.0,
            due: Links {
                prev: NONE,
                next: NONE,
            },
            place: NONE,
        }
    }

    /// Makes its slot, of this number, the first of the free ones.
    #[inline]
    pub const fn give_back(&mut self, id: u32, free: &mut u32) {
        debug_assert!(!self.is_free(), "a lease is freed once");
        self.queue = FREE;
        self.due.next = core::mem::replace(free, id);
    }

    pub const fn is_free(&self) -> bool {
        self.queue == FREE
    }

    /// Returns `true` if the records that refer to it are the holder's.
    #[inline]
    pub fn is_of(&self, holder: Holder) -> bool {
        match holder {
            Holder::Anybody => true,
            Holder::Member(member) => self.member == member.0,
            Holder::RunOut => self.is_expired(),
        }
    }

    pub const fn is_expired(&self) -> bool {
        self.queue & EXPIRED != 0
    }

    /// Returns `true` if the lock is made and has not run out.
    pub const fn is_running(&self) -> bool {
        !self.is_expired()
    }

    pub const fn expire(&mut self) {
        debug_assert!(self.is_running(), "a lock runs out once");
        self.queue |= EXPIRED;
    }

    pub const fn queue(&self) -> u32 {
        self.queue & !EXPIRED
    }

    pub const fn is_vast(&self) -> bool {
        self.len == VAST
    }

    /// The extent, unless the lease is vast.
    pub const fn extent(&self) -> OffsetRange {
        OffsetRange {
            first: self.first,
            last: plus_saturating(self.first, (self.len as u64).saturating_sub(1)),
        }
    }
}

/// A lease of more records than 16 bits can count: Kafka lets a share partition have 10,000 in flight at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vast {
    pub last: i64,
    pub live: u64,
}

/// The leases of one duration, the first due at the head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub duration_ms: i64,
    pub head: u32,
    pub tail: u32,
    /// Leases that take their duration from here, those run out included.
    pub leases: u32,
}

impl Queue {
    pub const fn of(duration_ms: i64) -> Self {
        Self {
            duration_ms,
            head: NONE,
            tail: NONE,
            leases: 0,
        }
    }
}
