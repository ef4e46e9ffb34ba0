//! Comparison of share groups, with answers as Kafka records them.

use serde_json::{Value, json};

use super::OnGroups;
use super::log::{Latest, read};
use super::operation::{Beat, Epoch, GroupOperation};
use super::point::{G1, G4, G13};
use crate::profile::{Profile, Verdict};

const CREATE: GroupOperation = GroupOperation::Create {
    config: Vec::new(),
    now: 1_000,
};

fn beat(epoch: i32) -> GroupOperation {
    GroupOperation::Heartbeat(Beat {
        group: "g".to_owned(),
        member: "m1".to_owned(),
        epoch: Epoch::Is(epoch),
        rack: None,
        topics: Some(vec!["t".to_owned()]),
        client: "client".to_owned(),
        host: 1,
    })
}

/// Answer of Kafka 4.4.0 when a first member joined a group, whose topic did not exist.
fn joined() -> Value {
    json!({
        "result": {"code": 0, "member": "m1", "epoch": 2, "interval": 5000, "assignment": {}},
        "records": [
            ["000a00016700026d31", "00000007636c69656e740b2f3132372e302e302e3102027400"],
            ["000b000167", "000000000002000000000000000000"],
            ["000d00016700026d31", "00000100"],
            ["000c000167", "00000000000201000800000000000003e8"],
            ["000e00016700026d31", "00000000000200000000000100"],
        ],
        "state": {"g": {
            "state": "Stable", "epoch": 2, "metadata_hash": 0, "assignment_epoch": 2, "assignment_timestamp": 1000,
            "members": {"m1": {
                "epoch": 2, "previous_epoch": 0, "rack": null, "client_id": "client", "client_host": "/127.0.0.1",
                "topics": ["t"], "assigned": {},
            }},
            "target": {"m1": {}},
        }},
    })
}

fn judged(ops: &[GroupOperation], given: &[Value]) -> Verdict {
    OnGroups::judge(ops, given)
}

#[test]
fn a_join_as_kafka_records_it_agrees_but_for_its_epoch() {
    let verdict = judged(&[CREATE, beat(0)], &[json!({}), joined()]);
    assert!(verdict.difference.is_none(), "{:?}", verdict.difference);
    let classes: Vec<_> = verdict.explained.iter().filter_map(|d| d.class).collect();
    assert_eq!(classes, [super::point::G8]);
}

/// Part that is compared, and the change that spoils it.
type Spoil = (&'static str, fn(&mut Value));

#[test]
fn every_part_of_a_join_is_compared() {
    let spoils: [Spoil; 5] = [
        ("epoch", |given| given["result"]["epoch"] = json!(7)),
        ("interval", |given| given["result"]["interval"] = json!(1)),
        ("assignment", |given| {
            given["result"]
                .as_object_mut()
                .unwrap()
                .remove("assignment");
        }),
        ("records", |given| {
            given["records"].as_array_mut().unwrap().pop();
        }),
        ("state", |given| {
            given["state"]["g"]["members"]["m1"]["epoch"] = json!(9)
        }),
    ];
    for (what, spoil) in spoils {
        let mut given = joined();
        spoil(&mut given);
        let verdict = judged(&[CREATE, beat(0)], &[json!({}), given]);
        assert_eq!(verdict.difference.map(|found| found.what()), Some(what));
    }
}

#[test]
fn a_lost_group_is_g1_and_a_member_that_leaves_one_is_not() {
    let lost = json!({"result": {"code": 69, "error": "GroupIdNotFoundException"}});
    let verdict = judged(&[CREATE, beat(5)], &[json!({}), lost.clone()]);
    assert_eq!(verdict.explained[0].class, Some(G1));
    let verdict = judged(&[CREATE, beat(-1)], &[json!({}), lost.clone()]);
    assert!(verdict.explained.is_empty() && verdict.difference.is_none());
    let verdict = judged(&[CREATE, beat(0)], &[json!({}), lost]);
    assert_eq!(verdict.difference.map(|found| found.what()), Some("code"));
}

/// Answer of Kafka 4.4.0 when the member subscribed to another topic instead, a second later.
fn joined_again() -> Value {
    json!({
        "result": {"code": 0, "member": "m1", "epoch": 3, "interval": 5000, "assignment": {}},
        "records": [
            ["000a00016700026d31", "00000007636c69656e740b2f3132372e302e302e3102027500"],
            ["000b000167", "000000000003000000000000000000"],
            ["000c000167", "00000000000301000800000000000007d0"],
            ["000e00016700026d31", "00000000000300000002000100"],
        ],
        "state": {"g": {
            "state": "Stable", "epoch": 3, "metadata_hash": 0, "assignment_epoch": 3, "assignment_timestamp": 2000,
            "members": {"m1": {
                "epoch": 3, "previous_epoch": 2, "rack": null, "client_id": "client", "client_host": "/127.0.0.1",
                "topics": ["u"], "assigned": {},
            }},
            "target": {"m1": {}},
        }},
    })
}

#[test]
fn what_a_member_with_the_epoch_before_is_told_is_g13_and_nothing_else() {
    let beat_of = |epoch, topics| {
        let GroupOperation::Heartbeat(beat) = beat(epoch) else {
            unreachable!("a beat is a heartbeat");
        };
        GroupOperation::Heartbeat(Beat { topics, ..beat })
    };
    let advance = GroupOperation::Advance {
        ms: 1_000,
        wall: 1_000,
    };
    let judged = |epoch, assignment: Option<Value>| {
        let other = beat_of(0, Some(vec!["u".to_owned()]));
        let ops = [
            CREATE,
            beat(0),
            advance.clone(),
            other,
            beat_of(epoch, None),
        ];
        let mut result = json!({"code": 0, "member": "m1", "epoch": 3, "interval": 5000});
        if let Some(assignment) = assignment {
            result["assignment"] = assignment;
        }
        let last = json!({"result": result});
        let given = [json!({}), joined(), json!({}), joined_again(), last];
        let verdict = judged(&ops, &given);
        let class = verdict
            .explained
            .iter()
            .find_map(|found| found.class.filter(|_| found.at == 4));
        (class, verdict.difference.map(|found| found.what()))
    };
    assert_eq!(judged(2, None), (Some(G13), None));
    assert_eq!(judged(2, Some(json!({}))), (None, None));
    assert_eq!(judged(3, None), (None, None));
    let topic = json!({"bAAAAAAAAAAAAAAAAAAABA": [0]});
    assert_eq!(judged(2, Some(topic)), (None, Some("assignment")));
}

/// Kafka 4.4.0 does so when a topic is gone that its assignment listed without a partition.
#[test]
fn a_member_may_be_told_again_what_it_has_and_nothing_else() {
    let told = |assignment: Value| {
        let GroupOperation::Heartbeat(mut again) = beat(2) else {
            unreachable!("a beat is a heartbeat");
        };
        again.topics = None;
        let answer = json!({"result": {
            "code": 0, "member": "m1", "epoch": 2, "interval": 5000, "assignment": assignment,
        }});
        let ops = [CREATE, beat(0), GroupOperation::Heartbeat(again)];
        judged(&ops, &[json!({}), joined(), answer]).difference
    };
    let topic = "bAAAAAAAAAAAAAAAAAAABA";
    assert!(told(json!({})).is_none());
    assert!(told(json!({topic: []})).is_none());
    let found = told(json!({topic: [0]}));
    assert_eq!(found.map(|found| found.what()), Some("assignment"));
}

#[test]
fn records_that_say_nothing_new_are_left_out() {
    let records = read(&joined()["records"]).unwrap();
    let mut latest = Latest::default();
    assert_eq!(latest.news(&records).len(), 5);
    for record in &records {
        assert!(latest.put(record));
    }
    assert!(latest.news(&records).is_empty());
    assert!(latest.has_epoch("g") && !latest.has_epoch("h"));
    let gone = read(&json!([["000b000167", null], ["000b000168", null]])).unwrap();
    assert_eq!(latest.news(&gone).len(), 1, "the other is gone already");
    assert_ne!(G1, G4);
}

#[test]
fn records_that_are_none_are_refused() {
    for wrong in [
        json!([["zz", null]]),
        json!([["0063000167", null]]),
        json!([["000b000167", "0000"]]),
    ] {
        assert!(read(&wrong).is_err(), "{wrong}");
    }
}
