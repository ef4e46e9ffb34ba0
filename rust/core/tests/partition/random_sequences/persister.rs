//! The share coordinator with its log, and what it has confirmed to the leader.

use std::collections::{BTreeMap, BTreeSet};

use share_state_core::coordinator::{CoordinatorConfig, CoordinatorError, ShareCoordinator};
use share_state_core::persister::{InitializeState, ReadState, ReadStateResult, WriteState};
use share_state_core::records::ShareRecord;
use share_state_core::state_batch::StateBatch;
use share_state_core::time::WallTime;

use super::seen::{Seen, check_batches};
use crate::common::lab::key;

const NOW: WallTime = WallTime(0);

/// See the module.
#[derive(Clone)]
pub struct Persister {
    coordinator: ShareCoordinator,
    log: Vec<ShareRecord>,
    /// Epoch of the last leader that has read the state: earlier ones are fenced.
    reader: i32,
    /// Highest (delivery count, state id) by offset whose write was confirmed in this state epoch.
    confirmed: BTreeMap<i64, (i16, i8)>,
    /// Offsets whose acknowledgement or archiving was confirmed in this state epoch.
    pub done: BTreeSet<i64>,
    /// Offsets that the log has as terminal in this state epoch, confirmed or not.
    ended: BTreeSet<i64>,
}

fn coordinator() -> ShareCoordinator {
    // A snapshot after every third update, so that both kinds of records are folded.
    let config = CoordinatorConfig {
        snapshot_update_records_per_snapshot: 3,
        ..CoordinatorConfig::default()
    };
    ShareCoordinator::new(config).unwrap()
}

impl Persister {
    pub fn new(start_offset: i64) -> Self {
        let mut persister = Self {
            coordinator: coordinator(),
            log: Vec::new(),
            reader: -1,
            confirmed: BTreeMap::new(),
            done: BTreeSet::new(),
            ended: BTreeSet::new(),
        };
        persister.initialize(start_offset);
        persister
    }

    fn append(&mut self, records: Vec<ShareRecord>) {
        let before = self.start_offset();
        let leader_epoch = self.coordinator.highest_leader_epoch(&key());
        for record in records {
            self.coordinator.replay(self.log.len() as i64, &record);
            self.log.push(record);
        }
        assert!(self.coordinator.highest_leader_epoch(&key()) >= leader_epoch);
        let state = self.coordinator.state(&key()).unwrap();
        check_batches(&state.state_batches.to_vec());
        assert!(before.is_none_or(|(epoch, offset)| {
            epoch != state.state_epoch || offset <= state.start_offset
        }));
    }

    fn start_offset(&self) -> Option<(i32, i64)> {
        let state = self.coordinator.state(&key())?;
        Some((state.state_epoch, state.start_offset))
    }

    /// Start offset and batches as stored.
    pub fn stored(&self) -> (i64, Vec<StateBatch>) {
        let state = self.coordinator.state(&key()).unwrap();
        (state.start_offset, state.state_batches.to_vec())
    }

    pub fn state_epoch(&self) -> i32 {
        self.start_offset().map_or(0, |(epoch, _)| epoch)
    }

    /// Begins the next state epoch.
    pub fn initialize(&mut self, start_offset: i64) {
        let request = InitializeState {
            state_epoch: self.start_offset().map_or(0, |(epoch, _)| epoch + 1),
            start_offset,
        };
        let decision = self
            .coordinator
            .decide_initialize(&key(), &request, true, NOW);
        self.append(decision.unwrap().records);
        self.confirmed.clear();
        self.done.clear();
        self.ended.clear();
    }

    /// Writers that have been overtaken are fenced, and nobody else.
    pub fn write(&mut self, write: &WriteState) -> Result<(), CoordinatorError> {
        let fenced = write.leader_epoch < self.reader || write.state_epoch < self.state_epoch();
        let decision = self.coordinator.decide_write(&key(), write, true, NOW);
        assert_eq!(decision.is_err(), fenced, "{write:?}");
        let decision = decision?;
        self.append(decision.records);
        for batch in &write.state_batches {
            if matches!(batch.delivery_state, 2 | 4) {
                self.ended.extend(batch.first_offset..=batch.last_offset);
            }
        }
        Ok(())
    }

    /// Returns `true` if the log has had the offset as terminal, or a start offset after it.
    pub fn has_ended(&self, offset: i64) -> bool {
        self.ended.contains(&offset) || self.start_offset().is_some_and(|(_, start)| offset < start)
    }

    /// The leader was told that the write is in the log.
    pub fn confirm(&mut self, write: &WriteState) {
        for batch in &write.state_batches {
            for offset in batch.first_offset..=batch.last_offset {
                let code = (batch.delivery_count, batch.delivery_state);
                let entry = self.confirmed.entry(offset).or_insert(code);
                *entry = code.max(*entry);
                if batch.delivery_state >= 2 {
                    self.done.insert(offset);
                }
            }
        }
    }

    pub fn read(&mut self, leader_epoch: i32) -> ReadStateResult {
        let request = ReadState { leader_epoch };
        let decision = self
            .coordinator
            .decide_read(&key(), &request, true, NOW)
            .unwrap();
        self.reader = leader_epoch;
        self.append(decision.records);
        decision.answer
    }

    /// Loads the log again: the state is what the log says. Then everything confirmed must be there.
    pub fn restart(&mut self) {
        let mut loaded = coordinator();
        for (offset, record) in self.log.iter().enumerate() {
            loaded.replay(offset as i64, record);
        }
        assert_eq!(
            loaded.state(&key()),
            self.coordinator.state(&key()),
            "state == replay(log)"
        );
        assert_eq!(
            loaded.highest_leader_epoch(&key()),
            self.coordinator.highest_leader_epoch(&key())
        );
        self.coordinator = loaded;
        let state = self.coordinator.state(&key()).unwrap();
        for (offset, confirmed) in self.confirmed.range(state.start_offset..) {
            let stored = state.state_batches.at(*offset);
            let stored = stored.map(|batch| (batch.delivery_count, batch.delivery_state));
            assert!(
                stored.is_some_and(|stored| stored >= *confirmed),
                "{offset}: lost {confirmed:?}"
            );
        }
    }

    /// A new leader sees nothing of what is done as open.
    pub fn check_terminal(&self, seen: &Seen) {
        for offset in self.done.range(seen.start_offset..) {
            let record = seen.records.get(offset);
            assert!(
                record.is_some_and(|record| record.state as i8 >= 2),
                "{offset} was done and has returned: {record:?}"
            );
        }
    }
}
