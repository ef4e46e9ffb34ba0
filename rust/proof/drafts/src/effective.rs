//! The state that a share-partition leader would work with after it has read the records: what all forms agree on.

use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::interval_tree::{IntervalTree, Run, RunValue};
use share_state_core::offset::{OffsetRange, after_saturating};
use share_state_core::record_state::RecordState;
use share_state_core::state_batch::StateBatch;

/// State and delivery count of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Delivery {
    state: i8,
    count: i16,
}

impl RunValue for Delivery {}

/// Start offset, and the records after it of which more is known than that they are AVAILABLE and were never delivered.
///
/// The start offset has passed every terminal record that it meets. That is why the forms agree: one writes a start offset where
/// another writes ACKNOWLEDGED records.
#[derive(Clone, Debug)]
pub struct EffectiveState {
    start_offset: i64,
    runs: IntervalTree<Delivery>,
}

impl EffectiveState {
    /// The state that a checkpoint tells; a start offset of -1 is not resolved yet.
    #[must_use]
    pub fn new(start_offset: i64, states: &[StateBatch]) -> Self {
        let mut state = Self {
            start_offset,
            runs: IntervalTree::new(),
        };
        state.apply(-1, states);
        state
    }

    /// Applies a delta: of two statements about an offset the later one stands, and the start offset never goes back. A start
    /// offset of -1 leaves it as it was. A state whose last offset is below its base offset covers no offset.
    pub fn apply(&mut self, start_offset: i64, states: &[StateBatch]) {
        self.start_offset = self.start_offset.max(start_offset);
        for state in states {
            let Some(range) = OffsetRange::new(state.first_offset, state.last_offset) else {
                continue;
            };
            let unknown = RecordState::Available.id() == state.delivery_state;
            if unknown && state.delivery_count == 0 {
                self.runs.remove(range);
            } else {
                let delivery = Delivery {
                    state: state.delivery_state,
                    count: state.delivery_count,
                };
                self.runs.set(range, delivery);
            }
        }
        self.advance();
    }

    /// Moves the start offset over the terminal records that it meets, and forgets what lies below.
    fn advance(&mut self) {
        if self.start_offset == -1 {
            return;
        }
        while let Some(run) = self.runs.at(self.start_offset) {
            let state = RecordState::from_id(run.value.state);
            let next = after_saturating(run.range.last);
            if !state.is_some_and(RecordState::is_terminal) || next == self.start_offset {
                break;
            }
            self.start_offset = next;
        }
        self.runs.remove_before(self.start_offset);
    }

    /// Start offset of the share partition; -1 while not yet resolved.
    #[must_use]
    pub const fn start_offset(&self) -> i64 {
        self.start_offset
    }

    /// The offset after the last record of which something is known (SPEO as the records tell it); the start offset if there is
    /// none.
    #[must_use]
    pub fn end_offset(&self) -> i64 {
        let last = self.runs.bounds().map(|known| known.last);
        last.map_or(self.start_offset, after_saturating)
    }

    /// States that are known, in the order of the offsets, without equal neighbours.
    #[must_use]
    pub fn states(&self) -> Vec<StateBatch> {
        self.runs.iter().map(state).collect()
    }
}

impl From<&ShareGroupOffset> for EffectiveState {
    /// The state that records of Kafka's own form tell.
    fn from(kafka: &ShareGroupOffset) -> Self {
        Self::new(kafka.start_offset, &kafka.state_batches.to_vec())
    }
}

impl PartialEq for EffectiveState {
    /// Returns true if both say the same of every offset; the runs are coalesced.
    fn eq(&self, other: &Self) -> bool {
        self.start_offset == other.start_offset && self.runs.iter().eq(other.runs.iter())
    }
}

impl Eq for EffectiveState {}

fn state(run: Run<Delivery>) -> StateBatch {
    StateBatch {
        first_offset: run.range.first,
        last_offset: run.range.last,
        delivery_state: run.value.state,
        delivery_count: run.value.count,
    }
}
