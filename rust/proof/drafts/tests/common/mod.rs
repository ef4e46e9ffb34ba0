//! The logs of the three forms side by side: each write goes into all of them, through the bytes of both drafts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    reason = "helpers of tests may fail loudly, and not every test needs all of them"
)]

pub mod engine;

use share_state_core::coordinator::{CoordinatorConfig, ShareCoordinator};
use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::{InitializeState, WriteState};
use share_state_core::records::ShareRecord;
use share_state_core::time::WallTime;
use share_state_drafts::EffectiveState;
use share_state_drafts::control::{
    self, ControlRecord, ControlRecovery, ControlWriter, LoggedControl,
};
use share_state_drafts::state_topic::{
    self, CheckpointEpochWidth, LoggedState, StateRecord, StateReplay, StateWriter,
};

/// The logs, and who writes them for each share group.
pub struct Logs {
    pub groups: Vec<Group>,
    pub control: Vec<LoggedControl>,
    pub state_topic: Vec<LoggedState>,
    pub kafka: Vec<ShareRecord>,
    coordinator: ShareCoordinator,
    deltas: u16,
    width: CheckpointEpochWidth,
    offset: i64,
}

pub struct Group {
    pub key: SharePartitionKey,
    control: ControlWriter,
    state_topic: StateWriter,
}

/// Records that a write became, in each form.
pub struct Written {
    pub control: ControlRecord,
    pub state_topic: StateRecord,
    pub kafka: ShareRecord,
}

impl Logs {
    /// Initialises each group at its start offset.
    pub fn begin(starts: &[(&str, i64)], deltas: u16, width: CheckpointEpochWidth) -> Self {
        let config = CoordinatorConfig {
            snapshot_update_records_per_snapshot: u32::from(deltas),
            ..CoordinatorConfig::default()
        };
        let mut logs = Self {
            groups: Vec::new(),
            control: Vec::new(),
            state_topic: Vec::new(),
            kafka: Vec::new(),
            coordinator: ShareCoordinator::new(config).unwrap(),
            deltas,
            width,
            offset: 1_000,
        };
        for (name, start_offset) in starts {
            logs.initialize(name, *start_offset, deltas);
        }
        logs
    }

    fn initialize(&mut self, name: &str, start_offset: i64, deltas: u16) {
        let key = SharePartitionKey::new(name, TopicId([7; 16]), 0);
        let (control, control_record) = ControlWriter::begin(name, start_offset, deltas.into());
        let (topic, state_record) =
            StateWriter::begin(key.clone(), 0, start_offset, self.width, deltas);
        let request = InitializeState {
            state_epoch: 0,
            start_offset,
        };
        let decision = self
            .coordinator
            .decide_initialize(&key, &request, true, WallTime(0));
        let [kafka] = decision.unwrap().records.try_into().unwrap();
        self.groups.push(Group {
            key,
            control,
            state_topic: topic,
        });
        self.append(&Written {
            control: control_record,
            state_topic: state_record,
            kafka,
        });
    }

    /// Makes one write in every form.
    pub fn write(&mut self, group: usize, change: &WriteState) -> Written {
        let Group {
            key,
            control,
            state_topic,
        } = &mut self.groups[group];
        let decision = self
            .coordinator
            .decide_write(key, change, true, WallTime(0));
        let [kafka] = decision.unwrap().records.try_into().unwrap();
        let written = Written {
            control: control.write(change).unwrap(),
            state_topic: state_topic.write(change).unwrap(),
            kafka,
        };
        self.append(&written);
        written
    }

    /// The leader and the coordinator of a group are lost: their successors go on from the logs of the drafts. Kafka's form writes
    /// nothing then.
    pub fn resume(&mut self, group: usize) {
        let (recovery, replay) = (self.recovery(), self.replay());
        let Group {
            key,
            control,
            state_topic,
        } = &mut self.groups[group];
        let resumed = ControlWriter::resume(&recovery, &key.group, self.deltas.into());
        let (writer, control_record) = resumed.unwrap().unwrap();
        *control = writer;
        let resumed = StateWriter::resume(&replay, key.clone(), self.width, self.deltas);
        let (writer, state_record) = resumed.unwrap().unwrap();
        *state_topic = writer;
        self.append_drafts(&control_record, &state_record);
    }

    fn append(&mut self, written: &Written) {
        self.append_drafts(&written.control, &written.state_topic);
        self.coordinator.replay(self.offset, &written.kafka);
        self.kafka.push(written.kafka.clone());
    }

    /// Appends what the bytes of a record say, so that every record of a test goes through the codecs.
    fn append_drafts(&mut self, control: &ControlRecord, state: &StateRecord) {
        self.offset += 1;
        let offset = self.offset;
        let (key, value) = (
            control::encode_key(control),
            control::encode_value(control).unwrap(),
        );
        let record = control::decode(&key, &value).unwrap().unwrap();
        assert_eq!(record, *control);
        self.control.push(LoggedControl { offset, record });

        let StateRecord { key, value } = state;
        let key = state_topic::encode_key(key).unwrap();
        let value = value.as_ref().unwrap();
        let value = state_topic::encode_value(value, self.width).unwrap();
        let record = state_topic::decode(&key, Some(&value), self.width).unwrap();
        assert_eq!(record, *state);
        self.state_topic.push(LoggedState { offset, record });
    }

    /// The offset that the next record gets.
    pub const fn next_offset(&self) -> i64 {
        self.offset + 1
    }

    pub fn recovery(&self) -> ControlRecovery {
        let mut recovery = ControlRecovery::new();
        for LoggedControl { offset, record } in &self.control {
            recovery.replay(*offset, record);
        }
        recovery
    }

    fn replay(&self) -> StateReplay {
        let mut replay = StateReplay::new();
        for logged in &self.state_topic {
            replay.replay(&logged.record);
        }
        replay
    }

    /// The state of a group as each log tells it: both drafts, and Kafka's form.
    pub fn replayed(&self, group: usize) -> [EffectiveState; 3] {
        let key = &self.groups[group].key;
        let recovery = self.recovery();
        let mut kafka = None;
        for record in self.kafka.iter().filter(|record| record.key == *key) {
            ShareGroupOffset::fold(&mut kafka, &record.value);
        }
        [
            recovery.state(&key.group).unwrap().clone(),
            self.replay().state(key).unwrap(),
            EffectiveState::from(&kafka.unwrap()),
        ]
    }
}
