//! Aborted transactions: with read_committed, their records are archived as soon as they are acquired, and never
//! delivered (`SharePartition.maybeFilterAbortedTransactionalAcquiredRecords`).

use std::collections::HashSet;

use crate::offset::{OffsetRange, after};
use crate::partition::in_flight::InFlightStore;
use crate::partition::record_state::Trigger;
use crate::partition::share_partition::SharePartition;
use crate::partition::share_partition::change::changes::cut;
use crate::partition::share_partition::error::AcquireError;
use crate::partition::share_partition::verbs::acquire_request::{
    AbortedTransaction, AcquireRequest, AcquiredRange, ControlType, FetchedBatch,
};

impl<S: InFlightStore> SharePartition<S> {
    /// Archives, in memory, what was just acquired of aborted transactions, and takes it out of `acquired`, where it stands
    /// from index `from` on.
    ///
    /// Then the start offset may advance: with nothing else to wait for, a long run of aborted records would otherwise hold
    /// the window. A gap window does not stop it once nothing in a full window is left to wait for (deliberate difference S6).
    pub(in crate::partition::share_partition) fn archive_aborted(
        &mut self,
        fetched: &[FetchedBatch],
        aborted: &[AbortedTransaction],
        acquired: &mut Vec<AcquiredRange>,
        from: usize,
    ) {
        let aborted = aborted_ranges(fetched, aborted);
        if aborted.is_empty() {
            return;
        }
        for range in acquired.split_off(from) {
            self.keep_committed(range, &aborted, acquired);
        }
        self.advance_start_offset();
        self.unblock();
    }

    fn keep_committed(
        &mut self,
        acquired: AcquiredRange,
        aborted: &[OffsetRange],
        kept: &mut Vec<AcquiredRange>,
    ) {
        let mut rest = Some(acquired.range);
        let from = aborted.partition_point(|gone| gone.last < acquired.range.first);
        for gone in &aborted[from..] {
            let Some(range) = rest else { return };
            let Some(both) = range.intersection(*gone) else {
                break;
            };
            self.pull_at_once(both, Trigger::AbortedTransaction);
            let [head, _] = cut(range, both.first);
            kept.extend(head.map(|range| AcquiredRange { range, ..acquired }));
            rest = after(both.last).and_then(|first| OffsetRange::new(first, range.last));
        }
        kept.extend(rest.map(|range| AcquiredRange { range, ..acquired }));
    }
}

/// The offsets of the fetched batches that belong to aborted transactions, a range a batch: a producer is in an aborted
/// transaction from the transaction's first offset to its abort marker.
///
/// A list of aborted transactions is for the batches of its own answer, in order from the first: whoever keeps batches for
/// later asks here when the answer arrives.
#[must_use]
pub fn aborted_ranges(
    fetched: &[FetchedBatch],
    aborted: &[AbortedTransaction],
) -> Vec<OffsetRange> {
    let mut by_offset: Vec<&AbortedTransaction> = aborted.iter().collect();
    by_offset.sort_by_key(|transaction| transaction.first_offset);
    let mut pending = by_offset.into_iter().peekable();
    let mut producers = HashSet::new();
    let mut ranges = Vec::new();
    for batch in fetched.iter().filter(|batch| batch.producer_id >= 0) {
        while let Some(transaction) = pending.next_if(|t| t.first_offset <= batch.last_offset) {
            producers.insert(transaction.producer_id);
        }
        if let Some(control) = batch.control {
            if control == ControlType::Abort {
                producers.remove(&batch.producer_id);
            }
        } else if batch.is_transactional && producers.contains(&batch.producer_id) {
            ranges.extend(OffsetRange::new(batch.base_offset, batch.last_offset));
        }
    }
    ranges
}

/// Refuses a list of aborted transactions that is not that of what was read, where it shows, before anything changes.
pub(super) fn check_aborted(request: &AcquireRequest<'_>) -> Result<(), AcquireError> {
    let aborted = request.aborted.unwrap_or_default();
    if aborted.is_empty() {
        return Ok(());
    }
    match contradiction(request.fetched, aborted) {
        None => Ok(()),
        Some(index) => Err(AcquireError::Aborted {
            index,
            producer_id: aborted[index].producer_id,
            first_offset: aborted[index].first_offset,
        }),
    }
}

/// Index of a transaction that cannot be in the list of what was read: a negative one, or one that begins while another of its
/// producer is aborted and not ended. A list for more than was read may have one.
fn contradiction(fetched: &[FetchedBatch], aborted: &[AbortedTransaction]) -> Option<usize> {
    let is_negative = |t: &AbortedTransaction| t.producer_id < 0 || t.first_offset < 0;
    if let Some(index) = aborted.iter().position(is_negative) {
        return Some(index);
    }
    let mut by_offset: Vec<usize> = (0..aborted.len()).collect();
    by_offset.sort_by_key(|index| aborted[*index].first_offset);
    let mut pending = by_offset.into_iter().peekable();
    let mut open = HashSet::new();
    for batch in fetched.iter().filter(|batch| batch.producer_id >= 0) {
        while let Some(index) =
            pending.next_if(|index| aborted[*index].first_offset <= batch.last_offset)
        {
            if !open.insert(aborted[index].producer_id) {
                return Some(index);
            }
        }
        if batch.control == Some(ControlType::Abort) {
            open.remove(&batch.producer_id);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_producer_is_aborted_up_to_its_marker_and_not_beyond() {
        let batch = |base, last, control| FetchedBatch {
            base_offset: base,
            last_offset: last,
            producer_id: 7,
            is_transactional: true,
            control,
        };
        let fetched = [
            batch(0, 4, None),
            batch(5, 5, Some(ControlType::Abort)),
            batch(6, 9, None),
            FetchedBatch {
                producer_id: 8,
                ..batch(10, 12, None)
            },
        ];
        let aborted = [AbortedTransaction {
            producer_id: 7,
            first_offset: 0,
        }];
        assert_eq!(
            aborted_ranges(&fetched, &aborted),
            [OffsetRange { first: 0, last: 4 }]
        );
    }
}
