//! Outcome of an operation on a share coordinator, as text that is the same for both sides.

use serde_json::Value;

use crate::coordinator::operation::CoordinatorOperation;

/// Outcome of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoordinatorOutcome {
    /// The code, and what a read or a summary answers.
    pub answer: String,
    /// The records, in the order of their keys.
    pub records: String,
    /// The memory afterwards, and the offset up to which the log may be pruned.
    pub memory: String,
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(i64::MIN)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn named_batches(value: &Value) -> String {
    let batch = |b: &Value| {
        format!(
            "{}-{} {} {}",
            number(&b["firstOffset"]),
            number(&b["lastOffset"]),
            number(&b["deliveryState"]),
            number(&b["deliveryCount"])
        )
    };
    list(value).iter().map(batch).collect::<Vec<_>>().join(", ")
}

impl CoordinatorOutcome {
    /// Part of the coverage that was reached.
    #[must_use]
    pub fn reached(&self) -> String {
        let code = self.answer.split(' ').next().unwrap_or("");
        let record = self.records.split(' ').nth(1).unwrap_or("no record");
        format!("{code} {record}")
    }

    /// Outcome that Kafka's process tells.
    #[must_use]
    pub fn of_kafka(op: &CoordinatorOperation, given: &Value) -> Self {
        let result = &given["result"];
        let mut records: Vec<String> = list(&result["records"]).iter().map(record).collect();
        records.sort_unstable();
        Self {
            answer: answer(op, result),
            records: records.join("; "),
            memory: memory(given),
        }
    }
}

fn answer(op: &CoordinatorOperation, result: &Value) -> String {
    if let Some(error) = result.get("error") {
        return format!("exception {error}");
    }
    let answered = &result["response"]["results"][0]["partitions"][0];
    let Some(code) = answered.get("errorCode").map(number) else {
        return String::new();
    };
    match op {
        CoordinatorOperation::Read { .. } if code == 0 => format!(
            "0 {} {} [{}]",
            number(&answered["stateEpoch"]),
            number(&answered["startOffset"]),
            named_batches(&answered["stateBatches"])
        ),
        CoordinatorOperation::Summary { .. } if code == 0 => format!(
            "0 {} {} {} {}",
            number(&answered["stateEpoch"]),
            number(&answered["leaderEpoch"]),
            number(&answered["startOffset"]),
            answered.get("deliveryCompleteCount").map_or(-1, number)
        ),
        _ => code.to_string(),
    }
}

fn record(record: &Value) -> String {
    let partition = number(&record["key"]["partition"]);
    let value = &record["value"]["message"];
    if value.is_null() {
        return format!("{partition} tombstone");
    }
    let complete = value.get("deliveryCompleteCount").map_or(-1, number);
    let batches = named_batches(&value["stateBatches"]);
    let (epoch, leader, start) = (
        number(&value["snapshotEpoch"]),
        number(&value["leaderEpoch"]),
        number(&value["startOffset"]),
    );
    if record["key_type"] == "ShareSnapshotKey" {
        format!(
            "{partition} snapshot {epoch} {} {leader} {start} {complete} {} {} [{batches}]",
            number(&value["stateEpoch"]),
            number(&value["createTimestamp"]),
            number(&value["writeTimestamp"])
        )
    } else {
        format!("{partition} update {epoch} {leader} {start} {complete} [{batches}]")
    }
}

fn memory(given: &Value) -> String {
    let state = &given["state"];
    let epoch = |map: &str, partition: i64| {
        list(&state[map])
            .iter()
            .find(|e| number(&e[0]["partition"]) == partition)
            .map(|e| number(&e[1]))
    };
    let mut memory = String::new();
    for entry in list(&state["share_state"]) {
        let partition = number(&entry[0]["partition"]);
        let value = &entry[1];
        let batch = |b: &Value| {
            format!(
                "{}-{} {} {}",
                number(&b[0]),
                number(&b[1]),
                number(&b[2]),
                number(&b[3])
            )
        };
        let batches = list(&value["batches"])
            .iter()
            .map(batch)
            .collect::<Vec<_>>()
            .join(", ");
        memory += &format!(
            "{partition}: {} {} {} {} {} {} {} [{batches}] leader {:?} state {:?} updates {}\n",
            number(&value["snapshot_epoch"]),
            number(&value["state_epoch"]),
            number(&value["leader_epoch"]),
            number(&value["start_offset"]),
            number(&value["delivery_complete_count"]),
            number(&value["create_ts"]),
            number(&value["write_ts"]),
            epoch("leader_epoch", partition),
            epoch("state_epoch", partition),
            epoch("snapshot_update_count", partition).unwrap_or(0)
        );
    }
    memory + &format!("prune {:?}", given.get("last_redundant_offset").map(number))
}
