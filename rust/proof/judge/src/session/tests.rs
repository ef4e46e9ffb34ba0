//! Comparison of share sessions, with answers as Kafka records them.

use serde_json::{Value, json};

use super::operation::{Fetch, Key, SessionOperation};
use super::{C1, C2, C3, OnSessions, judge};
use crate::profile::Profile;

const KEY: Key = Key {
    group: 0,
    member: 0,
};
const OTHER: Key = Key {
    group: 1,
    member: 0,
};

fn fetch(context: usize, key: Key, epoch: i32, added: &[(u8, i32)]) -> SessionOperation {
    SessionOperation::Fetch(Fetch {
        context,
        key,
        epoch,
        connection: 1,
        added: added.to_vec(),
        forgotten: Vec::new(),
        acknowledges: false,
    })
}

fn session(key: Key, epoch: i32, partitions: &[i32]) -> Value {
    let id = super::operation::topic_id(1).to_base64();
    let partitions: Vec<Value> = partitions.iter().map(|p| json!([id, p, false])).collect();
    json!({
        "key": {"group": key.group(), "member": key.member()}, "epoch": epoch,
        "connection": "connection-1", "partitions": partitions,
    })
}

fn given(result: Value, sessions: &[Value]) -> Value {
    let total: usize = sessions
        .iter()
        .map(|session| session["partitions"].as_array().map_or(0, Vec::len))
        .sum();
    json!({"result": result, "sessions": sessions, "total_partitions": total})
}

fn context(subsequent: bool, partitions: &[i32]) -> Value {
    let partitions: Vec<String> = partitions
        .iter()
        .map(|p| super::operation::tip((1, *p)))
        .collect();
    json!({"context": "session", "subsequent": subsequent, "valid": partitions})
}

const CREATE: SessionOperation = SessionOperation::Create { max_sessions: 3 };

fn created() -> Value {
    given(Value::Null, &[])
}

#[test]
fn what_agrees_is_compared_and_what_does_not_is_found() {
    let ops = [CREATE, fetch(1, KEY, 0, &[(1, 0)])];
    let opened = given(context(false, &[0]), &[session(KEY, 1, &[0])]);
    let verdict = judge(&ops, &[created(), opened]);
    assert_eq!((verdict.compared, verdict.reached.len()), (2, 2));
    assert!(verdict.difference.is_none() && verdict.explained.is_empty());
    let wrong = given(context(false, &[0]), &[session(KEY, 2, &[0])]);
    let found = judge(&ops, &[created(), wrong]).difference.unwrap();
    assert_eq!((found.at, found.what(), found.class), (1, "sessions", None));
}

#[test]
fn an_answer_whose_session_is_gone_is_c1() {
    let ops = [
        CREATE,
        fetch(1, KEY, 0, &[]),
        fetch(2, KEY, 1, &[]),
        fetch(3, KEY, 0, &[]),
        SessionOperation::Answer {
            context: 2,
            fetched: Vec::new(),
        },
    ];
    let after = |epoch| [session(KEY, epoch, &[])];
    let kafka = [
        created(),
        given(context(false, &[]), &after(1)),
        given(context(true, &[]), &after(2)),
        given(context(false, &[]), &after(1)),
        given(json!({"code": 0, "partitions": []}), &after(1)),
    ];
    let verdict = judge(&ops, &kafka);
    assert_eq!(verdict.explained[0].class, Some(C1));
    assert_eq!(verdict.apart, None, "nothing else follows");
}

#[test]
fn a_session_that_outlives_its_connection_is_c2_and_the_rest_waits_for_another_cache() {
    let ops = [
        CREATE,
        fetch(1, KEY, 0, &[]),
        fetch(2, OTHER, 0, &[]),
        SessionOperation::Disconnect { connection: 1 },
        SessionOperation::Acknowledge { key: KEY, epoch: 1 },
    ];
    let (one, two) = (session(KEY, 1, &[]), session(OTHER, 1, &[]));
    let mut ended = given(Value::Null, core::slice::from_ref(&one));
    ended["events"] = json!([["member_leave", OTHER.group(), OTHER.member()]]);
    let kafka = [
        created(),
        given(context(false, &[]), core::slice::from_ref(&one)),
        given(context(false, &[]), &[one.clone(), two.clone()]),
        ended.clone(),
        given(Value::Null, &[session(KEY, 2, &[])]),
    ];
    let verdict = judge(&ops, &kafka);
    assert_eq!(verdict.explained[0].class, Some(C2));
    assert_eq!((verdict.compared, verdict.apart), (4, Some(4)));
    // Kafka overlooks the first of them, not the second.
    ended["events"] = json!([["member_leave", KEY.group(), KEY.member()]]);
    let wrong = [created(), kafka[1].clone(), kafka[2].clone(), ended];
    assert!(judge(&ops[..4], &wrong).difference.is_some());
}

#[test]
fn a_partition_named_twice_is_c3() {
    let ops = [CREATE, fetch(1, KEY, 0, &[(1, 0), (1, 0)])];
    let failed = given(json!({"error": "RuntimeException", "code": -1}), &[]);
    let verdict = judge(&ops, &[created(), failed.clone()]);
    assert_eq!(verdict.explained[0].class, Some(C3));
    let once = [CREATE, fetch(1, KEY, 0, &[(1, 0)])];
    assert!(judge(&once, &[created(), failed]).difference.is_some());
}

#[test]
fn an_answer_of_no_request_makes_no_sense() {
    let answer = SessionOperation::Answer {
        context: 1,
        fetched: vec![((1, 0), 0, 0)],
    };
    let sound = [CREATE, fetch(1, KEY, 0, &[(1, 0)]), answer.clone()];
    assert!(OnSessions::mended(sound.to_vec()).is_some());
    let unasked = [CREATE, fetch(1, KEY, 0, &[]), answer.clone()];
    for unsound in [unasked.to_vec(), vec![CREATE, answer]] {
        assert!(OnSessions::mended(unsound).is_none());
    }
}
