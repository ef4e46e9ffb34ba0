//! Recorded answers of Kafka, in the form that its side has in a run.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use share_state_core::kafka_code::KafkaCode;

/// The numbers of members by their recorded names; nobody is 0.
#[derive(Clone, Debug, Default)]
pub struct Members(BTreeMap<String, u8>);

impl Members {
    /// The number of a member.
    pub fn number(&mut self, name: &str) -> u8 {
        if name.is_empty() {
            return 0;
        }
        let next = u8::try_from(self.0.len() + 1).unwrap_or(u8::MAX);
        *self.0.entry(name.to_owned()).or_insert(next)
    }
}

/// The recorded outcome of an operation, with the state of the share partition `index` alone.
pub fn given(op: &Value, index: u64, members: &mut Members) -> Value {
    let mut given = json!({});
    for field in [
        "expect",
        "persister_writes",
        "dlq_enqueued",
        "lock_timeouts_fired",
    ] {
        if let Some(value) = op.get(field) {
            given[field] = value.clone();
        }
    }
    if let Some(code) = code(&op["expect"]["result"]) {
        given["code"] = json!(code);
    }
    let states = op["states"].as_array().into_iter().flatten();
    let of_this = states
        .filter(|state| state["partition_index"] == index)
        .chain(op.get("state"))
        .last();
    if let Some(state) = of_this {
        let mut state = state.clone();
        for batch in state["batches"].as_array_mut().into_iter().flatten() {
            match batch.get_mut("offsets").and_then(Value::as_array_mut) {
                Some(offsets) => offsets.iter_mut().for_each(|entry| run(entry, members)),
                None => run(batch, members),
            }
        }
        given["state"] = state;
    }
    given
}

/// Gives the member its number, and the lock a deadline that says nothing.
fn run(entry: &mut Value, members: &mut Members) {
    let name = entry[4].as_str().unwrap_or("");
    let number = members.number(name);
    if let Some(entry) = entry.as_array_mut().filter(|entry| entry.len() > 4) {
        entry[4] = json!(format!("m{number}"));
        entry.push(json!(-1));
    }
}

/// The code of a recorded exception, as a member sees it.
fn code(result: &Value) -> Option<i16> {
    let name = result["error"].as_str()?;
    let name = match name {
        "TimeoutException" => "REQUEST_TIMED_OUT".to_owned(),
        _ => upper_snake(name.trim_end_matches("Exception")),
    };
    let known = KafkaCode::ALL.iter().find(|code| code.name() == name);
    Some(known.map_or(KafkaCode::UnknownServerError.code(), |code| code.code()))
}

fn upper_snake(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
    }
    text
}
