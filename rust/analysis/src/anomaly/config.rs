//! Thresholds with their defaults, and what the log does not hold.

use std::collections::{HashMap, HashSet};

use share_state_core::ids::{SharePartitionKey, TopicId};

/// Kafka's lock duration by default (`GroupConfig`: `share.record.lock.duration.ms`).
const KAFKA_LOCK_MS: i64 = 30_000;

/// Kafka's limit of records in flight by default (`GroupConfig`: `share.partition.max.record.locks`).
const KAFKA_RECORD_LOCKS: i64 = 2_000;

/// The least lock duration that Kafka takes (`GroupConfig`).
pub(super) const KAFKA_LEAST_LOCK_MS: i64 = 1_000;

/// Thresholds. Times are ms between timestamps of records of the state topic; all numbers are at least 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnomalyConfig {
    /// Time for which a start offset stands before it is stuck, ms; five of Kafka's lock durations.
    pub stuck_ms: i64,
    /// Number of records after it that were released, accepted or archived meanwhile.
    pub stuck_records: u64,
    /// `share.delivery.count.limit` of the groups; `None` takes one more than the highest count with which a record of the
    /// group was released, at least 2, Kafka's least.
    pub delivery_count_limit: Option<i64>,
    /// The same of single groups, by their ids.
    pub delivery_count_limits: HashMap<String, i64>,
    /// The highest count with which a record of a group was released in state partitions that are not looked at here: a
    /// limit that the log tells is reported by all of them.
    pub highest_released: HashMap<String, i64>,
    /// Number of records archived at the limit that make a burst ...
    pub burst_records: u64,
    /// ... when no more than this lies between each and the one so many before it.
    pub burst_ms: i64,
    /// `share.record.lock.duration.ms` of the groups; `None` looks for loops with Kafka's default, and doubts a last answer by
    /// Kafka's least.
    pub record_lock_duration_ms: Option<i64>,
    /// The same of single groups, by their ids.
    pub record_lock_durations_ms: HashMap<String, i64>,
    /// `share.partition.max.record.locks` of the groups; `None` looks for full windows with Kafka's default.
    pub max_record_locks: Option<i64>,
    /// The same of single groups, by their ids.
    pub max_record_locks_by_group: HashMap<String, i64>,
    /// Number of deliveries in a row that end without an acceptance and are a loop, each at least one and at most two
    /// lock durations after the one before.
    pub loop_releases: u64,
    /// Number of records in a row in which the delivery complete count disagrees before it is told.
    pub count_records: u64,
    /// Time for which later offsets are known before what is missing between them is a gap, ms.
    pub gap_ms: i64,
    /// Age of the snapshot of a cold key, against the end of the log, ms; two of the intervals after which brokers
    /// write a new one (`share.coordinator.cold.partition.snapshot.interval.ms`).
    pub cold_ms: i64,
    /// Number of records of the state topic that it alone keeps.
    pub cold_records: i64,
    /// Time for which the lag never falls, ms ...
    pub lag_ms: i64,
    /// ... and the number of records by which it rises meanwhile.
    pub lag_records: i64,
}

impl Default for AnomalyConfig {
    fn default() -> Self {
        Self {
            stuck_ms: 150_000,
            stuck_records: 100,
            delivery_count_limit: None,
            delivery_count_limits: HashMap::new(),
            highest_released: HashMap::new(),
            burst_records: 20,
            burst_ms: 10_000,
            record_lock_duration_ms: None,
            record_lock_durations_ms: HashMap::new(),
            max_record_locks: None,
            max_record_locks_by_group: HashMap::new(),
            loop_releases: 2,
            count_records: 3,
            gap_ms: 300_000,
            cold_ms: 600_000,
            cold_records: 10_000,
            lag_ms: 300_000,
            lag_records: 1_000,
        }
    }
}

impl AnomalyConfig {
    /// The lock duration of a group, where it is given.
    pub(super) fn given_lock_ms(&self, group: &str) -> Option<i64> {
        let own = self.record_lock_durations_ms.get(group).copied();
        own.or(self.record_lock_duration_ms)
    }

    /// The lock duration with which loops of a group are looked for.
    pub(super) fn loop_lock_ms(&self, group: &str) -> i64 {
        self.given_lock_ms(group).unwrap_or(KAFKA_LOCK_MS)
    }

    /// Number of offsets of a share partition of a group that may be in flight, and whether that is given.
    pub(super) fn record_locks(&self, group: &str) -> (u64, bool) {
        let own = self.max_record_locks_by_group.get(group).copied();
        let given = own.or(self.max_record_locks);
        (
            given.unwrap_or(KAFKA_RECORD_LOCKS).unsigned_abs(),
            given.is_some(),
        )
    }

    /// Returns `true` if a lock may expire between two writes that are so far apart, or not known to be near.
    ///
    /// Half a lock duration is doubted already: a broker hands a record out again before the write of its time-out is in the log,
    /// so the write may come late by the time that a write takes.
    pub(super) fn lock_may_end(&self, group: &str, apart_ms: Option<i64>) -> bool {
        let lock_ms = self.given_lock_ms(group).unwrap_or(KAFKA_LEAST_LOCK_MS);
        apart_ms.is_none_or(|ms| ms.saturating_mul(2) >= lock_ms)
    }

    /// The delivery limit of a group; `None` if the log has to tell.
    pub(super) fn limit(&self, group: &str) -> Option<i64> {
        let own = self.delivery_count_limits.get(group).copied();
        own.or(self.delivery_count_limit)
    }
}

/// A measurement of a partition's log end offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Time, ms since the epoch.
    pub timestamp: i64,
    /// Offset after the last record then.
    pub end_offset: i64,
}

/// Facts that are not in the log; by default nothing is known of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Measurements of the log end offsets of topics' partitions, in any order.
    pub log_end_offsets: HashMap<(TopicId, i32), Vec<Sample>>,
    /// The topics that there are; `None` if that is not known.
    pub live_topics: Option<HashSet<TopicId>>,
}

impl Beside {
    /// Brings the measurements into order of time.
    #[must_use]
    pub(super) fn sorted(mut self) -> Self {
        for samples in self.log_end_offsets.values_mut() {
            samples.sort_by_key(|sample| sample.timestamp);
        }
        self
    }

    /// The measurements for a share partition.
    pub(super) fn samples(&self, key: &SharePartitionKey) -> &[Sample] {
        self.log_end_offsets
            .get(&(key.topic_id, key.partition))
            .map_or(&[], Vec::as_slice)
    }

    /// Returns `true` if it is known that the topic of a share partition is no more.
    pub(super) fn is_deleted(&self, key: &SharePartitionKey) -> bool {
        self.live_topics
            .as_ref()
            .is_some_and(|live| !live.contains(&key.topic_id))
    }
}
