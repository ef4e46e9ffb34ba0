//! Leases that many records leave at once: they are freed together.
//!
//! Whoever frees one lease after the other waits for the neighbours of each in the queue. Here the processor sees ahead from one
//! to the next, so that the neighbours of many are fetched from memory at once.

use super::lease::{EXPIRED, Lease};
use super::{Locks, NONE};

/// Leases that are freed together.
const TOGETHER: usize = 64;

/// Leases to which no record refers any more, to be freed.
pub(in crate::partition::in_flight) struct Emptied {
    ids: [u32; TOGETHER],
    len: usize,
}

impl Emptied {
    pub const fn new() -> Self {
        Self {
            ids: [NONE; TOGETHER],
            len: 0,
        }
    }
}

impl Locks {
    /// Notes a lease that the last record has left. It is freed with [`Locks::free_emptied`] at the latest.
    #[inline(always)]
    pub(super) fn put_off(&mut self, emptied: &mut Emptied, id: u32) {
        debug_assert!(
            !emptied.ids[..emptied.len].contains(&id),
            "the last record leaves lease {id} once"
        );
        if emptied.len == TOGETHER {
            self.free_emptied(emptied);
        }
        if let Some(place) = emptied.ids.get_mut(emptied.len) {
            *place = id;
            emptied.len += 1;
        }
    }

    /// Frees what is to be freed.
    #[inline(never)]
    pub(super) fn free_emptied(&mut self, emptied: &mut Emptied) {
        let len = core::mem::take(&mut emptied.len);
        self.free_some(&emptied.ids[..len]);
    }

    #[inline]
    fn free_some(&mut self, ids: &[u32]) {
        if !ids.is_empty() && ids.len() == self.used as usize {
            return self.clear();
        }
        let run_out = self.free_run_out(ids);
        for &id in &ids[run_out..] {
            let Some(slot) = self.leases.get_mut(id as usize) else {
                continue;
            };
            let Lease {
                queue,
                due,
                member,
                place,
                ..
            } = *slot;
            if slot.is_vast() || queue & !EXPIRED != self.number {
                self.free(id);
                continue;
            }
            slot.give_back(id, &mut self.free);
            self.used -= 1;
            self.queue.leases -= 1;
            if queue & EXPIRED == 0 {
                self.unlink(queue, due);
            }
            if let Some(extended) = &mut self.extended
                && let Some(listed) = &mut extended.listed
            {
                listed.remove(member, place);
            }
        }
        if let Some(extended) = &mut self.extended {
            extended.shrink(self.used);
        }
    }

    /// Frees the leases at the front of `ids` that have run out: they have no neighbours in the queue any more. Returns their number.
    fn free_run_out(&mut self, ids: &[u32]) -> usize {
        let run_out = self.number | EXPIRED;
        let extended = self.extended.as_mut();
        let mut listed = extended.and_then(|extended| extended.listed.as_mut());
        let mut freed = 0;
        for &id in ids {
            let lease = self.leases.get_mut(id as usize);
            let Some(lease) = lease.filter(|lease| lease.queue == run_out && !lease.is_vast())
            else {
                break;
            };
            lease.give_back(id, &mut self.free);
            freed += 1;
            if let Some(listed) = &mut listed {
                listed.remove(lease.member, lease.place);
            }
        }
        self.used -= freed;
        self.queue.leases -= freed;
        freed as usize
    }
}
