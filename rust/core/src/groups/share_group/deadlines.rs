//! Session time-outs: who has not been heard for too long.
//!
//! They are not stored. After a replay every member has a full time-out, which begins when the machine is first told the
//! time.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::time::LockTime;

/// A group and a member of it.
type Key = (Arc<str>, Arc<str>);

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadlines {
    by_member: HashMap<Key, LockTime>,
    /// The same by time.
    queue: BTreeSet<(LockTime, Key)>,
    /// Members whose time-out has not begun.
    waiting: BTreeSet<Key>,
    /// The latest time told; a clock that goes back counts as this.
    latest: LockTime,
}

impl Deadlines {
    /// The time, which does not go back.
    pub fn now(&mut self, now: LockTime) -> LockTime {
        self.latest = self.latest.max(now);
        self.latest
    }

    /// A member that has no deadline yet.
    pub fn add(&mut self, group: &Arc<str>, member: &Arc<str>) {
        let key = (Arc::clone(group), Arc::clone(member));
        if !self.by_member.contains_key(&key) {
            self.waiting.insert(key);
        }
    }

    /// The member is heard until then.
    pub fn set(&mut self, group: &Arc<str>, member: &Arc<str>, deadline: LockTime) {
        let key = (Arc::clone(group), Arc::clone(member));
        self.waiting.remove(&key);
        if let Some(old) = self.by_member.insert(key.clone(), deadline) {
            self.queue.remove(&(old, key.clone()));
        }
        self.queue.insert((deadline, key));
    }

    pub fn remove(&mut self, group: &Arc<str>, member: &Arc<str>) {
        let key = (Arc::clone(group), Arc::clone(member));
        self.waiting.remove(&key);
        if let Some(old) = self.by_member.remove(&key) {
            self.queue.remove(&(old, key));
        }
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.by_member.len() + self.waiting.len()
    }

    /// Members whose time-out has not begun.
    pub fn waiting(&self) -> Vec<Key> {
        self.waiting.iter().cloned().collect()
    }

    /// Time of the next time-out; one that has passed when one has still to begin.
    pub fn next(&self) -> Option<LockTime> {
        if !self.waiting.is_empty() {
            return Some(self.latest);
        }
        self.queue.first().map(|(deadline, _)| *deadline)
    }

    /// Returns the keys whose deadline has come, by time.
    pub fn due(&self, now: LockTime) -> Vec<Key> {
        self.queue
            .iter()
            .take_while(|(deadline, _)| *deadline <= now)
            .map(|(_, key)| key.clone())
            .collect()
    }
}
