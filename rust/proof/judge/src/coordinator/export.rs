//! A sequence on a share coordinator in the form of the conformance files, which `tests/proof/conformance` plays.

use serde_json::{Value, json};

use crate::coordinator::operation::CoordinatorOperation;

/// The recorded operations that each operation is: what it decided is replayed by operations of their own.
#[must_use]
pub fn recorded(ops: &[CoordinatorOperation], given: &[Value]) -> Vec<Vec<Value>> {
    let no_memory = json!({"share_state": [], "leader_epoch": [], "state_epoch": [], "snapshot_update_count": []});
    let mut memory = no_memory.clone();
    let mut offset = 0;
    let mut all = Vec::new();
    for (op, given) in ops.iter().zip(given) {
        let mut json = op.to_json();
        if json["op"] == "create" {
            all.push(vec![json]);
            memory = no_memory.clone();
            offset = 0;
            continue;
        }
        json["result"] = given["result"].clone();
        without_texts(&mut json["result"]["response"]);
        json["state"] = memory.clone();
        let mut recorded = vec![json];
        let records = given["result"]["records"].as_array();
        let records = records.map_or(&[][..], Vec::as_slice);
        for (index, record) in records.iter().enumerate() {
            let mut replay =
                json!({"op": "replay", "args": [offset, 0, 0, record], "result": null});
            // The memory between two records of one operation is not known.
            if index + 1 == records.len() {
                memory = given["state"].clone();
                replay["state"] = memory.clone();
            }
            recorded.push(replay);
            offset += 1;
        }
        let redundant = given.get("last_redundant_offset");
        let result = json!({"response": redundant, "records": []});
        recorded.push(
            json!({"op": "lastRedundantOffset", "args": [], "result": result, "state": memory}),
        );
        all.push(recorded);
    }
    all
}

/// The recorded operations as a conformance scenario, with the place of each operation.
#[must_use]
pub fn exported(name: &str, recorded: &[Vec<Value>]) -> (Value, Vec<Option<usize>>) {
    let mut places = Vec::new();
    let mut ops: Vec<&Value> = Vec::new();
    for one in recorded {
        places.push(Some(ops.len()));
        ops.extend(one);
    }
    let scenario = json!({"name": name, "source": "differential", "ops": ops});
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
