//! Deliberate differences of the coordinator (docs/deliberate-differences.md), as a recording of Kafka 4.4.0 shows them. A recording
//! tells what Kafka gave; what we gave is told by the points in which it differs.

use serde_json::Value;

use super::super::cases::Points;
use super::before_44::{list, requests};

/// The id of the deliberate difference that these points are, if they are one.
pub fn id_of(op: &Value, points: &Points) -> Option<&'static str> {
    let ours: Vec<(&str, &str)> = points.ours().collect();
    let records = list(&op["result"]["records"]);
    let name = op["op"].as_str()?;
    // Kafka 4.4.0 repeats a snapshot, where we give the same answer and write nothing.
    if name == "initializeState" && ours == [("records", "[]")] && !records.is_empty() {
        return Some("I1");
    }
    // Kafka writes nothing of a leader that it knows, and we give the same answer and write it.
    if name == "readStateAndMaybeUpdateLeaderEpoch"
        && matches!(ours[..], [("records", written)] if written != "[]")
        && records.is_empty()
    {
        return Some("I2");
    }
    // Kafka takes what we refuse, or fails on it.
    let takes = ours.contains(&("records", "[]")) && ours.iter().any(|(what, _)| *what == "answer");
    let fails = op["result"].get("error").is_some();
    let asked = requests(op);
    let mut batches = asked
        .iter()
        .flat_map(|(_, partition)| list(&partition["stateBatches"]));
    (name == "writeState" && (takes || fails) && batches.any(is_unsound)).then_some("M1")
}

/// A batch that no leader writes: inverted, of a state that is never persisted, or of a negative count.
fn is_unsound(batch: &Value) -> bool {
    let number = |field: &str| batch[field].as_i64();
    let inverted = number("lastOffset") < number("firstOffset");
    let persisted = matches!(number("deliveryState"), Some(0 | 2 | 3 | 4));
    inverted || !persisted || number("deliveryCount") < Some(0)
}
