//! Room for a client's writes in the states that a share coordinator elsewhere keeps.
//!
//! Kafka's coordinator takes writes until a state's snapshot is larger than a record of `__share_group_state` may be, and from
//! then on refuses every write that is due to be a snapshot. A client that leads a share partition has read its state and makes
//! its writes, so it can tell beforehand.
//!
//! Of a state that is far from full only a number is known, which each write raises. When that number says that it may be full,
//! the state is to be read again. Near the limit it is kept then, by the same merge as the coordinator's, so that not every write
//! has to read. One client is taken to be the only one that writes with its leader epoch.

use std::collections::HashMap;

use crate::ids::SharePartitionKey;
use crate::offset::after;
use crate::persister::{ReadStateResult, WriteState};
use crate::state::coordinator::CoordinatorError;
use crate::state::state_batch::{StateBatch, StateBatches};
use crate::util::quick_hash::QuickHash;

/// Knowledge of a state.
#[derive(Clone, Debug)]
enum Known {
    /// There are no more ends of batches, two batches that lie side by side having one in common: fewer batches than ends.
    Ends(usize),
    /// It was read because it may be full: this is what it holds.
    Whole {
        start_offset: i64,
        batches: StateBatches,
    },
}

/// Decision about a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It fits: send it.
    Fits,
    /// It may or may not fit: read the state, tell it with [`StateRoom::read_again`], and ask once more.
    Unread,
}

/// The room of the states of many share partitions.
#[derive(Clone, Debug, Default)]
pub struct StateRoom {
    known: HashMap<SharePartitionKey, Known, QuickHash>,
}

impl StateRoom {
    /// Nothing is known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A leader has read a state.
    pub fn read(&mut self, key: &SharePartitionKey, read: &ReadStateResult) {
        let ends = ends(StateBatches::from_batches(&read.state_batches).iter());
        self.known.insert(key.clone(), Known::Ends(ends));
    }

    /// A state was read because a write might not have fitted: it is kept until there turns out to be room.
    pub fn read_again(&mut self, key: &SharePartitionKey, read: &ReadStateResult) {
        let whole = Known::Whole {
            start_offset: read.start_offset,
            batches: StateBatches::from_batches(&read.state_batches),
        };
        self.known.insert(key.clone(), whole);
    }

    /// Checks that the state with a write has at most `allowed` batches, and so has the write. What fits counts as written.
    ///
    /// # Errors
    /// [`CoordinatorError::StateFull`], as a coordinator with that limit says. Nothing has changed.
    pub fn admit(
        &mut self,
        key: &SharePartitionKey,
        write: &WriteState,
        allowed: usize,
    ) -> Result<Admission, CoordinatorError> {
        let full = |batches| CoordinatorError::StateFull { batches, allowed };
        let new = &write.state_batches;
        match self.known.get_mut(key) {
            None => Ok(Admission::Unread),
            Some(Known::Ends(ends)) => {
                let raised = ends.saturating_add(2 * new.len());
                if raised > allowed {
                    return Ok(Admission::Unread);
                }
                *ends = raised;
                Ok(Admission::Fits)
            }
            Some(Known::Whole {
                start_offset,
                batches,
            }) => {
                let start = write.start_offset.max(*start_offset);
                batches.fits(new, start, allowed).map_err(full)?;
                // It is a record too, and may be larger than what the state makes of it.
                StateBatches::new()
                    .fits(new, start, allowed)
                    .map_err(full)?;
                Ok(Admission::Fits)
            }
        }
    }

    /// A write that fitted was answered: it has happened.
    pub fn confirmed(&mut self, key: &SharePartitionKey, write: &WriteState, allowed: usize) {
        if let Some(known) = self.known.get_mut(key)
            && let Known::Whole {
                start_offset,
                batches,
            } = known
        {
            *start_offset = write.start_offset.max(*start_offset);
            batches.clip(*start_offset);
            batches.merge(&write.state_batches, *start_offset);
            // Where half of the room is left, a number will do for long.
            let ends = 2 * batches.len();
            if ends <= allowed / 2 {
                *known = Known::Ends(ends);
            }
        }
    }

    /// A write that fitted was refused, or nobody knows whether it has happened. A number of ends stays true either way.
    pub fn unconfirmed(&mut self, key: &SharePartitionKey) {
        if let Some(Known::Whole { .. }) = self.known.get(key) {
            self.known.remove(key);
        }
    }

    /// Nothing is known of a state any more.
    pub fn forget(&mut self, key: &SharePartitionKey) {
        self.known.remove(key);
    }
}

/// Ends of ordered, disjoint batches.
fn ends(batches: impl Iterator<Item = StateBatch>) -> usize {
    let mut before = None;
    let mut ends = 0;
    for batch in batches {
        let joined = before.is_some_and(|last| after(last) == Some(batch.first_offset));
        ends += if joined { 1 } else { 2 };
        before = Some(batch.last_offset);
    }
    ends
}
