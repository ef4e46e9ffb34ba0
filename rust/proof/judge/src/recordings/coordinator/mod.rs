//! The suite `share_coordinator_shard`: requests decided, records replayed, bytes and memory compared.
//!
//! Kafka's shard answers a request and hands over records; only their replay changes its memory. So does ours: after every
//! operation its memory must be what the recording shows.

mod before_44;
mod deliberate;
mod memory;
pub mod message;
mod request;
#[cfg(test)]
mod tests;

use serde_json::Value;
use share_state_core::coordinator::{CoordinatorConfig, ShareCoordinator};
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::records::{ShareRecord, ShareValue};
use share_state_core::time::WallTime;
use share_state_wire::messages::{Delete, Initialize, Read, ReadSummary, Write};
use share_state_wire::state_record::{Decoded, decode, encode_key, encode_value};

use super::cases::{Left, Played, Player, Points, play_each};
use super::fields::{Unknown, arguments, bytes, known, list, number, text, topic_id};
use crate::bytes::to_hex;
use crate::profile::Class;
pub use before_44::is_before_44;
pub use deliberate::RULES;

const FIELDS: &[&str] = &[
    "op",
    "args",
    "result",
    "state",
    "response_wire_hex",
    "now",
    "topic_exists",
];
const CREATE_FIELDS: &[&str] = &[
    "op",
    "snapshot_update_records_per_snapshot",
    "cold_partition_snapshot_interval_ms",
];

/// Plays a scenario, of a file that may be of a release before 4.4.
///
/// # Errors
/// It has no operations.
pub fn play(scenario: &Value, is_before_44: bool) -> Result<Played, Unknown> {
    let tags = scenario["tags"].as_array().into_iter().flatten();
    if tags.into_iter().any(|tag| tag == "multithreaded") {
        return Ok(Err(Left {
            why: "records an interleaving of concurrent calls".to_owned(),
            is_announced: false,
        }));
    }
    if is_before_44 && let Some(why) = before_44::contradiction(scenario) {
        return Ok(Err(Left {
            why: format!("pre-4.4 rule: {why}"),
            is_announced: true,
        }));
    }
    play_each(scenario, &mut Shard::default())
}

/// A coordinator under test.
#[derive(Default)]
pub struct Shard {
    coordinator: Option<ShareCoordinator>,
    now: WallTime,
    /// True if its memory follows from operations.
    has_replayed: bool,
}

impl Player for Shard {
    const OPERATIONS: &'static [&'static str] = &[
        "create",
        "replay",
        "lastRedundantOffset",
        "snapshotColdPartitions",
        "maybeCleanupShareState",
        "initializeState",
        "readStateAndMaybeUpdateLeaderEpoch",
        "writeState",
        "deleteState",
        "readStateSummary",
    ];

    fn deliberate(&self, op: &Value, points: &Points) -> Option<Class> {
        deliberate::class_of(op, points)
    }

    fn step(&mut self, op: &Value, points: &mut Points) -> Result<(), Unknown> {
        let name = text(&op["op"])?;
        if name == "create" {
            known(op, CREATE_FIELDS, "create")?;
            let config = CoordinatorConfig {
                snapshot_update_records_per_snapshot: number(
                    &op["snapshot_update_records_per_snapshot"],
                )?,
                cold_partition_snapshot_interval_ms: number(
                    &op["cold_partition_snapshot_interval_ms"],
                )?,
            };
            let made = ShareCoordinator::new(config);
            self.coordinator = Some(made.map_err(|error| Unknown(format!("{error:?}")))?);
            return Ok(());
        }
        known(op, FIELDS, name)?;
        if let Some(now) = op.get("now") {
            self.now = WallTime(number(now)?);
        }
        let Some(coordinator) = &mut self.coordinator else {
            return Err(Unknown("no coordinator was made".to_owned()));
        };
        match name {
            "replay" => {
                self.has_replayed = true;
                let [offset, _producer_id, _producer_epoch, record] = arguments(op)?;
                coordinator.replay(number(offset)?, &recorded(record)?);
                if op.get("state").is_none() {
                    // One of several records of one operation.
                    return Ok(());
                }
            }
            "lastRedundantOffset" => {
                let answer = &op["result"]["response"];
                if !self.has_replayed && !answer.is_null() {
                    stub_offsets(coordinator, number(answer)?);
                }
                let ours = Value::from(coordinator.last_redundant_offset());
                points.same_json("last redundant offset", answer, &ours);
            }
            "snapshotColdPartitions" => {
                let records = coordinator.decide_cold_snapshots(self.now);
                compare_records(op, &records, points)?;
            }
            "maybeCleanupShareState" => {
                let [topics] = arguments(op)?;
                let topics: Result<Vec<TopicId>, Unknown> =
                    list(topics)?.iter().map(topic_id).collect();
                let records = coordinator.decide_topics_deleted(&topics?);
                compare_records(op, &records, points)?;
            }
            "initializeState" => request::play::<Initialize>(coordinator, self.now, op, points)?,
            "readStateAndMaybeUpdateLeaderEpoch" => {
                request::play::<Read>(coordinator, self.now, op, points)?;
            }
            "writeState" => request::play::<Write>(coordinator, self.now, op, points)?,
            "deleteState" => request::play::<Delete>(coordinator, self.now, op, points)?,
            "readStateSummary" => request::play::<ReadSummary>(coordinator, self.now, op, points)?,
            other => return Err(Unknown(format!("unknown operation {other}"))),
        }
        memory::compare(&op["state"], coordinator, points)
    }
}

/// Brings about the answer of an offsets manager that the recorder had replaced by a stub: it answers although nothing was
/// replayed. A deletion replayed at that offset leaves all below it redundant, and no state.
fn stub_offsets(coordinator: &mut ShareCoordinator, answer: i64) {
    let record = ShareRecord {
        key: SharePartitionKey::new("group", TopicId([7; 16]), 0),
        value: ShareValue::Tombstone,
    };
    coordinator.replay(answer, &record);
}

/// The record of the recorded bytes.
fn recorded(record: &Value) -> Result<ShareRecord, Unknown> {
    let key = bytes(&record["key_hex"])?;
    let value = match &record["value_hex"] {
        Value::Null => None,
        value => Some(bytes(value)?),
    };
    match decode(&key, value.as_deref()) {
        Ok(Decoded::Record(record)) => Ok(record),
        Ok(Decoded::UnknownType(number)) => Err(Unknown(format!("record type {number}"))),
        Err(error) => Err(Unknown(error.to_string())),
    }
}

/// Compares the bytes of what was decided.
fn compare_records(
    op: &Value,
    records: &[ShareRecord],
    points: &mut Points,
) -> Result<(), Unknown> {
    let expected = list(&op["result"]["records"])?.iter();
    let expected: Vec<[&Value; 2]> = expected
        .map(|record| [&record["key_hex"], &record["value_hex"]])
        .collect();
    let ours: Result<Vec<[Value; 2]>, _> = records
        .iter()
        .map(|record| {
            let value = encode_value(&record.value)?;
            let value = value.map_or(Value::Null, |value| to_hex(&value).into());
            Ok([to_hex(&encode_key(record)?).into(), value])
        })
        .collect();
    let ours = ours.map_err(|error: share_state_wire::WireError| Unknown(error.to_string()))?;
    let ours: Vec<[&Value; 2]> = ours.iter().map(|[key, value]| [key, value]).collect();
    points.same("records", &expected, &ours);
    Ok(())
}
