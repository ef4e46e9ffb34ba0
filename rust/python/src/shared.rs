//! A share partition that a `SharePartition` and a `SharePartitions` may hold together.

use std::hint::black_box;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::WriteToken;
use share_state_core::share_partition::{AcknowledgeBatch, AcknowledgeError};
use share_state_core::time::LockTime;

use crate::agenda::{Agenda, News};
use crate::convert;
use crate::engine::{Engine, each};
use crate::errors;
use crate::guarded::{Guarded, Held};
use crate::inline::{Inline, Refused, Settling};

/// The engine, its persister, and what its set has on the agenda for it.
pub struct Watched {
    pub engine: Engine,
    /// Who takes the writes of each call inside the call; without one they wait to be polled.
    persister: Option<Inline>,
    /// The set lists it among those with writes to poll.
    listed: bool,
    /// The set lists it among those with dead letters to poll.
    dead_letters_listed: bool,
    /// The earliest time at which the set will look at its locks.
    awaited: LockTime,
}

impl Watched {
    /// What the set has to know after a call: whether it must list the share partition, and when to look at its locks at the
    /// latest, if that is new.
    pub fn news(&mut self) -> News {
        let writes = each!(&self.engine, sp => sp.writes_to_poll()) > 0 && !self.listed;
        self.listed |= writes;
        let dead_letters =
            !self.dead_letters_listed && each!(&self.engine, sp => sp.dead_letters_to_poll()) > 0;
        self.dead_letters_listed |= dead_letters;
        let deadline = each!(&self.engine, sp => sp.poll_timeout());
        let deadline = deadline.filter(|deadline| *deadline < self.awaited);
        if let Some(deadline) = deadline {
            self.awaited = deadline;
        }
        News {
            writes,
            dead_letters,
            deadline,
        }
    }

    /// Acknowledges. Returns the token of the write to wait for, which a persister leaves none of.
    pub fn acknowledge(
        &mut self,
        member: &str,
        batches: &[AcknowledgeBatch<'_>],
        now: LockTime,
        settling: &mut Settling,
    ) -> Result<Option<WriteToken>, AcknowledgeError> {
        let engine = &mut self.engine;
        match &self.persister {
            None => each!(engine, sp => sp.acknowledge(member, batches, now)),
            Some(persister) => persister
                .acknowledge(engine, member, batches, now, settling)
                .map(|()| None),
        }
    }

    /// Releases what a member holds. Returns the number of records.
    pub fn release(&mut self, member: &str, now: LockTime, settling: &mut Settling) -> u64 {
        let engine = &mut self.engine;
        match &self.persister {
            None => each!(engine, sp => sp.release(member, now)),
            Some(persister) => persister.release(engine, member, now, settling),
        }
    }

    /// Has the writes made that a call led to, if there is a persister for it.
    pub fn settle(&mut self, settling: &mut Settling) {
        if let Some(persister) = &self.persister
            && each!(&self.engine, sp => sp.writes_to_poll()) > 0
        {
            persister.settle(&mut self.engine, settling);
        }
    }

    /// See `SharePartition::preload` of the core.
    pub fn preload(&self) {
        black_box((self.awaited, self.persister.is_some()));
        each!(&self.engine, sp => sp.preload());
    }

    /// The set has taken the writes.
    pub const fn unlist(&mut self) {
        self.listed = false;
    }

    /// The set has taken the dead letters.
    pub const fn unlist_dead_letters(&mut self) {
        self.dead_letters_listed = false;
    }

    /// The set has looked at the locks, for now.
    pub const fn unawait(&mut self) {
        self.awaited = LockTime(i64::MAX);
    }
}

/// A share partition behind its lock; calls on it tell the set that it belongs to, if there is one.
pub struct Shared {
    guarded: Guarded<Watched>,
    set: OnceLock<(Arc<Agenda>, u32)>,
}

impl Shared {
    pub const fn new(engine: Engine, persister: Option<Inline>) -> Self {
        let watched = Watched {
            engine,
            persister,
            listed: false,
            dead_letters_listed: false,
            awaited: LockTime(i64::MAX),
        };
        Self {
            guarded: Guarded::new("this SharePartition", watched),
            set: OnceLock::new(),
        }
    }

    /// Stands in a set for share partitions that were removed, and is unusable.
    pub fn removed() -> Self {
        Self {
            guarded: Guarded::unusable("this SharePartition", "it was removed".to_owned()),
            set: OnceLock::new(),
        }
    }

    /// Puts it into a set, for good; `false` when it is in one.
    pub fn join(&self, agenda: &Arc<Agenda>, index: u32) -> bool {
        self.set.set((Arc::clone(agenda), index)).is_ok()
    }

    /// Its persister, as Python knows it.
    pub fn persister(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.guarded
            .with(py, |w| w.persister.as_ref().map(|p| p.object(py)))
    }

    /// Gives it another persister, or none; the new one gets the writes that wait to be polled.
    pub fn set_persister(&self, py: Python<'_>, persister: Option<Inline>) -> PyResult<()> {
        // The old one is dropped when the lock is free again, for it may be the last that holds a store.
        let old = self
            .guarded
            .with(py, |w| std::mem::replace(&mut w.persister, persister))?;
        drop(old);
        self.with(py, |_| ())
    }

    /// See [`Guarded::with`].
    pub fn with<R>(&self, py: Python<'_>, work: impl FnOnce(&mut Engine) -> R) -> PyResult<R> {
        let mut settling = Settling::default();
        let result = self.guarded.with(py, |watched| {
            self.told(watched, &mut settling, |watched, _| {
                work(&mut watched.engine)
            })
        })?;
        self.refused(py, settling)?;
        Ok(result)
    }

    /// See [`Guarded::detached`].
    pub fn detached<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Engine) -> R + Send,
    ) -> PyResult<R> {
        let mut settling = Settling::default();
        let result = self.guarded.detached(py, |watched| {
            self.told(watched, &mut settling, |watched, _| {
                work(&mut watched.engine)
            })
        })?;
        self.refused(py, settling)?;
        Ok(result)
    }

    /// See [`Guarded::sized`].
    pub fn sized<R: Send>(
        &self,
        py: Python<'_>,
        batches: usize,
        work: impl FnOnce(&mut Engine) -> R + Send,
    ) -> PyResult<R> {
        self.settled(py, batches, |watched, _| work(&mut watched.engine))
            .map(|(result, _)| result)
    }

    /// As [`Self::sized`], for work that may settle by itself; and the refusal of a write of the call that a member waits for.
    pub fn settled<R: Send>(
        &self,
        py: Python<'_>,
        batches: usize,
        work: impl FnOnce(&mut Watched, &mut Settling) -> R + Send,
    ) -> PyResult<(R, Option<Refused>)> {
        let mut settling = Settling::default();
        let result = self.guarded.sized(py, batches, |watched| {
            self.told(watched, &mut settling, work)
        })?;
        Ok((result, self.refused(py, settling)?))
    }

    /// Runs `work` for the set, which settles and takes the news itself; the caller is detached from the interpreter.
    pub fn for_set<R>(&self, work: impl FnOnce(&mut Watched) -> R) -> Result<R, String> {
        self.guarded.waited(work)
    }

    /// As [`Self::for_set`], for work that comes later: takes the lock if nobody has it, see [`Guarded::try_hold`].
    pub fn try_hold(&self) -> Option<Held<'_, Watched>> {
        self.guarded.try_hold()
    }

    /// As [`Self::try_hold`], and waits for the lock, see [`Guarded::hold`].
    pub fn hold(&self) -> Held<'_, Watched> {
        self.guarded.hold()
    }

    /// Loads what can be seen without the lock. See `SharePartition::preload` of the core.
    pub fn preload(&self) {
        let index = self.set.get().map_or(0, |(_, index)| *index);
        black_box(self.guarded.preload() ^ u64::from(index));
    }

    fn told<R>(
        &self,
        watched: &mut Watched,
        settling: &mut Settling,
        work: impl FnOnce(&mut Watched, &mut Settling) -> R,
    ) -> R {
        let result = work(watched, settling);
        watched.settle(settling);
        self.tell_set(watched);
        result
    }

    fn tell_set(&self, watched: &mut Watched) {
        if let Some((agenda, index)) = self.set.get() {
            agenda.add(*index, watched.news());
        }
    }

    /// The refusal of a write of the call that a member waits for, once all its writes are answered.
    fn refused(&self, py: Python<'_>, settling: Settling) -> PyResult<Option<Refused>> {
        if settling.is_confirmed() {
            return Ok(None);
        }
        self.answered(py, settling)
    }

    /// As [`Self::refused`], of a call whose writes wait for a store or were refused.
    #[cold]
    fn answered(&self, py: Python<'_>, mut settling: Settling) -> PyResult<Option<Refused>> {
        if !settling.begun.is_empty() {
            py.detach(|| self.end(&mut settling))
                .map_err(|panic| errors::poisoned(py, "this SharePartition", &panic))?;
        }
        if settling.settlement.refused != KafkaCode::None {
            let key = self.with(py, |e| each!(e, sp => sp.key().clone()))?;
            say_refused(
                py,
                &key,
                settling.settlement.refused,
                settling.why.as_deref(),
            )?;
        }
        Ok(settling.refused())
    }

    /// Waits for the store, and tells the share partition what it has answered.
    fn end(&self, settling: &mut Settling) -> Result<(), String> {
        while !settling.begun.is_empty() {
            let begun = std::mem::take(&mut settling.begun);
            let ended: Vec<_> = begun.into_iter().map(crate::inline::Begun::end).collect();
            self.guarded.waited(|watched| {
                for ended in ended {
                    ended.tell(&mut watched.engine, settling);
                }
                watched.settle(settling);
                self.tell_set(watched);
            })?;
        }
        Ok(())
    }
}

/// Tells the log of the package of a write that the persister has refused.
pub fn say_refused(
    py: Python<'_>,
    key: &SharePartitionKey,
    code: KafkaCode,
    why: Option<&str>,
) -> PyResult<()> {
    py.import("share_state.logs")?
        .call_method1(
            "write_refused",
            (convert::key_out(py, key)?, code.code(), why),
        )
        .map(drop)
}
