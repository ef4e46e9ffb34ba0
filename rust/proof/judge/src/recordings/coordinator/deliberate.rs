//! Deliberate differences of the coordinator (docs/deliberate-differences.md), as a recording of Kafka 4.4.0 shows them. A recording
//! tells what Kafka gave; what we gave is told by the points in which it differs.

use serde_json::Value;

use super::super::cases::Points;
use super::before_44::{list, requests};
use crate::bytes::to_hex;
use crate::profile::Class;

const I1: Class = ("I1", "a repetition");
const I2: Class = ("I2", "a read after an initialisation");
const M1: Class = ("M1", "an unsound batch is written");

/// The deliberate differences that are recognised here.
pub const RULES: [Class; 3] = [I1, I2, M1];

/// The deliberate difference that these points are, if they are one.
pub fn class_of(op: &Value, points: &Points) -> Option<Class> {
    let ours: Vec<(&str, &str)> = points.ours().collect();
    let records = list(&op["result"]["records"]);
    let name = op["op"].as_str()?;
    let asked = requests(op);
    // Kafka 4.4.0 repeats a snapshot, where we give the same answer and write nothing.
    if name == "initializeState" && ours == [("records", "[]")] && !records.is_empty() {
        return Some(I1);
    }
    // Kafka writes nothing of a leader that it knows, and we give the same answer and write it.
    if name == "readStateAndMaybeUpdateLeaderEpoch"
        && let [("records", written)] = ours[..]
        && records.is_empty()
        && let [(_, partition)] = asked[..]
        && names_leader(written, &partition["leaderEpoch"])
    {
        return Some(I2);
    }
    // Kafka takes what we refuse as malformed, refuses it for another reason, or fails on it.
    let refused = ours.iter().any(|(what, ours)| match *what {
        "answer" => ours.contains("error_code: 42,"),
        "what Kafka threw" => *ours == "[42]",
        _ => false,
    });
    let mut batches = asked
        .iter()
        .flat_map(|(_, partition)| list(&partition["stateBatches"]));
    (name == "writeState" && refused && batches.any(is_unsound)).then_some(M1)
}

/// Returns true if one record is written, and it is of this leader.
fn names_leader(written: &str, leader_epoch: &Value) -> bool {
    let leader_epoch = leader_epoch
        .as_i64()
        .and_then(|epoch| i32::try_from(epoch).ok());
    written != "[]"
        && !written.contains("], [")
        && leader_epoch.is_some_and(|epoch| written.contains(&to_hex(&epoch.to_be_bytes())))
}

/// A batch that no leader writes: inverted, of a state that is never persisted, or of a negative count.
fn is_unsound(batch: &Value) -> bool {
    let number = |field: &str| batch[field].as_i64();
    let inverted = number("lastOffset") < number("firstOffset");
    let persisted = matches!(number("deliveryState"), Some(0 | 2 | 3 | 4));
    inverted || !persisted || number("deliveryCount") < Some(0)
}
