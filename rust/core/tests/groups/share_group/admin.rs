//! Alter, delete, describe.

use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_group::GroupState;

use super::support::{JOBS, MAILS, ORDERS, Owner, altered, partitions};

#[test]
fn altering_makes_a_group_and_raises_the_epoch_of_one_that_is_there() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    for epoch in [1, 2] {
        let begun = owner
            .groups
            .decide_begin_alter_offsets("g", &[altered("orders", 1)]);
        assert_eq!(owner.take(begun), Ok(epoch));
        assert_eq!(owner.last_types(), [11, 12, 15]);
        assert_eq!(owner.epochs("g"), (epoch, epoch));
        let finished = owner
            .groups
            .decide_finish_alter_offsets("g", &[altered("orders", 1)]);
        assert_eq!(owner.take(finished), Ok(()));
        let lists = owner.groups.state_partitions("g").unwrap();
        assert!(lists.initializing.is_empty());
        assert_eq!(lists.initialized[&ORDERS].partitions, [1].into());
    }
    // What was altered is not initialised again; the rest of the topic is known by then.
    let missing = owner.missing("a", 0, Some(&["orders"]));
    let missing: Vec<_> = missing
        .iter()
        .map(|m| (m.partition, m.state_epoch, m.start_offset))
        .collect();
    assert_eq!(missing, [(0, 3, 0)]);
}

#[test]
fn altering_nothing_makes_no_group_and_writes_nothing() {
    let mut owner = Owner::new();
    let begun = owner.groups.decide_begin_alter_offsets("g", &[]);
    assert_eq!(owner.take(begun), Ok(0));
    let finished = owner.groups.decide_finish_alter_offsets("g", &[]);
    assert_eq!(owner.take(finished), Ok(()));
    assert!(owner.groups.is_empty() && owner.log.is_empty());
    owner.topics(&[("orders", 1)]);
    owner.join("a", &["orders"]);
    let begun = owner.groups.decide_begin_alter_offsets("g", &[]);
    assert_eq!(begun.unwrap_err().kafka_code(), KafkaCode::NonEmptyGroup);
}

#[test]
fn a_group_with_members_is_neither_altered_nor_deleted() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    owner.join("a", &["orders"]);
    let groups = &owner.groups;
    let code = KafkaCode::NonEmptyGroup;
    let altering = groups.decide_begin_alter_offsets("g", &[altered("orders", 0)]);
    assert_eq!(altering.unwrap_err().kafka_code(), code);
    let deleting = groups.decide_begin_delete_offsets("g", &[ORDERS]);
    assert_eq!(deleting.unwrap_err().kafka_code(), code);
    assert_eq!(
        groups
            .decide_begin_delete_group("g")
            .unwrap_err()
            .kafka_code(),
        code
    );
    assert_eq!(
        groups
            .decide_finish_delete_group("g")
            .unwrap_err()
            .kafka_code(),
        code
    );
}

#[test]
fn offsets_are_deleted_topic_by_topic() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2), ("jobs", 1), ("mails", 1)]);
    owner.join("a", &["orders", "jobs"]);
    owner.leave("a").unwrap();
    let begun = owner
        .groups
        .decide_begin_delete_offsets("g", &[MAILS, ORDERS, ORDERS]);
    let answer = owner.take(begun).unwrap();
    assert_eq!(answer, [(ORDERS, Some(vec![0, 1])), (MAILS, None)]);
    let lists = owner.groups.state_partitions("g").unwrap();
    assert_eq!(&*lists.deleting[&ORDERS], "orders");
    assert_eq!(lists.initialized.keys().collect::<Vec<_>>(), [&JOBS]);

    // The caller crashed in between and tries again: nobody knows what is left.
    owner.topics(&[("orders", 3)]);
    let begun = owner
        .groups
        .decide_begin_delete_offsets("g", &[ORDERS])
        .unwrap();
    assert!(begun.records.is_empty());
    assert_eq!(begun.answer, [(ORDERS, Some(vec![0, 1, 2]))]);

    let finished = owner.groups.decide_finish_delete_offsets("g", &[ORDERS]);
    assert_eq!(owner.take(finished), Ok(()));
    assert!(
        owner
            .groups
            .state_partitions("g")
            .unwrap()
            .deleting
            .is_empty()
    );
    let begun = owner
        .groups
        .decide_begin_delete_offsets("g", &[ORDERS])
        .unwrap();
    assert_eq!(begun.answer, [(ORDERS, None)]);
    // Consumed again, the topic is a new one.
    let missing = owner.missing("b", 0, Some(&["orders"]));
    assert!(missing.iter().all(|new| new.start_offset == -1));
    assert_eq!(missing.len(), 3);
}

#[test]
fn a_deleted_group_leaves_nothing() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2), ("jobs", 1)]);
    owner.join("a", &["orders"]);
    owner.leave("a").unwrap();
    let altering = owner
        .groups
        .decide_begin_alter_offsets("g", &[altered("jobs", 0)]);
    owner.take(altering).unwrap();
    let begun = owner.groups.decide_begin_delete_group("g");
    let states = owner.take(begun).unwrap();
    assert_eq!(partitions(&states), [(ORDERS, 0), (ORDERS, 1), (JOBS, 0)]);
    let lists = owner.groups.state_partitions("g").unwrap();
    assert_eq!(lists.deleting.len(), 2);
    // Tried again after a crash, it names what may be left.
    let again = owner.groups.decide_begin_delete_group("g").unwrap();
    assert_eq!((again.records.len(), again.answer), (0, states));
    let finished = owner.groups.decide_finish_delete_group("g");
    owner.take(finished).unwrap();
    assert_eq!(owner.last_types(), [12, 15, 11]);
    assert!(owner.groups.is_empty());
    assert_eq!(owner.groups.live_records().count(), 0);
    let gone = owner.groups.decide_begin_delete_group("g").unwrap_err();
    assert_eq!(gone.kafka_code(), KafkaCode::GroupIdNotFound);
    assert_eq!(owner.groups.describe("g"), None);
    assert_eq!(owner.groups.state_partitions("g"), None);
}

#[test]
fn a_group_is_described_as_its_members_know_it() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    owner.join("b", &["orders"]);
    owner.join("a", &["orders"]);
    let described = owner.groups.describe("g").unwrap();
    assert_eq!((described.epoch, described.assignment_epoch), (2, 1));
    assert_eq!(
        (described.state.name(), described.assignor),
        ("Stable", "simple")
    );
    let members: Vec<_> = described
        .members
        .iter()
        .map(|m| (&*m.id, m.epoch, m.assigned.len()))
        .collect();
    assert_eq!(members, [("a", 1, 0), ("b", 1, 2)]);
    let listed: Vec<_> = owner
        .groups
        .list()
        .map(|(id, state)| (&**id, state))
        .collect();
    assert_eq!(listed, [("g", GroupState::Stable)]);
}
