//! Parts of locks that few share partitions have: leases of several durations, more than a few at once, or vast ones.

use std::collections::BTreeMap;

use super::lease::{Lease, Queue, Vast};
use super::members::Members;
use super::{FEW, Locks, NONE};

#[derive(Clone, Debug, Default)]
pub(super) struct Extended {
    /// By number. The one that is current stands in [`Locks`], and what is kept here in its place says nothing. One that no
    /// lease refers to is used again, so there are as many as durations were in force at once.
    pub queues: Vec<Queue>,
    /// The rest of leases too long for 16 bits.
    pub vast: BTreeMap<u32, Vast>,
    /// The leases by member, from more than [`FEW`] until a quarter of that is left.
    pub listed: Option<Members>,
}

impl Extended {
    /// A lease is gone, and so many are left.
    pub fn forget(&mut self, id: u32, lease: &Lease, left: u32) {
        if lease.is_vast() {
            self.vast.remove(&id);
        }
        if let Some(listed) = &mut self.listed {
            listed.remove(lease.member, lease.place);
        }
        self.shrink(left);
    }

    /// Gives memory back once only `left` leases are left.
    #[inline]
    pub fn shrink(&mut self, left: u32) {
        if left <= FEW / 4 {
            self.listed = None;
        }
    }

    pub fn heap_bytes(&self) -> usize {
        let listed = self.listed.as_ref().map_or(0, Members::heap_bytes);
        size_of::<Self>()
            + self.queues.capacity() * size_of::<Queue>()
            + self.vast.len() * 2 * size_of::<(u32, Vast)>()
            + listed
    }
}

impl Locks {
    fn make_extended(&mut self) -> &mut Extended {
        self.extended.get_or_insert_default()
    }

    /// The leases by member, where they are listed.
    pub(super) fn listed(&self) -> Option<&Members> {
        self.extended.as_ref()?.listed.as_ref()
    }

    /// Lists a new lease with its member, and if there are many all others too.
    pub(super) fn list(&mut self, id: u32) {
        let many = self.used > FEW;
        let extended = self.extended.get_or_insert_default();
        let leases = match &mut extended.listed {
            Some(listed) => {
                if let Some(lease) = self.leases.get_mut(id as usize) {
                    debug_assert!(lease.place == NONE, "a lease is listed once: {lease:?}");
                    lease.place = listed.add(lease.member, id);
                }
                return;
            }
            None if many => self.leases.iter_mut(),
            None => return,
        };
        let mut listed = Members::default();
        for (id, lease) in (0..).zip(leases).filter(|(_, lease)| !lease.is_free()) {
            lease.place = listed.add(lease.member, id);
        }
        extended.listed = Some(listed);
    }

    pub(super) fn note_vast(&mut self, id: u32, last: i64, live: u64) {
        self.make_extended().vast.insert(id, Vast { last, live });
    }

    pub(super) fn vast(&self, id: u32) -> Option<&Vast> {
        self.extended.as_ref()?.vast.get(&id)
    }

    fn vast_mut(&mut self, id: u32) -> Option<&mut Vast> {
        self.extended.as_mut()?.vast.get_mut(&id)
    }

    pub(super) fn enter_vast(&mut self, id: u32, records: u64) {
        if let Some(rest) = self.vast_mut(id) {
            rest.live = rest.live.saturating_add(records);
        }
    }

    /// Returns whether the last record has left.
    pub(super) fn leave_vast(&mut self, id: u32, records: u64) -> bool {
        self.vast_mut(id).is_none_or(|rest| {
            // A count at its end stands for one record more.
            debug_assert!(
                records <= rest.live.saturating_add(1),
                "{records} records leave {rest:?}"
            );
            rest.live = rest.live.saturating_sub(records);
            rest.live == 0
        })
    }

    /// The queues but the current one, with their numbers.
    pub(super) fn other_queues(&self) -> impl Iterator<Item = (u32, &Queue)> {
        let queues = self
            .extended
            .as_deref()
            .map_or(&[][..], |extended| &extended.queues);
        (0..).zip(queues).filter(|(n, _)| *n != self.number)
    }

    #[cold]
    pub(super) fn other_duration_ms(&self, number: u32) -> i64 {
        let queue = self
            .extended
            .as_ref()
            .and_then(|extended| extended.queues.get(number as usize));
        queue.map_or(0, |queue| queue.duration_ms)
    }

    #[inline]
    pub(super) fn queue_mut(&mut self, number: u32) -> &mut Queue {
        if number != self.number
            && let Some(extended) = &mut self.extended
            && let Some(queue) = extended.queues.get_mut(number as usize)
        {
            return queue;
        }
        &mut self.queue
    }

    /// Makes the queue of a duration the current one.
    #[cold]
    pub(super) fn switch_to(&mut self, duration_ms: i64) {
        let (current, number) = (self.queue, self.number as usize);
        if current.leases == 0 && self.extended.is_none() {
            self.queue.duration_ms = duration_ms;
            return;
        }
        let queues = &mut self.make_extended().queues;
        if queues.is_empty() {
            queues.push(current);
        }
        queues[number] = current;
        let same = |queue: &Queue| queue.leases > 0 && queue.duration_ms == duration_ms;
        let unused = |queue: &Queue| queue.leases == 0;
        let known = queues.iter().position(same);
        let at = known.or_else(|| queues.iter().position(unused));
        let at = at.unwrap_or_else(|| {
            queues.push(Queue::of(duration_ms));
            queues.len() - 1
        });
        if known.is_none() {
            queues[at] = Queue::of(duration_ms);
        }
        self.queue = queues[at];
        self.number = at as u32;
    }
}
