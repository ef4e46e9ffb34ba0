//! Follower of one state partition of a running cluster while it grows.
//!
//! What is shown of a share partition is its state, and what happened to it since it is followed: a state alone does not tell
//! how many records were accepted, or since when the start offset stands. Only share partitions that changed are told again.
//! Beside it, a [`Watch`] tells what went wrong lately.
//! Memory is that of the live states, and about 1,300 bytes for each.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::history::{At, Cause, History, HistoryRow};
use share_state_core::ids::SharePartitionKey;
use share_state_wire::WireError;
use share_state_wire::record_batch::{BatchHeaders, Checksums, Limits, decode_batch};
use share_state_wire::state_record::{self, Decoded};

use crate::anomaly::{Anomaly, AnomalyConfig, Watch};

mod pulse;
mod row;

use pulse::Pulse;

pub use pulse::Outcomes;
pub use row::LiveRow;

/// Change of a share partition since it was told last.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It is there, and this is how it stands.
    Now(Box<LiveRow>),
    /// Its state was deleted.
    Gone(SharePartitionKey),
}

/// A record that could not be read; it has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Offset of the record, or the first offset of a batch that could not be read as a whole.
    pub offset: i64,
    /// Fault of the record.
    pub error: WireError,
}

/// Follows one state partition: takes its records in the order of their offsets.
#[derive(Clone, Debug)]
pub struct Follower {
    state_partition: u32,
    history: History,
    watch: Watch,
    live: HashMap<SharePartitionKey, Pulse>,
    /// Share partitions that changed and were not told yet.
    changed: HashSet<SharePartitionKey>,
    next_offset: i64,
    records: u64,
    /// Kept from record to record for its allocation only.
    rows: Vec<HistoryRow>,
}

impl Follower {
    /// Nothing has been read; the first record to read is at `next_offset`.
    #[must_use]
    pub fn new(state_partition: u32, next_offset: i64) -> Self {
        Self {
            state_partition,
            history: History::new(),
            watch: Watch::new(Arc::default()),
            live: HashMap::new(),
            changed: HashSet::new(),
            next_offset,
            records: 0,
            rows: Vec::new(),
        }
    }

    /// Forgets everything, and begins at `next_offset`. What was live is told as gone, unless it is read again before.
    pub fn begin_again(&mut self, next_offset: i64) {
        self.changed.extend(self.live.drain().map(|(key, _)| key));
        self.history = History::new();
        self.watch.begin_again();
        self.next_offset = next_offset;
    }

    /// The offset after the last record that was read or passed over.
    #[must_use]
    pub const fn next_offset(&self) -> i64 {
        self.next_offset
    }

    /// Records read so far.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// Share partitions that have a state.
    #[must_use]
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Returns `true` if no share partition has a state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// The state of a share partition.
    #[must_use]
    pub fn state(&self, key: &SharePartitionKey) -> Option<&ShareGroupOffset> {
        self.history.state(key)
    }

    /// The first offset of this state partition that a loader still needs: what is before it is redundant. `None` if a snapshot
    /// is missing, or nothing is live.
    #[must_use]
    pub fn needed_from(&self) -> Option<i64> {
        let snapshots = self.live.values().map(Pulse::snapshot_offset);
        snapshots.min().flatten()
    }

    /// Takes the whole batches in the bytes of `buf` from `start` up to `end`, as an answer to Fetch has them: the first may
    /// begin before [`Self::next_offset`], and the last may be cut off. What cannot be read is passed over and appended to
    /// `refused`. Returns where in `buf` the batches are that hold something new.
    pub fn take(
        &mut self,
        buf: &[u8],
        start: usize,
        end: usize,
        refused: &mut Vec<Refused>,
    ) -> Range<usize> {
        let mut new = start..start;
        for header in BatchHeaders::new(buf, start, end, Checksums::Trusted) {
            let header = match header {
                Ok(header) => header,
                Err(error) => {
                    let offset = self.next_offset;
                    refused.push(Refused { offset, error });
                    break;
                }
            };
            let (first, last) = (header.batch.base_offset, header.batch.last_offset);
            if last < self.next_offset {
                new = header.end..header.end;
                continue;
            }
            new.end = header.end;
            let bytes = buf.get(header.start..header.end).unwrap_or_default();
            match decode_batch(bytes, &Limits::default()) {
                Ok(batch) if batch.is_control => {}
                Ok(batch) => {
                    for record in batch.records() {
                        let at = At {
                            offset: record.offset,
                            timestamp: record.timestamp,
                        };
                        if let Err(error) =
                            self.read(at, record.key.unwrap_or_default(), record.value)
                        {
                            let offset = record.offset;
                            refused.push(Refused { offset, error });
                        }
                    }
                }
                Err(error) => {
                    let offset = first.max(self.next_offset);
                    refused.push(Refused { offset, error });
                }
            }
            self.next_offset = self.next_offset.max(last.saturating_add(1));
        }
        new
    }

    /// Reads the next record; one before [`Self::next_offset`] was read already and is passed over, as is one of a type that is
    /// not known.
    ///
    /// # Errors
    /// The record cannot be read; nothing has changed but the next offset.
    pub fn read(&mut self, at: At, key: &[u8], value: Option<&[u8]>) -> Result<(), WireError> {
        if at.offset < self.next_offset {
            return Ok(());
        }
        self.next_offset = at.offset.saturating_add(1);
        self.records += 1;
        let Decoded::Record(record) = state_record::decode(key, value)? else {
            return Ok(());
        };
        self.rows.clear();
        self.history.apply(at, &record, &mut self.rows);
        let Some(first) = self.rows.first() else {
            return Ok(());
        };
        self.watch.record(self.state_partition, &self.rows);
        if matches!(first.cause, Cause::Deleted | Cause::Initialised) {
            self.live.remove(&record.key);
        }
        if first.cause != Cause::Deleted {
            let pulse = self.live.entry(record.key.clone());
            pulse.or_insert_with(|| Pulse::new(first)).take(&self.rows);
        }
        self.changed.insert(record.key);
        Ok(())
    }

    /// Looks for anomalies by other thresholds from here on.
    pub fn configure(&mut self, config: Arc<AnomalyConfig>) {
        self.watch.configure(config);
    }

    /// Lets go the anomalies that were over before `since_ms`, and appends the others, those that last among them. Returns
    /// since when that is all of them: later than asked where they were too many ([`crate::anomaly::MOST_KEPT`]).
    pub fn anomalies(&mut self, since_ms: i64, out: &mut Vec<Anomaly>) -> i64 {
        self.watch.forget_before(since_ms);
        self.watch.since(since_ms, out)
    }

    /// Returns what changed since the last call, in no order.
    pub fn changes(&mut self) -> Vec<Change> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|key| self.change(key)).collect()
    }

    fn change(&self, key: SharePartitionKey) -> Change {
        let (Some(pulse), Some(state)) = (self.live.get(&key), self.history.state(&key)) else {
            return Change::Gone(key);
        };
        Change::Now(Box::new(LiveRow::new(
            key,
            self.state_partition,
            pulse,
            state,
        )))
    }
}
