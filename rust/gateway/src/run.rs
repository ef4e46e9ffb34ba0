//! A run: reads of which each began where the one before it ended, so between its batches the log holds nothing else.

use std::collections::VecDeque;

use share_state_core::offset::after_saturating;

use crate::chunk::{Batch, Chunk};

/// Chunks in the order of their offsets; at least one.
#[derive(Debug)]
pub(crate) struct Run {
    /// The offset that was asked for when the run began, or the one after the last batch that left it: from here on a hole
    /// between batches is a fact.
    pub asked: i64,
    pub chunks: VecDeque<Chunk>,
}

/// Index of a chunk, and of a batch in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub chunk: usize,
    pub batch: usize,
}

impl Run {
    /// The offset after the last batch.
    pub fn end(&self) -> i64 {
        self.chunks
            .back()
            .map_or(self.asked, |chunk| after_saturating(chunk.last_offset()))
    }

    /// The first offset of which the run knows.
    pub fn first_offset(&self) -> i64 {
        let first = self.chunks.front().and_then(|chunk| chunk.batches.front());
        first.map_or(self.asked, |batch| {
            batch.fetched.base_offset.min(self.asked)
        })
    }

    /// The batch that holds `offset`, or the first after it if none can have been left out between the two.
    pub fn find(&self, offset: i64) -> Option<Place> {
        let chunk = self
            .chunks
            .partition_point(|chunk| chunk.last_offset() < offset);
        let found = self.chunks.get(chunk)?;
        let batch = found.reaching(offset);
        let base = found.batches.get(batch)?.fetched.base_offset;
        (self.asked <= offset || base <= offset).then_some(Place { chunk, batch })
    }

    /// The batches from `place` on.
    pub fn batches_from(&self, place: Place) -> impl Iterator<Item = &Batch> {
        let mut skipped = place.batch;
        self.chunks.range(place.chunk..).flat_map(move |chunk| {
            let from = core::mem::take(&mut skipped);
            chunk.batches.range(from.min(chunk.batches.len())..)
        })
    }

    /// Bytes from `place` on, counted up to `limit`.
    pub fn bytes_from(&self, place: Place, limit: usize) -> usize {
        let mut bytes = 0usize;
        for (index, chunk) in self.chunks.iter().enumerate().skip(place.chunk) {
            let from = if index == place.chunk { place.batch } else { 0 };
            let start = chunk.batches.get(from).map_or(0, |batch| batch.start);
            bytes += chunk.span().end.saturating_sub(start);
            if bytes >= limit {
                return limit;
            }
        }
        bytes
    }
}
