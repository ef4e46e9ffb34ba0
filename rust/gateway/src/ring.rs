//! Cache of one upstream partition at one isolation level, shared by all groups and members.

use share_state_core::offset::after_saturating;
use share_state_core::share_partition::{AbortedTransaction, FetchedBatch, aborted_ranges};
use share_state_wire::record_batch::{BatchHeaders, Checksums};

use crate::buffer::Buffer;
use crate::chunk::{Batch, Chunk};
use crate::error::AppendError;
use crate::run::Run;
use crate::slice::{Extent, Piece, Slice};

/// A room of at most this many headers is kept for the next slice.
const SPARE_BATCHES: usize = 1_000;

/// Answer of an upstream for a partition.
#[derive(Debug)]
pub struct Read<'a> {
    /// The offset that was asked for.
    pub asked_offset: i64,
    /// The frame of the answer.
    pub buffer: Buffer,
    /// Place in it where the records begin.
    pub start: usize,
    /// Place where they end.
    pub end: usize,
    /// Aborted transactions that the answer names, with read_committed.
    pub aborted: &'a [AbortedTransaction],
    /// Treatment of the checksums: computed, or trusted.
    pub checksums: Checksums,
}

/// Outcome of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The offset after its last whole batch, and the offset asked for if it has none.
    pub next_offset: i64,
    /// Bytes of the batches that are new to the ring.
    pub bytes: usize,
}

/// Batches by offset, in runs.
///
/// A *run* is made of reads of which each began where the one before ended. Its holes are facts (compaction) from the offset on
/// that its first read asked for; what lies between two runs is not known. The run that reaches furthest is the *tail*, others
/// come from reads further back.
#[derive(Debug, Default)]
pub struct BatchRing {
    pub(crate) runs: Vec<Run>,
    pub(crate) nbytes: usize,
    /// Appends and slices so far.
    pub(crate) clock: u64,
    spare: Vec<FetchedBatch>,
}

impl BatchRing {
    /// A ring with nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the whole batches of a read in. Those that end before the offset asked for are skipped, and so is what the run
    /// holds already that the read extends; where the two do not fit together, the read begins its own run.
    ///
    /// # Errors
    /// The read is malformed; see [`AppendError`].
    pub fn append(&mut self, read: Read<'_>) -> Result<Appended, AppendError> {
        let mut batches = judged(&read)?;
        let asked = read.asked_offset;
        let next_offset = batches
            .last()
            .map_or(asked, |batch| after_saturating(batch.fetched.last_offset))
            .max(asked);
        let run = self.extended_by(asked, &batches);
        let known = run
            .and_then(|run| self.runs.get(run))
            .map_or(asked, Run::end);
        batches.drain(..reaching(&batches, known));
        if batches.is_empty() {
            return Ok(Appended {
                next_offset,
                bytes: 0,
            });
        }
        self.clock += 1;
        let chunk = Chunk {
            buffer: read.buffer,
            batches: batches.into(),
            used: self.clock,
            lingers: false,
        };
        let bytes = chunk.nbytes();
        self.nbytes += bytes;
        match run.and_then(|run| self.runs.get_mut(run)) {
            Some(run) => run.chunks.push_back(chunk),
            None => self.runs.push(Run {
                asked,
                chunks: [chunk].into(),
            }),
        }
        Ok(Appended { next_offset, bytes })
    }

    /// Forgets everything: another log, or another history of it.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.nbytes = 0;
    }

    /// The run that a read from `asked` with these batches extends: the read began inside it or at its end, and no batch lies
    /// across its end.
    fn extended_by(&self, asked: i64, batches: &[Batch]) -> Option<usize> {
        let fits = |run: &Run| {
            let first = batches.get(reaching(batches, run.end()));
            (run.asked..=run.end()).contains(&asked)
                && first.is_none_or(|batch| batch.fetched.base_offset >= run.end())
        };
        let runs = self.runs.iter().enumerate().filter(|(_, run)| fits(run));
        runs.max_by_key(|(_, run)| run.end())
            .map(|(index, _)| index)
    }

    /// The batches to give to the engine for `offset`; `None` if no run holds it.
    pub(crate) fn slice(&mut self, offset: i64, extent: Extent) -> Option<Slice> {
        let (index, from) = self.find(offset)?;
        let run = self.runs.get(index)?;
        let mut fetched = std::mem::take(&mut self.spare);
        fetched.clear();
        let aborted = run.collect(from, extent, &mut fetched);
        Some(Slice {
            run: index,
            from,
            fetched,
            aborted,
        })
    }

    /// The bytes of `count` batches of a slice that was just made, from the one at `skip` on.
    pub(crate) fn pieces(&mut self, slice: &Slice, skip: usize, count: usize) -> Vec<Piece> {
        self.clock += 1;
        let now = self.clock;
        let run = self.runs.get_mut(slice.run);
        run.map_or_else(Vec::new, |run| run.pieces(slice.from, skip, count, now))
    }

    /// Takes the room of a slice back, for the next one.
    pub(crate) fn give_back(&mut self, fetched: Vec<FetchedBatch>) {
        if fetched.capacity() <= SPARE_BATCHES {
            self.spare = fetched;
        }
    }
}

/// The batches of a read from the one that holds the offset asked for on. They are judged in order from the first of the
/// answer, for which its list of aborted transactions is made.
fn judged(read: &Read<'_>) -> Result<Vec<Batch>, AppendError> {
    let (start, end, size) = (read.start, read.end, read.buffer.bytes().len());
    if start > end || end > size {
        return Err(AppendError::Part { start, end, size });
    }
    let asked_offset = read.asked_offset;
    if asked_offset < 0 {
        return Err(AppendError::AskedOffset { asked_offset });
    }
    let mut batches = Vec::new();
    for header in BatchHeaders::new(read.buffer.bytes(), start, end, read.checksums) {
        let header = header?;
        batches.push(Batch {
            fetched: header.batch,
            start: header.start,
            end: header.end,
            leader_epoch: header.partition_leader_epoch,
            aborted: false,
        });
    }
    if !read.aborted.is_empty() {
        let fetched: Vec<_> = batches.iter().map(|batch| batch.fetched).collect();
        let mut gone = aborted_ranges(&fetched, read.aborted)
            .into_iter()
            .peekable();
        for batch in &mut batches {
            let range = gone.next_if(|range| range.first == batch.fetched.base_offset);
            batch.aborted = range.is_some();
        }
    }
    batches.drain(..reaching(&batches, asked_offset));
    Ok(batches)
}

/// Index of the first batch that ends at `offset` or after it.
fn reaching(batches: &[Batch], offset: i64) -> usize {
    batches.partition_point(|batch| batch.fetched.last_offset < offset)
}
