//! Recordings of a share partition with a fault, each of which must be found.

use serde_json::{Value, json};

use super::play_all;
use crate::verdict::Difference;

/// Difference when a recorded outcome is another.
fn differs(scenario: &Value) -> Option<Difference> {
    let mut played = play_all(std::slice::from_ref(scenario));
    assert_eq!(played.scenarios, 1);
    played.differences.pop().map(|(_, difference)| difference)
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
        let difference = differs(&scenario(acquired, written, answer, code)).unwrap();
        assert_eq!((difference.at, difference.points[0].what), (at, what));
    }
}

#[test]
fn what_no_sequence_has_is_left() {
    let left = |op: Value| {
        let scenario = json!({"name": "by hand", "ops": [op]});
        let mut played = play_all(&[scenario]);
        assert_eq!(played.scenarios, 0);
        played.left.pop_first().unwrap().0.0
    };
    assert_eq!(
        left(json!({"op": "lock_timeout"})),
        "lock_timeout reaches into Kafka's class"
    );
    assert_eq!(
        left(json!({"op": "mark_fenced"})),
        "no share partition was made"
    );
}
