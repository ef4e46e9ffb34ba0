//! The log that a sequence's leader reads: batches with gaps, transactions with markers, compaction.

use crate::operation::LogBatch;
use crate::random::Random;

/// A log that grows as it is read.
#[derive(Debug)]
pub struct Log {
    batches: Vec<LogBatch>,
    next: i64,
    transactions: bool,
    sizes: (i64, i64),
    gaps: u64,
    /// Producers in a transaction, with its first offset.
    open: Vec<(i64, i64)>,
    /// Aborted transactions: producer, first offset, offset of the marker.
    aborted: Vec<(i64, i64, i64)>,
}

impl Log {
    /// An empty log that starts at `start`.
    pub fn new(random: &mut Random, start: i64) -> Self {
        Self {
            batches: Vec::new(),
            next: start,
            transactions: random.percent(20),
            sizes: random.pick(&[(1, 1), (1, 4), (3, 12), (5, 30), (1, 60), (200, 900)]),
            gaps: random.pick(&[0, 10, 40]),
            open: Vec::new(),
            aborted: Vec::new(),
        }
    }

    /// Returns true if it is read with read_committed.
    pub const fn transactions(&self) -> bool {
        self.transactions
    }

    fn grow(&mut self, random: &mut Random) {
        if self.transactions && !self.open.is_empty() && random.percent(40) {
            let index = random.below(self.open.len() as u64) as usize;
            let (producer, first) = self.open.swap_remove(index);
            if random.percent(60) {
                self.aborted.push((producer, first, self.next));
            }
            self.append(1, producer, true);
            return;
        }
        if random.percent(self.gaps) {
            self.next += random.between(1, 6);
        }
        let len = random.between(self.sizes.0, self.sizes.1);
        let producer = if self.transactions {
            random.pick(&[-1, 1, 2, 3])
        } else {
            -1
        };
        if producer >= 0 && !self.open.iter().any(|(p, _)| *p == producer) {
            self.open.push((producer, self.next));
        }
        self.append(len, producer, false);
    }

    fn append(&mut self, len: i64, producer: i64, control: bool) {
        self.batches.push(LogBatch {
            base: self.next,
            last: self.next + len - 1,
            producer,
            transactional: producer >= 0,
            control,
        });
        self.next += len;
    }

    /// Up to `count` batches from the one that holds `from` or follows it, and with read_committed the aborted transactions
    /// in their range.
    pub fn read(
        &mut self,
        random: &mut Random,
        from: i64,
        count: usize,
    ) -> (Vec<LogBatch>, Vec<(i64, i64)>) {
        while self.next < from.saturating_add(40) && self.batches.len() < 2_000 {
            self.grow(random);
        }
        let stable = self
            .open
            .iter()
            .map(|(_, first)| *first)
            .min()
            .unwrap_or(i64::MAX);
        let begin = self.batches.partition_point(|batch| batch.last < from);
        let read: Vec<LogBatch> = self.batches[begin..]
            .iter()
            .take_while(|batch| batch.base < stable)
            .take(count)
            .copied()
            .collect();
        let (Some(first), Some(last)) = (read.first(), read.last()) else {
            return (read, Vec::new());
        };
        let overlapping =
            |(_, begun, marker): &&(i64, i64, i64)| *begun <= last.last && *marker >= first.base;
        let aborted = self
            .aborted
            .iter()
            .filter(overlapping)
            .map(|(p, begun, _)| (*p, *begun))
            .collect();
        (read, aborted)
    }

    /// Takes a batch at or after `from` out, as the cleaner does.
    pub fn compact(&mut self, random: &mut Random, from: i64) {
        let begin = self.batches.partition_point(|batch| batch.last < from);
        let candidates = (self.batches.len() - begin).min(8) as u64;
        let index = begin + random.below(candidates) as usize;
        if self.batches.get(index).is_some_and(|batch| !batch.control) {
            self.batches.remove(index);
        }
    }

    /// Offset after its last record now.
    pub const fn end(&self) -> i64 {
        self.next
    }
}
