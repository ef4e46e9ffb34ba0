//! Topics that come, grow and go, and the start of the share partitions that are initialised.

use share_state_core::share_group::Uninitialized;

use super::support::{JOBS, ORDERS, Owner, altered, partitions};

const fn new(partition: i32, state_epoch: i32, start_offset: i64) -> Uninitialized {
    Uninitialized {
        topic_id: ORDERS,
        partition,
        state_epoch,
        start_offset,
    }
}

#[test]
fn a_new_topic_starts_where_the_configuration_says() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    let topics: Option<&[&str]> = Some(&["orders", "nothing"]);
    let missing = owner.missing("a", 0, topics);
    assert_eq!(missing, [new(0, 1, -1), new(1, 1, -1)]);
    assert_eq!(owner.missing("a", 3, None), [], "a heartbeat to be refused");
    assert_eq!(owner.missing("a", -1, None), [], "a member that leaves");
    assert_eq!(owner.missing("a", 0, None), [], "a malformed one");
}

#[test]
fn topics_that_nobody_knows_are_those_that_a_member_waits_for() {
    let mut owner = Owner::new();
    let unknown = |owner: &Owner| Vec::from_iter(owner.groups.unknown_topics());
    assert!(unknown(&owner).is_empty());
    owner.topics(&[("orders", 1)]);
    owner.join("a", &["orders", "jobs"]);
    owner.join("b", &["jobs", "never"]);
    let names = ["jobs", "never", "orders"].map(std::sync::Arc::from);
    assert_eq!(unknown(&owner), names[..2]);
    owner.topics(&[("jobs", 1)]);
    assert_eq!(unknown(&owner), names[1..2]);
    owner.leave("b").unwrap();
    assert!(unknown(&owner).is_empty());
    owner.topics(&[("jobs", 0), ("orders", 0)]);
    assert_eq!(unknown(&owner), [names[0].clone(), names[2].clone()]);
}

/// KAFKA-20742: what was written to a new partition before it was noticed is delivered.
#[test]
fn a_new_partition_of_a_known_topic_starts_at_its_beginning() {
    let mut owner = Owner::with_broker(&[("group.share.assignment.interval.ms", 0)]);
    owner.topics(&[("orders", 1)]);
    owner.join("a", &["orders"]);
    owner.topics(&[("orders", 3)]);
    assert_eq!(owner.missing("a", 1, None), [new(1, 2, 0), new(2, 2, 0)]);
    let answer = owner.beat("a", 1);
    assert_eq!(answer.member_epoch, 2);
    assert_eq!(answer.assignment.unwrap().len(), 3);
}

/// The second trap of Kafka's two stages: a topic whose first initialisation was never seen through.
#[test]
fn a_topic_that_was_only_being_initialised_starts_like_a_new_one() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 1)]);
    let begun = owner
        .groups
        .decide_begin_alter_offsets("g", &[altered("orders", 0)]);
    assert_eq!(owner.take(begun), Ok(1));
    assert_eq!(owner.missing("a", 0, Some(&["orders"])), [new(0, 2, -1)]);
}

#[test]
fn nothing_is_assigned_that_was_not_initialised() {
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    let topics: &[&str] = &["orders"];
    let request = super::support::heartbeat("g", "a", 0, Some(topics));
    // Of these one exists.
    let initialized = [(ORDERS, 1), (ORDERS, 2), (ORDERS, -1), (JOBS, 0)];
    let answer = owner.heartbeat_with(&request, &initialized).unwrap();
    assert_eq!(partitions(&answer.assignment.unwrap()), [(ORDERS, 1)]);
    owner.wait(1_000);
    assert_eq!(owner.missing("a", 1, None), [new(0, 2, 0)]);
}

#[test]
fn a_deleted_topic_leaves_everybody_and_may_come_back_under_another_id() {
    let mut owner = Owner::with_broker(&[("group.share.assignment.interval.ms", 0)]);
    owner.topics(&[("orders", 1), ("jobs", 1)]);
    owner.join("a", &["orders", "jobs"]);
    owner.topics(&[("orders", 0)]);
    let records = owner.groups.decide_topics_deleted(&[ORDERS]);
    assert_eq!(records.len(), 1);
    records
        .iter()
        .for_each(|record| owner.groups.replay(record));
    owner.log.push(records);
    assert!(owner.groups.decide_topics_deleted(&[ORDERS]).is_empty());
    let answer = owner.beat("a", 1);
    assert_eq!(answer.member_epoch, 2);
    assert_eq!(partitions(&answer.assignment.unwrap()), [(JOBS, 0)]);
    let records = owner.log.len();
    owner.beat("a", 2);
    assert_eq!(owner.log.len(), records, "and that is all");
}

#[test]
fn a_deleted_topic_leaves_a_member_at_once_though_the_next_assignment_has_to_wait() {
    let mut owner = Owner::with_broker(&[("group.share.assignment.interval.ms", 5_000)]);
    owner.topics(&[("orders", 1), ("jobs", 1)]);
    owner.join("a", &["orders", "jobs"]);
    owner.topics(&[("orders", 0)]);
    let answer = owner.beat("a", 1);
    assert_eq!(answer.member_epoch, 1, "the target is the old one");
    assert_eq!(partitions(&answer.assignment.unwrap()), [(JOBS, 0)]);
}

#[test]
fn a_topic_that_is_gone_unannounced_is_not_assigned_and_comes_back() {
    let mut owner = Owner::with_broker(&[("group.share.assignment.interval.ms", 0)]);
    owner.topics(&[("orders", 1), ("jobs", 1)]);
    owner.join("a", &["orders", "jobs"]);
    owner.topics(&[("orders", 0)]);
    assert_eq!(
        partitions(&owner.beat("a", 1).assignment.unwrap()),
        [(JOBS, 0)]
    );
    let records = owner.log.len();
    assert_eq!(owner.beat("a", 2).member_epoch, 2);
    assert_eq!(
        owner.log.len(),
        records,
        "the group does not move on by itself"
    );
    owner.topics(&[("orders", 1)]);
    assert_eq!(owner.missing("a", 2, None), [], "its state is still there");
    assert_eq!(owner.beat("a", 2).assignment.unwrap().len(), 2);
}

#[test]
fn fewer_partitions_than_before_are_never_assigned() {
    let mut owner = Owner::with_broker(&[("group.share.assignment.interval.ms", 0)]);
    owner.topics(&[("orders", 3)]);
    owner.join("a", &["orders"]);
    owner.topics(&[("orders", 1)]);
    assert_eq!(owner.beat("a", 1).assignment.unwrap().len(), 1);
    assert_eq!(owner.beat("a", 2).assignment, None);
}

#[test]
fn topics_that_cannot_exist_are_refused_and_the_view_stays() {
    use share_state_core::ids::TopicId;
    use share_state_core::share_group::{MAX_TOPIC_PARTITIONS, Topic, TopicsError};
    let mut owner = Owner::new();
    owner.topics(&[("orders", 2)]);
    let topic = |name: &str, id, partitions| Topic {
        name: name.into(),
        id,
        partitions,
    };
    let too_many = MAX_TOPIC_PARTITIONS + 1;
    for (wrong, error) in [
        (
            topic("x", TopicId::ZERO, 1),
            TopicsError::ZeroId { name: "x".into() },
        ),
        (
            topic("x", JOBS, -1),
            TopicsError::Partitions {
                name: "x".into(),
                partitions: -1,
            },
        ),
        (
            topic("x", JOBS, too_many),
            TopicsError::Partitions {
                name: "x".into(),
                partitions: too_many,
            },
        ),
        (
            topic("y", ORDERS, 1),
            TopicsError::Repeated { name: "y".into() },
        ),
        (
            topic("orders", JOBS, 1),
            TopicsError::Repeated {
                name: "orders".into(),
            },
        ),
    ] {
        let topics = vec![topic("orders", ORDERS, 1), wrong];
        assert_eq!(
            owner.groups.set_topics(topics),
            Err(error.clone()),
            "{error}"
        );
        assert_eq!(owner.missing("a", 0, Some(&["orders", "x"])).len(), 2);
    }
}

#[test]
fn a_topic_that_changed_moves_the_group_on_once() {
    let mut owner = Owner::with_broker(&[("group.share.assignment.interval.ms", 0)]);
    owner.topics(&[("orders", 1), ("jobs", 1)]);
    owner.join("a", &["orders"]);
    let mut epoch = 1;
    let mut beat = |owner: &mut Owner, moved: i32| {
        let request = super::support::heartbeat("g", "a", epoch, None);
        epoch += moved;
        let answer = owner.heartbeat_with(&request, &[]).unwrap();
        assert_eq!(answer.member_epoch, epoch);
    };
    owner.topics(&[("jobs", 2)]);
    beat(&mut owner, 0);
    // Also before the new partition has state.
    owner.topics(&[("orders", 2)]);
    beat(&mut owner, 1);
    beat(&mut owner, 0);
    owner.topics(&[("orders", 0)]);
    beat(&mut owner, 1);
    beat(&mut owner, 0);
}

#[test]
fn states_that_went_while_the_group_was_calm_are_missed() {
    let mut owner = Owner::with_broker(&[("group.share.assignment.interval.ms", 0)]);
    owner.topics(&[("orders", 2)]);
    owner.join("a", &["orders"]);
    owner.beat("a", 1);
    let records = owner.groups.decide_topics_deleted(&[ORDERS]);
    let records = records.iter();
    records.for_each(|record| owner.groups.replay(record));
    assert_eq!(owner.missing("a", 1, None), [new(0, 1, -1), new(1, 1, -1)]);
}
