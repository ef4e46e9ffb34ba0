//! Recordings of a release before 4.4 that expect what the rules of 4.4 forbid.
//!
//! There is one rule set, Kafka 4.4 plus trunk's idempotent initialise. The coordinator of earlier releases differs in four
//! points. They are recognised by what was recorded, so that a scenario nobody has seen yet is judged by its content.

use std::collections::BTreeMap;

use serde_json::Value;

/// Returns true if a file was recorded from a release before 4.4: its name says so, or its meta block.
pub fn is_before_44(name: &str, meta: &Value) -> bool {
    let kafka = meta["source"]["kafka"].as_str().unwrap_or("");
    let releases = ["4.0", "4.1", "4.2", "4.3"];
    name.contains("_4.2")
        || name.contains("_4.3")
        || releases.iter().any(|release| kafka.starts_with(release))
}

/// Group, topic id and partition, as recorded.
type Key = (String, String, i64);

/// The point in which the recording contradicts the rules of 4.4.
pub fn contradiction(scenario: &Value) -> Option<&'static str> {
    let mut memory = BTreeMap::new();
    for op in list(&scenario["ops"]) {
        let found = negative_epochs(op)
            .or_else(|| regress(op, &memory))
            .or_else(|| repeated_initialise(op, &memory));
        if found.is_some() {
            return found;
        }
        if let Some(states) = op["state"]["share_state"].as_array() {
            let entry = |entry: &Value| {
                let key = &entry[0];
                let key = named(&key["group"], &key["topic_id"], &key["partition"]);
                (key, entry[1].clone())
            };
            memory = states.iter().map(entry).collect();
        }
    }
    None
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn named(group: &Value, topic_id: &Value, partition: &Value) -> Key {
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    (
        text(group),
        text(topic_id),
        partition.as_i64().unwrap_or(-1),
    )
}

/// Every partition of a request.
pub(super) fn requests(op: &Value) -> Vec<(Key, &Value)> {
    match list(&op["args"]) {
        [request] => {
            let data = &request["data"];
            let mut asked = Vec::new();
            for topic in list(&data["topics"]) {
                for partition in list(&topic["partitions"]) {
                    let number = &partition["partition"];
                    let key = named(&data["groupId"], &topic["topicId"], number);
                    asked.push((key, partition));
                }
            }
            asked
        }
        [group, topic_id, partition] => {
            vec![(named(group, topic_id, &partition["partition"]), partition)]
        }
        _ => Vec::new(),
    }
}

fn negative_epochs(op: &Value) -> Option<&'static str> {
    if op["op"] == "deleteState" || op["op"] == "readStateSummary" || op["op"] == "replay" {
        return None;
    }
    let is_negative = |value: &Value| value.as_i64().is_some_and(|epoch| epoch < 0);
    let asked = requests(op).into_iter().any(|(_, partition)| {
        is_negative(&partition["leaderEpoch"]) || is_negative(&partition["stateEpoch"])
    });
    let answered = list(&op["result"]["response"]["results"])
        .iter()
        .flat_map(|topic| list(&topic["partitions"]))
        .any(|partition| partition["errorCode"] != 42);
    (asked && answered).then_some("a negative epoch is not answered 42")
}

/// Reason to leave out a write: it yields a record that takes back what the memory holds.
fn regress(op: &Value, memory: &BTreeMap<Key, Value>) -> Option<&'static str> {
    if op["op"] != "writeState" {
        return None;
    }
    for record in list(&op["result"]["records"]) {
        let (key, message) = (&record["key"], &record["value"]["message"]);
        let key = named(&key["groupId"], &key["topicId"], &key["partition"]);
        let (Some(held), Some(start)) = (memory.get(&key), message["startOffset"].as_i64()) else {
            continue;
        };
        let held_start = held["start_offset"].as_i64().unwrap_or(-1);
        // -1 leaves it as it was.
        if start != -1 && start < held_start {
            return Some("the start offset regresses");
        }
        let count = message["deliveryCompleteCount"].as_i64().unwrap_or(-1);
        let held_count = held["delivery_complete_count"].as_i64().unwrap_or(-1);
        if (start == -1 || start == held_start) && count < held_count {
            return Some("the delivery complete count regresses");
        }
    }
    None
}

fn repeated_initialise(op: &Value, memory: &BTreeMap<Key, Value>) -> Option<&'static str> {
    if op["op"] != "initializeState" || list(&op["result"]["records"]).is_empty() {
        return None;
    }
    let is_same = |(key, asked): (Key, &Value)| {
        memory.get(&key).is_some_and(|held| {
            held["state_epoch"] == asked["stateEpoch"]
                && held["start_offset"] == asked["startOffset"]
        })
    };
    let repeated = requests(op).into_iter().any(is_same);
    repeated.then_some("a repeated initialise writes a record")
}
