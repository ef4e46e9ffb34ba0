//! The invariants of the lists and the slab.

use std::collections::BTreeMap;

use super::lease::Lease;
use super::{Locks, NONE};
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
            let vast = self.vast.get(&id);
            let counted = vast.map_or(u64::from(lease.live), |vast| vast.live);
            if counted != *live || !self.extent(id, lease).covers(*range) {
                return Err(format!(
                    "{live} records in {range} refer to lease {id}: {lease:?} {vast:?}"
                ));
            }
        }
        if self.used as usize != records.len() {
            return Err(format!(
                "{} leases, records refer to {}",
                self.used,
                records.len()
            ));
        }
        let vast = self.in_use().filter(|lease| lease.is_vast()).count();
        if vast != self.vast.len() {
            return Err(format!("{vast} vast leases, but {:?}", self.vast));
        }
        self.check_queues()?;
        let mut held = 0;
        for (member, &newest) in self.newest.iter().enumerate() {
            let (mut prev, mut next) = (NONE, newest);
            while let Some(lease) = self.leases.get(next as usize) {
                if lease.held.prev != prev || lease.member as usize != member {
                    return Err(format!("lease {next} is not of member {member}: {lease:?}"));
                }
                (prev, next) = (next, lease.held.next);
                held += 1;
            }
        }
        if held != self.used {
            return Err(format!("members hold {held} leases of {}", self.used));
        }
        Ok(())
    }

    fn in_use(&self) -> impl Iterator<Item = &Lease> {
        self.leases.iter().filter(|lease| !lease.is_free())
    }

    fn check_queues(&self) -> Result<(), String> {
        let mut queued = 0;
        for (at, queue) in self.queues.iter().enumerate() {
            let (mut prev, mut next, mut time) = (NONE, queue.head, LockTime(i64::MIN));
            while let Some(lease) = self.leases.get(next as usize) {
                let here = lease.is_running() && lease.queue() == at;
                if lease.due.prev != prev || lease.acquired_at < time || !here {
                    return Err(format!(
                        "lease {next} does not belong behind {prev}: {lease:?}"
                    ));
                }
                (prev, next, time) = (next, lease.due.next, lease.acquired_at);
                queued += 1;
            }
            if queue.tail != prev {
                return Err(format!("{queue:?} ends at {prev}"));
            }
            let leases = self.in_use().filter(|lease| lease.queue() == at).count();
            if leases != queue.leases as usize {
                return Err(format!("{leases} leases belong to {queue:?}"));
            }
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
}
