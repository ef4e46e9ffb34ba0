//! A partition of an upstream: its batches, and what a broker answers to a read of it.

use proptest::collection::vec;
use proptest::prelude::*;
use share_state_core::share_partition::{AbortedTransaction, ControlType, FetchedBatch};

/// A batch of the log; what follows its header is filler, but for a marker.
#[derive(Clone, Debug)]
pub struct LogBatch {
    pub fetched: FetchedBatch,
    /// Bytes after the header.
    filler: usize,
    /// True if its transaction ends in an abort.
    pub aborted: bool,
}

impl LogBatch {
    pub fn plain(base: i64, last: i64) -> Self {
        Self {
            fetched: FetchedBatch::plain(base, last),
            filler: (last - base) as usize + 1,
            aborted: false,
        }
    }

    /// A batch of a transaction of this producer.
    pub fn of(producer_id: i64, base: i64, last: i64) -> Self {
        let mut batch = Self::plain(base, last);
        batch.fetched.producer_id = producer_id;
        batch.fetched.is_transactional = true;
        batch
    }

    pub fn marker(producer_id: i64, offset: i64, control: ControlType) -> Self {
        let mut batch = Self::of(producer_id, offset, offset);
        batch.fetched.control = Some(control);
        batch
    }

    pub fn bytes(&self) -> Vec<u8> {
        let fetched = &self.fetched;
        let section = match fetched.control {
            // Length, attributes, time, offset, key of four bytes, no value, no headers.
            Some(control) => {
                let kind = u8::from(control == ControlType::Commit);
                vec![20, 0, 0, 0, 8, 0, 0, 0, kind, 1, 0]
            }
            None => vec![fetched.base_offset as u8; self.filler],
        };
        let attributes = i16::from(fetched.is_transactional) * 0x10
            + i16::from(fetched.control.is_some()) * 0x20;
        let delta = (fetched.last_offset - fetched.base_offset) as i32;
        let mut out = fetched.base_offset.to_be_bytes().to_vec();
        out.extend((section.len() as i32 + 49).to_be_bytes());
        out.extend(3i32.to_be_bytes()); // leader epoch
        out.extend([2, 0, 0, 0, 0]); // format, checksum
        out.extend(attributes.to_be_bytes());
        out.extend(delta.to_be_bytes());
        out.extend([0; 16]); // timestamps
        out.extend(fetched.producer_id.to_be_bytes());
        out.extend([0; 6]); // producer epoch, sequence
        out.extend((delta + 1).to_be_bytes());
        out.extend(section);
        out
    }

    pub fn size(&self) -> usize {
        self.bytes().len()
    }
}

/// A log whose transactions have all ended.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub batches: Vec<LogBatch>,
}

impl Log {
    /// The offset after the last record.
    pub fn end(&self) -> i64 {
        self.batches.last().map_or(0, |b| b.fetched.last_offset + 1)
    }

    /// Index of the batch that holds `offset`, or of the first after it.
    pub fn reaching(&self, offset: i64) -> usize {
        self.batches
            .partition_point(|b| b.fetched.last_offset < offset)
    }

    /// The batches from `offset` on that end before `end`, and fit into `max_bytes` but for the first.
    pub fn slice(&self, offset: i64, end: i64, max_bytes: usize) -> &[LogBatch] {
        let from = self.reaching(offset);
        let mut bytes = 0usize;
        let fits = self.batches[from..]
            .iter()
            .enumerate()
            .take_while(|(index, batch)| {
                bytes = bytes.saturating_add(batch.size());
                batch.fetched.last_offset < end && (*index == 0 || bytes <= max_bytes)
            });
        let count = fits.count();
        &self.batches[from..from + count]
    }

    /// Answer of a broker: whole batches, and a part of another where the bytes end within it.
    pub fn read(&self, asked: i64, max_bytes: usize) -> (Vec<u8>, Vec<AbortedTransaction>) {
        let whole = self.slice(asked, i64::MAX, max_bytes);
        let mut bytes: Vec<u8> = whole.iter().flat_map(LogBatch::bytes).collect();
        let next = self.batches.get(self.reaching(asked) + whole.len());
        let room = max_bytes.saturating_sub(bytes.len());
        bytes.extend(next.into_iter().flat_map(LogBatch::bytes).take(room));
        (bytes, self.aborted(asked, whole))
    }

    /// The aborted transactions that a broker names for a read from `offset` of these batches: those whose marker does not lie
    /// before the offset (`LogSegment.collectAbortedTxns`).
    pub fn aborted(&self, offset: i64, read: &[LogBatch]) -> Vec<AbortedTransaction> {
        let end = read.last().map_or(offset, |b| b.fetched.last_offset);
        let mut open: Vec<AbortedTransaction> = Vec::new();
        let mut found = Vec::new();
        for batch in &self.batches {
            let producer_id = batch.fetched.producer_id;
            let known = open.iter().position(|t| t.producer_id == producer_id);
            match (batch.fetched.control, known) {
                (Some(control), Some(index)) => {
                    let ended = open.remove(index);
                    let named = control == ControlType::Abort
                        && batch.fetched.last_offset >= offset
                        && ended.first_offset <= end;
                    found.extend(named.then_some(ended));
                }
                (None, None) if batch.fetched.is_transactional => open.push(AbortedTransaction {
                    producer_id,
                    first_offset: batch.fetched.base_offset,
                }),
                _ => {}
            }
        }
        found
    }
}

/// Entry that is appended to a log next.
#[derive(Clone, Copy, Debug)]
enum Entry {
    Plain,
    /// Records of a transaction of this producer.
    Of(i64),
    /// The end of its transaction, if one is open.
    End(i64, ControlType),
}

fn entry() -> impl Strategy<Value = Entry> {
    let control = prop_oneof![Just(ControlType::Abort), Just(ControlType::Commit)];
    prop_oneof![
        4 => Just(Entry::Plain),
        3 => (1i64..4).prop_map(Entry::Of),
        2 => ((1i64..4), control).prop_map(|(producer, control)| Entry::End(producer, control)),
    ]
}

/// Any log of up to `entries` batches, with holes between them.
pub fn any_log(entries: usize) -> impl Strategy<Value = Log> {
    let hole = prop_oneof![3 => Just(0i64), 1 => 1i64..7];
    vec((entry(), hole, 1i64..9, 0usize..60), 1..entries).prop_map(|entries| {
        let mut log = Log::default();
        let mut open = Vec::new();
        for (entry, hole, records, filler) in entries {
            let base = log.end() + hole;
            let mut batch = match entry {
                Entry::Plain => LogBatch::plain(base, base + records - 1),
                Entry::Of(producer) => {
                    if !open.contains(&producer) {
                        open.push(producer);
                    }
                    LogBatch::of(producer, base, base + records - 1)
                }
                Entry::End(producer, control) => {
                    if !open.contains(&producer) {
                        continue;
                    }
                    open.retain(|id| *id != producer);
                    LogBatch::marker(producer, base, control)
                }
            };
            batch.filler = filler;
            log.batches.push(batch);
        }
        for producer in open {
            let end = log.end();
            log.batches
                .push(LogBatch::marker(producer, end, ControlType::Abort));
        }
        log.judge();
        log
    })
}

impl Log {
    /// Notes which batches belong to aborted transactions: by the marker that comes next.
    fn judge(&mut self) {
        let ends: Vec<_> = self.batches.iter().map(|b| b.fetched).collect();
        for (index, batch) in self.batches.iter_mut().enumerate() {
            let fetched = batch.fetched;
            let marker = ends[index..]
                .iter()
                .filter(|end| end.producer_id == fetched.producer_id)
                .find_map(|end| end.control);
            batch.aborted = fetched.is_transactional
                && fetched.control.is_none()
                && marker == Some(ControlType::Abort);
        }
    }
}
