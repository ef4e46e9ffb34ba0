//! Rounds of writes: those to come, and the one that is under way.
//!
//! Invariant: one round is under way at most.

use share_state_core::persister::WriteToken;

use super::names::ServedId;

/// Writes to come, and those under way.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// Share partitions that may have writes, each once.
    dirty: Vec<ServedId>,
    under_way: Option<(u64, Vec<Written>)>,
    made: u64,
}

/// A write of a round: its share partition and its token; no token where it keeps a start offset.
pub(super) type Written = (ServedId, Option<WriteToken>);

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

    /// Takes the share partitions whose writes go with the next round; none while one is under way.
    pub fn take(&mut self) -> Vec<ServedId> {
        if self.under_way.is_some() {
            return Vec::new();
        }
        std::mem::take(&mut self.dirty)
    }

    /// Begins the next round, and returns its number.
    pub fn begin(&mut self, writes: Vec<Written>) -> u64 {
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
        !self.dirty.is_empty()
    }

    /// Number of share partitions whose writes go with the next round.
    pub const fn to_come(&self) -> usize {
        self.dirty.len()
    }

    /// Ends a round for which there are so many answers.
    ///
    /// # Errors
    /// No such round is under way, or it has another number of writes.
    pub fn end(&mut self, number: u64, answers: usize) -> Result<Vec<Written>, NoSuchRound> {
        let round = self
            .under_way
            .take_if(|(round, writes)| *round == number && writes.len() == answers);
        round
            .map(|(_, writes)| writes)
            .ok_or(NoSuchRound { number, answers })
    }
}
