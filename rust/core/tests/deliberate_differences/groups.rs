//! G: share groups, where Kafka's coordinator needs two steps, a hash map's order or a clock that never goes back.

use std::sync::Arc;

use share_state_core::assignor::{AssignableTopics, Assignment, Subscriber, assign};
use share_state_core::ids::TopicId;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_group::{
    AlteredPartition, Decision, GroupError, GroupRecord, GroupValue, Heartbeat, HeartbeatAnswer,
    Numbers, ShareGroups, Topic,
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

fn g7_a_target_holds_only_what_can_be_assigned() {
    let other = TopicId([8; 16]);
    let held: Assignment = [(TOPIC, 0), (TOPIC, 5), (other, 0)].into_iter().collect();
    let member = |topics: &[TopicId], current| Subscriber {
        topics: topics.iter().copied().collect(),
        current,
    };
    let topics = AssignableTopics::from([(TOPIC, [0].into()), (other, [0].into())]);
    // The two differ in their topics, and nobody subscribes to the other one.
    let nothing = Assignment::EMPTY;
    let members = [member(&[TOPIC], &held), member(&[], &nothing)];
    let targets = assign(&members, &topics).unwrap();
    assert!(targets[0].partitions().eq([(TOPIC, 0)]));
    assert!(targets[1].is_empty());

    let mut groups = groups();
    beat(&mut groups, "a", 0, WALL);
    let stale = GroupRecord {
        group: "g".into(),
        value: GroupValue::TargetMember("a".into(), Some(held)),
    };
    groups.replay(&stale);
    let later = WallTime(WALL.0 + 1_000);
    let answer = beat(&mut groups, "a", 1, later);
    assert_eq!(answer.member_epoch, 2);
    let told = answer.assignment.unwrap();
    assert!(told.partitions().eq([(TOPIC, 0), (TOPIC, 1)]));
}

fn g8_a_group_begins_with_epoch_1() {
    let mut groups = groups();
    assert_eq!(beat(&mut groups, "a", 0, WALL).member_epoch, 1);
    assert_eq!(groups.describe("g").unwrap().epoch, 1);
}

fn g9_every_topic_of_a_request_is_answered() {
    let mut groups = groups();
    let decided = groups.decide_heartbeat(&heartbeat("a", 0), &[], WALL);
    take(&mut groups, decided);
    let left = groups.decide_expire("g", "a");
    take(&mut groups, left);
    let begun = groups.decide_begin_delete_offsets("g", &[TOPIC]).unwrap();
    assert_eq!(begun.answer, [(TOPIC, None)]);
}

fn g10_a_member_id_is_at_most_36_characters_long() {
    let groups = groups();
    let longest = heartbeat("123456789012345678901234567890123456", 0);
    assert!(groups.decide_heartbeat(&longest, &[], WALL).is_ok());
    let longer = heartbeat("1234567890123456789012345678901234567", 0);
    let error = groups.decide_heartbeat(&longer, &[], WALL).unwrap_err();
    assert_eq!(error.kafka_code(), KafkaCode::InvalidRequest);
}

fn g11_what_is_being_deleted_is_not_forgotten() {
    let mut groups = groups();
    let begun = groups.decide_begin_alter_offsets("g", &[altered()]);
    take(&mut groups, begun);
    let finished = groups.decide_finish_alter_offsets("g", &[altered()]);
    take(&mut groups, finished);
    let begun = groups.decide_begin_delete_group("g");
    take(&mut groups, begun);
    groups.set_topics(Vec::new()).unwrap();
    let again = groups.decide_begin_delete_group("g").unwrap();
    assert!(again.records.is_empty(), "nothing new is to be said");
    let lists = groups.state_partitions("g").unwrap();
    assert!(lists.deleting.contains_key(&TOPIC));
}

fn g12_a_topic_is_listed_with_its_partitions() {
    let mut groups = groups();
    let begun = groups.decide_begin_alter_offsets("g", &[]);
    take(&mut groups, begun);
    assert!(groups.state_partitions("g").is_none());
}

fn g13_a_member_that_missed_its_assignment_gets_it_again() {
    let mut groups = groups();
    beat(&mut groups, "a", 0, WALL);
    let later = WallTime(WALL.0 + 1_000);
    beat(&mut groups, "b", 0, later);
    let mut request = heartbeat("a", 1);
    request.topics = None;
    let mut told = || {
        let decided = groups.decide_heartbeat(&request, &[], later);
        take(&mut groups, decided).assignment
    };
    // The first is a late one, and nobody sees its answer.
    assert!(told().is_some_and(|told| told.partitions().eq([(TOPIC, 0)])));
    assert!(told().is_some_and(|told| told.partitions().eq([(TOPIC, 0)])));
    request.member_epoch = 2;
    let known = groups.decide_heartbeat(&request, &[], later);
    assert_eq!(take(&mut groups, known).assignment, None);
}

crate::differences!(once:
    G1 g1_members_of_a_lost_group_join_again,
    G2 g2_what_is_initialised_is_assigned_at_once,
    G3 g3_no_partition_is_passed_over_and_the_same_question_has_one_answer,
    G4 g4_a_member_whose_assignment_is_due_comes_back_soon,
    G5 g5_altered_offsets_have_a_state_epoch_of_their_own,
    G6 g6_a_wall_clock_that_goes_back_holds_no_assignment_up,
    G7 g7_a_target_holds_only_what_can_be_assigned,
    G8 g8_a_group_begins_with_epoch_1,
    G9 g9_every_topic_of_a_request_is_answered,
    G10 g10_a_member_id_is_at_most_36_characters_long,
    G11 g11_what_is_being_deleted_is_not_forgotten,
    G12 g12_a_topic_is_listed_with_its_partitions,
    G13 g13_a_member_that_missed_its_assignment_gets_it_again,
);
