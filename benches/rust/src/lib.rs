//! Operation logs, what makes them, and the engines of this language that replay them (`benches/README.md`); and below, the
//! few workloads that the criterion benchmarks share.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a benchmark whose workload cannot be set up must stop"
)]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "a test that cannot be set up must stop")
)]

pub mod arguments;
pub mod digest;
pub mod durable;
pub mod engine;
pub mod engines;
pub mod fold;
pub mod generate;
pub mod oplog;
pub mod replay;
pub mod result;
pub mod share_life;
pub mod state_topic;
pub mod stored;

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::ReadStateResult;
use share_state_core::share_partition::{
    AcknowledgeBatch, AcquireMode, AcquireRequest, FetchedBatch, SharePartition,
};
use share_state_core::time::LockTime;

/// A member id as clients make them: a UUID in Kafka's base64.
pub const MEMBER: &str = "qL0uXW2hS3mJpW3Zt9xYdA";

/// When everything happens, unless the workload lets time pass. Milliseconds.
pub const NOW: LockTime = LockTime(1_000);

/// Duration of every lock, milliseconds (Kafka's default).
pub const LOCK_MS: i64 = 30_000;

/// Type ids of an acknowledgement (KIP-932).
pub const ACCEPT: &[i8] = &[1];

/// An active share partition with nothing in flight, and a window without a practical limit: Kafka's greatest
/// `group.share.partition.max.record.locks` is far below the million records of some workloads.
#[must_use]
pub fn active<S: InFlightStore>() -> SharePartition<S> {
    let config = ShareGroupConfig {
        partition_max_record_locks: u32::MAX,
        record_lock_duration_ms: LOCK_MS,
        ..ShareGroupConfig::default()
    };
    let key = SharePartitionKey::new("group", TopicId([7; 16]), 0);
    let mut partition = SharePartition::new(key, 0, config).expect("a legal configuration");
    partition
        .initialize(ReadStateResult {
            state_epoch: 0,
            start_offset: 0,
            state_batches: Vec::new(),
        })
        .expect("an empty state");
    partition
}

/// Acquires `[first, last]`, read as one log batch, for `member`; all of it must be given.
pub fn acquire<S: InFlightStore>(
    partition: &mut SharePartition<S>,
    member: &str,
    first: i64,
    last: i64,
) {
    let request = AcquireRequest {
        member,
        mode: AcquireMode::BatchOptimized,
        batch_size: 500,
        max_records: i32::MAX,
        fetch_offset: first,
        fetched: &[FetchedBatch::plain(first, last)],
        aborted: None,
    };
    let acquired = partition.acquire(&request, NOW).expect("a legal request");
    let records: u64 = acquired.iter().map(|a| a.range.len()).sum();
    assert_eq!(records, first.abs_diff(last) + 1);
}

/// `records` records in flight, acquired as one batch under one lock.
#[must_use]
pub fn acquired_at_once<S: InFlightStore>(records: i64) -> SharePartition<S> {
    let mut partition = active();
    acquire(&mut partition, MEMBER, 0, records - 1);
    partition
}

/// Acknowledges one range with one type; its write waits to be polled.
pub fn acknowledge<S: InFlightStore>(
    partition: &mut SharePartition<S>,
    member: &str,
    first: i64,
    last: i64,
    types: &[i8],
) {
    let batch = AcknowledgeBatch { first, last, types };
    partition
        .acknowledge(member, &[batch], NOW)
        .expect("the member holds the records");
}

/// Polls every write and confirms it. Returns how many there were.
pub fn confirm<S: InFlightStore>(partition: &mut SharePartition<S>) -> u64 {
    let mut writes = 0;
    while let Some(write) = partition.poll_write() {
        partition
            .handle_write_result(write.token, KafkaCode::None, NOW)
            .expect("the write is under way");
        writes += 1;
    }
    writes
}

/// The numbers below `n` in an order without a pattern, the same in every run.
#[must_use]
pub fn shuffled(n: i64) -> Vec<i64> {
    let mut numbers: Vec<i64> = (0..n).collect();
    generate::Random::new(1).shuffle(&mut numbers);
    numbers
}
