//! The invariants of the lists and the slab.

use std::collections::BTreeMap;

use super::lease::{Lease, Queue};
use super::{FEW, Locks, NONE};
use crate::offset::OffsetRange;
use crate::time::LockTime;

impl Locks {
    /// Checks the lists and the slab against the records: `records` says how many refer to each lease, and from where to
    /// where.
    pub fn check(&self, records: &BTreeMap<u32, (u64, OffsetRange)>) -> Result<(), String> {
        for (&id, (live, range)) in records {
            let lease = self.leases.get(id as usize);
            let Some(lease) = lease.filter(|lease| !lease.is_free()) else {
                return Err(format!("{range} refers to the lease {id}, which is free"));
            };
            let vast = self.vast(id);
            let counted = vast.map_or(u64::from(lease.live), |vast| vast.live);
            if counted != *live || !self.extent(id, lease).covers(*range) {
                return Err(format!(
                    "{live} records in {range} refer to lease {id}: {lease:?} {vast:?}"
                ));
            }
        }
        let in_use = self.in_use().count();
        if self.used as usize != records.len() || in_use != records.len() {
            return Err(format!(
                "{} leases, {in_use} in use, records refer to {}",
                self.used,
                records.len()
            ));
        }
        let vast = self.in_use().filter(|lease| lease.is_vast()).count();
        let noted = self
            .extended
            .as_ref()
            .map_or(0, |extended| extended.vast.len());
        if vast != noted {
            return Err(format!("{vast} vast leases, but {noted} noted"));
        }
        self.check_queues()?;
        self.check_members()
    }

    fn in_use(&self) -> impl Iterator<Item = &Lease> {
        self.leases.iter().filter(|lease| !lease.is_free())
    }

    fn check_members(&self) -> Result<(), String> {
        let Some(listed) = self.listed() else {
            if self.used > FEW {
                return Err(format!("{} leases, and none is listed", self.used));
            }
            return Ok(());
        };
        let listed = listed.check()?;
        for &(id, member, place) in &listed {
            let lease = self.leases.get(id as usize);
            let here = |lease: &&Lease| (lease.member, lease.place) == (member, place);
            if lease.filter(here).is_none_or(Lease::is_free) {
                return Err(format!(
                    "lease {id} is not of member {member} at {place}: {lease:?}"
                ));
            }
        }
        if listed.len() != self.used as usize {
            return Err(format!(
                "{} leases are listed of {}",
                listed.len(),
                self.used
            ));
        }
        Ok(())
    }

    fn check_queues(&self) -> Result<(), String> {
        let mut queued = self.check_queue(self.number, &self.queue)?;
        for (number, queue) in self.other_queues() {
            queued += self.check_queue(number, queue)?;
        }
        if queued != self.in_use().filter(|lease| lease.is_running()).count() {
            return Err(format!(
                "{queued} leases are in the queues, more believe they are"
            ));
        }
        if self.next_deadline != self.earliest() {
            return Err(format!(
                "the next deadline is {:?}, not {:?}",
                self.earliest(),
                self.next_deadline
            ));
        }
        Ok(())
    }

    /// Returns how many leases stand in the queue.
    fn check_queue(&self, number: u32, queue: &Queue) -> Result<usize, String> {
        let mut queued = 0;
        let (mut prev, mut next, mut time) = (NONE, queue.head, LockTime(i64::MIN));
        while let Some(lease) = self.leases.get(next as usize) {
            let here = lease.is_running() && lease.queue() == number;
            if lease.due.prev != prev || lease.acquired_at < time || !here {
                return Err(format!(
                    "lease {next} does not belong after {prev}: {lease:?}"
                ));
            }
            (prev, next, time) = (next, lease.due.next, lease.acquired_at);
            queued += 1;
        }
        if queue.tail != prev {
            return Err(format!("{queue:?} ends at {prev}"));
        }
        let leases = self
            .in_use()
            .filter(|lease| lease.queue() == number)
            .count();
        if leases != queue.leases as usize {
            return Err(format!("{leases} leases belong to {queue:?}"));
        }
        Ok(queued)
    }
}
