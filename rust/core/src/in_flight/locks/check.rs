//! The invariants of the lists and the slab.

use std::collections::BTreeMap;

use super::{FREE, Locks, NONE};
use crate::offset::OffsetRange;
use crate::time::LockTime;

impl Locks {
    /// Checks the lists and the slab against the records: `records` says how many refer to each lease, and from where to
    /// where.
    pub fn check(&self, records: &BTreeMap<u32, (u64, OffsetRange)>) -> Result<(), String> {
        for (id, (live, range)) in records {
            let lease = self
                .leases
                .get(*id as usize)
                .filter(|lease| lease.queue != FREE);
            let Some(lease) = lease else {
                return Err(format!("{range} refers to the lease {id}, which is free"));
            };
            if lease.live != *live || !lease.extent.covers(*range) {
                return Err(format!(
                    "{live} records in {range} refer to lease {id}: {lease:?}"
                ));
            }
        }
        if self.used != records.len() {
            return Err(format!(
                "{} leases, records refer to {}",
                self.used,
                records.len()
            ));
        }
        let mut queued = 0;
        for (at, queue) in self.queues.iter().enumerate() {
            let (mut prev, mut next, mut time) = (NONE, queue.head, LockTime(i64::MIN));
            while let Some(lease) = self.leases.get(next as usize) {
                if lease.due.prev != prev || lease.deadline < time || lease.queue != at as u32 {
                    return Err(format!(
                        "lease {next} does not belong behind {prev}: {lease:?}"
                    ));
                }
                (prev, next, time) = (next, lease.due.next, lease.deadline);
                queued += 1;
            }
            if queue.tail != prev {
                return Err(format!("{queue:?} ends at {prev}"));
            }
        }
        if queued != self.leases.iter().filter(|lease| lease.is_queued()).count() {
            return Err(format!(
                "{queued} leases are in the queues, more believe they are"
            ));
        }
        let mut held = 0;
        for (&member, &newest) in &self.newest {
            let (mut prev, mut next) = (NONE, newest);
            while let Some(lease) = self.leases.get(next as usize) {
                if lease.held.prev != prev || lease.member != member {
                    return Err(format!("lease {next} is not of {member:?}: {lease:?}"));
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
}
