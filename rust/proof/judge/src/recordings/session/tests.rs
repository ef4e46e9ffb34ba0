//! Recordings of share sessions with a fault, each of which must be found.

use serde_json::{Value, json};

use super::super::cases::Left;
use super::play;

const ORDERS: &str = "AAAAAAAAAAAAAAAAAAAAAQ:orders-0";

/// The points that differ, with their operations.
fn points(ops: &[Value]) -> Vec<(Option<usize>, &'static str)> {
    let played = play(&json!({"name": "by hand", "ops": ops}));
    let points = played.unwrap().unwrap().points.into_iter();
    points.map(|(at, point)| (at, point.what)).collect()
}

fn session(epoch: i32, partitions: &Value) -> Value {
    json!({"key": {"group": "g", "member": "m"}, "epoch": epoch, "connection": "c", "partitions": partitions})
}

fn op(name: &str, args: Value, result: Value, sessions: &[Value]) -> Value {
    json!({"op": name, "args": args, "result": result, "sessions": sessions, "max_sessions": 2})
}

fn fetch(added: Value, epoch: i32, result: Value, sessions: &[Value]) -> Value {
    op(
        "newContext",
        json!(["g", added, [], "m", epoch, false, "c"]),
        result,
        sessions,
    )
}

/// A session that is opened, goes on, and is released.
fn lived() -> [Value; 4] {
    let opened = session(1, &json!([["orders", 0]]));
    let later = session(2, &json!([["orders", 0]]));
    let context =
        |epoch: i32| json!({"context": "session", "request_epoch": epoch, "subsequent": epoch > 0});
    [
        fetch(json!([ORDERS]), 0, context(0), &[opened]),
        fetch(json!([]), 1, context(1), core::slice::from_ref(&later)),
        op("totalPartitions", json!([]), json!(1), &[later]),
        op(
            "releaseSession",
            json!(["g", "m"]),
            json!([[ORDERS, {"errorCode": 0}]]),
            &[],
        ),
    ]
}

#[test]
fn what_kafka_did_not_give_is_a_difference() {
    assert_eq!(points(&lived()), []);
    let wrong: [(usize, &str, Value, &str); 6] = [
        (0, "/result/subsequent", json!(true), "result"),
        (0, "/sessions/0/partitions/0/1", json!(1), "sessions"),
        (1, "/args/4", json!(3), "result"),
        (1, "/sessions/0/epoch", json!(3), "sessions"),
        (2, "/result", json!(2), "result"),
        (3, "/result", json!({}), "result"),
    ];
    for (at, place, value, what) in wrong {
        let mut ops = lived();
        *ops[at].pointer_mut(place).unwrap() = value;
        assert_eq!(points(&ops).first(), Some(&(Some(at), what)), "{place}");
    }
}

#[test]
fn what_is_not_of_the_format_is_no_agreement() {
    let mut unknown = lived()[0].clone();
    unknown["mystery"] = json!(1);
    let mut of_session = lived()[0].clone();
    of_session["sessions"][0]["mystery"] = json!(1);
    let mut other = op("size", json!([]), json!(null), &[]);
    other["op"] = json!(1);
    let mut short = lived()[3].clone();
    short["args"] = json!(["g"]);
    for wrong in [unknown, of_session, other, short] {
        let found = points(core::slice::from_ref(&wrong));
        assert_eq!(found, [(Some(0), "format")], "{wrong}");
    }
    let left =
        play(&json!({"name": "by hand", "ops": [op("mystery", json!([]), json!(null), &[])]}));
    let why = "operation 0 (mystery) cannot be played".to_owned();
    let is_announced = false;
    assert_eq!(left.unwrap(), Err(Left { why, is_announced }));
    assert!(play(&json!({"name": "by hand"})).is_err());
}

#[test]
fn a_stub_of_a_cache_shows_nothing_and_keeps_nothing() {
    let mut ops = lived().to_vec();
    for op in &mut ops {
        op["max_sessions"] = json!(0);
        op["sessions"] = json!([]);
    }
    // Each stands for itself: the session that goes on, and the one that is released, are made for them.
    ops.remove(2);
    assert_eq!(points(&ops), []);
}
