//! Questions to a ring.

use crate::ring::BatchRing;
use crate::run::{Place, Run};

impl BatchRing {
    /// Returns true if records from `offset` on can be given without a read.
    #[must_use]
    pub fn holds(&self, offset: i64) -> bool {
        self.find(offset).is_some()
    }

    /// Bytes of the batches from `offset` on, counted up to `limit`: for the least bytes that a fetch waits for.
    #[must_use]
    pub fn bytes_from(&self, offset: i64, limit: usize) -> usize {
        let found = self
            .find(offset)
            .and_then(|(run, place)| Some((self.runs.get(run)?, place)));
        found.map_or(0, |(run, place)| run.bytes_from(place, limit))
    }

    /// Bytes of the batch that holds `offset`, or of the first after it; 0 where the ring does not hold it. It cannot be given
    /// in parts.
    #[must_use]
    pub fn first_batch_bytes(&self, offset: i64) -> usize {
        let found = self
            .find(offset)
            .and_then(|(run, place)| self.runs.get(run)?.batches_from(place).next());
        found.map_or(0, |batch| batch.end - batch.start)
    }

    /// The offset after the tail, where the next read of it begins; `None` without a batch.
    #[must_use]
    pub fn end_offset(&self) -> Option<i64> {
        self.tail().map(Run::end)
    }

    /// Returns true if the run that holds `offset` is the tail, so that the next read of the tail continues it.
    pub(crate) fn is_in_tail(&self, offset: i64) -> bool {
        let found = self.find(offset).and_then(|(run, _)| self.runs.get(run));
        found.is_some_and(|run| Some(run.end()) == self.end_offset())
    }

    /// The first offset of which any run knows; `None` without a batch.
    #[must_use]
    pub fn first_offset(&self) -> Option<i64> {
        self.runs.iter().map(Run::first_offset).min()
    }

    /// Epoch of the leader that appended the last batch of the tail, as its header says; -1 without one.
    #[must_use]
    pub fn leader_epoch(&self) -> i32 {
        let last = self.tail().and_then(|run| run.chunks.back());
        let last = last.and_then(|chunk| chunk.batches.back());
        last.map_or(-1, |batch| batch.leader_epoch)
    }

    /// Bytes of the batches.
    #[must_use]
    pub const fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// Number of batches.
    #[must_use]
    pub fn batches(&self) -> usize {
        let chunks = self.runs.iter().flat_map(|run| &run.chunks);
        chunks.map(|chunk| chunk.batches.len()).sum()
    }

    /// Bytes of the buffers that the batches keep in memory, a buffer once for each read. Rings of one answer share its frame.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        let chunks = self.runs.iter().flat_map(|run| &run.chunks);
        chunks.map(|chunk| chunk.buffer.bytes().len()).sum()
    }

    /// The run that reaches furthest.
    fn tail(&self) -> Option<&Run> {
        self.runs.iter().max_by_key(|run| run.end())
    }

    /// Run and place of `offset`; of several runs, the one that reaches furthest.
    pub(crate) fn find(&self, offset: i64) -> Option<(usize, Place)> {
        let runs = self.runs.iter().enumerate();
        let found = runs.filter_map(|(index, run)| Some((run.end(), index, run.find(offset)?)));
        found
            .max_by_key(|(end, ..)| *end)
            .map(|(_, index, place)| (index, place))
    }
}
