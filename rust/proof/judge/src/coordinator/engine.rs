//! share_state's side of the coordinator profile: decides, and replays what it has decided at the next offset.

use share_state_core::coordinator::{
    CoordinatorConfig, CoordinatorError, Decision, ShareCoordinator,
};
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::{InitializeState, ReadState, WriteState};
use share_state_core::records::{ShareRecord, ShareValue};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::WallTime;

use crate::coordinator::operation::{Asked, CoordinatorOperation, TOPIC_BYTES};
use crate::coordinator::outcome::CoordinatorOutcome;

/// Plays operations one after the other.
#[derive(Default)]
pub struct Coordinator {
    coordinator: Option<ShareCoordinator>,
    offset: i64,
}

type Decided = Result<(Vec<ShareRecord>, String), CoordinatorError>;

fn key(partition: i32) -> SharePartitionKey {
    SharePartitionKey::new("group", TopicId(TOPIC_BYTES), partition)
}

fn shown(batches: impl Iterator<Item = StateBatch>) -> String {
    let batch = |b: StateBatch| {
        format!(
            "{}-{} {} {}",
            b.first_offset, b.last_offset, b.delivery_state, b.delivery_count
        )
    };
    batches.map(batch).collect::<Vec<_>>().join(", ")
}

impl Coordinator {
    /// Plays one operation.
    pub fn play(&mut self, op: &CoordinatorOperation) -> CoordinatorOutcome {
        if let CoordinatorOperation::Create { updates, interval } = op {
            self.coordinator = ShareCoordinator::new(CoordinatorConfig {
                snapshot_update_records_per_snapshot: *updates,
                cold_partition_snapshot_interval_ms: *interval,
            })
            .ok();
            self.offset = 0;
            return CoordinatorOutcome {
                memory: "prune None".to_owned(),
                ..CoordinatorOutcome::default()
            };
        }
        let Some(coordinator) = &mut self.coordinator else {
            return CoordinatorOutcome {
                memory: "prune None".to_owned(),
                ..CoordinatorOutcome::default()
            };
        };
        let (records, answer) = match decide(coordinator, op) {
            Ok(decided) => decided,
            Err(error) => (Vec::new(), error.kafka_code().code().to_string()),
        };
        for record in &records {
            coordinator.replay(self.offset, record);
            self.offset += 1;
        }
        let mut shown: Vec<String> = records.iter().map(show).collect();
        shown.sort_unstable();
        CoordinatorOutcome {
            answer,
            records: shown.join("; "),
            memory: memory(coordinator),
        }
    }
}

fn written(decision: Decision<()>) -> (Vec<ShareRecord>, String) {
    (decision.records, "0".to_owned())
}

fn decide(coordinator: &ShareCoordinator, op: &CoordinatorOperation) -> Decided {
    let around = |asked: &Asked| (key(asked.partition), asked.exists, WallTime(asked.now));
    match op {
        CoordinatorOperation::Create { .. } => Ok((Vec::new(), String::new())),
        CoordinatorOperation::Initialize {
            asked,
            state_epoch,
            start,
        } => {
            let (key, exists, now) = around(asked);
            let request = InitializeState {
                state_epoch: *state_epoch,
                start_offset: *start,
            };
            coordinator
                .decide_initialize(&key, &request, exists, now)
                .map(written)
        }
        CoordinatorOperation::Read {
            asked,
            leader_epoch,
        } => {
            let (key, exists, now) = around(asked);
            let decision = coordinator.decide_read(
                &key,
                &ReadState {
                    leader_epoch: *leader_epoch,
                },
                exists,
                now,
            )?;
            let read = decision.answer;
            let answer = format!(
                "0 {} {} [{}]",
                read.state_epoch,
                read.start_offset,
                shown(read.state_batches.into_iter())
            );
            Ok((decision.records, answer))
        }
        CoordinatorOperation::Write {
            asked,
            state_epoch,
            leader_epoch,
            start,
            complete,
            batches,
        } => {
            let (key, exists, now) = around(asked);
            let request = WriteState {
                state_epoch: *state_epoch,
                leader_epoch: *leader_epoch,
                start_offset: *start,
                delivery_complete_count: *complete,
                state_batches: batches
                    .iter()
                    .map(|b| StateBatch {
                        first_offset: b.0,
                        last_offset: b.1,
                        delivery_state: b.2,
                        delivery_count: b.3,
                    })
                    .collect(),
            };
            coordinator
                .decide_write(&key, &request, exists, now)
                .map(written)
        }
        CoordinatorOperation::Delete { asked } => {
            let (key, exists, _) = around(asked);
            coordinator.decide_delete(&key, exists).map(written)
        }
        CoordinatorOperation::Summary { asked, .. } => {
            let (key, exists, _) = around(asked);
            let summary = coordinator.read_summary(&key, exists)?;
            let answer = format!(
                "0 {} {} {} {}",
                summary.state_epoch,
                summary.leader_epoch,
                summary.start_offset,
                summary.delivery_complete_count
            );
            Ok((Vec::new(), answer))
        }
        CoordinatorOperation::ColdSnapshots { now } => Ok((
            coordinator.decide_cold_snapshots(WallTime(*now)),
            String::new(),
        )),
        CoordinatorOperation::TopicDeleted => Ok((
            coordinator.decide_topics_deleted(&[TopicId(TOPIC_BYTES)]),
            String::new(),
        )),
    }
}

fn show(record: &ShareRecord) -> String {
    let partition = record.key.partition;
    match &record.value {
        ShareValue::Tombstone => format!("{partition} tombstone"),
        ShareValue::Snapshot(s) => format!(
            "{partition} snapshot {} {} {} {} {} {} {} [{}]",
            s.snapshot_epoch,
            s.state_epoch,
            s.leader_epoch,
            s.start_offset,
            s.delivery_complete_count,
            s.create_timestamp,
            s.write_timestamp,
            shown(s.state_batches.iter().copied())
        ),
        ShareValue::Update(u) => format!(
            "{partition} update {} {} {} {} [{}]",
            u.snapshot_epoch,
            u.leader_epoch,
            u.start_offset,
            u.delivery_complete_count,
            shown(u.state_batches.iter().copied())
        ),
    }
}

fn memory(coordinator: &ShareCoordinator) -> String {
    let mut memory = String::new();
    for (key, state) in coordinator.states() {
        memory += &format!(
            "{}: {} {} {} {} {} {} {} [{}] leader {:?} state {:?} updates {}\n",
            key.partition,
            state.snapshot_epoch,
            state.state_epoch,
            state.leader_epoch,
            state.start_offset,
            state.delivery_complete_count,
            state.create_timestamp,
            state.write_timestamp,
            shown(state.state_batches.iter()),
            coordinator.highest_leader_epoch(key),
            coordinator.highest_state_epoch(key),
            coordinator.updates_since_snapshot(key)
        );
    }
    memory + &format!("prune {:?}", coordinator.last_redundant_offset())
}
