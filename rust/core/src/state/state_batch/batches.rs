//! The merged batches of one share partition.

use core::fmt;

use super::StateBatch;
use crate::offset::OffsetRange;
use crate::state::interval_tree::{IntervalTree, Run, RunValue};

/// Delivery of each record of a batch. The order of the fields is the order of precedence: of two deliveries of one
/// offset the greater one stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Delivery {
    count: i16,
    state: i8,
}

impl RunValue for Delivery {}

/// Batches as ordered, disjoint runs without equal neighbours.
///
/// Merging a batch costs a search and the runs it overlaps, not the runs there are.
#[derive(Clone, Default)]
pub struct StateBatches {
    runs: IntervalTree<Delivery>,
}

impl StateBatches {
    /// No batch.
    #[must_use]
    pub fn new() -> Self {
        Self {
            runs: IntervalTree::new(),
        }
    }

    /// The merge of `batches`, in any order and with any overlaps.
    #[must_use]
    pub fn from_batches(batches: &[StateBatch]) -> Self {
        let mut merged = Self::new();
        merged.merge(batches, -1);
        merged
    }

    /// Number of runs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns `true` if no offset is covered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The run that covers `offset`.
    #[must_use]
    pub fn at(&self, offset: i64) -> Option<StateBatch> {
        self.runs.at(offset).map(batch)
    }

    /// The runs in the order of their offsets.
    pub fn iter(&self) -> impl Iterator<Item = StateBatch> {
        self.runs.iter().map(batch)
    }

    /// The offsets from the first that is covered to the last.
    #[must_use]
    pub fn bounds(&self) -> Option<OffsetRange> {
        self.runs.bounds()
    }

    /// The runs that reach into `range`, cut to it, in the order of their offsets.
    pub fn within(&self, range: OffsetRange) -> impl Iterator<Item = StateBatch> {
        self.runs
            .iter_from(range.first)
            .take_while(move |run| run.range.first <= range.last)
            .filter_map(move |run| run.clipped(range))
            .map(batch)
    }

    /// The runs in the order of their offsets, as they stand in a record.
    #[must_use]
    pub fn to_vec(&self) -> Vec<StateBatch> {
        let mut list = Vec::with_capacity(self.len());
        list.extend(self.iter());
        list
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.runs.heap_bytes()
    }

    /// Merges `batches`, of each only what lies at or after `start_offset`; -1 takes all of them.
    ///
    /// What is already there is not clipped, see [`StateBatches::clip`]. Returns whether anything changed.
    pub fn merge(&mut self, batches: &[StateBatch], start_offset: i64) -> bool {
        let mut changed = false;
        for batch in batches {
            let first = if start_offset == -1 {
                batch.first_offset
            } else {
                batch.first_offset.max(start_offset)
            };
            // An inverted batch ends here too: it covers no offset.
            if let Some(range) = OffsetRange::new(first, batch.last_offset) {
                changed |= self.runs.raise(
                    range,
                    Delivery {
                        count: batch.delivery_count,
                        state: batch.delivery_state,
                    },
                );
            }
        }
        changed
    }

    /// Returns `true` if there are at most `allowed` runs once `batches` are merged from `start_offset` on; if not, how
    /// many there are.
    ///
    /// The merge is made only where it could come out too large. A batch of little precedence leaves the runs that it covers
    /// and fills every gap between them, so its own number is no measure.
    ///
    /// # Errors
    /// The number of runs after the merge, which is more than `allowed`.
    pub fn fits(
        &self,
        batches: &[StateBatch],
        start_offset: i64,
        allowed: usize,
    ) -> Result<(), usize> {
        if self.surely_fits(batches, allowed) {
            return Ok(());
        }
        let mut merged = self.clone();
        merged.clip(start_offset);
        merged.merge(batches, start_offset);
        if merged.len() <= allowed {
            Ok(())
        } else {
            Err(merged.len())
        }
    }

    /// Two ends of each batch make two runs more at most, and so does each gap that a batch reaches into make one. There is a
    /// gap at most before each run that a batch overlaps, and one after the last of them. No more runs are visited than would
    /// fill the room.
    fn surely_fits(&self, batches: &[StateBatch], allowed: usize) -> bool {
        let Some(mut room) = allowed.checked_sub(self.len() + 3 * batches.len()) else {
            return false;
        };
        if self.len() <= room {
            // There are not more gaps than runs and one.
            return true;
        }
        for batch in batches {
            let Some(range) = OffsetRange::new(batch.first_offset, batch.last_offset) else {
                continue;
            };
            let overlapped = self.within(range).take(room + 1).count();
            let Some(left) = room.checked_sub(overlapped) else {
                return false;
            };
            room = left;
        }
        true
    }

    /// Forgets what lies below `start_offset`; -1 forgets nothing. Returns whether anything changed.
    pub fn clip(&mut self, start_offset: i64) -> bool {
        start_offset != -1 && self.runs.remove_before(start_offset)
    }
}

fn batch(run: Run<Delivery>) -> StateBatch {
    StateBatch {
        first_offset: run.range.first,
        last_offset: run.range.last,
        delivery_state: run.value.state,
        delivery_count: run.value.count,
    }
}

impl PartialEq for StateBatches {
    /// Returns `true` if both cover the same offsets with the same deliveries; the runs are canonical.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for StateBatches {}

impl fmt::Debug for StateBatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
