//! Logs of `__share_group_state` of any size: what share coordinators would have written of made-up groups.
//!
//! The records are those that the coordinator of the engine decides (a snapshot at the initialisation, updates, a snapshot for
//! every 500 of them, now and then a deletion and a new beginning), in batches and segments as a broker lays them down. Each
//! state partition has a chain of numbers of its own, so the same seed makes the same files however many threads write.

use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

use share_state_core::coordinator::{CoordinatorConfig, ShareCoordinator};
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::InitializeState;
use share_state_core::records::ShareRecord;
use share_state_core::time::WallTime;
use share_state_wire::partitioner::state_partition;
use share_state_wire::record_batch::{Compression, NewRecord, encode_batch};
use share_state_wire::state_record::{encode_key, encode_value};

use crate::generate::Random;
use crate::share_life::Life;

/// Ms since the epoch of the first record.
const BEGIN: i64 = 1_700_000_000_000;
/// Share partitions of one group.
const A_GROUP: u64 = 50;
/// A batch has at most so many records: what comes while the last append is under way.
const A_BATCH: u64 = 200;
/// Number of records for each deletion; the share partition then begins again.
const A_DELETION: u64 = 100_000;

/// Amount and layout of the records to write.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Records in all, at least as many as share partitions.
    pub records: u64,
    /// Share partitions.
    pub keys: u64,
    /// State partitions.
    pub partitions: u32,
    /// The same makes the same.
    pub seed: u64,
    /// A segment that has so many bytes is followed by a new one (Kafka: `share.coordinator.state.topic.segment.bytes`).
    pub segment_bytes: u64,
}

type Failure = Box<dyn Error + Send + Sync>;

/// Writes the folders `__share_group_state-N` into `dir`, with as many threads as there are cores; returns the bytes.
///
/// # Errors
/// The disk fails, or the plan has fewer records than share partitions.
pub fn write(dir: &Path, plan: &Plan) -> Result<u64, Failure> {
    if plan.records < plan.keys {
        return Err(format!(
            "{} records for {} share partitions",
            plan.records, plan.keys
        )
        .into());
    }
    let mut keys = vec![Vec::new(); plan.partitions as usize];
    for number in 0..plan.keys {
        let key = key_of(number);
        keys[state_partition(&key, plan.partitions) as usize].push(key);
    }
    let mut before = 0;
    let shares: Vec<_> = keys
        .into_iter()
        .map(|keys| {
            let part = |keys: u64| keys * plan.records / plan.keys;
            let records = part(before + keys.len() as u64) - part(before);
            before += keys.len() as u64;
            (keys, records)
        })
        .collect();
    let (next, bytes) = (AtomicU32::new(0), AtomicU64::new(0));
    let work = || -> Result<(), Failure> {
        loop {
            let partition = next.fetch_add(1, Ordering::Relaxed);
            let Some((keys, records)) = shares.get(partition as usize) else {
                return Ok(());
            };
            if !keys.is_empty() {
                let folder = dir.join(format!("__share_group_state-{partition}"));
                fs::create_dir_all(&folder)?;
                let written = Writer::new(&folder, keys, partition, plan)?.write(*records)?;
                bytes.fetch_add(written, Ordering::Relaxed);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter()
            .try_for_each(|one| one.join().expect("a writer that did not panic"))
    })?;
    Ok(bytes.into_inner())
}

fn key_of(number: u64) -> SharePartitionKey {
    let mut id = [0x5f; 16];
    id[8..].copy_from_slice(&(number / A_GROUP + 1).to_be_bytes());
    let group = format!("group-{}", number / A_GROUP);
    SharePartitionKey::new(&group, TopicId(id), (number % A_GROUP) as i32)
}

/// State partition while it is written.
struct Writer<'a> {
    folder: &'a Path,
    keys: &'a [SharePartitionKey],
    lives: Vec<Life>,
    coordinator: ShareCoordinator,
    random: Random,
    segment_bytes: u64,
    offset: u64,
    segment: Option<(File, u64)>,
    bytes: u64,
}

impl<'a> Writer<'a> {
    fn new(
        folder: &'a Path,
        keys: &'a [SharePartitionKey],
        partition: u32,
        plan: &Plan,
    ) -> Result<Self, Failure> {
        Ok(Self {
            folder,
            keys,
            lives: vec![Life::default(); keys.len()],
            coordinator: ShareCoordinator::new(CoordinatorConfig::default())?,
            random: Random::new(plan.seed.wrapping_add(u64::from(partition) << 32)),
            segment_bytes: plan.segment_bytes,
            offset: 0,
            segment: None,
            bytes: 0,
        })
    }

    fn write(mut self, records: u64) -> Result<u64, Failure> {
        while self.offset < records {
            let some = (1 + self.random.below(A_BATCH)).min(records - self.offset);
            // About a record a ms in each state partition.
            let now = WallTime(BEGIN + self.offset as i64);
            let made = (0..some)
                .map(|_| self.record(now))
                .collect::<Result<Vec<_>, _>>()?;
            let batch: Vec<_> = made
                .iter()
                .map(|(key, value)| NewRecord {
                    timestamp: now.0,
                    key: Some(key),
                    value: value.as_deref(),
                })
                .collect();
            let base = self.offset - some;
            let bytes = encode_batch(base as i64, 0, Compression::None, &batch)?;
            self.append(base, &bytes)?;
        }
        Ok(self.bytes)
    }

    /// The next record of some share partition, encoded; those that are not yet there come first.
    fn record(&mut self, now: WallTime) -> Result<(Vec<u8>, Option<Vec<u8>>), Failure> {
        let all = self.keys.len() as u64;
        let number = if self.offset < all {
            self.offset
        } else {
            self.random.below(all)
        } as usize;
        let (key, life) = (&self.keys[number], &mut self.lives[number]);
        let decision = if !life.is_there {
            life.begin();
            let request = InitializeState {
                state_epoch: life.state_epoch,
                start_offset: 0,
            };
            let made = self.coordinator.decide_initialize(key, &request, true, now);
            made.map(|decision| decision.records)
        } else if self.random.below(A_DELETION) == 0 {
            life.is_there = false;
            let gone = self.coordinator.decide_delete(key, true);
            gone.map(|decision| decision.records)
        } else {
            let request = life.next_write(&mut self.random);
            let written = self.coordinator.decide_write(key, &request, true, now);
            written.map(|decision| decision.records)
        };
        let records: Vec<ShareRecord> = decision.map_err(|error| format!("{key:?}: {error:?}"))?;
        let [record] = &records[..] else {
            return Err(format!("{key:?}: {} records", records.len()).into());
        };
        self.coordinator.replay(self.offset as i64, record);
        self.offset += 1;
        Ok((encode_key(record)?, encode_value(&record.value)?))
    }

    fn append(&mut self, base: u64, bytes: &[u8]) -> Result<(), Failure> {
        let mut open = match self.segment.take() {
            Some((file, length)) if length < self.segment_bytes => (file, length),
            _ => (
                File::create(self.folder.join(format!("{base:020}.log")))?,
                0,
            ),
        };
        open.0.write_all(bytes)?;
        open.1 += bytes.len() as u64;
        self.bytes += bytes.len() as u64;
        self.segment = Some(open);
        Ok(())
    }
}
