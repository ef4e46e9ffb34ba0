//! The memory of a coordinator, beside the recorded one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use share_state_core::coordinator::ShareCoordinator;
use share_state_core::ids::SharePartitionKey;

use super::super::cases::Points;
use super::super::fields::{Unknown, known, share_partition};

/// Maps that Kafka keeps by key.
const MAPS: [&str; 4] = [
    "share_state",
    "leader_epoch",
    "state_epoch",
    "snapshot_update_count",
];

type Key = SharePartitionKey;

/// Notes where the memory differs.
pub fn compare(
    recorded: &Value,
    coordinator: &ShareCoordinator,
    points: &mut Points,
) -> Result<(), Unknown> {
    let (expected, actual) = (memory(recorded)?, ours(coordinator));
    let keys: BTreeSet<&Key> = expected.keys().chain(actual.keys()).collect();
    for key in keys {
        let both = [&expected, &actual].map(|all| (key, all.get(key)));
        points.same("memory", &both[0], &both[1]);
    }
    Ok(())
}

fn memory(recorded: &Value) -> Result<BTreeMap<Key, Value>, Unknown> {
    known(recorded, &MAPS, "the state")?;
    let mut memory: BTreeMap<Key, Value> = BTreeMap::new();
    for map in MAPS {
        for (key, value) in entries(&recorded[map])? {
            let of_key = memory.entry(key).or_insert_with(|| json!({}));
            of_key[map] = value.clone();
        }
    }
    for of_key in memory.values_mut() {
        // Kafka's counter has no entry before the first update.
        if of_key.get("snapshot_update_count").is_none() {
            of_key["snapshot_update_count"] = json!(0);
        }
    }
    Ok(memory)
}

/// A recorded map: a list of keys with their values, or an empty object.
fn entries(map: &Value) -> Result<Vec<(Key, &Value)>, Unknown> {
    match map {
        Value::Object(fields) if fields.is_empty() => Ok(Vec::new()),
        Value::Array(entries) => entries.iter().map(entry).collect(),
        other => Err(Unknown(format!("unknown form of a map: {other}"))),
    }
}

fn entry(entry: &Value) -> Result<(Key, &Value), Unknown> {
    Ok((share_partition(&entry[0])?, &entry[1]))
}

fn ours(coordinator: &ShareCoordinator) -> BTreeMap<Key, Value> {
    let mut memory = BTreeMap::new();
    for (key, state) in coordinator.states() {
        let batches = state.state_batches.iter().map(|b| {
            json!([
                b.first_offset,
                b.last_offset,
                b.delivery_state,
                b.delivery_count
            ])
        });
        let mut of_key = json!({
            "share_state": {
                "snapshot_epoch": state.snapshot_epoch,
                "state_epoch": state.state_epoch,
                "leader_epoch": state.leader_epoch,
                "start_offset": state.start_offset,
                "delivery_complete_count": state.delivery_complete_count,
                "batches": batches.collect::<Vec<_>>(),
                "create_ts": state.create_timestamp,
                "write_ts": state.write_timestamp,
            },
            "snapshot_update_count": coordinator.updates_since_snapshot(key),
        });
        let maxima = [
            ("leader_epoch", coordinator.highest_leader_epoch(key)),
            ("state_epoch", coordinator.highest_state_epoch(key)),
        ];
        for (map, highest) in maxima {
            if let Some(highest) = highest {
                of_key[map] = json!(highest);
            }
        }
        memory.insert(key.clone(), of_key);
    }
    memory
}
