//! Recordings of a share partition with a fault, each of which must be found.

use serde_json::{Value, json};

use super::pieces::queue;
use super::play;
use crate::operation::Queue;
use crate::recordings::fields::Unknown;

/// First point when a recorded outcome is another, with its operation.
fn differs(scenario: &Value) -> Option<(usize, &'static str)> {
    let outcome = play(scenario).unwrap().unwrap();
    let (at, point) = outcome.points.first()?;
    Some((at.unwrap(), point.what))
}

#[test]
fn what_kafka_did_not_give_is_a_difference() {
    let state = |state: &str, start: i64, complete: i64| {
        json!({
            "status": "ACTIVE", "start_offset": start, "end_offset": 4, "state_epoch": 0,
            "delivery_complete_count": complete, "batches": [[0, 4, state, 1, "m1", true, false]],
        })
    };
    let scenario = |acquired: Value, written: Value, answer: Value, code: i64| {
        json!({"name": "by hand", "ops": [
            {"op": "create", "config": {
                "leader_epoch": 0, "max_in_flight": 50, "max_delivery_count": 5, "record_lock_ms": 100,
                "initial_status": "ACTIVE", "dlq_enabled": false,
            }, "state": {
                "status": "ACTIVE", "start_offset": 0, "end_offset": 0, "state_epoch": 0, "delivery_complete_count": 0,
                "batches": [],
            }},
            {"op": "acquire", "member": "m1", "mode": "batch_optimized", "batch_size": 500, "max_fetch_records": 500,
             "fetch_offset": 0, "isolation": "HIGH_WATERMARK", "fetched_batches": [[0, 4]],
             "expect": {"acquired": [acquired], "count": 5}, "state": state("ACQUIRED", 0, 0)},
            {"op": "acknowledge", "member": "m1", "batches": [[0, 4, [2]]],
             "persister_writes": [{"start_offset": 0, "delivery_complete_count": 0, "batches": [written],
                                   "result": format!("error_code {code}")}],
             "expect": {"result": answer}, "state": state("AVAILABLE", 0, 0)},
        ]})
    };
    let good = || (json!([0, 4, 1]), json!([0, 4, 0, 1]), json!("ok"), 0);
    let (acquired, written, answer, code) = good();
    assert!(differs(&scenario(acquired, written, answer, code)).is_none());
    let refused = || json!({"error": "CoordinatorNotAvailableException"});
    let cases = [
        (1, "answer", (json!([0, 3, 1]), good().1, good().2, 0)),
        (2, "written", (good().0, json!([0, 4, 2, 1]), good().2, 0)),
        (2, "answer", (good().0, good().1, refused(), 0)),
        // The persister's answer reaches our side too: its change is undone, and the state was recorded otherwise.
        (2, "in-flight state", (good().0, good().1, refused(), 15)),
    ];
    for (at, what, (acquired, written, answer, code)) in cases {
        let difference = differs(&scenario(acquired, written, answer, code));
        assert_eq!(difference, Some((at, what)));
    }
}

#[test]
fn what_no_sequence_has_is_left() {
    let left = |scenario: Value| play(&scenario).unwrap().unwrap_err().why;
    let of = |op: Value| left(json!({"name": "by hand", "ops": [op]}));
    assert_eq!(
        of(json!({"op": "lock_timeout"})),
        "lock_timeout reaches into Kafka's class"
    );
    let read = |response: Value, lookup: Value| {
        json!({"op": "initialize", "offset_lookup": lookup,
               "persister_read": {"request": {"partition": 0}, "response": response}})
    };
    let failed = json!({"offsetForLatestTimestamp": {"error": "RuntimeException"}});
    for (op, why) in [
        (
            read(json!("ok"), json!({})),
            "the persister gave no answer to a read",
        ),
        (
            read(json!({"partition": 1, "error_code": 0}), json!({})),
            "the persister answered for another partition",
        ),
        (
            read(json!({"partition": 0, "error_code": 0}), failed),
            "the offset lookup failed",
        ),
    ] {
        assert_eq!(of(op), why);
    }
    let concurrent = json!({"tags": ["multithreaded"], "ops": [{"op": "mark_fenced"}]});
    assert_eq!(
        left(concurrent),
        "records an interleaving of concurrent calls"
    );
}

/// A share partition is made and asked for records.
fn create_and_acquire() -> Value {
    json!([
        {"op": "create", "config": {
            "leader_epoch": 0, "max_in_flight": 50, "max_delivery_count": 5, "record_lock_ms": 100, "initial_status": "ACTIVE",
            "dlq_enabled": false,
        }},
        {"op": "acquire", "member": "m1", "mode": "record_limit", "batch_size": 1, "max_fetch_records": 1, "fetch_offset": 0,
         "isolation": "HIGH_WATERMARK", "fetched_batches": [[0, 4]]},
        {"op": "acknowledge", "member": "m1", "batches": [[0, 0, [1]]],
         "persister_writes": [{"start_offset": 0, "delivery_complete_count": 1, "batches": [[0, 0, 2, 1]], "result": "ok"}]},
        {"op": "advance_clock", "ms": 1},
    ])
}

#[test]
fn what_cannot_be_read_differs() {
    let why = |ops: &Value| {
        let played = play(&json!({"name": "by hand", "ops": ops}));
        played.err().map(|Unknown(why)| why)
    };
    assert_eq!(why(&create_and_acquire()), None);
    let number = "null where a number is expected";
    let cases = [
        ("/1/batch_size", json!(null), number),
        ("/1/fetch_offset", json!(null), number),
        ("/3/ms", json!(null), number),
        (
            "/0/config/leader_epoch",
            json!(1_u64 << 31),
            "2147483648 where a number is expected",
        ),
        ("/1/member", json!(null), "null where a text is expected"),
        (
            "/1/fetched_batches",
            json!(null),
            "null where a list is expected",
        ),
        (
            "/2/batches/0/2",
            json!({"x": 1}),
            r#"{"x":1} where a list is expected"#,
        ),
        (
            "/2/persister_writes/0/result",
            json!("none"),
            r#"unknown answer of a persister: "none""#,
        ),
    ];
    for (place, value, expected) in cases {
        let mut ops = create_and_acquire();
        *ops.pointer_mut(place).unwrap() = value;
        assert_eq!(why(&ops).as_deref(), Some(expected), "{place}");
    }
    let words = [
        ("/0/config/initial_status", "ACTIVE or EMPTY"),
        ("/1/mode", "record_limit or batch_optimized"),
        ("/1/isolation", "TXN_COMMITTED or HIGH_WATERMARK"),
    ];
    for (place, expected) in words {
        let mut ops = create_and_acquire();
        *ops.pointer_mut(place).unwrap() = json!("another");
        let expected = format!("another where {expected} is expected");
        assert_eq!(why(&ops), Some(expected), "{place}");
    }
    let mut ops = create_and_acquire();
    ops[0]["config"]["dlq_enabled"] = json!("no");
    let found = why(&ops).unwrap();
    assert_eq!(found, r#""no" where true or false is expected"#);
    let mut ops = create_and_acquire();
    ops[0]["config"]["another"] = json!(1);
    assert_eq!(why(&ops).unwrap(), "a config has an unknown field another");
    let unmade = why(&json!([{"op": "mark_fenced"}]));
    assert_eq!(unmade.as_deref(), Some("no share partition was made"));
    assert_eq!(why(&json!([])).as_deref(), Some("no list of operations"));
}

#[test]
fn what_the_dead_letter_queue_answered_is_read() {
    let takes = |result: Value| {
        let op = json!({"dlq_enqueued": [{"first": 0, "last": 0, "result": result}]});
        queue(&op).unwrap().takes
    };
    assert!(takes(json!("ok")));
    assert!(!takes(json!({"error": "RuntimeException"})));
    assert_eq!(queue(&json!({})).unwrap(), Queue::OK);
}
