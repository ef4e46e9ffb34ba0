//! A sequence as a conformance file, so that the runner of the recorded files (`tests/proof/conformance`) can play it.
//!
//! That format was recorded with a clock of its own (see the driver's `ManualClock`), and it answers each write under an id of its
//! own, where a sequence answers all writes of an operation at once.

use std::collections::BTreeMap;
use std::io;

use serde_json::{Value, json};

use crate::kafka::Kafka;
use crate::operation::{Operation, Verb, When};

/// The scenario that the operations are, and the place of each in it, `None` when nothing of it is left.
///
/// # Errors
/// Kafka's side has failed.
pub fn exported(
    kafka: &mut Kafka,
    name: &str,
    ops: &[Operation],
    given: &[Value],
) -> io::Result<(Value, Vec<Option<usize>>)> {
    let (planned, places) = planned(ops, given);
    kafka.send(&json!({"suite": "share_partition", "clock": "recorder", "ops": planned}));
    let given = kafka.receive()?;
    let mut recorded = planned;
    let mut last = Value::Null;
    for (op, given) in recorded.iter_mut().zip(given) {
        merge(op, given);
        if let Some(state) = op.get("state") {
            last = state.clone();
        }
    }
    let scenario =
        json!({"name": name, "source": "differential", "tags": [], "ops": recorded, "final": last});
    Ok((scenario, places))
}

fn writes(given: &Value) -> usize {
    let count = |holder: &Value| holder["persister_writes"].as_array().map_or(0, Vec::len);
    let timeouts = given["lock_timeouts_fired"].as_array();
    count(given) + timeouts.map_or(0, |list| list.iter().map(count).sum())
}

/// The operations with an id of its own for every write that is answered later, and the last place of each.
fn planned(ops: &[Operation], given: &[Value]) -> (Vec<Value>, Vec<Option<usize>>) {
    let mut planned: Vec<Value> = Vec::new();
    let mut places = Vec::new();
    let mut ids: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut next = 0;
    for (op, given) in ops.iter().zip(given) {
        let json = op.to_json(true);
        if let Verb::Completes { id } = op.verb {
            let answers = ids.remove(&id).unwrap_or_default();
            for own in &answers {
                let mut one = json.clone();
                one["async_id"] = json!(own);
                planned.push(one);
            }
            places.push((!answers.is_empty()).then(|| planned.len() - 1));
            continue;
        }
        let mut json = json;
        if let When::Later(id) = op.answer.when {
            let entry = json["persister_writes"][0].clone();
            let mut entries = Vec::new();
            for _ in 0..writes(given) {
                next += 1;
                ids.entry(id).or_default().push(next);
                let mut own = entry.clone();
                own["async_id"] = json!(next);
                entries.push(own);
            }
            json["persister_writes"] = entries.into();
        }
        places.push(Some(planned.len()));
        planned.push(json);
    }
    (planned, places)
}

/// Puts what the operation gave in place of what was planned for it.
fn merge(op: &mut Value, given: Value) {
    let (Some(op), Value::Object(given)) = (op.as_object_mut(), given) else {
        return;
    };
    for planned in ["persister_writes", "dlq_enqueued", "group_config"] {
        op.remove(planned);
    }
    for (field, value) in given {
        if field != "code" {
            op.insert(field, value);
        }
    }
    if op["op"] == "create" {
        op.remove("group_config");
    }
}
