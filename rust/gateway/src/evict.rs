//! Letting go of what nobody has read for longest, and of frames of which little is left.

use share_state_core::offset::after_saturating;

use crate::buffer::Buffer;
use crate::ring::BatchRing;
use crate::run::Run;

impl BatchRing {
    /// Drops whole batches until at most `keep_bytes` of them are left, and returns how many bytes went. They go from the old
    /// end of a run; of several runs, from the one whose old end was filled or given out longest ago. A buffer goes with its
    /// last batch.
    pub fn evict(&mut self, keep_bytes: usize) -> usize {
        let before = self.nbytes;
        while self.nbytes > keep_bytes {
            let coldest = self.runs.iter().enumerate().min_by_key(|(_, run)| {
                let front = run.chunks.front();
                front.map_or(0, |chunk| chunk.used)
            });
            let Some(index) = coldest.map(|(index, _)| index) else {
                break;
            };
            let excess = self.nbytes - keep_bytes;
            let run = self.runs.get_mut(index);
            let freed = run.map_or(0, |run| run.shed(excess));
            self.nbytes = self.nbytes.saturating_sub(freed);
            if self
                .runs
                .get(index)
                .is_some_and(|run| run.chunks.is_empty())
            {
                self.runs.swap_remove(index);
            }
        }
        before - self.nbytes
    }

    /// Copies what is left of a buffer into memory of its own, where that is less than half of the buffer and was there at the
    /// last call already. Returns how many bytes were copied.
    ///
    /// An answer brings many partitions in one frame, and a batch of a partition with little traffic would keep all of it. What
    /// flows is gone before the second call, so a caller with a timer pays only for what lingers.
    pub fn compact(&mut self) -> usize {
        let mut copied = 0;
        for chunk in self.runs.iter_mut().flat_map(|run| &mut run.chunks) {
            let span = chunk.span();
            let lingers = std::mem::replace(&mut chunk.lingers, true);
            if !lingers || span.len() >= chunk.buffer.bytes().len().div_ceil(2) {
                continue;
            }
            copied += span.len();
            chunk.buffer = Buffer::new(chunk.buffer.part(span.clone()).to_vec());
            for batch in &mut chunk.batches {
                batch.start -= span.start;
                batch.end -= span.start;
            }
        }
        copied
    }
}

impl Run {
    /// Drops batches from the first chunk until `excess` bytes are gone or the chunk is; returns the bytes that went. What
    /// is left of the run is known from after them on.
    fn shed(&mut self, excess: usize) -> usize {
        let Some(chunk) = self.chunks.front_mut() else {
            return 0;
        };
        let mut freed = 0;
        while freed < excess
            && let Some(batch) = chunk.batches.pop_front()
        {
            freed += batch.end - batch.start;
            self.asked = after_saturating(batch.fetched.last_offset);
        }
        if chunk.batches.is_empty() {
            self.chunks.pop_front();
        }
        freed
    }
}
