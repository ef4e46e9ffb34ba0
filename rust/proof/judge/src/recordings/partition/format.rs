//! Fields of the recordings of share partitions: whoever overlooks one agrees with things that it has never looked at.

use serde_json::Value;

use crate::recordings::cases::operations;
use crate::recordings::fields::{Unknown, known};

/// Fields of every operation.
const COMMON: [&str; 8] = [
    "op",
    "partition_index",
    "state",
    "states",
    "expect",
    "group_config",
    "persister_writes",
    "dlq_enqueued",
];

/// Operations, each with the fields that it alone has. The last six reach into Kafka's class.
const OPERATIONS: [(&str, &[&str]); 18] = [
    ("create", &["config"]),
    ("initialize", &["persister_read", "offset_lookup"]),
    (
        "acquire",
        &[
            "member",
            "mode",
            "batch_size",
            "max_fetch_records",
            "fetch_offset",
            "isolation",
            "fetched_batches",
            "aborted_transactions",
        ],
    ),
    ("acknowledge", &["member", "batches"]),
    ("release_session", &["member"]),
    ("advance_clock", &["ms", "lock_timeouts_fired"]),
    ("persister_completes", &["async_id"]),
    ("dead_letters_complete", &["async_id"]),
    ("move_log_start_offset", &["log_start_offset"]),
    ("next_fetch_offset", &[]),
    ("can_acquire_records", &[]),
    ("mark_fenced", &[]),
    ("inject_state", &[]),
    ("lock_timeout", &["member", "first", "last"]),
    ("set_find_next_fetch_offset", &["value"]),
    ("find_last_acknowledged", &[]),
    ("schedule_lock", &["member", "first", "last"]),
    ("write_state", &["batches"]),
];

const SCENARIO: [&str; 8] = [
    "name",
    "source",
    "tags",
    "ops",
    "final",
    "reference_quirks",
    "quirk_at_op",
    "threw",
];
const CONFIG: [&str; 6] = [
    "leader_epoch",
    "max_in_flight",
    "max_delivery_count",
    "record_lock_ms",
    "initial_status",
    "dlq_enabled",
];
const STATE: [&str; 9] = [
    "partition_index",
    "status",
    "start_offset",
    "end_offset",
    "state_epoch",
    "delivery_complete_count",
    "find_next_fetch_offset",
    "read_gap_window",
    "batches",
];
const GROUP_CONFIG: [&str; 6] = [
    "partitionMaxRecordLocksOrDefault",
    "recordLockDurationMsOrDefault",
    "deliveryCountLimitOrDefault",
    "isRenewAcknowledgeEnabled",
    "errorsDLQTopicName",
    "autoOffsetReset",
];
const TIMEOUT: [&str; 5] = [
    "member",
    "first",
    "last",
    "persister_writes",
    "dlq_enqueued",
];
const WRITE: [&str; 8] = [
    "leader_epoch",
    "state_epoch",
    "start_offset",
    "delivery_complete_count",
    "batches",
    "result",
    "completes_later",
    "async_id",
];
const LETTER: [&str; 7] = [
    "first",
    "last",
    "delivery_count",
    "cause",
    "result",
    "completes_later",
    "async_id",
];

/// Refuses a scenario of which some part would not be looked at.
pub fn check(scenario: &Value) -> Result<(), Unknown> {
    known(scenario, &SCENARIO, "the scenario")?;
    for (at, op) in operations(scenario)?.iter().enumerate() {
        let name = op["op"].as_str().unwrap_or("");
        let own = OPERATIONS.iter().find(|(known, _)| *known == name);
        let (_, own) =
            own.ok_or_else(|| Unknown(format!("op {at} is of unknown kind {name:?}")))?;
        known(op, &[&COMMON, *own].concat(), name)?;
        if let Some(config) = op.get("config") {
            known(config, &CONFIG, "a config")?;
        }
        if let Some(config) = op.get("group_config") {
            known(config, &GROUP_CONFIG, "a group_config")?;
        }
        let states = op.get("state").into_iter().chain(each(op, "states"));
        for state in states {
            known(state, &STATE, "a state")?;
        }
        for timeout in each(op, "lock_timeouts_fired") {
            known(timeout, &TIMEOUT, "a lock timeout")?;
        }
        for holder in each(op, "lock_timeouts_fired").chain([op]) {
            for write in each(holder, "persister_writes") {
                known(write, &WRITE, "a persister write")?;
            }
            for letter in each(holder, "dlq_enqueued") {
                known(letter, &LETTER, "a dead letter")?;
            }
        }
    }
    Ok(())
}

fn each<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    value[field].as_array().into_iter().flatten()
}
