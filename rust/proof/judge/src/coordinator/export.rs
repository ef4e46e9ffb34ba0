//! A sequence on a share coordinator as a conformance file, so that the runner of the recorded files (`tests/proof/conformance`) can play
//! it.

use serde_json::{Value, json};

use crate::coordinator::operation::CoordinatorOperation;

/// The sequence as a conformance scenario, with the place of each operation: what an operation decided is replayed by operations
/// of its own.
#[must_use]
pub fn exported(
    name: &str,
    ops: &[CoordinatorOperation],
    given: Vec<Value>,
) -> (Value, Vec<usize>) {
    let mut recorded: Vec<Value> = Vec::new();
    let mut places = Vec::new();
    let no_memory = json!({"share_state": [], "leader_epoch": [], "state_epoch": [], "snapshot_update_count": []});
    let mut memory = no_memory.clone();
    let mut offset = 0;
    for (op, mut given) in ops.iter().zip(given) {
        places.push(recorded.len());
        let mut json = op.to_json();
        if json["op"] == "create" {
            recorded.push(json);
            memory = no_memory.clone();
            offset = 0;
            continue;
        }
        let records = given["result"]["records"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        json["result"] = given["result"].take();
        without_texts(&mut json["result"]["response"]);
        json["state"] = memory.clone();
        recorded.push(json);
        for (index, record) in records.iter().enumerate() {
            let mut replay =
                json!({"op": "replay", "args": [offset, 0, 0, record], "result": null});
            // The memory between two records of one operation is not known.
            if index + 1 == records.len() {
                memory = given["state"].take();
                replay["state"] = memory.clone();
            }
            recorded.push(replay);
            offset += 1;
        }
        if let Some(redundant) = given.get("last_redundant_offset") {
            let result = json!({"response": redundant, "records": []});
            recorded.push(
                json!({"op": "lastRedundantOffset", "args": [], "result": result, "state": memory}),
            );
        }
    }
    let scenario = json!({"name": name, "source": "differential", "ops": recorded});
    (scenario, places)
}

/// The texts of errors are not part of the format.
fn without_texts(response: &mut Value) {
    let partitions = response.pointer_mut("/results/0/partitions");
    for partition in partitions
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Some(fields) = partition.as_object_mut() {
            fields.remove("errorMessage");
        }
    }
}
