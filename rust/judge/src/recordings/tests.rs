//! Our copies of the recordings, and all of them where they are.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Played, play_all, play_file};
use crate::verdict::Difference;

fn played(directory: &Path, name: &str) -> Played {
    let path = directory.join(name);
    let played = play_file(&path).unwrap();
    println!("{name} {played}");
    assert!(played.differences.is_empty(), "{name} {played}");
    played
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// File; scenarios, operations, operations compared, scenarios with a split lock, scenarios left.
type Expected = (&'static str, [usize; 5]);

fn agree(directory: &Path, files: &[Expected]) {
    for (name, expected) in files {
        let played = played(directory, name);
        let left = played.left.values().sum();
        let Played {
            scenarios,
            operations,
            compared,
            split,
            ..
        } = played;
        assert_eq!(
            [scenarios, operations, compared, split, left],
            *expected,
            "{name}"
        );
    }
}

#[test]
fn our_copies_agree() {
    let files = [
        ("share_partition_trunk.json.gz", [161, 1071, 1071, 0, 28]),
        ("share_partition_fuzz_trunk.json.gz", [54, 4485, 4001, 6, 0]),
        ("probes_reference_quirks.json.gz", [42, 311, 265, 0, 0]),
    ];
    agree(&repository().join("tests/data/conformance"), &files);
}

#[test]
fn all_recordings_agree() {
    let directory = repository().join("../shared/conformance");
    if !directory.is_dir() {
        // The copies are what there is; tests/python/test_conformance.py says when all must be there.
        return;
    }
    let files = [
        ("share_partition_trunk.json", [161, 1071, 1071, 0, 28]),
        (
            "share_partition_fuzz_trunk.json.gz",
            [386, 30808, 29125, 16, 0],
        ),
        ("probes_reference_quirks.json", [42, 311, 265, 0, 0]),
    ];
    agree(&directory, &files);
}

/// What differs when a recorded outcome is another.
fn differs(scenario: &Value) -> Option<Difference> {
    let mut played = play_all(std::slice::from_ref(scenario)).unwrap();
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
        // Made active by a read of its own, so each operation stands one further on.
        assert_eq!((difference.at, difference.points[0].what), (at + 1, what));
    }
}

#[test]
fn what_no_sequence_has_is_left() {
    let left = |op: Value| {
        let scenario = json!({"name": "by hand", "ops": [op]});
        let mut played = play_all(&[scenario]).unwrap();
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
