//! The leases of a store: one, which is all that most share partitions have at a time, in place; or a list of many.

use super::lease::{FREE, Lease, NewLease, Queue, VAST};
use super::{Emptied, Locks, NONE};
use crate::offset::OffsetRange;
use crate::partition::in_flight::{Holder, Lock, MemberIndex};
use crate::time::LockTime;

/// See the module.
#[derive(Clone, Debug)]
pub(in crate::partition::in_flight) enum Leases {
    One(One),
    /// From the second lease at a time on, or from one too long for 16 bits; the list is kept.
    Many(Box<Locks>),
}

/// A lease, or a free place for it. Its id is 0.
#[derive(Clone, Debug)]
pub(in crate::partition::in_flight) struct One {
    lease: Lease,
    duration_ms: i64,
}

impl Default for Leases {
    fn default() -> Self {
        let made = NewLease {
            extent: OffsetRange::single(0),
            member: MemberIndex(0),
            now: LockTime(0),
            duration_ms: 0,
            held: false,
        };
        Self::One(One {
            lease: Lease {
                queue: FREE,
                ..Lease::new(&made)
            },
            duration_ms: 0,
        })
    }
}

impl One {
    fn deadline(&self) -> LockTime {
        self.lease.acquired_at.plus(self.duration_ms)
    }
}

impl Leases {
    #[inline(always)]
    fn list(&self) -> &[Lease] {
        match self {
            Self::One(one) => core::slice::from_ref(&one.lease),
            Self::Many(locks) => &locks.leases,
        }
    }

    #[inline(always)]
    fn list_mut(&mut self) -> &mut [Lease] {
        match self {
            Self::One(one) => core::slice::from_mut(&mut one.lease),
            Self::Many(locks) => &mut locks.leases,
        }
    }

    /// A word of the first lease and of the last, mixed.
    #[inline]
    pub fn preload(&self) -> u64 {
        match self {
            Self::One(_) => 0,
            Self::Many(locks) => {
                let ends = locks.leases.first().zip(locks.leases.last());
                ends.map_or(0, |(first, last)| u64::from(first.member ^ last.member))
            }
        }
    }

    /// A word of the lease.
    #[inline]
    pub fn touch(&self, id: u32) -> u64 {
        let lease = self.list().get(id as usize);
        lease.map_or(0, |lease| u64::from(lease.member))
    }

    /// Makes a lease.
    #[inline]
    pub fn make(&mut self, made: NewLease) -> u32 {
        if let Self::One(one) = self
            && one.lease.is_free()
            && made.extent.len() < u64::from(VAST)
        {
            one.lease = Lease::new(&made);
            one.duration_ms = made.duration_ms;
            return 0;
        }
        self.make_another(&made)
    }

    #[inline(never)]
    fn make_another(&mut self, made: &NewLease) -> u32 {
        if let Self::One(one) = self {
            *self = Self::Many(Box::new(Locks::of_one(one)));
        }
        match self {
            Self::Many(locks) => locks.add(made),
            Self::One(_) => NONE,
        }
    }

    /// The lock as it is reported.
    #[inline]
    pub fn get(&self, id: u32) -> Option<Lock> {
        let lease = self.list().get(id as usize)?;
        let duration_ms = match self {
            Self::One(one) => one.duration_ms,
            Self::Many(locks) => locks.duration_ms(lease.queue()),
        };
        Some(Lock {
            member: MemberIndex(lease.member),
            acquired_at: lease.acquired_at,
            deadline: lease.acquired_at.plus(duration_ms),
            expired: lease.is_expired(),
        })
    }

    /// Returns `true` if records that refer to the lease, or to none, are the holder's.
    #[inline]
    pub fn is_of(&self, id: u32, holder: Holder) -> bool {
        let lease = || self.list().get(id as usize);
        holder == Holder::Anybody || lease().is_some_and(|lease| lease.is_of(holder))
    }

    /// `records` more refer to the lease.
    #[inline]
    pub fn enter(&mut self, id: u32, records: u64) {
        match self.list_mut().get_mut(id as usize) {
            // Not more than the extent, which fits.
            Some(lease) if !lease.is_vast() => {
                debug_assert!(
                    u64::from(lease.live) + records <= u64::from(lease.len),
                    "{records} more records refer to {lease:?} than its extent has"
                );
                lease.live += records as u16;
            }
            Some(_) => self.enter_vast(id, records),
            None => {}
        }
    }

    #[cold]
    fn enter_vast(&mut self, id: u32, records: u64) {
        if let Self::Many(locks) = self {
            locks.enter_vast(id, records);
        }
    }

    /// `records` fewer refer to the lease; the last to leave frees it.
    #[inline]
    pub fn leave(&mut self, id: u32, records: u64) {
        if self.let_go(Holder::Anybody, id, records) == Some(true) {
            match self {
                Self::One(one) => one.lease.queue = FREE,
                Self::Many(locks) => locks.free(id),
            }
        }
    }

    /// As [`Self::leave`], but one of many leases is freed later: with [`Self::free_emptied`] at the latest.
    #[inline(always)]
    pub fn leave_to(&mut self, emptied: &mut Emptied, id: u32, records: u64) {
        self.leave_held(Holder::Anybody, emptied, id, records);
    }

    /// As [`Self::leave_to`], if the records are the holder's. Returns whether they are.
    #[inline(always)]
    pub fn leave_held(
        &mut self,
        holder: Holder,
        emptied: &mut Emptied,
        id: u32,
        records: u64,
    ) -> bool {
        let Some(is_emptied) = self.let_go(holder, id, records) else {
            return false;
        };
        if is_emptied {
            match self {
                Self::One(one) => one.lease.queue = FREE,
                Self::Many(locks) => locks.put_off(emptied, id),
            }
        }
        true
    }

    /// Frees what is to be freed.
    pub fn free_emptied(&mut self, emptied: &mut Emptied) {
        if let Self::Many(locks) = self {
            locks.free_emptied(emptied);
        }
    }

    /// `records` fewer refer to the lease, if they are the holder's. Returns whether none does any more: then it must be freed.
    #[inline(always)]
    fn let_go(&mut self, holder: Holder, id: u32, records: u64) -> Option<bool> {
        let Some(lease) = self.list_mut().get_mut(id as usize) else {
            return (holder == Holder::Anybody).then_some(false);
        };
        if !lease.is_of(holder) {
            return None;
        }
        if lease.is_vast() {
            return Some(self.leave_vast(id, records));
        }
        debug_assert!(
            records <= u64::from(lease.live),
            "{records} records leave {lease:?}"
        );
        // Not more than refer to it, which fits.
        lease.live = lease.live.wrapping_sub(records as u16);
        Some(lease.live == 0)
    }

    #[cold]
    fn leave_vast(&mut self, id: u32, records: u64) -> bool {
        match self {
            Self::One(_) => false,
            Self::Many(locks) => locks.leave_vast(id, records),
        }
    }

    /// The earliest deadline of a lock that has not run out.
    #[inline]
    pub fn next_deadline(&self) -> Option<LockTime> {
        match self {
            Self::One(one) => one.lease.is_running().then(|| one.deadline()),
            Self::Many(locks) => locks.next_deadline(),
        }
    }

    /// Marks what is due as run out, `most` leases at most, and returns its extents.
    pub fn expire(&mut self, now: LockTime, most: u32) -> Vec<OffsetRange> {
        let one = match self {
            Self::One(one) => one,
            Self::Many(locks) => return locks.expire(now, most),
        };
        if most == 0 || !one.lease.is_running() || one.deadline() > now {
            return Vec::new();
        }
        if one.lease.live == 0 {
            one.lease.queue = FREE;
            return Vec::new();
        }
        one.lease.expire();
        vec![one.lease.extent()]
    }

    /// Returns `true` if there is a lease of the member.
    pub fn holds(&self, member: MemberIndex) -> bool {
        match self {
            Self::One(one) => !one.lease.is_free() && one.lease.member == member.0,
            Self::Many(locks) => locks.holds(member),
        }
    }

    /// The extents of the member's leases.
    pub fn held_by(&self, member: MemberIndex) -> Vec<OffsetRange> {
        match self {
            Self::One(one) if self.holds(member) => vec![one.lease.extent()],
            Self::One(_) => Vec::new(),
            Self::Many(locks) => locks.held_by(member),
        }
    }

    /// Bytes on the heap; those of the map of vast leases are an estimate.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Self::One(_) => 0,
            Self::Many(locks) => size_of::<Locks>() + locks.heap_bytes(),
        }
    }

    /// The leases as a list, for the check.
    pub fn listed(&self) -> Locks {
        match self {
            Self::One(one) => Locks::of_one(one),
            Self::Many(locks) => Locks::clone(locks),
        }
    }
}

impl Locks {
    /// The same lease, with room for many.
    fn of_one(one: &One) -> Self {
        let mut locks = Self {
            queue: Queue::of(one.duration_ms),
            ..Self::default()
        };
        if one.lease.is_free() {
            return locks;
        }
        locks.leases = Vec::with_capacity(2);
        locks.leases.push(one.lease);
        locks.used = 1;
        locks.queue.leases = 1;
        if one.lease.is_running() {
            (locks.queue.head, locks.queue.tail) = (0, 0);
            locks.next_deadline = locks.earliest();
        }
        locks
    }
}
