//! The suite `record_serde`: bytes of keys and values of the state topic, both ways.

use serde_json::Value;
use share_state_core::ids::SharePartitionKey;
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareUpdate, ShareValue};
use share_state_core::state_batch::StateBatch;
use share_state_wire::WireError;
use share_state_wire::state_record::{Decoded, decode, encode_key, encode_value};

use super::cases::{Played, Player, Points, play_each};
use super::coordinator::message::FromJson;
use super::fields::{Unknown, arguments, bytes, known, list, number, text, topic_id};

/// Plays a scenario.
///
/// # Errors
/// It has no operations.
pub fn play(scenario: &Value) -> Result<Played, Unknown> {
    play_each(scenario, &mut Records)
}

struct Records;

/// Bytes of a key and of a value.
type Bytes = (Vec<u8>, Option<Vec<u8>>);

impl Player for Records {
    const OPERATIONS: &'static [&'static str] = &[
        "deserialize",
        "serializeKey",
        "serializeValue",
        "newShareSnapshotRecord",
        "newShareUpdateRecord",
        "newShareStateTombstoneRecord",
    ];

    fn step(&mut self, op: &Value, points: &mut Points) -> Result<(), Unknown> {
        known(op, &["op", "args", "result"], "the operation")?;
        let result = &op["result"];
        let name = text(&op["op"])?;
        if name == "deserialize" {
            let [key, value] = arguments(op)?;
            let key = bytes(&key["hex"])?;
            let value = optional(value)?;
            let ours = decode(&key, value.as_deref()).map(|decoded| match decoded {
                Decoded::Record(record) => Some(record),
                Decoded::UnknownType(_) => None,
            });
            if result.get("error").is_some() {
                let is_refused = !matches!(ours, Ok(Some(_)));
                points.same("refused", &true, &is_refused);
                return Ok(());
            }
            let expected = record(result)?;
            points.same("record", &Ok(Some(expected.clone())), &ours);
            points.same("bytes", &Ok((key, value)), &encoded(&expected));
            return Ok(());
        }
        if let Some(kind) = name.strip_prefix("serialize") {
            let [recorded] = arguments(op)?;
            let ours = encoded(&record(recorded)?);
            match kind {
                "Key" => points.same("key", &Ok(bytes(&result["hex"])?), &ours.map(|ours| ours.0)),
                _ => points.same("value", &Ok(optional(result)?), &ours.map(|ours| ours.1)),
            }
            return Ok(());
        }
        let args = list(&op["args"])?;
        let value = match name {
            "newShareSnapshotRecord" => ShareValue::Snapshot(snapshot_of(&args[3])?),
            "newShareUpdateRecord" => ShareValue::Update(update_of(snapshot_of(&args[3])?)),
            _ => ShareValue::Tombstone,
        };
        let partition = number(&args[2])?;
        let key = SharePartitionKey::new(text(&args[0])?, topic_id(&args[1])?, partition);
        let ours = ShareRecord { key, value };
        points.same("record", &record(result)?, &ours);
        let value = &result["value_hex"];
        let value = (!value.is_null()).then(|| bytes(value)).transpose()?;
        let expected = (bytes(&result["key_hex"])?, value);
        points.same("bytes", &Ok(expected), &encoded(&ours));
        Ok(())
    }
}

fn encoded(record: &ShareRecord) -> Result<Bytes, WireError> {
    Ok((encode_key(record)?, encode_value(&record.value)?))
}

/// Bytes, or none.
fn optional(value: &Value) -> Result<Option<Vec<u8>>, Unknown> {
    (!value.is_null()).then(|| bytes(&value["hex"])).transpose()
}

/// A record, field by field.
fn record(recorded: &Value) -> Result<ShareRecord, Unknown> {
    let fields = ["key_type", "key", "value", "key_hex", "value_hex"];
    known(recorded, &fields, "a record")?;
    let (key, value) = (&recorded["key"], &recorded["value"]);
    known(key, &["groupId", "topicId", "partition"], "a key")?;
    let partition = number(&key["partition"])?;
    let key = SharePartitionKey::new(
        text(&key["groupId"])?,
        topic_id(&key["topicId"])?,
        partition,
    );
    let value = if value.is_null() {
        ShareValue::Tombstone
    } else {
        known(value, &["version", "message"], "a value")?;
        let message = FromJson::from_json(&value["message"])?;
        match (text(&recorded["key_type"])?, number(&value["version"])?) {
            ("ShareSnapshotKey", 0) => ShareValue::Snapshot(message),
            ("ShareUpdateKey", 0) => ShareValue::Update(update_of(message)),
            other => return Err(Unknown(format!("a record of {other:?}"))),
        }
    };
    Ok(ShareRecord { key, value })
}

/// The state of a share partition as a coordinator has it in memory.
fn snapshot_of(state: &Value) -> Result<ShareSnapshot, Unknown> {
    let fields = [
        "snapshot_epoch",
        "state_epoch",
        "leader_epoch",
        "start_offset",
        "delivery_complete_count",
        "batches",
        "create_ts",
        "write_ts",
    ];
    known(state, &fields, "a state")?;
    let batches = list(&state["batches"])?.iter().map(|batch| {
        Ok(StateBatch {
            first_offset: number(&batch[0])?,
            last_offset: number(&batch[1])?,
            delivery_state: number(&batch[2])?,
            delivery_count: number(&batch[3])?,
        })
    });
    Ok(ShareSnapshot {
        snapshot_epoch: number(&state["snapshot_epoch"])?,
        state_epoch: number(&state["state_epoch"])?,
        leader_epoch: number(&state["leader_epoch"])?,
        start_offset: number(&state["start_offset"])?,
        delivery_complete_count: number(&state["delivery_complete_count"])?,
        create_timestamp: number(&state["create_ts"])?,
        write_timestamp: number(&state["write_ts"])?,
        state_batches: batches.collect::<Result<_, Unknown>>()?,
        unknown_tagged_fields: Vec::new(),
    })
}

/// The change that says all of a state that a change can say.
fn update_of(state: ShareSnapshot) -> ShareUpdate {
    ShareUpdate {
        snapshot_epoch: state.snapshot_epoch,
        leader_epoch: state.leader_epoch,
        start_offset: state.start_offset,
        delivery_complete_count: state.delivery_complete_count,
        state_batches: state.state_batches,
        unknown_tagged_fields: Vec::new(),
    }
}
