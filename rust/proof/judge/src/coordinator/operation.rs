//! Operations on a share coordinator, in the form of the conformance files, and their generation.

use serde_json::{Value, json};

use crate::operation::Batch;
use crate::random::Random;

/// The topic of every key, in Kafka's spelling.
const TOPIC: &str = "AAECAwQFBgcICQoLDA0ODw";

/// Circumstances of a request: its partition, its time, and the existence of the topic.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The partition.
    pub partition: i32,
    /// Wall clock.
    pub now: i64,
    /// True if the topic exists.
    pub exists: bool,
}

/// Operation on a share coordinator.
#[derive(Clone, Debug)]
pub enum CoordinatorOperation {
    /// A coordinator without state.
    Create {
        /// Updates of a key before a snapshot.
        updates: u32,
        /// Age at which a snapshot is written again.
        interval: i64,
    },
    /// RPC 83.
    Initialize {
        /// Circumstances of the request.
        asked: Asked,
        /// Epoch of the new state.
        state_epoch: i32,
        /// Start offset of the share partition.
        start: i64,
    },
    /// RPC 84.
    Read {
        /// Circumstances of the request.
        asked: Asked,
        /// Epoch of the reader.
        leader_epoch: i32,
    },
    /// RPC 85.
    Write {
        /// Circumstances of the request.
        asked: Asked,
        /// Epoch of the state.
        state_epoch: i32,
        /// Epoch of the writer.
        leader_epoch: i32,
        /// Start offset.
        start: i64,
        /// Delivery complete count.
        complete: i32,
        /// Batches that changed.
        batches: Vec<Batch>,
    },
    /// RPC 86.
    Delete {
        /// Circumstances of the request.
        asked: Asked,
    },
    /// RPC 87.
    Summary {
        /// Circumstances of the request.
        asked: Asked,
        /// Epoch of the asker.
        leader_epoch: i32,
    },
    /// Rewrites what has not been written for long.
    ColdSnapshots {
        /// Wall clock.
        now: i64,
    },
    /// Forgets the keys of the topic.
    TopicDeleted,
}

impl CoordinatorOperation {
    /// The operation's name in the format.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Initialize { .. } => "initializeState",
            Self::Read { .. } => "readStateAndMaybeUpdateLeaderEpoch",
            Self::Write { .. } => "writeState",
            Self::Delete { .. } => "deleteState",
            Self::Summary { .. } => "readStateSummary",
            Self::ColdSnapshots { .. } => "snapshotColdPartitions",
            Self::TopicDeleted => "maybeCleanupShareState",
        }
    }

    /// The operation in the form of the conformance files.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Create { updates, interval } => json!({
                "op": "create",
                "snapshot_update_records_per_snapshot": updates,
                "cold_partition_snapshot_interval_ms": interval,
            }),
            Self::Initialize {
                asked,
                state_epoch,
                start,
            } => self.request(
                asked,
                0,
                json!({"stateEpoch": state_epoch, "startOffset": start}),
            ),
            Self::Read {
                asked,
                leader_epoch,
            } => self.request(asked, 0, json!({"leaderEpoch": leader_epoch})),
            Self::Write {
                asked,
                state_epoch,
                leader_epoch,
                start,
                complete,
                batches,
            } => {
                let batches: Vec<Value> = batches
                    .iter()
                    .map(|b| json!({"firstOffset": b.0, "lastOffset": b.1, "deliveryState": b.2, "deliveryCount": b.3}))
                    .collect();
                self.request(asked, 1, json!({
                    "stateEpoch": state_epoch, "leaderEpoch": leader_epoch, "startOffset": start,
                    "deliveryCompleteCount": complete, "stateBatches": batches,
                }))
            }
            Self::Delete { asked } => self.request(asked, 0, json!({})),
            Self::Summary {
                asked,
                leader_epoch,
            } => self.request(asked, 1, json!({"leaderEpoch": leader_epoch})),
            Self::ColdSnapshots { now } => json!({"op": self.name(), "args": [], "now": now}),
            Self::TopicDeleted => json!({"op": self.name(), "args": [[TOPIC]]}),
        }
    }

    fn request(&self, asked: &Asked, version: i16, mut partition: Value) -> Value {
        partition["partition"] = json!(asked.partition);
        let data =
            json!({"groupId": "group", "topics": [{"topicId": TOPIC, "partitions": [partition]}]});
        let mut op = json!({
            "op": self.name(),
            "args": [{"type": "request", "data": data, "version": version, "wire_hex": null}],
            "now": asked.now,
        });
        if !asked.exists {
            op["topic_exists"] = json!(false);
        }
        op
    }
}

/// The sequence of a seed. At the `renewals` an empty coordinator takes over; what stands before them does not depend on them.
#[must_use]
pub fn generate(
    random: &mut Random,
    length: usize,
    renewals: &[usize],
) -> Vec<CoordinatorOperation> {
    let mut now = 1_000;
    let (mut leader, mut state_epoch, mut start) = (0, 0, 0);
    let partitions = random.between(0, 2);
    let mut initialised = [false; 3];
    let create = CoordinatorOperation::Create {
        updates: random.pick(&[0, 1, 2, 5, 500]),
        interval: random.pick(&[1, 50, 10_000]),
    };
    let mut ops = vec![create.clone()];
    while ops.len() < length {
        if renewals.contains(&ops.len()) {
            initialised = [false; 3];
            ops.push(create.clone());
            continue;
        }
        now += random.pick(&[0, 1, 7, 60]);
        let asked = Asked {
            partition: if random.one_in(80) {
                -1
            } else {
                random.between(0, partitions) as i32
            },
            now,
            exists: !random.one_in(40),
        };
        // Mostly the epochs in force, sometimes an older or a newer one, seldom a negative one.
        let mut near = |epoch: i32| {
            let other = [epoch - 1, epoch + 1, -1, 0];
            if random.percent(80) {
                epoch
            } else {
                random.pick(&other)
            }
        };
        let (leader_epoch, epoch) = (near(leader), near(state_epoch));
        // Most keys are initialised before anything else is asked of them.
        let made = usize::try_from(asked.partition)
            .ok()
            .and_then(|index| initialised.get_mut(index));
        let first = made.is_some_and(|made| !std::mem::replace(made, true)) && random.percent(85);
        let op = match if first { 0 } else { random.below(20) } {
            0 | 1 => {
                state_epoch = epoch.max(state_epoch);
                // A repetition leads the sides apart (I1), so that it comes up now and then only.
                if !random.one_in(12) {
                    start += 1;
                }
                // So does a read by the leader before (I2).
                if !random.one_in(12) {
                    leader += 1;
                }
                CoordinatorOperation::Initialize {
                    asked,
                    state_epoch: epoch,
                    start: if random.one_in(8) { -1 } else { start },
                }
            }
            2..=4 => {
                leader = leader_epoch.max(leader);
                CoordinatorOperation::Read {
                    asked,
                    leader_epoch,
                }
            }
            5..=14 => {
                start += random.pick(&[0, 0, 0, 1, 5]);
                CoordinatorOperation::Write {
                    asked,
                    state_epoch: epoch,
                    leader_epoch,
                    start: if random.percent(85) {
                        start
                    } else {
                        random.pick(&[-1, start - 3, start + 30]).max(-1)
                    },
                    complete: random.pick(&[-1, 0, 3, 8]),
                    batches: batches(random, start),
                }
            }
            15 => {
                if let Some(made) = usize::try_from(asked.partition)
                    .ok()
                    .and_then(|index| initialised.get_mut(index))
                {
                    *made = false;
                }
                CoordinatorOperation::Delete { asked }
            }
            16 | 17 => CoordinatorOperation::Summary {
                asked,
                leader_epoch,
            },
            18 => CoordinatorOperation::ColdSnapshots { now },
            _ if random.one_in(6) => {
                initialised = [false; 3];
                CoordinatorOperation::TopicDeleted
            }
            _ => CoordinatorOperation::Read {
                asked,
                leader_epoch,
            },
        };
        ops.push(op);
    }
    ops
}

fn batches(random: &mut Random, start: i64) -> Vec<Batch> {
    let mut list = Vec::new();
    for _ in 0..random.below(5) {
        let first = (start + random.between(-4, 40)).max(0);
        list.push((
            first,
            first + random.between(0, 15),
            random.pick(&[0, 2, 2, 3, 4]),
            random.pick(&[0, 1, 1, 2, 3]),
        ));
    }
    if let Some(batch) = list.first_mut().filter(|_| random.one_in(150)) {
        match random.below(3) {
            0 => (batch.0, batch.1) = (batch.1 + 1, batch.0),
            1 => batch.2 = random.pick(&[1, 5, -1]),
            _ => batch.3 = -1,
        }
    }
    list
}
