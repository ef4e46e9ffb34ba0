//! Counts of a node while it works. The names under which they are shown are decided elsewhere.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use share_state_core::ids::{QuickHash, TopicId};
use share_state_core::kafka_code::KafkaCode;
use share_state_core::time::LockTime;

use super::Node;
use super::batches::Batches;

/// Number of acknowledgement types, 0 to 4.
const TYPES: usize = 5;
/// Upper bounds of the buckets of times, in microseconds.
const BOUNDS: [u64; 15] = [
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000, 30_000_000,
];

/// Numbers by topic.
pub type ByTopic = HashMap<TopicId, u64, QuickHash>;

/// Numbers that only grow.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Requests that were refused as a whole, by API key and code.
    pub request_errors: BTreeMap<(i16, i16), u64>,
    /// Requests that could not be read.
    pub malformed: u64,
    /// Partitions that share fetches were for and that could be looked at, by topic.
    pub fetched: ByTopic,
    /// Partitions of known topics that share fetches were for and that were answered with an error.
    pub fetch_failed: ByTopic,
    /// Partitions of known topics that acknowledgements were for.
    pub acknowledged: ByTopic,
    /// Partitions among them whose acknowledgements were refused.
    pub acknowledge_failed: ByTopic,
    /// Records by the type of their acknowledgement.
    pub acknowledged_records: [u64; TYPES],
    /// Partitions of which a client was told -1, by the cause: Kafka's name of a code, or `upstream_unavailable`.
    pub hidden: BTreeMap<&'static str, u64>,
    /// Numbers of share fetches by group.
    pub groups: HashMap<Arc<str>, GroupCounts, QuickHash>,
    /// Share fetches that waited to their end and got nothing.
    pub expired_fetches: u64,
}

/// Numbers of the share fetches of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupCounts {
    /// Partitions that they could have had records of.
    pub asked_partitions: u64,
    /// Partitions among them with records.
    pub acquired_partitions: u64,
    /// Times from their beginning to their records, where they got some.
    pub acquire_times: Times,
}

/// Durations in buckets. The clock of a node counts milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Numbers of durations by the first bound that they do not exceed; one more for all that are longer.
    pub buckets: [u64; BOUNDS.len() + 1],
    /// Sum of them, ms.
    pub total_ms: u64,
}

/// Numbers of what a node has in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Share fetches that wait for records.
    pub waiting_fetches: usize,
    /// Share sessions.
    pub sessions: usize,
    /// Partitions of all of them.
    pub session_partitions: usize,
    /// Bytes of answers that clients have not taken, and of records that wait to be sent.
    pub answer_bytes: usize,
}

impl Node {
    /// Everything that was counted.
    #[must_use]
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Forgets what was counted of other groups: whoever may read any group makes up names of groups.
    pub fn keep_counts(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.counts.groups.retain(|group, _| is_kept(group));
    }

    /// Numbers of what is in memory now.
    #[must_use]
    pub fn figures(&self) -> Figures {
        Figures {
            waiting_fetches: self.partitions.waiting_members(),
            sessions: self.sessions.len(),
            session_partitions: self.sessions.partition_count(),
            answer_bytes: self.answers.held(),
        }
    }
}

impl Counts {
    pub(super) fn refused(&mut self, api_key: i16, code: i16) {
        *self.request_errors.entry((api_key, code)).or_default() += 1;
    }

    /// Counts the records of acknowledgements; one type stands for a whole range, which may be of any length.
    pub(super) fn acknowledge(&mut self, batches: &Batches) {
        for batch in batches.list() {
            let stands_for_all = batch.types.len() == 1;
            let range = batch.last.saturating_sub(batch.first).saturating_add(1);
            let records = match u64::try_from(range) {
                Ok(range) if stands_for_all => range,
                Err(_) if stands_for_all => 0,
                _ => 1,
            };
            for kind in batch.types {
                let counted = usize::try_from(*kind).ok();
                let counted = counted.and_then(|kind| self.acknowledged_records.get_mut(kind));
                if let Some(counted) = counted {
                    *counted = counted.saturating_add(records);
                }
            }
        }
    }

    /// Counts the outcome of acknowledgements for a partition of a known topic.
    pub(super) fn acknowledged(&mut self, topic_id: TopicId, code: i16) {
        *self.acknowledged.entry(topic_id).or_default() += 1;
        if code != KafkaCode::None.code() {
            *self.acknowledge_failed.entry(topic_id).or_default() += 1;
        }
    }

    /// Counts a share fetch that begins.
    pub(super) fn asked(&mut self, group: &Arc<str>, partitions: usize) {
        self.group(group).asked_partitions += partitions as u64;
    }

    /// Counts records that a share fetch was given, which began at `began`.
    pub(super) fn acquired(
        &mut self,
        group: &Arc<str>,
        partitions: usize,
        began: LockTime,
        now: LockTime,
    ) {
        let of = self.group(group);
        of.acquired_partitions += partitions as u64;
        of.acquire_times.observe(now.0.saturating_sub(began.0));
    }

    fn group(&mut self, group: &Arc<str>) -> &mut GroupCounts {
        self.groups.entry(Arc::clone(group)).or_default()
    }
}

impl Times {
    fn observe(&mut self, ms: i64) {
        let ms = u64::try_from(ms).unwrap_or(0);
        let us = ms.saturating_mul(1_000);
        let bucket = BOUNDS.partition_point(|bound| *bound < us);
        if let Some(bucket) = self.buckets.get_mut(bucket) {
            *bucket += 1;
        }
        self.total_ms = self.total_ms.saturating_add(ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_at_the_first_bound_that_it_does_not_exceed() {
        let mut times = Times::default();
        for ms in [0, 1, 2, 5, 6, 30_000, 30_001, -1] {
            times.observe(ms);
        }
        let mut expected = [0; 16];
        (expected[0], expected[1], expected[2], expected[3]) = (2, 1, 1, 1);
        (expected[4], expected[14], expected[15]) = (1, 1, 1);
        assert_eq!((times.buckets, times.total_ms), (expected, 60_015));
    }
}
