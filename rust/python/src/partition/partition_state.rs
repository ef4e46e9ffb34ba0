//! State of a share partition as this module serves it: the engine, its persister and its entries on the agenda of a set.

use std::hint::black_box;
use std::sync::Arc;

use share_state_core::persister::WriteToken;
use share_state_core::share_partition::{AcknowledgeBatch, AcknowledgeError};
use share_state_core::time::LockTime;

use crate::locked::Locked;
use crate::partition::agenda::{Agenda, News};
use crate::partition::engine::{Engine, each};
use crate::partition::inline_writes::{CallWrites, Persister};

pub struct PartitionState {
    pub engine: Engine,
    /// Persister that takes the writes of each call inside the call; without one they wait to be polled.
    pub persister: Option<Persister>,
    /// The set that it belongs to, and its index there.
    set: Option<(Arc<Agenda>, u32)>,
    /// The set lists it among those with writes to poll.
    listed: bool,
    /// The earliest time at which the set will look at its locks.
    awaited: LockTime,
}

impl PartitionState {
    pub const fn locked(engine: Engine, persister: Option<Persister>) -> Locked<Self> {
        let state = Self {
            engine,
            persister,
            set: None,
            listed: false,
            awaited: LockTime(i64::MAX),
        };
        Locked::new("this SharePartition", state)
    }

    /// Puts it into a set, for good, with the writes and locks that it has. Returns false if it is in one.
    pub fn join(&mut self, agenda: &Arc<Agenda>, index: u32) -> bool {
        if self.set.is_some() {
            return false;
        }
        self.set = Some((Arc::clone(agenda), index));
        agenda.add(index, self.news());
        true
    }

    /// Runs `work`, has the writes made that it leads to, and puts what follows on the agenda of the set.
    pub fn run<R>(
        &mut self,
        writes: &mut CallWrites,
        work: impl FnOnce(&mut Self, &mut CallWrites) -> R,
    ) -> R {
        let result = work(self, writes);
        self.settle(writes);
        if self.set.is_some() {
            let news = self.news();
            if let Some((agenda, index)) = &self.set {
                agenda.add(*index, news);
            }
        }
        result
    }

    /// News for the set after a call: whether it must list the share partition, and when to look at its locks at the latest, if that
    /// is new.
    pub fn news(&mut self) -> News {
        let writes = each!(&self.engine, sp => sp.writes_to_poll()) > 0 && !self.listed;
        self.listed |= writes;
        let deadline = each!(&self.engine, sp => sp.poll_timeout());
        let deadline = deadline.filter(|deadline| *deadline < self.awaited);
        if let Some(deadline) = deadline {
            self.awaited = deadline;
        }
        News { writes, deadline }
    }

    /// Acknowledges. Returns the token of the write to wait for, which a persister leaves none of.
    pub fn acknowledge(
        &mut self,
        member: &str,
        batches: &[AcknowledgeBatch<'_>],
        now: LockTime,
        writes: &mut CallWrites,
    ) -> Result<Option<WriteToken>, AcknowledgeError> {
        let engine = &mut self.engine;
        match &self.persister {
            None => each!(engine, sp => sp.acknowledge(member, batches, now)),
            Some(persister) => persister
                .acknowledge(engine, member, batches, now, writes)
                .map(|()| None),
        }
    }

    /// Releases what a member holds. Returns the number of records.
    pub fn release(&mut self, member: &str, now: LockTime, writes: &mut CallWrites) -> u64 {
        let engine = &mut self.engine;
        match &self.persister {
            None => each!(engine, sp => sp.release(member, now)),
            Some(persister) => persister.release(engine, member, now, writes),
        }
    }

    /// Has the writes made that a call led to, if there is a persister for it.
    pub fn settle(&mut self, writes: &mut CallWrites) {
        if let Some(persister) = &self.persister
            && each!(&self.engine, sp => sp.writes_to_poll()) > 0
        {
            persister.settle(&mut self.engine, writes);
        }
    }

    /// See `SharePartition::preload` of the core.
    pub fn preload(&self) {
        black_box((self.awaited, self.persister.is_some(), self.set.is_some()));
        each!(&self.engine, sp => sp.preload());
    }

    /// The set has taken the writes.
    pub const fn unlist(&mut self) {
        self.listed = false;
    }

    /// The set has looked at the locks, for now.
    pub const fn unawait(&mut self) {
        self.awaited = LockTime(i64::MAX);
    }
}
