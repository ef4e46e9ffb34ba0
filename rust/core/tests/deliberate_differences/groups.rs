//! G1 to G6: share groups, where Kafka's coordinator needs two steps, a hash map's order or a clock that never goes back.

use std::sync::Arc;

use share_state_core::assignment::Assignment;
use share_state_core::assignor::{AssignableTopics, Subscriber, assign};
use share_state_core::ids::TopicId;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_group::{
    AlteredPartition, Decision, GroupError, Heartbeat, HeartbeatAnswer, Numbers, ShareGroups, Topic,
};
use share_state_core::time::WallTime;

const TOPIC: TopicId = TopicId([7; 16]);
const WALL: WallTime = WallTime(1_700_000_000_000);

fn groups() -> ShareGroups {
    let mut groups = ShareGroups::new(Numbers::new()).unwrap();
    groups
        .set_topics(vec![Topic {
            name: Arc::from("orders"),
            id: TOPIC,
            partitions: 2,
        }])
        .unwrap();
    groups
}

fn heartbeat(member: &'static str, member_epoch: i32) -> Heartbeat<'static> {
    Heartbeat {
        group: "g",
        member,
        member_epoch,
        rack: None,
        topics: Some(&["orders"]),
        client_id: "client",
        client_host: "/127.0.0.1",
    }
}

fn take<A>(groups: &mut ShareGroups, decided: Result<Decision<A>, GroupError>) -> A {
    let decision = decided.unwrap();
    decision
        .records
        .iter()
        .for_each(|record| groups.replay(record));
    decision.answer
}

fn beat(
    groups: &mut ShareGroups,
    member: &'static str,
    epoch: i32,
    wall: WallTime,
) -> HeartbeatAnswer {
    let request = heartbeat(member, epoch);
    let missing = groups.to_initialize(&request);
    let initialized: Vec<_> = missing
        .iter()
        .map(|new| (new.topic_id, new.partition))
        .collect();
    let decided = groups.decide_heartbeat(&request, &initialized, wall);
    take(groups, decided)
}

fn altered() -> AlteredPartition {
    AlteredPartition {
        topic_id: TOPIC,
        name: Arc::from("orders"),
        partition: 0,
    }
}

fn g1_members_of_a_lost_group_join_again() {
    let error = groups()
        .decide_heartbeat(&heartbeat("a", 5), &[], WALL)
        .unwrap_err();
    assert_eq!(error.kafka_code(), KafkaCode::UnknownMemberId);
}

fn g2_what_is_initialised_is_assigned_at_once() {
    let mut groups = groups();
    let answer = beat(&mut groups, "a", 0, WALL);
    assert_eq!(
        (answer.member_epoch, answer.assignment.unwrap().len()),
        (1, 2)
    );
    // A topic that is only being initialised begins like a new one.
    let mut groups = self::groups();
    let begun = groups.decide_begin_alter_offsets("g", &[altered()]);
    take(&mut groups, begun);
    let missing = groups.to_initialize(&heartbeat("a", 0));
    assert!(missing.iter().all(|new| new.start_offset == -1));
    assert_eq!(missing.len(), 2);
}

fn g3_no_partition_is_passed_over_and_the_same_question_has_one_answer() {
    let topics = AssignableTopics::from([(TOPIC, (0..3).collect())]);
    let held: Vec<Assignment> = [0, 1, 0, 1, 0]
        .map(|p| [(TOPIC, p)].into_iter().collect())
        .into();
    let members: Vec<_> = held
        .iter()
        .map(|current| Subscriber {
            topics: [TOPIC].into(),
            current,
        })
        .collect();
    let targets = assign(&members, &topics).unwrap();
    for partition in 0..3 {
        let holders = targets
            .iter()
            .filter(|target| target.contains(TOPIC, partition));
        assert_eq!(holders.count(), 2);
    }
    assert_eq!(assign(&members, &topics).unwrap(), targets);
}

fn g4_a_member_whose_assignment_is_due_comes_back_soon() {
    let mut groups = groups();
    beat(&mut groups, "a", 0, WALL);
    assert_eq!(beat(&mut groups, "b", 0, WALL).heartbeat_interval_ms, 1_000);
    let later = WallTime(WALL.0 + 1_000);
    assert_eq!(
        beat(&mut groups, "b", 1, later).heartbeat_interval_ms,
        5_000
    );
}

fn g5_altered_offsets_have_a_state_epoch_of_their_own() {
    let mut groups = groups();
    for epoch in 1..4 {
        let begun = groups.decide_begin_alter_offsets("g", &[altered()]);
        assert_eq!(take(&mut groups, begun), epoch);
        let described = groups.describe("g").unwrap();
        assert_eq!(
            (described.epoch, described.assignment_epoch),
            (epoch, epoch)
        );
    }
}

fn g6_a_wall_clock_that_goes_back_holds_no_assignment_up() {
    let mut groups = groups();
    beat(&mut groups, "a", 0, WALL);
    let answer = beat(&mut groups, "b", 0, WallTime(1));
    assert_eq!(
        (answer.member_epoch, answer.assignment.unwrap().len()),
        (2, 1)
    );
}

crate::differences!(once:
    G1 g1_members_of_a_lost_group_join_again,
    G2 g2_what_is_initialised_is_assigned_at_once,
    G3 g3_no_partition_is_passed_over_and_the_same_question_has_one_answer,
    G4 g4_a_member_whose_assignment_is_due_comes_back_soon,
    G5 g5_altered_offsets_have_a_state_epoch_of_their_own,
    G6 g6_a_wall_clock_that_goes_back_holds_no_assignment_up,
);
