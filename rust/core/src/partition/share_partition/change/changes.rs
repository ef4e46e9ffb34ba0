//! Changes by a command, as the persister is told of them and as they are counted.

use crate::delivery::StateBatch;
use crate::offset::{OffsetRange, before};
use crate::partition::in_flight::StateCounts;
use crate::partition::record_state::RecordState;
use crate::persister::MAX_STATE_BATCHES_PER_WRITE;
use crate::util::one_or_many::OneOrMany;

/// Reason for which records were given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadLetterCause {
    /// A member rejected them.
    ClientReject,
    /// They were delivered as often as allowed.
    DeliveryCountExceeded,
}

/// Records given up to the dead-letter queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::partition::share_partition) struct GivenUp {
    pub range: OffsetRange,
    pub delivery_count: i16,
    pub cause: DeadLetterCause,
}

/// Changes by a command, in ascending order of offsets, neighbours joined.
#[derive(Debug, Default)]
pub(in crate::partition::share_partition) struct Changes {
    pub batches: OneOrMany<StateBatch>,
    pub given_up: Vec<GivenUp>,
    /// Records by the state that they change to, as far as no earlier write is under way for them.
    pub to: StateCounts,
    pub records: u64,
    /// Records at or after the start offset that become terminal: the change of `delivery_complete_count`.
    pub completed: u64,
    /// Records that would be available again, had they not been delivered as often as allowed.
    pub at_limit: u64,
    /// Set if locks are to be renewed too. Nothing is written for them.
    pub renews: bool,
}

/// Makes `next` a part of `last`, if it lies right after it and is equal; returns whether it does.
#[inline]
fn join_batches(last: &mut StateBatch, next: &StateBatch) -> bool {
    let joins = last.delivery_state == next.delivery_state
        && last.delivery_count == next.delivery_count
        && before(next.first_offset) == Some(last.last_offset);
    if joins {
        last.last_offset = next.last_offset;
    }
    joins
}

/// As [`join_batches`], of records given up.
fn join_given_up(last: &mut GivenUp, next: &GivenUp) -> bool {
    let joins = last.delivery_count == next.delivery_count
        && last.cause == next.cause
        && last.range.is_followed_by(next.range.first);
    if joins {
        last.range.last = next.range.last;
    }
    joins
}

impl Changes {
    /// Adds ranges, which ascend, and returns the number of their records.
    #[inline(always)]
    pub(in crate::partition::share_partition) fn add_all(
        &mut self,
        ranges: &[OffsetRange],
        state: RecordState,
        delivery_count: i16,
    ) -> u64 {
        let batch = |range: &OffsetRange| StateBatch {
            first_offset: range.first,
            last_offset: range.last,
            delivery_state: state.id(),
            delivery_count,
        };
        let mut records = 0;
        if let [range] = ranges {
            records = range.len();
            let (next, last) = (batch(range), self.batches.last_mut());
            if !last.is_some_and(|last| join_batches(last, &next)) {
                self.batches.push(next);
            }
        } else {
            let mut list = core::mem::take(&mut self.batches).into_list();
            list.reserve(ranges.len());
            for range in ranges {
                records += range.len();
                let (next, last) = (batch(range), list.last_mut());
                if !last.is_some_and(|last| join_batches(last, &next)) {
                    list.push(next);
                }
            }
            self.batches = OneOrMany::Many(list);
        }
        self.records += records;
        records
    }

    pub(in crate::partition::share_partition) fn give_up(
        &mut self,
        range: OffsetRange,
        delivery_count: i16,
        cause: DeadLetterCause,
    ) {
        let next = GivenUp {
            range,
            delivery_count,
            cause,
        };
        let last = self.given_up.last_mut();
        if !last.is_some_and(|last| join_given_up(last, &next)) {
            self.given_up.push(next);
        }
    }

    /// The same changes, added in any order, as they would be had they been added in ascending order.
    pub(in crate::partition::share_partition) fn in_order(mut self) -> Self {
        if let OneOrMany::Many(batches) = &mut self.batches
            && !batches.is_sorted_by_key(|batch| batch.first_offset)
        {
            batches.sort_unstable_by_key(|batch| batch.first_offset);
            batches.dedup_by(|next, last| join_batches(last, next));
            self.given_up.sort_unstable_by_key(|g| g.range.first);
            self.given_up
                .dedup_by(|next, last| join_given_up(last, next));
        }
        self
    }

    pub(in crate::partition::share_partition) fn is_empty(&self) -> bool {
        self.batches.as_slice().is_empty()
    }

    pub(in crate::partition::share_partition) fn fit_one_write(&self) -> bool {
        self.batches.as_slice().len() <= MAX_STATE_BATCHES_PER_WRITE
    }

    /// Returns `true` if the state batches ascend and are disjoint, as a persister is given them.
    pub(in crate::partition::share_partition) fn ascend(&self) -> bool {
        let apart = |pair: &[StateBatch]| pair[0].last_offset < pair[1].first_offset;
        self.batches.as_slice().windows(2).all(apart)
    }

    /// The offsets from the first change to the last.
    pub(in crate::partition::share_partition) fn span(&self) -> Option<OffsetRange> {
        let batches = self.batches.as_slice();
        OffsetRange::new(batches.first()?.first_offset, batches.last()?.last_offset)
    }

    /// Keeps the first `allowed` state batches and returns the others, if there are more. Counts are left out: they are not
    /// per write.
    pub(in crate::partition::share_partition) fn split(&mut self, allowed: usize) -> Option<Self> {
        let from = self.batches.as_slice().get(allowed)?.first_offset;
        let mut rest = Self {
            batches: self.batches.split_off(allowed),
            ..Self::default()
        };
        // Records given up in a row lie in one state batch, so none is cut.
        let given_up = core::mem::take(&mut self.given_up).into_iter();
        (self.given_up, rest.given_up) = given_up.partition(|g| g.range.first < from);
        Some(rest)
    }
}

/// The parts of `range` before and from `offset` on.
pub(in crate::partition::share_partition) fn cut(
    range: OffsetRange,
    offset: i64,
) -> [Option<OffsetRange>; 2] {
    let head = before(offset).and_then(|end| OffsetRange::new(range.first, range.last.min(end)));
    let tail = OffsetRange::new(range.first.max(offset), range.last);
    [head, tail]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::record_state::RecordState::{Acknowledged, Archiving};

    const fn at(first: i64, last: i64) -> OffsetRange {
        OffsetRange { first, last }
    }

    fn archiving(ranges: &[(i64, i64)]) -> Changes {
        let mut changes = Changes::default();
        for (first, last) in ranges {
            changes.add_all(&[at(*first, *last)], Archiving, 1);
            let cause = DeadLetterCause::ClientReject;
            changes.give_up(at(*first, *last), 1, cause);
        }
        changes
    }

    fn batches(changes: &Changes) -> Vec<(i64, i64)> {
        let batches = changes.batches.as_slice().iter();
        batches.map(|b| (b.first_offset, b.last_offset)).collect()
    }

    fn given_up(changes: &Changes) -> Vec<(i64, i64)> {
        let given_up = changes.given_up.iter();
        given_up.map(|g| (g.range.first, g.range.last)).collect()
    }

    #[test]
    fn changes_in_any_order_are_joined_in_order() {
        let changes = archiving(&[(5, 9), (20, 29), (0, 4)]).in_order();
        assert_eq!(batches(&changes), [(0, 9), (20, 29)]);
        assert_eq!(given_up(&changes), [(0, 9), (20, 29)]);
    }

    #[test]
    fn records_given_up_in_a_row_are_joined_if_they_are_alike() {
        let mut changes = archiving(&[(0, 4), (5, 9)]);
        assert_eq!(given_up(&changes), [(0, 9)]);
        changes.give_up(at(10, 14), 2, DeadLetterCause::ClientReject);
        changes.give_up(at(15, 19), 2, DeadLetterCause::DeliveryCountExceeded);
        changes.give_up(at(21, 21), 2, DeadLetterCause::DeliveryCountExceeded);
        assert_eq!(given_up(&changes), [(0, 9), (10, 14), (15, 19), (21, 21)]);
    }

    #[test]
    fn a_part_of_the_changes_takes_what_is_given_up_with_it() {
        let mut changes = archiving(&[(0, 4), (10, 14), (20, 24)]);
        changes.add_all(&[at(25, 29)], Acknowledged, 1);
        changes.give_up(at(30, 34), 2, DeadLetterCause::ClientReject);
        assert!(changes.split(4).is_none());
        let rest = changes.split(2).expect("two more");
        assert_eq!(batches(&changes), [(0, 4), (10, 14)]);
        assert_eq!(batches(&rest), [(20, 24), (25, 29)]);
        assert_eq!(given_up(&changes), [(0, 4), (10, 14)]);
        assert_eq!(given_up(&rest), [(20, 24), (30, 34)]);
    }
}
