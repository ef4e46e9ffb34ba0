//! Delivery of cached batches to a member that then holds them, in one step.

use share_state_core::in_flight::InFlightStore;
use share_state_core::share_partition::{
    AcquireError, AcquireMode, AcquireRequest, AcquiredRange, FetchedBatch, SharePartition,
};
use share_state_core::time::LockTime;

use crate::delivery::Delivery;
use crate::ring::BatchRing;
use crate::slice::Extent;

/// Request of a member for records.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The member.
    pub member: &'a str,
    /// Soft or hard limit of records.
    pub mode: AcquireMode,
    /// Records that a new in-flight batch should hold at least.
    pub batch_size: i32,
    /// Records to acquire at most; 0 or less acquires nothing.
    pub max_records: i32,
    /// Bytes of record batches to look at; the first batch is looked at even if it has more.
    pub max_bytes: usize,
    /// Bytes that the first batch may have; `None` for any number.
    pub first_bytes: Option<usize>,
}

/// Gives a member what `ring` holds from where the share partition wants to read next
/// (`SharePartition.acquire` and `ShareFetchUtils.maybeSliceFetchRecords`): the ranges, and the whole batches from the one
/// that holds the first acquired offset to the one that holds the last.
///
/// Where all that was looked at belongs to aborted transactions, what comes after it is looked at too.
///
/// `None` if the ring does not hold the offset that is wanted: a read is needed. Nothing is given where the first batch is too large.
///
/// # Errors
/// The request is malformed; see [`AcquireError`].
pub fn deliver<S: InFlightStore>(
    ring: &mut BatchRing,
    share_partition: &mut SharePartition<S>,
    wanted: &Wanted<'_>,
    now: LockTime,
) -> Result<Option<Delivery>, AcquireError> {
    loop {
        let fetch_offset = share_partition.next_fetch_offset();
        let is_too_large = |most| ring.first_batch_bytes(fetch_offset) > most;
        if wanted.first_bytes.is_some_and(is_too_large) {
            return Ok(Some(Delivery {
                acquired: Vec::new(),
                fetch_offset,
                batches: 0,
                pieces: Vec::new(),
            }));
        }
        let extent = Extent {
            max_bytes: wanted.max_bytes,
            // After the window every offset is available: what begins later changes nothing, and without this bound each call
            // would look at all that is cached.
            max_records: u64::try_from(wanted.max_records).unwrap_or(0),
            window_end: share_partition.end_offset(),
        };
        let Some(slice) = ring.slice(fetch_offset, extent) else {
            return Ok(None);
        };
        let request = AcquireRequest {
            member: wanted.member,
            mode: wanted.mode,
            batch_size: wanted.batch_size,
            max_records: wanted.max_records,
            fetch_offset,
            fetched: &slice.fetched,
            aborted: (!slice.aborted.is_empty()).then_some(&slice.aborted),
        };
        let acquired = share_partition.acquire(&request, now)?;
        let passed_over = acquired.is_empty()
            && share_partition.next_fetch_offset() > fetch_offset
            && share_partition.can_acquire();
        if passed_over {
            ring.give_back(slice.fetched);
            continue;
        }
        let (skip, batches) = holding(&slice.fetched, &acquired);
        let pieces = ring.pieces(&slice, skip, batches);
        ring.give_back(slice.fetched);
        return Ok(Some(Delivery {
            acquired,
            fetch_offset,
            batches,
            pieces,
        }));
    }
}

/// The batches that hold what was acquired: how many stand before them, and their number. None where nothing was acquired, or
/// only what the log no longer has.
fn holding(fetched: &[FetchedBatch], acquired: &[AcquiredRange]) -> (usize, usize) {
    let (Some(first), Some(last)) = (acquired.first(), acquired.last()) else {
        return (0, 0);
    };
    let skip = fetched.partition_point(|batch| batch.last_offset < first.range.first);
    let end = fetched.partition_point(|batch| batch.base_offset <= last.range.last);
    (skip, end.saturating_sub(skip))
}
