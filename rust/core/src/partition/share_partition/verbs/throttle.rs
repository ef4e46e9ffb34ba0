//! Records that fail again and again are delivered in ever smaller parts, at last one by one, so that a bad record does
//! not take its neighbours with it (KAFKA-17541, KIP-932 "Poison messages"; `SharePartition.shouldThrottleRecordsDelivery`).

use crate::offset::OffsetRange;
use crate::partition::in_flight::{InFlightQuestions, InFlightStore};
use crate::partition::share_partition::SharePartition;
use crate::partition::share_partition::verbs::acquire::first_n;

/// A record delivered as often as this is delivered with care: half the limit, rounded up, and at least 2.
const fn throttle_limit(delivery_count_limit: i16) -> i16 {
    let half = delivery_count_limit / 2 + delivery_count_limit % 2;
    if half > 2 { half } else { 2 }
}

/// Number of records of one in-flight batch that may still be acquired.
#[derive(Debug)]
pub(in crate::partition::share_partition) struct Pace {
    batch_len: u64,
    delivery_count_limit: i16,
    record_limit: Option<u64>,
    /// Set by the first record that needs care.
    cap: Option<u64>,
    taken: u64,
    over: bool,
}

impl Pace {
    /// The part of `available`, whose records have this delivery count, that may be acquired next.
    pub(in crate::partition::share_partition) fn take(
        &mut self,
        available: OffsetRange,
        delivery_count: i16,
    ) -> Option<OffsetRange> {
        let isolates = self.delivery_count_limit > 2;
        if isolates && delivery_count == self.delivery_count_limit - 1 && self.taken > 0 {
            return None;
        }
        let throttle_limit = throttle_limit(self.delivery_count_limit);
        if self.cap.is_none() && delivery_count >= throttle_limit {
            let halvings = delivery_count.abs_diff(throttle_limit) + 1;
            let part = self.batch_len.checked_shr(u32::from(halvings)).unwrap_or(0);
            self.cap = Some(part.max(1));
        }
        let last_attempt = isolates && delivery_count == self.delivery_count_limit - 1;
        // Kafka stops when the count *equals* the cap: records taken before the cap was set may have gone past it already.
        let bounds = [
            last_attempt.then_some(1),
            self.record_limit
                .and_then(|limit| limit.checked_sub(self.taken)),
            self.cap
                .filter(|cap| *cap > self.taken)
                .map(|cap| cap - self.taken),
        ];
        let bound = bounds.into_iter().flatten().min();
        let part = first_n(available, bound.unwrap_or(u64::MAX))?;
        self.taken += part.len();
        self.over =
            last_attempt || self.record_limit == Some(self.taken) || self.cap == Some(self.taken);
        Some(part)
    }

    /// Nothing more may be taken.
    pub(in crate::partition::share_partition) const fn is_over(&self) -> bool {
        self.over
    }
}

impl<S: InFlightStore> SharePartition<S> {
    pub(in crate::partition::share_partition) fn pace(
        &self,
        batch: OffsetRange,
        record_limit: Option<u64>,
    ) -> Pace {
        Pace {
            batch_len: batch.len(),
            delivery_count_limit: self.config.delivery_count_limit,
            record_limit,
            cap: None,
            taken: 0,
            over: false,
        }
    }

    /// Returns `true` if an in-flight batch must be delivered with care: a record of it that could be acquired now was
    /// delivered often.
    pub(in crate::partition::share_partition) fn is_throttled(
        &self,
        batch: OffsetRange,
        fetched: OffsetRange,
    ) -> bool {
        let limit = throttle_limit(self.config.delivery_count_limit);
        let mut rest = batch.intersection(fetched);
        while let Some(range) = rest
            && let Some(run) = self.store.available_in(range)
        {
            if run.delivery_count >= limit {
                return true;
            }
            rest = range.after(run.range.last);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn care_begins_at_half_the_limit() {
        let limits: Vec<i16> = [1, 2, 3, 4, 5, 7, 10].map(throttle_limit).to_vec();
        assert_eq!(limits, [2, 2, 2, 2, 3, 4, 5]);
    }

    #[test]
    fn a_batch_of_500_is_halved_and_the_last_attempt_is_made_record_by_record() {
        let parts: Vec<u64> = (5..10)
            .map(|delivery_count| {
                let mut pace = Pace {
                    batch_len: 500,
                    delivery_count_limit: 10,
                    record_limit: None,
                    cap: None,
                    taken: 0,
                    over: false,
                };
                let all = OffsetRange {
                    first: 0,
                    last: 499,
                };
                pace.take(all, delivery_count).map_or(0, OffsetRange::len)
            })
            .collect();
        assert_eq!(parts, [250, 125, 62, 31, 1]);
    }

    /// Ranges taken of 10 records at limit 5, one range with its delivery count after the other.
    fn taken(record_limit: Option<u64>, ranges: &[(i64, i64, i16)]) -> Vec<Option<(i64, i64)>> {
        let mut pace = Pace {
            batch_len: 10,
            delivery_count_limit: 5,
            record_limit,
            cap: None,
            taken: 0,
            over: false,
        };
        let mut taken = Vec::new();
        for (first, last, delivery_count) in ranges {
            assert!(!pace.is_over());
            let range = OffsetRange {
                first: *first,
                last: *last,
            };
            let part = pace.take(range, *delivery_count);
            taken.push(part.map(|part| (part.first, part.last)));
        }
        taken
    }

    #[test]
    fn a_last_attempt_is_not_made_with_other_records() {
        assert_eq!(taken(None, &[(0, 4, 0), (5, 9, 4)]), [Some((0, 4)), None]);
    }

    #[test]
    fn a_cap_counts_what_was_taken_before_unless_that_is_as_much_already() {
        for (before, then) in [(2, (2, 4)), (4, (4, 4)), (5, (5, 9)), (6, (6, 9))] {
            let parts = taken(None, &[(0, before - 1, 0), (before, 9, 3)]);
            assert_eq!(parts, [Some((0, before - 1)), Some(then)]);
        }
    }

    #[test]
    fn a_batch_is_over_at_its_last_attempt_its_record_limit_or_its_cap() {
        let over = |record_limit, delivery_count| {
            let mut pace = Pace {
                batch_len: 10,
                delivery_count_limit: 5,
                record_limit,
                cap: None,
                taken: 0,
                over: false,
            };
            let all = OffsetRange { first: 0, last: 9 };
            let len = pace.take(all, delivery_count).map_or(0, OffsetRange::len);
            (len, pace.is_over())
        };
        assert_eq!(over(None, 0), (10, false));
        assert_eq!(over(Some(20), 0), (10, false));
        assert_eq!(over(Some(3), 0), (3, true));
        assert_eq!(over(None, 3), (5, true));
        assert_eq!(over(None, 4), (1, true));
    }
}
