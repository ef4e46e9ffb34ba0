//! Joining, going on and leaving: answers, epochs, records.

use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_group::{GroupRecord, GroupState, GroupValue};

use super::support::{INTERVAL_MS, JOBS, ORDERS, Owner, heartbeat, partitions};

#[test]
fn the_first_member_gets_its_assignment_with_its_first_heartbeat() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    let answer = owner.join("a", &["orders"]);
    assert_eq!(
        (answer.member_epoch, answer.heartbeat_interval_ms),
        (1, INTERVAL_MS)
    );
    let assignment = answer.assignment.unwrap();
    assert_eq!(partitions(&assignment), [(ORDERS, 0), (ORDERS, 1)]);
    assert_eq!(owner.last_types(), [10, 11, 15, 13, 12, 14]);
    assert_eq!(owner.epochs("g"), (1, 1));

    let again = owner.beat("a", 1);
    assert_eq!((again.member_epoch, again.assignment), (1, None));
    assert_eq!(owner.log.len(), 1, "an idle heartbeat writes nothing");
}

#[test]
fn a_second_member_waits_for_the_assignment_interval_and_is_told_to_come_back_soon() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    owner.join("a", &["orders"]);
    let answer = owner.join("b", &["orders"]);
    // The assignment of epoch 1 stands for another second.
    assert_eq!(
        (answer.member_epoch, answer.heartbeat_interval_ms),
        (1, 1_000)
    );
    assert!(answer.assignment.unwrap().is_empty());
    assert_eq!(owner.epochs("g"), (2, 1));

    owner.wait(999);
    assert_eq!(owner.beat("b", 1).assignment, None);
    owner.wait(1);
    let answer = owner.beat("b", 1);
    assert_eq!(
        (answer.member_epoch, answer.heartbeat_interval_ms),
        (2, INTERVAL_MS)
    );
    assert_eq!(partitions(&answer.assignment.unwrap()), [(ORDERS, 1)]);
    let answer = owner.beat("a", 1);
    assert_eq!(answer.member_epoch, 2);
    assert_eq!(partitions(&answer.assignment.unwrap()), [(ORDERS, 0)]);
    assert_eq!(owner.last_types(), [14]);
}

#[test]
fn a_wall_clock_that_goes_back_does_not_hold_an_assignment_up() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    owner.join("a", &["orders"]);
    owner.wall.0 -= 3_600_000;
    let answer = owner.join("b", &["orders"]);
    assert_eq!(answer.member_epoch, 2);
    assert_eq!(answer.assignment.unwrap().len(), 1);
}

#[test]
fn the_previous_epoch_is_a_repetition_and_any_other_is_fenced() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    owner.join("a", &["orders"]);
    owner.wait(1_000);
    owner.join("b", &["orders"]);
    assert_eq!(owner.beat("a", 1).member_epoch, 2);
    // The answer was lost: the member repeats itself.
    let repeated = owner.heartbeat("g", "a", 1, Some(&["orders"])).unwrap();
    assert_eq!(repeated.member_epoch, 2);
    assert_eq!(partitions(&repeated.assignment.unwrap()), [(ORDERS, 0)]);
    for epoch in [3, i32::MAX] {
        let error = owner.heartbeat("g", "a", epoch, None).unwrap_err();
        assert_eq!(error.kafka_code(), KafkaCode::FencedMemberEpoch);
        assert!(
            error.to_string().contains("greater member epoch"),
            "{error}"
        );
    }
    owner.wait(1_000);
    owner.join("c", &["orders"]);
    assert_eq!(owner.beat("a", 2).member_epoch, 3);
    let error = owner.heartbeat("g", "a", 1, None).unwrap_err();
    assert_eq!(error.kafka_code(), KafkaCode::FencedMemberEpoch);
    assert!(
        error.to_string().contains("does not match the previous"),
        "{error}"
    );
}

/// An earlier heartbeat of the member came late, over a connection that nobody reads any more, and its answer was lost.
#[test]
fn an_assignment_whose_answer_was_lost_comes_with_the_next_one() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    owner.join("a", &["orders"]);
    assert!(owner.join("b", &["orders"]).assignment.unwrap().is_empty());
    owner.wait(1_000);
    for (member, partition) in [("b", 1), ("a", 0)] {
        let late = owner.beat(member, 1);
        let answer = owner.beat(member, 1);
        assert_eq!(answer, late);
        assert_eq!(answer.member_epoch, 2);
        let told = partitions(&answer.assignment.unwrap());
        assert_eq!(told, [(ORDERS, partition)]);
        assert_eq!(owner.beat(member, 2).assignment, None);
    }
}

/// KAFKA-19233.
#[test]
fn a_member_may_join_again_whatever_epoch_it_had() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    owner.join("a", &["orders"]);
    let again = owner.join("a", &["orders"]);
    assert_eq!(again.member_epoch, 1);
    assert_eq!(again.assignment.unwrap().len(), 2);
    assert_eq!(owner.log.len(), 1, "nothing is new");
}

#[test]
fn a_lost_group_answers_like_an_unknown_member() {
    let mut owner = Owner::new();
    for (group, member) in [("lost", "a"), ("g", "b")] {
        let error = owner.heartbeat(group, member, 3, None).unwrap_err();
        assert_eq!(error.kafka_code(), KafkaCode::UnknownMemberId);
        owner.topics(&[("orders", 1)]);
        owner.join("a", &["orders"]);
    }
}

#[test]
fn a_full_group_takes_nobody_and_keeps_whom_it_has() {
    let mut owner = Owner::with_broker(&[("group.share.max.size", 2)]);
    owner.topics(&[("orders", 2)]);
    owner.join("a", &["orders"]);
    owner.join("b", &["orders"]);
    for epoch in [0, 7] {
        let error = owner
            .heartbeat("g", "c", epoch, Some(&["orders"]))
            .unwrap_err();
        assert_eq!(error.kafka_code(), KafkaCode::GroupMaxSizeReached);
    }
    owner.join("b", &["orders"]);
    owner.leave("a").unwrap();
    owner.join("c", &["orders"]);
}

#[test]
fn what_a_member_does_not_say_stays() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 1)]);
    let mut request = heartbeat("g", "a", 0, Some(&["orders"]));
    request.rack = Some("r1");
    owner.heartbeat_with(&request, &[(ORDERS, 0)]).unwrap();
    let mut request = heartbeat("g", "a", 1, None);
    request.client_host = "/127.0.0.2";
    owner.heartbeat_with(&request, &[]).unwrap();
    assert_eq!(owner.last_types(), [10], "no new epoch for a new address");
    let described = owner.groups.describe("g").unwrap();
    let metadata = &described.members[0].metadata;
    assert_eq!(metadata.rack_id.as_deref(), Some("r1"));
    assert_eq!(&*metadata.client_host, "/127.0.0.2");
    assert_eq!(metadata.subscribed_topics, ["orders".into()]);
}

#[test]
fn another_subscription_moves_the_group_on() {
    let mut owner = Owner::with_broker(&[("group.share.assignment.interval.ms", 0)]);
    owner.topics(&[("orders", 1), ("jobs", 1)]);
    owner.join("a", &["orders"]);
    let answer = owner
        .heartbeat("g", "a", 1, Some(&["jobs", "jobs"]))
        .unwrap();
    assert_eq!(answer.member_epoch, 2);
    assert_eq!(partitions(&answer.assignment.unwrap()), [(JOBS, 0)]);
    // The same topics said again are told again, and nothing is written.
    let records = owner.log.len();
    let answer = owner.heartbeat("g", "a", 2, Some(&["jobs"])).unwrap();
    assert_eq!(partitions(&answer.assignment.unwrap()), [(JOBS, 0)]);
    assert_eq!(owner.log.len(), records);
}

/// KAFKA-19431: while the new target is due, a topic that was given up goes at once.
#[test]
fn a_topic_that_is_given_up_is_never_assigned() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 1), ("jobs", 1)]);
    owner.join("a", &["orders", "jobs"]);
    let answer = owner.heartbeat("g", "a", 1, Some(&["jobs"])).unwrap();
    assert_eq!(answer.member_epoch, 1, "the interval has not passed");
    assert_eq!(partitions(&answer.assignment.unwrap()), [(JOBS, 0)]);
}

#[test]
fn a_member_that_leaves_gives_its_partitions_to_the_others() {
    let mut owner = Owner::with_broker(&[("group.share.assignment.interval.ms", 0)]);
    owner.topics(&[("orders", 2)]);
    owner.join("a", &["orders"]);
    owner.join("b", &["orders"]);
    let answer = owner.leave("a").unwrap();
    assert_eq!((answer.member_epoch, answer.assignment), (-1, None));
    assert_eq!(owner.last_types(), [14, 13, 10, 11]);
    let answer = owner.beat("b", 2);
    assert_eq!(answer.member_epoch, 3);
    assert_eq!(answer.assignment.unwrap().len(), 2);
}

/// KAFKA-20442.
#[test]
fn the_last_member_to_leave_takes_the_pending_assignment_along() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    owner.join("a", &["orders"]);
    owner.leave("a").unwrap();
    assert_eq!(owner.last_types(), [14, 13, 10, 11, 12]);
    assert_eq!(owner.epochs("g"), (2, 2));
    assert_eq!(owner.groups.list().collect::<Vec<_>>().len(), 1);
    assert_eq!(owner.groups.describe("g").unwrap().state, GroupState::Empty);
    // Whoever comes next need not wait for the interval.
    let answer = owner.join("b", &["orders"]);
    assert_eq!(
        (answer.member_epoch, answer.assignment.unwrap().len()),
        (3, 2)
    );
}

#[test]
fn leaving_twice_or_nowhere_is_told() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    let error = owner.leave("a").unwrap_err();
    assert_eq!(error.kafka_code(), KafkaCode::GroupIdNotFound);
    owner.join("a", &["orders"]);
    owner.leave("a").unwrap();
    let error = owner.leave("a").unwrap_err();
    assert_eq!(error.kafka_code(), KafkaCode::UnknownMemberId);
}

#[test]
fn at_the_end_of_the_epochs_nobody_moves_the_group_on() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    owner.join("a", &["orders"]);
    let end = GroupValue::Group(Some(share_state_core::share_group::GroupMetadata {
        epoch: i32::MAX,
        metadata_hash: 1,
    }));
    owner.groups.replay(&GroupRecord {
        group: "g".into(),
        value: end,
    });
    for member in ["a", "b"] {
        let error = owner
            .heartbeat("g", member, 0, Some(&["orders", "jobs"]))
            .unwrap_err();
        assert_eq!(error.kafka_code(), KafkaCode::UnknownServerError);
    }
    assert!(owner.missing("b", 0, Some(&["orders", "jobs"])).is_empty());
}
