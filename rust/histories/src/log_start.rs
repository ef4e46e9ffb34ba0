//! The log start, which takes records away.

use crate::event::Nanos;

/// How the log start moved.
#[derive(Debug, Default)]
pub struct LogStart {
    /// The moves beyond all before, in order: the first offset that is left, and the time.
    moves: Vec<(i64, Nanos)>,
}

impl LogStart {
    /// The moves that a history shows, in the order of their times.
    pub fn new(shown: impl Iterator<Item = (i64, Nanos)>) -> Self {
        let mut moves: Vec<(i64, Nanos)> = Vec::new();
        for (from, t) in shown {
            if moves.last().is_none_or(|&(highest, _)| from > highest) {
                moves.push((from, t));
            }
        }
        Self { moves }
    }

    /// When it is seen to have passed a record.
    pub fn passed(&self, offset: i64) -> Option<Nanos> {
        let at = self.moves.partition_point(|&(from, _)| from <= offset);
        self.moves.get(at).map(|&(_, t)| t)
    }

    /// Where it has been.
    pub fn offsets(&self) -> impl Iterator<Item = i64> {
        self.moves.iter().map(|&(from, _)| from)
    }
}
