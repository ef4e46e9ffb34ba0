//! A day of many share partitions: in each round every one of them gives a record to each of its members, who then accept, release or
//! reject it, or let its lock run out.

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::{InFlightStore, IntervalStore};
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::{NoOpStatePersister, ReadStateResult};
use share_state_core::share_partition::{
    AcknowledgeBatch, AcquireMode, AcquireRequest, FetchedBatch, SharePartition,
};
use share_state_core::time::LockTime;

/// Answers of the members for their records, by the member's number; the last member acknowledges nothing.
const ANSWERS: [i8; 10] = [1, 1, 1, 1, 1, 1, 1, 2, 3, 0];

/// Numbers of what has happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub delivered: u64,
    pub accepted: u64,
    pub released: u64,
    pub rejected: u64,
    pub timed_out: u64,
    /// Held at once, by all members of all share partitions.
    pub locks: u64,
}

/// All share partitions, and the time.
pub struct Day {
    partitions: Vec<SharePartition<IntervalStore>>,
    members: Vec<String>,
    now: i64,
    pub count: Count,
}

impl Day {
    /// `partitions` share partitions with `locks` members each.
    pub fn new(partitions: usize, locks: usize) -> Result<Self, String> {
        let config = std::sync::Arc::new(ShareGroupConfig::default());
        let made = (0..partitions).map(|number| {
            let number = i32::try_from(number).map_err(|error| error.to_string())?;
            let key = SharePartitionKey::new("group", TopicId([7; 16]), number);
            let mut partition = SharePartition::new(key, 0, std::sync::Arc::clone(&config))
                .map_err(|error| format!("{error:?}"))?;
            let read = ReadStateResult {
                state_epoch: 0,
                start_offset: 0,
                state_batches: Vec::new(),
            };
            partition
                .initialize(read)
                .map_err(|error| format!("{error:?}"))?;
            Ok(partition)
        });
        Ok(Self {
            partitions: made.collect::<Result<_, String>>()?,
            members: (0..locks)
                .map(|number| format!("member-{number}"))
                .collect(),
            now: 0,
            count: Count::default(),
        })
    }

    /// A round of all share partitions, which takes so long.
    pub fn round(&mut self, ms: i64) -> Result<(), String> {
        let mut held = Vec::new();
        self.count.locks = 0;
        for partition in &mut self.partitions {
            held.clear();
            for member in &self.members {
                let next = partition.next_fetch_offset();
                let request = AcquireRequest {
                    member,
                    mode: AcquireMode::RecordLimit,
                    batch_size: 1,
                    max_records: 1,
                    fetch_offset: next,
                    fetched: &[FetchedBatch::plain(next, next)],
                    aborted: None,
                };
                let acquired = partition
                    .acquire(&request, LockTime(self.now))
                    .map_err(|error| format!("{error:?}"))?;
                let range = acquired.first().ok_or("nothing to acquire")?.range;
                held.push((member.as_str(), range.first));
            }
            self.count.delivered += held.len() as u64;
            let [_, acquired, ..] = partition.state_counts();
            self.count.locks += acquired;
            for (number, (member, offset)) in held.iter().enumerate() {
                let kind = ANSWERS[number % ANSWERS.len()];
                match kind {
                    1 => self.count.accepted += 1,
                    2 => self.count.released += 1,
                    3 => self.count.rejected += 1,
                    _ => continue,
                }
                let batch = AcknowledgeBatch {
                    first: *offset,
                    last: *offset,
                    types: &[kind],
                };
                let settled = partition.acknowledge_and_settle(
                    member,
                    &[batch],
                    LockTime(self.now + 1),
                    &mut NoOpStatePersister,
                );
                settled.map_err(|error| format!("{error:?}"))?;
            }
        }
        self.now += ms;
        for partition in &mut self.partitions {
            self.count.timed_out += partition.handle_timeout(LockTime(self.now));
            partition.settle(&mut NoOpStatePersister);
        }
        Ok(())
    }

    /// Bytes on the heap of all stores, as they count them.
    pub fn store_bytes(&self) -> usize {
        let partitions = self.partitions.iter();
        partitions.map(|one| one.store().heap_bytes()).sum()
    }

    /// Every invariant of every share partition, and the sum of what they have in flight.
    pub fn in_flight(&self) -> Result<u64, String> {
        let mut sum = 0;
        for partition in &self.partitions {
            partition.check()?;
            sum += partition.window_len();
        }
        Ok(sum)
    }
}
