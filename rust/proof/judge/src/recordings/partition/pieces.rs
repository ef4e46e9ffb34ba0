//! Pieces of recorded operations.

use serde_json::{Value, json};

use crate::operation::{Answer, LogBatch, Queue, Range, Verb, When};
use crate::recordings::cases::Left;
use crate::recordings::fields::{self, Unknown, number};

/// Reason why a scenario is not played.
#[derive(Debug)]
pub enum Unplayable {
    /// It has what no sequence has. The tests count these.
    Left(Left),
    /// It is not of the format, which is a difference.
    Malformed(Unknown),
}

impl From<Unknown> for Unplayable {
    fn from(unknown: Unknown) -> Self {
        Self::Malformed(unknown)
    }
}

pub(super) fn left(why: impl Into<String>) -> Unplayable {
    Unplayable::Left(Left {
        why: why.into(),
        is_announced: true,
    })
}

/// The state before anything was read.
pub(super) fn empty() -> Value {
    json!({
        "status": "EMPTY", "start_offset": 0, "end_offset": 0, "state_epoch": 0, "delivery_complete_count": 0,
        "batches": [],
    })
}

/// Recorded timers fire strictly after their deadline, our lock has run out at it.
pub(super) fn lock_ms(recorded: &Value) -> Result<i64, Unknown> {
    Ok(number::<i64>(recorded)? + 1)
}

pub(super) fn list<T>(
    value: &Value,
    read: impl Fn(&Value) -> Result<T, Unknown>,
) -> Result<Vec<T>, Unknown> {
    fields::list(value)?.iter().map(read).collect()
}

pub(super) fn initialize(op: &Value) -> Result<Verb, Unplayable> {
    let (request, response) = (
        &op["persister_read"]["request"],
        &op["persister_read"]["response"],
    );
    if response.get("error_code").is_none() {
        return Err(left("the persister gave no answer to a read"));
    }
    if response["partition"] != request["partition"] {
        return Err(left("the persister answered for another partition"));
    }
    let refused = op["expect"]["result"]["error"] == "IllegalStateException";
    if refused && response["error_code"] == 0 && is_sound(response) {
        return Err(left("the persister answered for another topic"));
    }
    let lookup = op["offset_lookup"]
        .as_object()
        .and_then(|all| all.values().next());
    if lookup.is_some_and(|found| found.get("error").is_some()) {
        return Err(left("the offset lookup failed"));
    }
    let earliest = lookup.map_or(Ok(0), number)?;
    let batch = |b: &Value| {
        Ok((
            number(&b[0])?,
            number(&b[1])?,
            number(&b[2])?,
            number(&b[3])?,
        ))
    };
    Ok(Verb::Initialize {
        code: number(&response["error_code"])?,
        state_epoch: number(&response["state_epoch"])?,
        start_offset: number(&response["start_offset"])?,
        earliest,
        batches: list(&response["batches"], batch)?,
    })
}

/// Returns true if a read result has no fault that Kafka looks for.
fn is_sound(response: &Value) -> bool {
    let batches = response["batches"].as_array().into_iter().flatten();
    batches.into_iter().all(|b| {
        let at = |index: usize| b[index].as_i64().unwrap_or(-1);
        let start = response["start_offset"].as_i64().unwrap_or(-1);
        start <= at(0) && at(0) <= at(1) && (0..=4).contains(&at(2))
    })
}

/// A range; a long list of types is recorded run-length coded.
pub(super) fn range(batch: &Value) -> Result<Range, Unknown> {
    let types = match batch[2]["rle"].as_array() {
        None => list(&batch[2], number)?,
        Some(runs) => {
            let mut types = Vec::new();
            for run in runs {
                let (kind, times) = (number(&run[0])?, number(&run[1])?);
                types.extend(std::iter::repeat_n::<i8>(kind, times));
            }
            types
        }
    };
    Ok(Range {
        first: number(&batch[0])?,
        last: number(&batch[1])?,
        types,
    })
}

pub(super) fn log_batch(batch: &Value) -> Result<LogBatch, Unknown> {
    let marks = &batch[2];
    Ok(LogBatch {
        base: number(&batch[0])?,
        last: number(&batch[1])?,
        producer: marks["producer_id"].as_i64().unwrap_or(-1),
        transactional: marks["transactional"] == true,
        control: marks["control"] == true,
    })
}

fn when(raw: &Value) -> Result<When, Unknown> {
    if raw["result"] == "pending" {
        return Ok(When::Never);
    }
    Ok(match raw.get("async_id") {
        Some(id) => When::Later(number(id)?),
        None => When::AtOnce,
    })
}

pub(super) fn answer_of(write: &Value) -> Result<Answer, Unknown> {
    let unknown = |result| Unknown(format!("unknown answer of a persister: {result}"));
    let code = match &write["result"] {
        Value::String(text) if text == "ok" || text == "pending" => 0,
        Value::String(text) => text
            .strip_prefix("error_code ")
            .and_then(|code| code.parse().ok())
            .ok_or_else(|| unknown(&write["result"]))?,
        Value::Object(_) => Answer::EXCEPTION,
        other => return Err(unknown(other)),
    };
    Ok(Answer {
        code,
        when: when(write)?,
    })
}

pub(super) fn queue(op: &Value) -> Result<Queue, Unknown> {
    let timeouts = op["lock_timeouts_fired"].as_array().into_iter().flatten();
    let mut holders = timeouts.into_iter().chain([op]);
    let letter = holders.find_map(|holder| holder["dlq_enqueued"].as_array()?.first());
    Ok(match letter {
        None => Queue::OK,
        Some(letter) => Queue {
            takes: letter["result"].get("error").is_none(),
            when: when(letter)?,
        },
    })
}
