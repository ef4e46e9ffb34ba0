//! A slice: the batches of a run that are given to the engine for one acquire, and the bytes of some of them.

use share_state_core::offset::plus_saturating;
use share_state_core::share_partition::{AbortedTransaction, FetchedBatch};

use crate::aborted::AbortedList;
use crate::buffer::Buffer;
use crate::run::{Place, Run};

/// Limits of a slice, which is one batch at least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// The most bytes.
    pub max_bytes: usize,
    /// Offsets to reach past both `window_end` and the base of the first batch: with the batch that does so the slice ends.
    pub max_records: u64,
    pub window_end: i64,
}

/// Batches of one run that follow each other.
#[derive(Debug)]
pub(crate) struct Slice {
    pub run: usize,
    pub from: Place,
    pub fetched: Vec<FetchedBatch>,
    pub aborted: Vec<AbortedTransaction>,
}

/// A part of a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub buffer: Buffer,
    pub start: usize,
    pub end: usize,
}

impl Piece {
    pub fn bytes(&self) -> &[u8] {
        self.buffer.part(self.start..self.end)
    }
}

impl Run {
    /// Puts the batches from `from` on into `fetched`, and returns the aborted transactions among them.
    pub fn collect(
        &self,
        from: Place,
        extent: Extent,
        fetched: &mut Vec<FetchedBatch>,
    ) -> Vec<AbortedTransaction> {
        let mut aborted = AbortedList::default();
        let mut bytes = 0usize;
        let mut reach = None;
        for batch in self.batches_from(from) {
            let base = batch.fetched.base_offset;
            let reach = *reach.get_or_insert_with(|| {
                plus_saturating(base.max(extent.window_end), extent.max_records)
            });
            bytes = bytes.saturating_add(batch.end - batch.start);
            let is_over = fetched
                .last()
                .is_some_and(|last| bytes > extent.max_bytes || last.last_offset >= reach);
            if is_over || !aborted.take(batch) {
                break;
            }
            fetched.push(batch.fetched);
        }
        aborted.list
    }

    /// The bytes of `count` batches, of which the first is the one at `skip` counted from `from`: a piece a chunk. The chunks
    /// count as used at `now`.
    pub fn pieces(&mut self, from: Place, skip: usize, count: usize, now: u64) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut skip = skip.saturating_add(from.batch);
        let mut left = count;
        for chunk in self.chunks.iter_mut().skip(from.chunk) {
            if left == 0 {
                break;
            }
            chunk.used = now;
            let size = chunk.batches.len();
            if skip >= size {
                skip -= size;
                continue;
            }
            let last = skip.saturating_add(left).min(size).saturating_sub(1);
            if let (Some(first), Some(last)) = (chunk.batches.get(skip), chunk.batches.get(last)) {
                pieces.push(Piece {
                    buffer: chunk.buffer.clone(),
                    start: first.start,
                    end: last.end,
                });
            }
            left = left.saturating_sub(size - skip);
            skip = 0;
        }
        pieces
    }
}
