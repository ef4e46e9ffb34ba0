//! Share partitions of share_state, which replay operations.

use std::collections::VecDeque;
use std::sync::Arc;

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::{InlinePersister, ReadStateResult, WriteStateRef, WriteToken};
use share_state_core::share_partition::{
    AcknowledgeBatch, AcquireMode, AcquireRequest, AcquiredRange, FetchedBatch, SharePartition,
};
use share_state_core::time::LockTime;

use crate::oplog::{Header, member_name};
use crate::persister::Persister;

/// Records that a member was given, with how often they have been delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// First offset.
    pub first: i64,
    /// Last offset.
    pub last: i64,
    /// This delivery included.
    pub delivery_count: i16,
}

/// A fetch for a member.
#[derive(Clone, Copy, Debug)]
pub struct Fetch<'a> {
    /// The share partition.
    pub partition: u32,
    /// The member.
    pub member: u16,
    /// Batches that the leader has read.
    pub fetched: &'a [FetchedBatch],
    /// The most records.
    pub max_records: i32,
    /// Records that a new in-flight batch holds at least.
    pub batch_size: i32,
}

/// State of a share partition that is compared besides its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Start offset.
    pub start: i64,
    /// End offset.
    pub end: i64,
    /// Delivery complete count.
    pub complete: u64,
}

/// Share partitions over one kind of store. Codes are Kafka's.
#[derive(Debug)]
pub struct Engine<S> {
    /// Configuration shared by all, as the share partitions of a group do; their keys share its name too.
    config: Arc<ShareGroupConfig>,
    group: Arc<str>,
    members: Vec<String>,
    partitions: Vec<SharePartition<S>>,
    now: LockTime,
    /// Ranges that the last acquire gave; the list is used again.
    acquired: Vec<AcquiredRange>,
    /// Writes that wait for an answer, operation by operation.
    held: VecDeque<Vec<(u32, WriteToken)>>,
}

/// A persister of the runner that answers at once, for one share partition.
struct Inline<'a, P>(u32, &'a mut P);

impl<P: Persister> InlinePersister for Inline<'_, P> {
    fn write_state(&mut self, _: &SharePartitionKey, state: WriteStateRef<'_>) -> KafkaCode {
        self.1.write(self.0, state);
        KafkaCode::None
    }
}

impl<S: InFlightStore> Engine<S> {
    fn make(&self, partition: u32, read: ReadStateResult) -> SharePartition<S> {
        let key = SharePartitionKey {
            group: Arc::clone(&self.group),
            topic_id: TopicId([7; 16]),
            partition: partition as i32,
        };
        let mut made =
            SharePartition::new(key, 0, Arc::clone(&self.config)).expect("a legal configuration");
        made.initialize(read).expect("a legal state");
        made
    }

    /// Takes the writes that wait to the persister, which answers later.
    fn hand_out(&mut self, partition: u32, persister: &mut impl Persister) {
        let at = &mut self.partitions[partition as usize];
        let mut waiting = Vec::new();
        while let Some(write) = at.lend_write() {
            waiting.push((partition, write.token));
            persister.write(partition, write.state);
        }
        if !waiting.is_empty() {
            self.held.push_back(waiting);
        }
    }

    /// Share partitions with nothing in flight.
    #[must_use]
    pub fn open(header: &Header) -> Self {
        let mut engine = Self {
            config: Arc::new(ShareGroupConfig {
                partition_max_record_locks: header.max_record_locks,
                record_lock_duration_ms: i64::from(header.lock_ms),
                delivery_count_limit: header.delivery_limit as i16,
                ..ShareGroupConfig::default()
            }),
            group: Arc::from("group"),
            members: (0..header.members).map(member_name).collect(),
            partitions: Vec::new(),
            now: LockTime(0),
            acquired: Vec::new(),
            held: VecDeque::new(),
        };
        engine.partitions = (0..header.partitions)
            .map(|partition| engine.make(partition, nothing_read()))
            .collect();
        engine
    }

    /// Gives records to a member.
    pub fn acquire(&mut self, fetch: &Fetch<'_>, mut given: impl FnMut(Grant)) -> i16 {
        let request = AcquireRequest {
            member: &self.members[usize::from(fetch.member)],
            mode: AcquireMode::BatchOptimized,
            batch_size: fetch.batch_size,
            max_records: fetch.max_records,
            fetch_offset: fetch.fetched[0].base_offset,
            fetched: fetch.fetched,
            aborted: None,
        };
        let at = &mut self.partitions[fetch.partition as usize];
        self.acquired.clear();
        match at.acquire_into(&request, self.now, &mut self.acquired) {
            Ok(()) => {
                for one in &self.acquired {
                    given(Grant {
                        first: one.range.first,
                        last: one.range.last,
                        delivery_count: one.delivery_count,
                    });
                }
                0
            }
            Err(error) => error.kafka_code().code(),
        }
    }

    /// Takes a member's request, and the write that it leads to, to the persister.
    pub fn acknowledge(
        &mut self,
        partition: u32,
        member: u16,
        ranges: &[AcknowledgeBatch<'_>],
        persister: &mut impl Persister,
    ) -> i16 {
        let member = &self.members[usize::from(member)];
        let at = &mut self.partitions[partition as usize];
        let error = if persister.is_polled() {
            at.acknowledge(member, ranges, self.now).err()
        } else {
            let mut inline = Inline(partition, persister);
            at.acknowledge_and_settle(member, ranges, self.now, &mut inline)
                .err()
        };
        if error.is_some() || persister.is_polled() {
            self.settle(partition, persister);
        }
        error.map_or(0, |error| error.kafka_code().code())
    }

    /// A member has left; the write that it leads to goes to the persister.
    pub fn release(&mut self, partition: u32, member: u16, persister: &mut impl Persister) {
        let member = &self.members[usize::from(member)];
        let at = &mut self.partitions[partition as usize];
        if persister.is_polled() {
            at.release(member, self.now);
            self.settle(partition, persister);
        } else {
            at.release_and_settle(member, self.now, &mut Inline(partition, persister));
        }
    }

    /// The time is `now`; locks of the partition that are due run out.
    pub fn tick(&mut self, partition: u32, now: i64) {
        self.now = LockTime(now);
        self.partitions[partition as usize].handle_timeout(self.now);
    }

    /// Returns the offset to fetch next.
    pub fn next_fetch_offset(&mut self, partition: u32) -> i64 {
        self.partitions[partition as usize].next_fetch_offset()
    }

    /// The log starts at `offset` now.
    pub fn log_start(&mut self, partition: u32, offset: i64) {
        self.partitions[partition as usize].move_log_start_offset(offset);
    }

    /// Takes all writes of the share partition to the persister, and its answers back.
    pub fn settle(&mut self, partition: u32, persister: &mut impl Persister) {
        if persister.is_polled() {
            self.hand_out(partition, persister);
        } else {
            let at = &mut self.partitions[partition as usize];
            at.settle(&mut Inline(partition, persister));
        }
    }

    /// Answers with success what the oldest `operations` left open.
    pub fn complete(&mut self, operations: i64) {
        for _ in 0..operations {
            for (partition, token) in self.held.pop_front().unwrap_or_default() {
                self.partitions[partition as usize]
                    .handle_write_result(token, KafkaCode::None, self.now)
                    .expect("the write is under way");
            }
        }
    }

    /// A new leader with this state.
    pub fn reopen(&mut self, partition: u32, read: ReadStateResult) {
        self.partitions[partition as usize] = self.make(partition, read);
    }

    /// Returns the window of a share partition.
    #[must_use]
    pub fn window(&self, partition: u32) -> Window {
        let at = &self.partitions[partition as usize];
        Window {
            start: at.start_offset(),
            end: at.end_offset(),
            complete: at.delivery_complete_count(),
        }
    }
}

/// The state of a share partition that nobody has used.
#[must_use]
pub const fn nothing_read() -> ReadStateResult {
    ReadStateResult {
        state_epoch: 0,
        start_offset: 0,
        state_batches: Vec::new(),
    }
}
