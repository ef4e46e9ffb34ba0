//! Recordings of a coordinator with a fault, each of which must be found.

use serde_json::{Value, json};

use super::super::cases::{Left, Outcome};
use super::{is_before_44, play};

const TOPIC: &str = "AAECAwQFBgcICQoLDA0ODw";
/// Key of group `g`, the topic and partition 0.
const KEY: &str = "0000000167000102030405060708090a0b0c0d0e0f00000000";
/// Snapshot epoch 0, state epoch 1, start offset 5, delivery complete count 0, written at 7.
const VALUE: &str = "0000000000000000000100000000000000000000000500000000000000070000000000000007010100040000\
0000";

fn outcome(ops: &[Value]) -> Outcome {
    let played = play(&json!({"name": "by hand", "ops": ops}), false);
    played.unwrap().unwrap()
}

/// The points that differ, with their operations.
fn points(ops: &[Value]) -> Vec<(Option<usize>, &'static str)> {
    let points = outcome(ops).points.into_iter();
    points.map(|(at, point)| (at, point.what)).collect()
}

/// Operation and id of the deliberate difference, if nothing else differs.
fn deliberate(ops: &[Value]) -> Option<(usize, &'static str)> {
    let found = outcome(ops);
    let (at, (id, _)) = found.deliberate.first()?;
    assert_eq!(found.points, []);
    Some((*at, id))
}

fn create() -> Value {
    json!({
        "op": "create", "snapshot_update_records_per_snapshot": 500, "cold_partition_snapshot_interval_ms": 10_000,
    })
}

/// An initialisation at 7 with what it answers, and the replay of its record.
fn initialised() -> [Value; 3] {
    let no_memory = json!({"share_state": {}, "leader_epoch": {}, "state_epoch": {}, "snapshot_update_count": {}});
    let data = json!({"groupId": "g", "topics": [{"topicId": TOPIC, "partitions": [
        {"partition": 0, "stateEpoch": 1, "startOffset": 5},
    ]}]});
    let wire = "026702000102030405060708090a0b0c0d0e0f020000000000000001000000000000000500\
0000";
    let answer =
        json!({"results": [{"topicId": TOPIC, "partitions": [{"partition": 0, "errorCode": 0}]}]});
    let record = json!({"key_hex": KEY, "value_hex": VALUE});
    let key = json!({"group": "g", "topic_id": TOPIC, "partition": 0});
    let memory = json!({
        "share_state": [[key, {
            "snapshot_epoch": 0, "state_epoch": 1, "leader_epoch": 0, "start_offset": 5, "delivery_complete_count": 0,
            "batches": [], "create_ts": 7, "write_ts": 7,
        }]],
        "leader_epoch": [[key, 0]], "state_epoch": [[key, 1]], "snapshot_update_count": {},
    });
    [
        create(),
        json!({
            "op": "initializeState", "now": 7,
            "args": [{"type": "InitializeShareGroupStateRequestData", "data": data, "version": 0, "wire_hex": wire}],
            "result": {"records": [record], "response": answer},
            "response_wire_hex": "0200 0102030405060708090a0b0c0d0e0f 02 00000000 0000 00 00 00 00".replace(' ', ""),
            "state": no_memory,
        }),
        json!({"op": "replay", "args": [0, 0, 0, record], "result": null, "state": memory}),
    ]
}

#[test]
fn what_kafka_did_not_give_is_a_difference() {
    assert_eq!(points(&initialised()), []);
    let wrong: [(usize, &str, Value, &str); 8] = [
        (
            1,
            "/args/0/wire_hex",
            json!("00"),
            "request read from its bytes",
        ),
        (
            1,
            "/args/0/data/topics/0/partitions/0/startOffset",
            json!(6),
            "request read from its bytes",
        ),
        (1, "/result/records/0/value_hex", json!(null), "records"),
        (
            1,
            "/result/response/results/0/partitions/0/errorCode",
            json!(42),
            "answer",
        ),
        (
            1,
            "/response_wire_hex",
            json!("0100"),
            "answer read from its bytes",
        ),
        (
            1,
            "/result/error",
            json!("TimeoutException"),
            "what Kafka threw",
        ),
        (2, "/state/share_state/0/1/start_offset", json!(6), "memory"),
        (2, "/state/state_epoch", json!({}), "memory"),
    ];
    for (at, place, value, what) in wrong {
        let mut ops = initialised();
        set(&mut ops[at], place, value);
        assert_eq!(points(&ops).first(), Some(&(Some(at), what)), "{place}");
    }
}

/// Sets what is there, or adds it to the object around it.
fn set(op: &mut Value, place: &str, value: Value) {
    let (around, name) = place.rsplit_once('/').unwrap();
    match op.pointer_mut(around).unwrap() {
        Value::Array(list) => list[name.parse::<usize>().unwrap()] = value,
        object => object[name] = value,
    }
}

#[test]
fn what_is_not_of_the_format_is_no_agreement() {
    let wrong: [(usize, &str, Value); 6] = [
        (1, "/mystery", json!(1)),
        (1, "/op", json!(1)),
        (1, "/args/0/data/topics/0/partitions/0/mystery", json!(1)),
        (2, "/state/mystery", json!({})),
        (2, "/state/share_state/0/0/mystery", json!(1)),
        (0, "/snapshot_update_records_per_snapshot", json!("many")),
    ];
    for (at, place, value) in wrong {
        let mut ops = initialised();
        set(&mut ops[at], place, value);
        assert_eq!(points(&ops).last(), Some(&(Some(at), "format")), "{place}");
    }
    let mut ops = initialised();
    ops[1]["op"] = json!("mystery");
    let scenario = json!({"name": "by hand", "ops": ops});
    let left = Left {
        why: "operation 1 (mystery) cannot be played".to_owned(),
        is_announced: false,
    };
    assert_eq!(play(&scenario, false).unwrap(), Err(left));
    assert!(play(&json!({"name": "by hand"}), false).is_err());
    assert!(play(&json!({"name": "by hand", "ops": []}), false).is_err());
}

#[test]
fn rules_before_44_are_recognised_by_what_was_recorded() {
    assert!(is_before_44("share_coordinator_shard_4.2.json", &json!({})));
    assert!(is_before_44(
        "share_coordinator_shard.json",
        &json!({"source": {"kafka": "4.3.1"}})
    ));
    assert!(!is_before_44(
        "share_coordinator_shard.json",
        &json!({"source": {"kafka": "4.4.0"}})
    ));

    let write = |start: i64, complete: i64| {
        let message = json!({"startOffset": start, "deliveryCompleteCount": complete});
        let key = json!({"groupId": "g", "topicId": TOPIC, "partition": 0});
        json!({"op": "writeState", "args": [], "result": {"records": [{"key": key, "value": {"message": message}}]}})
    };
    let negative = json!({
        "op": "writeState", "args": ["g", TOPIC, {"partition": 0, "leaderEpoch": -1, "stateEpoch": 0}],
        "result": {"records": [], "response": {"results": [{"partitions": [{"partition": 0, "errorCode": 0}]}]}},
    });
    let again = |start: i64| {
        json!({
            "op": "initializeState", "args": ["g", TOPIC, {"partition": 0, "stateEpoch": 1, "startOffset": start}],
            "result": {"records": [{}]},
        })
    };
    let mut held = initialised()[2].clone();
    set(
        &mut held,
        "/state/share_state/0/1/delivery_complete_count",
        json!(2),
    );
    let after = |op: Value| {
        let scenario = json!({"name": "by hand", "ops": [held, op]});
        let left = play(&scenario, true).unwrap().err();
        left.filter(|left| left.is_announced).map(|left| left.why)
    };
    let cases = [
        (negative, Some("a negative epoch is not answered 42")),
        (write(4, 2), Some("the start offset regresses")),
        (write(5, 1), Some("the delivery complete count regresses")),
        (write(-1, 1), Some("the delivery complete count regresses")),
        (write(6, 0), None),
        (again(5), Some("a repeated initialise writes a record")),
        (again(6), None),
    ];
    for (op, expected) in cases {
        let why = after(op.clone());
        let expected = expected.map(|point| format!("pre-4.4 rule: {point}"));
        assert_eq!(why, expected, "{op}");
    }
}

/// Kafka 4.4.0 writes a repeated initialisation as one more snapshot, and takes a batch that is inverted.
#[test]
fn deliberate_differences_are_recognised_by_what_was_recorded() {
    let repeated = || {
        let mut ops = initialised().to_vec();
        let mut again = ops[1].clone();
        again["state"] = ops[2]["state"].clone();
        ops.push(again);
        ops
    };
    assert_eq!(deliberate(&repeated()), Some((3, "I1")));
    // Another answer is another difference.
    let mut ops = repeated();
    let place = "/result/response/results/0/partitions/0/errorCode";
    set(&mut ops[3], place, json!(3));
    assert_ne!(points(&ops), []);

    let write = |last: i64, count: i64| {
        let mut ops = initialised().to_vec();
        let batch = json!({"firstOffset": 9, "lastOffset": last, "deliveryState": 0, "deliveryCount": count});
        ops.push(json!({
            "op": "writeState", "now": 8, "state": ops[2]["state"],
            "args": ["g", TOPIC, {"partition": 0, "stateEpoch": 1, "leaderEpoch": 0, "startOffset": 5,
                                  "deliveryCompleteCount": 0, "stateBatches": [batch]}],
            "result": {"error": "NullPointerException", "records": [], "response": null},
        }));
        ops
    };
    for unsound in [write(8, 1), write(9, -1)] {
        assert_eq!(deliberate(&unsound), Some((3, "M1")));
    }
    assert_ne!(points(&write(9, 1)), []);
}

/// Kafka 4.4.0 writes nothing of a leader that it knows, although an initialisation has set the leader epoch of the state to 0.
#[test]
fn a_read_after_an_initialisation_is_recognised_by_what_was_recorded() {
    let led = [&VALUE[..20], "00000005", &VALUE[28..]].concat();
    let read = |recorded: Value, code: i64| {
        let mut ops = initialised().to_vec();
        let mut state = ops[2]["state"].clone();
        state["leader_epoch"][0][1] = json!(5);
        for (offset, value) in [(1, led.as_str()), (2, VALUE)] {
            let record = json!({"key_hex": KEY, "value_hex": value});
            ops.push(json!({"op": "replay", "args": [offset, 0, 0, record], "result": null}));
        }
        let answer = json!({"partition": 0, "errorCode": code, "stateEpoch": 1, "startOffset": 5, "stateBatches": []});
        ops.push(json!({
            "op": "readStateAndMaybeUpdateLeaderEpoch", "now": 8, "state": state,
            "args": ["g", TOPIC, {"partition": 0, "leaderEpoch": 5}],
            "result": {
                "records": recorded,
                "response": {"results": [{"topicId": TOPIC, "partitions": [answer]}]},
            },
        }));
        ops
    };
    assert_eq!(deliberate(&read(json!([]), 0)), Some((5, "I2")));
    let other = json!([{"key_hex": KEY, "value_hex": VALUE}]);
    for ops in [read(other, 0), read(json!([]), 3)] {
        assert_ne!(points(&ops), []);
    }
}
