//! The batches of one read: where they lie in its buffer, and what their headers say.

use core::ops::Range;
use std::collections::VecDeque;

use share_state_core::share_partition::FetchedBatch;

use crate::buffer::Buffer;

/// A cached batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    pub fetched: FetchedBatch,
    /// Place of the batch in the buffer of its chunk.
    pub start: usize,
    pub end: usize,
    /// Epoch of the leader that appended it.
    pub leader_epoch: i32,
    /// True if its records belong to an aborted transaction, judged when its answer arrived.
    pub aborted: bool,
}

/// Batches that follow each other in the log and in one buffer; at least one.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub buffer: Buffer,
    pub batches: VecDeque<Batch>,
    /// Time at which it was filled or last given out, in appends and slices of the ring.
    pub used: u64,
    /// It was there at the last compaction.
    pub lingers: bool,
}

impl Chunk {
    /// Offset of the last record of the last batch; -1 without one.
    pub fn last_offset(&self) -> i64 {
        self.batches.back().map_or(-1, |b| b.fetched.last_offset)
    }

    /// Part of the buffer that holds its batches: they follow each other without anything between.
    pub fn span(&self) -> Range<usize> {
        match (self.batches.front(), self.batches.back()) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        }
    }

    /// Bytes of its batches.
    pub fn nbytes(&self) -> usize {
        self.span().len()
    }

    /// Index of the first batch that ends at `offset` or after it.
    pub fn reaching(&self, offset: i64) -> usize {
        self.batches
            .partition_point(|batch| batch.fetched.last_offset < offset)
    }
}
