//! A coordinator with its log, as an owner would drive it: decide, append, replay.

use share_state_core::coordinator::{
    CoordinatorConfig, CoordinatorError, Decision, ShareCoordinator,
};
use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::{InitializeState, ReadState, ReadStateResult, WriteState};
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareUpdate, ShareValue};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::WallTime;

pub const TOPIC: TopicId = TopicId([7; 16]);

pub fn key(group: &str) -> SharePartitionKey {
    SharePartitionKey::new(group, TOPIC, 0)
}

pub fn b(first: i64, last: i64, state: i8, count: i16) -> StateBatch {
    StateBatch {
        first_offset: first,
        last_offset: last,
        delivery_state: state,
        delivery_count: count,
    }
}

pub fn write(
    start_offset: i64,
    delivery_complete_count: i32,
    batches: &[StateBatch],
) -> WriteState {
    WriteState {
        state_epoch: 5,
        leader_epoch: 0,
        start_offset,
        delivery_complete_count,
        state_batches: batches.to_vec(),
    }
}

pub fn snapshot_of(record: &ShareRecord) -> &ShareSnapshot {
    match &record.value {
        ShareValue::Snapshot(snapshot) => snapshot,
        other => panic!("not a snapshot: {other:?}"),
    }
}

pub fn update_of(record: &ShareRecord) -> &ShareUpdate {
    match &record.value {
        ShareValue::Update(update) => update,
        other => panic!("not an update: {other:?}"),
    }
}

pub struct Owner {
    pub coordinator: ShareCoordinator,
    pub log: Vec<ShareRecord>,
    pub now: WallTime,
}

impl Owner {
    pub fn new(updates_per_snapshot: u32) -> Self {
        let config = CoordinatorConfig {
            snapshot_update_records_per_snapshot: updates_per_snapshot,
            cold_partition_snapshot_interval_ms: 10_000,
        };
        Self {
            coordinator: ShareCoordinator::new(config).unwrap(),
            log: Vec::new(),
            now: WallTime(1_000),
        }
    }

    /// A coordinator with one key at state epoch 5.
    pub fn initialized(group: &str, start_offset: i64) -> Self {
        let mut owner = Self::new(500);
        owner.initialize(group, 5, start_offset).unwrap();
        owner
    }

    pub fn append(&mut self, records: &[ShareRecord]) {
        for record in records {
            let offset = i64::try_from(self.log.len()).unwrap();
            self.log.push(record.clone());
            self.coordinator.replay(offset, record);
        }
    }

    fn take<A>(
        &mut self,
        decision: Result<Decision<A>, CoordinatorError>,
    ) -> Result<Decision<A>, CoordinatorError> {
        if let Ok(decision) = &decision {
            self.append(&decision.records);
        }
        decision
    }

    pub fn initialize(
        &mut self,
        group: &str,
        state_epoch: i32,
        start_offset: i64,
    ) -> Result<Vec<ShareRecord>, CoordinatorError> {
        let request = InitializeState {
            state_epoch,
            start_offset,
        };
        let decision = self
            .coordinator
            .decide_initialize(&key(group), &request, true, self.now);
        self.take(decision).map(|d| d.records)
    }

    pub fn read(
        &mut self,
        group: &str,
        leader_epoch: i32,
    ) -> Result<Decision<ReadStateResult>, CoordinatorError> {
        let decision =
            self.coordinator
                .decide_read(&key(group), &ReadState { leader_epoch }, true, self.now);
        self.take(decision)
    }

    pub fn write(
        &mut self,
        group: &str,
        request: &WriteState,
    ) -> Result<Vec<ShareRecord>, CoordinatorError> {
        let decision = self
            .coordinator
            .decide_write(&key(group), request, true, self.now);
        self.take(decision).map(|d| d.records)
    }

    pub fn delete(&mut self, group: &str) -> Result<Vec<ShareRecord>, CoordinatorError> {
        let decision = self.coordinator.decide_delete(&key(group), true);
        self.take(decision).map(|d| d.records)
    }

    pub fn cold_snapshots(&mut self) -> Vec<ShareRecord> {
        let records = self.coordinator.decide_cold_snapshots(self.now);
        self.append(&records);
        records
    }

    pub fn state(&self, group: &str) -> &ShareGroupOffset {
        self.coordinator.state(&key(group)).unwrap()
    }

    /// A coordinator that has loaded the log from this offset on.
    pub fn loaded_from(&self, offset: usize) -> ShareCoordinator {
        let mut loaded = ShareCoordinator::new(*self.coordinator.config()).unwrap();
        for (offset, record) in self.log.iter().enumerate().skip(offset) {
            loaded.replay(i64::try_from(offset).unwrap(), record);
        }
        loaded
    }
}
