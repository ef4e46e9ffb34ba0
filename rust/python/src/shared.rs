//! A share partition that a `SharePartition` and a `SharePartitions` may hold together.

use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use share_state_core::time::LockTime;

use crate::agenda::{Agenda, News};
use crate::engine::{Engine, each};
use crate::guarded::Guarded;

/// The engine, and what its set has on the agenda for it.
pub struct Watched {
    pub engine: Engine,
    /// The set lists it among those with writes to poll.
    listed: bool,
    /// The earliest time at which the set will look at its locks.
    awaited: LockTime,
}

impl Watched {
    /// What the set has to know after a call: whether it must list the share partition, and when to look at its locks at the
    /// latest, if that is new.
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

    /// The set has taken the writes.
    pub const fn unlist(&mut self) {
        self.listed = false;
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
    pub const fn new(engine: Engine) -> Self {
        let watched = Watched {
            engine,
            listed: false,
            awaited: LockTime(i64::MAX),
        };
        Self {
            guarded: Guarded::new("this SharePartition", watched),
            set: OnceLock::new(),
        }
    }

    /// Puts it into a set, for good; `false` when it is in one.
    pub fn join(&self, agenda: &Arc<Agenda>, index: u32) -> bool {
        self.set.set((Arc::clone(agenda), index)).is_ok()
    }

    /// See [`Guarded::with`].
    pub fn with<R>(&self, py: Python<'_>, work: impl FnOnce(&mut Engine) -> R) -> PyResult<R> {
        self.guarded.with(py, |watched| self.told(watched, work))
    }

    /// See [`Guarded::detached`].
    pub fn detached<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Engine) -> R + Send,
    ) -> PyResult<R> {
        self.guarded
            .detached(py, |watched| self.told(watched, work))
    }

    /// See [`Guarded::sized`].
    pub fn sized<R: Send>(
        &self,
        py: Python<'_>,
        batches: usize,
        work: impl FnOnce(&mut Engine) -> R + Send,
    ) -> PyResult<R> {
        self.guarded
            .sized(py, batches, |watched| self.told(watched, work))
    }

    /// Runs `work` for the set, which takes the news itself; the caller is detached from the interpreter.
    pub fn for_set<R>(&self, work: impl FnOnce(&mut Watched) -> R) -> Result<R, String> {
        self.guarded.waited(work)
    }

    fn told<R>(&self, watched: &mut Watched, work: impl FnOnce(&mut Engine) -> R) -> R {
        let result = work(&mut watched.engine);
        if let Some((agenda, index)) = self.set.get() {
            agenda.add(*index, watched.news());
        }
        result
    }
}
