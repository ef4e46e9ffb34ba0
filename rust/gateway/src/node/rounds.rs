//! Rounds of writes: those to come, and the one that is under way.
//!
//! Invariant: one round is under way at most.

use share_state_core::persister::{WriteState, WriteToken};

use super::names::{KeepTicket, ServedId};

/// Writes to come, and those under way.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// Share partitions that may have writes, each once.
    dirty: Vec<ServedId>,
    /// Share partitions whose start offsets are to be kept.
    keeps: Vec<(ServedId, KeepTicket)>,
    under_way: Option<(u64, Vec<(ServedId, Written)>)>,
    made: u64,
    tickets: u64,
}

/// A write of a round.
#[derive(Debug)]
pub(super) enum Written {
    /// A change that the share partition has made.
    Change(WriteToken),
    /// The first start offset of the share partition, which is about to serve.
    FirstStart,
    /// The start offset that somebody wants to show, with what was written.
    Start(KeepTicket, WriteState),
}

/// Answers that fit no round under way; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchRound {
    /// The number given.
    pub number: u64,
    /// Number of answers given.
    pub answers: usize,
}

impl core::fmt::Display for NoSuchRound {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { number, answers } = self;
        write!(f, "no round {number} of {answers} writes is under way")
    }
}

impl core::error::Error for NoSuchRound {}

impl Rounds {
    /// Has the writes of a share partition go with the next round; it is not listed yet.
    pub fn add(&mut self, served: ServedId) {
        self.dirty.push(served);
    }

    /// Has the start offset of a share partition go with the next round.
    pub fn keep(&mut self, served: ServedId) -> KeepTicket {
        let ticket = KeepTicket(self.tickets);
        self.tickets += 1;
        self.keeps.push((served, ticket));
        ticket
    }

    /// Takes back that start offsets of a share partition are to be kept.
    pub fn give_up(&mut self, served: ServedId) -> Vec<KeepTicket> {
        let given_up = self.keeps.extract_if(.., |(id, _)| *id == served);
        given_up.map(|(_, ticket)| ticket).collect()
    }

    /// Takes the share partitions whose writes go with the next round, and those whose start offsets do; none while a round is
    /// under way.
    pub fn take(&mut self) -> (Vec<ServedId>, Vec<(ServedId, KeepTicket)>) {
        if self.under_way.is_some() {
            return (Vec::new(), Vec::new());
        }
        let dirty = std::mem::take(&mut self.dirty);
        (dirty, std::mem::take(&mut self.keeps))
    }

    /// Begins the next round, and returns its number.
    pub fn begin(&mut self, writes: Vec<(ServedId, Written)>) -> u64 {
        debug_assert!(self.under_way.is_none(), "one round at a time");
        let number = self.made;
        self.made += 1;
        self.under_way = Some((number, writes));
        number
    }

    /// Number of writes of the round that is under way.
    pub fn under_way(&self) -> usize {
        self.under_way
            .as_ref()
            .map_or(0, |(_, writes)| writes.len())
    }

    /// Returns `true` if there may be something for the next round.
    pub const fn has_more(&self) -> bool {
        !self.dirty.is_empty() || !self.keeps.is_empty()
    }

    /// Number of share partitions whose writes go with the next round.
    pub const fn to_come(&self) -> usize {
        self.dirty.len()
    }

    /// Share partitions whose start offsets are to be kept.
    pub fn keeps(&self) -> impl Iterator<Item = ServedId> {
        self.keeps.iter().map(|(served, _)| *served)
    }

    /// Ends a round for which there are so many answers.
    ///
    /// # Errors
    /// No such round is under way, or it has another number of writes.
    pub fn end(
        &mut self,
        number: u64,
        answers: usize,
    ) -> Result<Vec<(ServedId, Written)>, NoSuchRound> {
        let round = self
            .under_way
            .take_if(|(round, writes)| *round == number && writes.len() == answers);
        round
            .map(|(_, writes)| writes)
            .ok_or(NoSuchRound { number, answers })
    }
}
