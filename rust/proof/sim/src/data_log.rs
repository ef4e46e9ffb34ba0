//! The log of a data partition: what leaders read, and what was committed. It is sound: its replication is not looked at here.

use share_state_core::share_partition::{AbortedTransaction, ControlType, FetchedBatch};

/// The one transactional producer.
const PRODUCER: i64 = 7;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct DataLog {
    batches: Vec<FetchedBatch>,
    /// First offset that is left.
    pub start: i64,
    /// The next offset.
    pub end: i64,
    /// First offset of the transaction that is open.
    open: Option<i64>,
    /// Aborted transactions: first offset, and that of the marker.
    aborted: Vec<(i64, i64)>,
}

/// Records that were committed just now.
pub type Committed = Vec<(i64, i64)>;

impl DataLog {
    /// Appends a batch, after a hole if one is wanted.
    pub fn append(&mut self, records: i64, hole: i64, transactional: bool) -> (i64, i64) {
        let base_offset = self.end + hole;
        let last_offset = base_offset + records - 1;
        self.end = last_offset + 1;
        if transactional {
            self.open.get_or_insert(base_offset);
        }
        self.batches.push(FetchedBatch {
            base_offset,
            last_offset,
            producer_id: if transactional { PRODUCER } else { -1 },
            is_transactional: transactional,
            control: None,
        });
        (base_offset, last_offset)
    }

    /// Ends the open transaction; what it committed.
    pub fn end_transaction(&mut self, commit: bool) -> Committed {
        let Some(first) = self.open.take() else {
            return Vec::new();
        };
        let marker = self.end;
        self.end += 1;
        self.batches.push(FetchedBatch {
            base_offset: marker,
            last_offset: marker,
            producer_id: PRODUCER,
            is_transactional: true,
            control: Some(if commit {
                ControlType::Commit
            } else {
                ControlType::Abort
            }),
        });
        if !commit {
            self.aborted.push((first, marker));
            return Vec::new();
        }
        let within = self.batches.iter().filter(|batch| {
            batch.is_transactional && batch.control.is_none() && batch.base_offset >= first
        });
        within
            .map(|batch| (batch.base_offset, batch.last_offset))
            .collect()
    }

    /// Returns true if a transaction is open.
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The offset up to which may be read.
    pub fn readable(&self, read_committed: bool) -> i64 {
        match self.open {
            Some(first) if read_committed => first,
            _ => self.end,
        }
    }

    /// Batches from the one with `offset` on.
    pub fn read(&self, offset: i64, batches: usize, read_committed: bool) -> &[FetchedBatch] {
        let from = offset.max(self.start);
        let until = self.readable(read_committed);
        let first = self
            .batches
            .partition_point(|batch| batch.last_offset < from);
        let end = self
            .batches
            .partition_point(|batch| batch.base_offset < until);
        let last = end.min(first + batches);
        self.batches.get(first..last).unwrap_or(&[])
    }

    /// The aborted transactions that the log tells with batches from `from` to `to`.
    pub fn aborted(&self, from: i64, to: i64) -> Vec<AbortedTransaction> {
        let meets = |&&(first, marker): &&(i64, i64)| first <= to && marker >= from;
        let transaction = |&(first_offset, _): &(i64, i64)| AbortedTransaction {
            producer_id: PRODUCER,
            first_offset,
        };
        self.aborted.iter().filter(meets).map(transaction).collect()
    }

    fn batch_of(&self, offset: i64) -> Option<&FetchedBatch> {
        let at = self
            .batches
            .partition_point(|batch| batch.last_offset < offset);
        self.batches
            .get(at)
            .filter(|batch| batch.base_offset <= offset)
    }

    /// Returns true if a consumer finds a record at the offset.
    pub fn has_record(&self, offset: i64) -> bool {
        self.batch_of(offset)
            .is_some_and(|batch| batch.control.is_none())
    }

    /// The stretches of records from `first` to `last`.
    pub fn records_within(&self, first: i64, last: i64) -> Vec<(i64, i64)> {
        let from = self
            .batches
            .partition_point(|batch| batch.last_offset < first);
        let mut found: Vec<(i64, i64)> = Vec::new();
        for batch in self.batches.iter().skip(from) {
            if batch.base_offset > last {
                break;
            }
            if batch.control.is_some() {
                continue;
            }
            let (from, to) = (batch.base_offset.max(first), batch.last_offset.min(last));
            match found.last_mut() {
                Some(before) if before.1 + 1 == from => before.1 = to,
                _ => found.push((from, to)),
            }
        }
        found
    }

    /// Returns true if the record at the offset belongs to an aborted transaction.
    pub fn is_aborted(&self, offset: i64) -> bool {
        let inside = |&(first, marker): &(i64, i64)| first <= offset && offset < marker;
        self.batch_of(offset)
            .is_some_and(|batch| batch.is_transactional && batch.control.is_none())
            && self.aborted.iter().any(inside)
    }
}
