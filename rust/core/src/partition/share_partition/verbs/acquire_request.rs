//! Request and answer of an acquire: plain data, and the check of its form.

use crate::offset::OffsetRange;
use crate::partition::share_partition::error::AcquireError;

/// `share.acquire.mode` (KIP-1206).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AcquireMode {
    /// Whole batches: the number of records is a soft limit.
    #[default]
    BatchOptimized,
    /// Never more records than asked for.
    RecordLimit,
}

/// Outcome of a transaction, as its control batch tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlType {
    /// It was aborted.
    Abort,
    /// It was committed; so are other markers treated.
    Commit,
}

/// A transaction that the log knows to be aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbortedTransaction {
    /// Its producer.
    pub producer_id: i64,
    /// Its first offset.
    pub first_offset: i64,
}

/// A log batch that the leader has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchedBatch {
    /// Its base offset.
    pub base_offset: i64,
    /// Its last offset.
    pub last_offset: i64,
    /// Its producer, -1 for none.
    pub producer_id: i64,
    /// Set if it belongs to a transaction.
    pub is_transactional: bool,
    /// The marker, if it is a control batch.
    pub control: Option<ControlType>,
}

impl FetchedBatch {
    /// A batch of plain records.
    #[must_use]
    pub const fn plain(base_offset: i64, last_offset: i64) -> Self {
        Self {
            base_offset,
            last_offset,
            producer_id: -1,
            is_transactional: false,
            control: None,
        }
    }
}

/// A member's request for records, with what the leader has read for it.
#[derive(Clone, Copy, Debug)]
pub struct AcquireRequest<'a> {
    /// The member.
    pub member: &'a str,
    /// Soft or hard limit.
    pub mode: AcquireMode,
    /// Records that a new in-flight batch should hold at least; new batches end where log batches end.
    pub batch_size: i32,
    /// Records to acquire at most; 0 or less acquires nothing.
    pub max_records: i32,
    /// Offset that the log was read from.
    pub fetch_offset: i64,
    /// The log batches read, ascending.
    pub fetched: &'a [FetchedBatch],
    /// With read_committed: the aborted transactions that the log knows of in the range.
    pub aborted: Option<&'a [AbortedTransaction]>,
}

impl<'a> AcquireRequest<'a> {
    /// Request for at most `max_records`, with the default mode, batches of 500 records and no aborted transactions. The log
    /// was read from the base offset of the first batch.
    #[must_use]
    pub fn new(member: &'a str, max_records: i32, fetched: &'a [FetchedBatch]) -> Self {
        Self {
            member,
            mode: AcquireMode::default(),
            batch_size: 500,
            max_records,
            fetch_offset: fetched.first().map_or(0, |batch| batch.base_offset),
            fetched,
            aborted: None,
        }
    }
}

/// Records that the member now holds. Ranges of one in-flight batch with equal counts are joined, others are not
/// (`ShareFetchUtils.accumulateAcquiredRecords`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcquiredRange {
    /// The offsets; some may have no record (compaction, control records).
    pub range: OffsetRange,
    /// Number of deliveries of each record, this one included.
    pub delivery_count: i16,
}

/// Refuses a malformed request before anything changes.
pub(in crate::partition::share_partition) fn check(
    request: &AcquireRequest<'_>,
) -> Result<(), AcquireError> {
    if request.member.is_empty() {
        return Err(AcquireError::EmptyMemberId);
    }
    if request.batch_size <= 0 {
        return Err(AcquireError::BatchSize {
            batch_size: request.batch_size,
        });
    }
    if request.fetch_offset < 0 {
        return Err(AcquireError::FetchOffset {
            fetch_offset: request.fetch_offset,
        });
    }
    let mut previous_last = -1;
    for (index, batch) in request.fetched.iter().enumerate() {
        let legal = batch.base_offset > previous_last
            && batch.base_offset <= batch.last_offset
            && batch.last_offset < i64::MAX;
        if !legal {
            return Err(AcquireError::FetchedBatch {
                index,
                base_offset: batch.base_offset,
                last_offset: batch.last_offset,
            });
        }
        previous_last = batch.last_offset;
    }
    Ok(())
}
