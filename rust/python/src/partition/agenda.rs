//! Agenda of a set of share partitions: those with writes to poll, and the times to look at locks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use share_state_core::time::LockTime;

/// Entries that a call has put on the agenda of the set.
#[derive(Clone, Copy)]
pub struct News {
    pub writes: bool,
    pub deadline: Option<LockTime>,
}

impl News {
    /// Returns true if there is any.
    pub const fn is_any(self) -> bool {
        self.writes || self.deadline.is_some()
    }
}

/// Shared between the set and its share partitions, so that a scalar call puts its consequences here too. Its lock is taken
/// last and held for a few instructions only.
#[derive(Default)]
pub struct Agenda {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Share partitions with writes to poll, each once, in the order in which they came.
    writes: Vec<u32>,
    /// Times to look at locks, with the share partitions. A share partition may stand here with a deadline that is over or was
    /// renewed; looking at it too early does no harm.
    deadlines: BinaryHeap<Reverse<(LockTime, u32)>>,
}

impl Agenda {
    /// Takes in what a call on one share partition has changed.
    pub fn add(&self, index: u32, news: News) {
        if news.is_any() {
            self.lock().add(index, news);
        }
    }

    /// Takes in what a call on many has changed.
    pub fn extend(&self, news: &[(u32, News)]) {
        if !news.is_empty() {
            let mut inner = self.lock();
            for (index, news) in news {
                inner.add(*index, *news);
            }
        }
    }

    /// Takes the list of share partitions with writes.
    pub fn take_writes(&self) -> Vec<u32> {
        std::mem::take(&mut self.lock().writes)
    }

    /// Takes the share partitions whose locks are to be looked at by `now`.
    pub fn take_due(&self, now: LockTime) -> Vec<u32> {
        let mut inner = self.lock();
        let mut due = Vec::new();
        while let Some(Reverse((deadline, index))) = inner.deadlines.peek().copied()
            && deadline <= now
        {
            inner.deadlines.pop();
            due.push(index);
        }
        drop(inner);
        due
    }

    /// Time to look at locks next.
    pub fn next_deadline(&self) -> Option<LockTime> {
        self.lock()
            .deadlines
            .peek()
            .map(|Reverse((deadline, _))| *deadline)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn add(&mut self, index: u32, news: News) {
        if news.writes {
            self.writes.push(index);
        }
        if let Some(deadline) = news.deadline {
            self.deadlines.push(Reverse((deadline, index)));
        }
    }
}
