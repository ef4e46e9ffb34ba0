//! A share partition on the bench: time, writes and dead letters in hand, and its invariants checked after every step.

use std::collections::BTreeMap;

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::{ReadStateResult, WriteState, WriteToken};
use share_state_core::share_partition::{
    AbortedTransaction, AcknowledgeBatch, AcknowledgeError, AcquireError, AcquireMode,
    AcquireRequest, AcquiredRange, DeadLetter, DeadLetterToken, FetchedBatch, Initialized,
    SharePartition, Status, UnknownToken, WriteAnswer,
};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::LockTime;

use super::view::everything;

/// Fetch of a member, with the defaults of most scenarios.
#[derive(Clone, Debug)]
pub struct Fetch {
    pub mode: AcquireMode,
    pub batch_size: i32,
    pub max_records: i32,
    pub fetch_offset: i64,
    pub log: Vec<FetchedBatch>,
    pub aborted: Option<Vec<AbortedTransaction>>,
}

impl Fetch {
    /// All of these log batches, in one in-flight batch, read from the first of them.
    pub fn of(log: &[(i64, i64)]) -> Self {
        Self {
            mode: AcquireMode::BatchOptimized,
            batch_size: 500,
            max_records: 500,
            fetch_offset: log.first().map_or(0, |batch| batch.0),
            log: log
                .iter()
                .map(|(base, last)| FetchedBatch::plain(*base, *last))
                .collect(),
            aborted: None,
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Lab<S> {
    pub sp: SharePartition<S>,
    pub now: i64,
    /// Writes that are not answered yet.
    pub writes: BTreeMap<u64, WriteState>,
    /// Dead letters that the queue has not answered yet.
    pub dead_letters: BTreeMap<u64, DeadLetter>,
    /// Writes and dead letters handed out since [`Lab::news`] was last asked.
    pub handed_out: Vec<(char, u64)>,
    start_offset: i64,
}

pub fn key() -> SharePartitionKey {
    SharePartitionKey::new("g", TopicId([7; 16]), 0)
}

pub fn batch(first: i64, last: i64, state: i8, count: i16) -> StateBatch {
    StateBatch {
        first_offset: first,
        last_offset: last,
        delivery_state: state,
        delivery_count: count,
    }
}

pub fn read_result(start_offset: i64, state_batches: &[StateBatch]) -> ReadStateResult {
    ReadStateResult {
        state_epoch: 3,
        start_offset,
        state_batches: state_batches.to_vec(),
    }
}

impl<S: InFlightStore> Lab<S> {
    /// A share partition that has read nothing yet.
    pub fn empty(config: ShareGroupConfig) -> Self {
        Self {
            sp: SharePartition::new(key(), 1, config).unwrap(),
            now: 0,
            writes: BTreeMap::new(),
            dead_letters: BTreeMap::new(),
            handed_out: Vec::new(),
            start_offset: 0,
        }
    }

    /// An active one that starts at 0.
    pub fn new() -> Self {
        Self::with(ShareGroupConfig::default())
    }

    pub fn with(config: ShareGroupConfig) -> Self {
        let mut lab = Self::empty(config);
        lab.initialize(&read_result(0, &[]));
        lab
    }

    pub fn initialize(&mut self, read: &ReadStateResult) {
        let initialized = self.sp.initialize(read.clone());
        assert_eq!(initialized, Ok(Initialized::Active));
        self.start_offset = self.sp.start_offset();
        self.poll();
    }

    /// Changes single values of the configuration.
    pub fn configure(&mut self, change: impl FnOnce(&mut ShareGroupConfig)) {
        let mut config = *self.sp.config();
        change(&mut config);
        self.sp.configure(config).unwrap();
        self.poll();
    }

    /// Polls what there is to do and checks what must always hold.
    pub fn poll(&mut self) {
        while let Some(write) = self.sp.poll_write() {
            self.handed_out.push(('w', write.token.0));
            self.writes.insert(write.token.0, write.state);
        }
        while let Some(letter) = self.sp.poll_dead_letter() {
            self.handed_out.push(('d', letter.token.0));
            self.dead_letters.insert(letter.token.0, letter);
        }
        assert_eq!(self.sp.check(), Ok(()));
        let start_offset = self.sp.start_offset();
        assert!(
            start_offset >= self.start_offset,
            "the start offset went back from {} to {start_offset}",
            self.start_offset
        );
        self.start_offset = start_offset;
        assert!(
            !self.is_stuck(),
            "nothing can ever happen: {}",
            everything(&self.sp)
        );
    }

    /// Returns `true` if no record can be acquired although nobody holds one and nothing is under way: no event would
    /// ever change that.
    fn is_stuck(&self) -> bool {
        self.sp.status() == Status::Active
            && !self.sp.can_acquire()
            && self.sp.poll_timeout().is_none()
            && self.writes.is_empty()
            && self.dead_letters.is_empty()
    }

    /// Returns the records that were handed out since the last call.
    pub fn news(&mut self) -> Vec<(char, u64)> {
        core::mem::take(&mut self.handed_out)
    }

    pub fn time(&mut self, now: i64) -> u64 {
        self.now = now;
        let records = self.sp.handle_timeout(LockTime(now));
        self.poll();
        records
    }

    pub fn acquire(
        &mut self,
        member: &str,
        fetch: &Fetch,
    ) -> Result<Vec<AcquiredRange>, AcquireError> {
        let request = AcquireRequest {
            member,
            mode: fetch.mode,
            batch_size: fetch.batch_size,
            max_records: fetch.max_records,
            fetch_offset: fetch.fetch_offset,
            fetched: &fetch.log,
            aborted: fetch.aborted.as_deref(),
        };
        let acquired = self.sp.acquire(&request, LockTime(self.now));
        self.poll();
        acquired
    }

    /// Acknowledges ranges with lists of types; the token of the write.
    pub fn acknowledge(
        &mut self,
        member: &str,
        batches: &[(i64, i64, &[i8])],
    ) -> Result<Option<u64>, AcknowledgeError> {
        let batches: Vec<AcknowledgeBatch<'_>> = batches
            .iter()
            .map(|(first, last, types)| AcknowledgeBatch {
                first: *first,
                last: *last,
                types,
            })
            .collect();
        let token = self.sp.acknowledge(member, &batches, LockTime(self.now));
        self.poll();
        token.map(|token| token.map(|token| token.0))
    }

    pub fn release(&mut self, member: &str) -> u64 {
        let records = self.sp.release(member, LockTime(self.now));
        self.poll();
        records
    }

    pub fn answer(&mut self, token: u64, code: KafkaCode) -> Result<WriteAnswer, UnknownToken> {
        let answer = self
            .sp
            .handle_write_result(WriteToken(token), code, LockTime(self.now));
        self.writes.remove(&token);
        self.poll();
        answer
    }

    pub fn dead_letter_done(&mut self, token: u64) -> Result<(), UnknownToken> {
        let done = self
            .sp
            .handle_dead_letter_done(DeadLetterToken(token), LockTime(self.now));
        self.dead_letters.remove(&token);
        self.poll();
        done
    }

    pub fn move_log_start(&mut self, log_start_offset: i64) -> bool {
        let moved = self.sp.move_log_start_offset(log_start_offset);
        self.poll();
        moved
    }
}
