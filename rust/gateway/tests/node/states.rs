//! States of share partitions, as a share coordinator keeps them.

use share_state_core::coordinator::{CoordinatorConfig, ShareCoordinator};
use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::{InitializeState, ReadState, ReadStateResult, WriteState};
use share_state_core::records::ShareRecord;
use share_state_core::time::WallTime;

const WALL: WallTime = WallTime(0);

/// The states, which outlive a process.
pub struct States {
    coordinator: ShareCoordinator,
    appended: i64,
}

impl States {
    pub fn new() -> Self {
        Self {
            coordinator: ShareCoordinator::new(CoordinatorConfig::default()).unwrap(),
            appended: 0,
        }
    }

    /// Reads a state. One that there is not begins here, without a start offset.
    pub fn read(
        &mut self,
        key: &SharePartitionKey,
        leader_epoch: i32,
    ) -> Result<ReadStateResult, KafkaCode> {
        if self.coordinator.state(key).is_none() {
            let start = InitializeState {
                state_epoch: 0,
                start_offset: -1,
            };
            let decision = self.coordinator.decide_initialize(key, &start, true, WALL);
            self.append(decision.unwrap().records);
        }
        let request = ReadState { leader_epoch };
        let read = self.coordinator.decide_read(key, &request, true, WALL);
        let decision = read.map_err(|refused| refused.kafka_code())?;
        self.append(decision.records);
        Ok(decision.answer)
    }

    pub fn write(&mut self, key: &SharePartitionKey, state: &WriteState) -> KafkaCode {
        match self.coordinator.decide_write(key, state, true, WALL) {
            Ok(decision) => {
                self.append(decision.records);
                KafkaCode::None
            }
            Err(refused) => refused.kafka_code(),
        }
    }

    /// The state batches: first and last offset, delivery state.
    pub fn batches(&self, key: &SharePartitionKey) -> Vec<(i64, i64, i8)> {
        let state = self.coordinator.state(key).unwrap();
        let batches = state.state_batches.to_vec().into_iter();
        batches
            .map(|batch| (batch.first_offset, batch.last_offset, batch.delivery_state))
            .collect()
    }

    fn append(&mut self, records: Vec<ShareRecord>) {
        for record in records {
            self.coordinator.replay(self.appended, &record);
            self.appended += 1;
        }
    }
}
