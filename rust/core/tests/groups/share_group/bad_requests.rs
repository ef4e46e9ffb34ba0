//! Requests that must be refused, each with its code and its words, and that nothing has changed then.

use share_state_core::ids::TopicId;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_group::{GroupError, Heartbeat};

use super::support::{ORDERS, Owner, altered, heartbeat};

fn refused(request: &Heartbeat<'_>) -> GroupError {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 1)]);
    owner.join("a", &["orders"]);
    let before: Vec<_> = owner.groups.live_records().collect();
    let error = owner.heartbeat_with(request, &[(ORDERS, 0)]).unwrap_err();
    assert_eq!(owner.groups.live_records().collect::<Vec<_>>(), before);
    assert_eq!(owner.groups.to_initialize(request), []);
    error
}

#[test]
fn malformed_heartbeats_are_refused_in_kafkas_words() {
    let topics: Option<&[&str]> = Some(&["orders"]);
    let long = "x".repeat(40_000);
    let good = heartbeat("g", "a", 0, topics);
    let some = [long.as_str()];
    let cases = [
        (Heartbeat { member: "", ..good }, "MemberId can't be empty."),
        (Heartbeat { group: "", ..good }, "GroupId can't be empty."),
        (
            Heartbeat {
                member: " \t",
                ..good
            },
            "MemberId can't be empty.",
        ),
        (
            Heartbeat {
                group: "\0 ",
                ..good
            },
            "GroupId can't be empty.",
        ),
        (
            Heartbeat {
                rack: Some("\n"),
                ..good
            },
            "RackId can't be empty.",
        ),
        (
            Heartbeat {
                rack: Some(""),
                ..good
            },
            "RackId can't be empty.",
        ),
        (
            Heartbeat {
                member: &long[..37],
                ..good
            },
            "MemberId has a length of 37, at most 36 is allowed.",
        ),
        (
            Heartbeat {
                group: &long,
                ..good
            },
            "GroupId has a length of 40000, at most 32767 is allowed.",
        ),
        (
            Heartbeat {
                topics: None,
                ..good
            },
            "SubscribedTopicNames must be set in first request.",
        ),
        (
            Heartbeat {
                topics: Some(&[]),
                ..good
            },
            "SubscribedTopicNames must be set in first request.",
        ),
        (
            Heartbeat {
                member_epoch: -2,
                ..good
            },
            "MemberEpoch is invalid.",
        ),
        (
            Heartbeat {
                member_epoch: i32::MIN,
                ..good
            },
            "MemberEpoch is invalid.",
        ),
        (
            Heartbeat {
                client_id: &long,
                ..good
            },
            "ClientId has a length of 40000, at most 32767 is allowed.",
        ),
        (
            Heartbeat {
                client_host: &long,
                ..good
            },
            "ClientHost has a length of 40000, at most 32767 is allowed.",
        ),
        (
            Heartbeat {
                topics: Some(&some),
                ..good
            },
            "SubscribedTopicNames has a length of 40000, at most 32767 is allowed.",
        ),
        (
            Heartbeat {
                rack: Some(&long),
                ..good
            },
            "RackId has a length of 40000, at most 32767 is allowed.",
        ),
    ];
    for (request, words) in &cases {
        let error = refused(request);
        assert_eq!(error.kafka_code(), KafkaCode::InvalidRequest);
        assert_eq!(error.to_string(), *words);
    }
    assert_eq!(cases.len(), 16);
    // A leave is looked at as closely.
    let leave = Heartbeat {
        group: "",
        member_epoch: -1,
        ..good
    };
    assert_eq!(refused(&leave).kafka_code(), KafkaCode::InvalidRequest);
}

#[test]
fn a_member_id_may_have_thirty_six_characters_of_any_kind() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 1)]);
    for member in ["ü".repeat(36), "a:b\0c".to_owned()] {
        owner.join(&member, &["orders"]);
    }
    assert_eq!(owner.groups.describe("g").unwrap().members.len(), 2);
}

#[test]
fn malformed_requests_of_administrators_are_refused() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 1)]);
    let groups = &owner.groups;
    let good = altered("orders", 0);
    let code = |altered| {
        let begun = groups.decide_begin_alter_offsets("g", &[good.clone(), altered]);
        let finished = groups.decide_finish_alter_offsets("g", core::slice::from_ref(&good));
        assert_eq!(
            finished.unwrap_err().kafka_code(),
            KafkaCode::GroupIdNotFound
        );
        begun.unwrap_err().kafka_code()
    };
    let mut wrong = [good.clone(), good.clone(), good.clone(), good.clone()];
    wrong[0].partition = -1;
    wrong[1].topic_id = TopicId::ZERO;
    wrong[2].name = "".into();
    wrong[3].name = "x".repeat(40_000).into();
    for altered in wrong {
        assert_eq!(code(altered), KafkaCode::InvalidRequest);
    }
    let no_group = KafkaCode::InvalidGroupId;
    assert_eq!(
        groups
            .decide_begin_alter_offsets("", &[])
            .unwrap_err()
            .kafka_code(),
        no_group
    );
    assert_eq!(
        groups
            .decide_begin_delete_offsets("", &[])
            .unwrap_err()
            .kafka_code(),
        no_group
    );
    assert_eq!(
        groups
            .decide_finish_delete_offsets("", &[])
            .unwrap_err()
            .kafka_code(),
        no_group
    );
    // Deleting a group without a name is deleting one that does not exist.
    let unknown = KafkaCode::GroupIdNotFound;
    assert_eq!(
        groups
            .decide_begin_delete_group("")
            .unwrap_err()
            .kafka_code(),
        unknown
    );
    assert_eq!(
        groups
            .decide_finish_delete_group("x")
            .unwrap_err()
            .kafka_code(),
        unknown
    );
    assert_eq!(
        groups
            .decide_begin_delete_offsets("x", &[ORDERS])
            .unwrap_err()
            .kafka_code(),
        unknown
    );
    assert_eq!(
        groups
            .decide_finish_delete_offsets("x", &[ORDERS])
            .unwrap_err()
            .kafka_code(),
        unknown
    );
    assert_eq!(
        groups.decide_expire("x", "a").unwrap_err().kafka_code(),
        unknown
    );
}
