//! Keys and values byte for byte.

use share_state_core::assignor::Assignment;
use share_state_core::ids::TopicId;
use share_state_core::share_group::{
    CurrentAssignment, GroupMetadata, MemberMetadata, NamedPartitions, StatePartitions,
    TargetAssignmentMetadata,
};

use super::*;

#[test]
fn what_kafkas_classes_write_comes_back_byte_for_byte() {
    let mut types = [0; 6];
    for (key, value) in recorded() {
        let record = read(&key, value.as_deref());
        assert_eq!(encode_key(&record), Ok(key.clone()));
        assert_eq!(encode_value(&record.value), Ok(value));
        types[usize::from(key[1]) - 10] += 1;
    }
    assert_eq!(types, [4, 3, 3, 3, 3, 3]);
}

fn id(number: u8) -> TopicId {
    let mut id = [number; 16];
    id[8..].fill(2 * number);
    TopicId(id)
}

/// The last record of each type, as it was given to Kafka's classes.
#[test]
fn what_kafkas_classes_write_means_what_was_given_to_them() {
    let mut last: Vec<Option<GroupRecord>> = vec![None; 6];
    for (key, value) in recorded() {
        last[usize::from(key[1]) - 10] = Some(read(&key, value.as_deref()));
    }
    let values: Vec<_> = last
        .into_iter()
        .flatten()
        .map(|record| record.value)
        .collect();
    let member: Arc<str> = Arc::from("m");
    let topics: Assignment = [(id(1), 0), (id(1), 1), (id(1), 2), (id(2), i32::MAX)]
        .into_iter()
        .collect();
    let named = |name: &str, partitions: &[i32]| NamedPartitions {
        name: Arc::from(name),
        partitions: partitions.iter().copied().collect(),
    };
    let expected = [
        GroupValue::Member(
            Arc::from(""),
            Some(MemberMetadata {
                rack_id: Some(Arc::from("")),
                client_id: "c".repeat(200).into(),
                client_host: Arc::from("h"),
                subscribed_topics: vec!["t".repeat(249).into()],
            }),
        ),
        GroupValue::Group(Some(GroupMetadata {
            epoch: i32::MAX,
            metadata_hash: i64::MIN,
        })),
        GroupValue::TargetAssignment(Some(TargetAssignmentMetadata {
            assignment_epoch: 8,
            assignment_timestamp: 1_700_000_000_000,
        })),
        GroupValue::TargetMember(Arc::clone(&member), Some(topics)),
        GroupValue::CurrentMember(
            member,
            Some(CurrentAssignment {
                member_epoch: 9,
                previous_member_epoch: -1,
                state: 0,
                assigned: [(id(3), 5)].into_iter().collect(),
            }),
        ),
        GroupValue::StatePartitions(Some(StatePartitions {
            initializing: [(id(1), named("jobs", &[3]))].into(),
            initialized: [
                (id(1), named("jobs", &[0, 1, 2])),
                (id(2), named("orders", &[0])),
            ]
            .into(),
            deleting: [(id(3), Arc::from("mails"))].into(),
        })),
    ];
    assert_eq!(values, expected);
}

#[test]
fn lists_in_any_order_and_with_repetitions_are_read_in_order_and_once() {
    let topic = |number: u8, partitions: &str| {
        let id: String = id(number)
            .0
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("{id}{partitions}00")
    };
    let (second, first) = (topic(2, "02 00000007"), topic(1, "03 00000001 00000000"));
    let value = format!("0000 04 {second}{first}{first} 00");
    let record = read(&hex("000d 0001 67 0001 6d"), Some(&hex(&value)));
    let GroupValue::TargetMember(_, Some(target)) = record.value else {
        panic!("{record:?}")
    };
    let partitions: Vec<_> = target.partitions().collect();
    assert_eq!(partitions, [(id(1), 0), (id(1), 1), (id(2), 7)]);
    // Topics c, a, a.
    let value = "0000 00 01 01 04 0263 0261 0261 00";
    let record = read(&hex("000a 0001 67 0001 6d"), Some(&hex(value)));
    let GroupValue::Member(_, Some(member)) = record.value else {
        panic!("{record:?}")
    };
    assert_eq!(member.subscribed_topics, ["a".into(), "c".into()]);
}

#[test]
fn what_cannot_be_written_is_refused() {
    let group = |group: &str, value| GroupRecord {
        group: group.into(),
        value,
    };
    let long = "x".repeat(32_768);
    let nothing = GroupValue::Group(None);
    assert!(encode_key(&group("", nothing.clone())).is_err());
    assert!(encode_key(&group(&long, nothing)).is_err());
    assert!(encode_key(&group("g", GroupValue::Member(Arc::from(&*long), None))).is_err());
    let lists = StatePartitions {
        deleting: [(id(1), Arc::from(&*long))].into(),
        ..StatePartitions::default()
    };
    assert!(encode_value(&GroupValue::StatePartitions(Some(lists))).is_err());
    let member = MemberMetadata {
        rack_id: None,
        client_id: Arc::from(""),
        client_host: Arc::from(""),
        subscribed_topics: vec![Arc::from(&*long)],
    };
    assert!(encode_value(&GroupValue::Member(Arc::from("m"), Some(member))).is_err());
}
