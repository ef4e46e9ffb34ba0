//! A share partition of the engine, whose writes a test takes.

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::IntervalStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::{ReadStateResult, WriteState};
use share_state_core::record_state::AcknowledgeType;
use share_state_core::share_partition::{
    AcknowledgeBatch, AcquireMode, AcquireRequest, FetchedBatch, SharePartition,
};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::LockTime;
use share_state_drafts::{EffectiveState, as_written};

pub struct Engine {
    pub partition: SharePartition<IntervalStore>,
    pub now: LockTime,
}

impl Engine {
    /// Share partition with locks of 30 s.
    pub fn begin(start_offset: i64) -> Self {
        Self::load(&EffectiveState::new(start_offset, &[]), LockTime(0))
    }

    /// As a new leader loads what was replayed.
    pub fn load(state: &EffectiveState, now: LockTime) -> Self {
        let key = SharePartitionKey::new("G1", TopicId([7; 16]), 0);
        let config = ShareGroupConfig {
            record_lock_duration_ms: 30_000,
            delivery_count_limit: 3,
            ..ShareGroupConfig::default()
        };
        let mut partition = SharePartition::new(key, 0, config).unwrap();
        let read = ReadStateResult {
            state_epoch: 0,
            start_offset: state.start_offset(),
            state_batches: state.states(),
        };
        partition.initialize(read).unwrap();
        Self { partition, now }
    }

    /// Gives a member at most `max_records` of a fetch; tells the ranges.
    pub fn fetch(
        &mut self,
        member: &str,
        fetched: &[FetchedBatch],
        max_records: u32,
    ) -> Vec<(i64, i64)> {
        let request = AcquireRequest {
            member,
            mode: AcquireMode::RecordLimit,
            batch_size: 500,
            max_records: i32::try_from(max_records).unwrap(),
            fetch_offset: fetched[0].base_offset,
            fetched,
            aborted: None,
        };
        let acquired = self.partition.acquire(&request, self.now).unwrap();
        acquired
            .iter()
            .map(|one| (one.range.first, one.range.last))
            .collect()
    }

    pub fn acknowledge(&mut self, member: &str, first: i64, last: i64, kind: AcknowledgeType) {
        let types = &[kind as i8];
        let batch = AcknowledgeBatch { first, last, types };
        self.partition
            .acknowledge(member, &[batch], self.now)
            .unwrap();
    }

    pub fn pass(&mut self, milliseconds: i64) {
        self.now = self.now.plus(milliseconds);
        self.partition.handle_timeout(self.now);
    }

    /// The writes that wait, each confirmed.
    pub fn writes(&mut self) -> Vec<WriteState> {
        let mut writes = Vec::new();
        while let Some(write) = self.partition.poll_write() {
            writes.push(write.state);
            self.partition
                .handle_write_result(write.token, KafkaCode::None, self.now)
                .unwrap();
        }
        writes
    }

    /// Ranges that `member` holds and may acknowledge.
    pub fn held(&self, member: &str) -> Vec<(i64, i64)> {
        let runs = self.partition.in_flight();
        let held = runs.filter(|run| run.holder.is_some_and(|(name, _, _)| name == member));
        held.filter(|run| run.range.first >= self.partition.start_offset())
            .map(|run| (run.range.first, run.range.last))
            .collect()
    }

    /// In-flight runs from the start offset on.
    pub fn runs(&self) -> Vec<StateBatch> {
        let runs = self.partition.in_flight().map(|run| StateBatch {
            first_offset: run.range.first,
            last_offset: run.range.last,
            delivery_state: run.state.id(),
            delivery_count: run.delivery_count,
        });
        runs.filter(|run| run.first_offset >= self.partition.start_offset())
            .collect()
    }

    /// State that the share partition would leave if its leader were lost now: no acquisition, and its delivery did not happen.
    pub fn left(&self) -> EffectiveState {
        let states: Vec<StateBatch> = self.runs().into_iter().map(as_written).collect();
        EffectiveState::new(self.partition.start_offset(), &states)
    }
}
