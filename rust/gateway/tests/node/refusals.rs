//! Refusals: of a whole request, and of a partition; with the codes that clients survive.

use std::sync::Arc;

use share_state_core::share_session::TopicIdPartition;
use share_state_core::time::LockTime;
use share_state_gateway::node::{
    Access, Home, Leader, Limits, Resource, Rule, Slot, Slots, Topics,
};

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B, LEADER_EPOCH};
use crate::world::World;

fn world() -> World {
    World::with(Limits::default(), &[A, B])
}

#[test]
fn a_request_that_nobody_may_make_is_refused_as_a_whole() {
    let mut world = world();
    let long = "m".repeat(37);
    let renewal = |max_wait_ms| {
        let mut fetch = Fetch::of("m", 1);
        (fetch.is_renewal, fetch.max_records, fetch.max_bytes) = (true, 0, 0);
        (fetch.min_bytes, fetch.max_wait_ms) = (0, max_wait_ms);
        fetch
    };
    let of = |change: &dyn Fn(&mut Fetch)| {
        let mut fetch = Fetch::of("m", 0);
        change(&mut fetch);
        fetch
    };
    for (fetch, code) in [
        (of(&|fetch| fetch.group.clear()), 42),
        (of(&|fetch| fetch.member.clear()), 42),
        (of(&|fetch| fetch.member.clone_from(&long)), 42),
        (of(&|fetch| fetch.mode = 2), -1),
        (of(&|fetch| fetch.epoch = 1), 122),
        (of(&|fetch| fetch.epoch = -1), 122),
        (
            of(&|fetch| fetch.acknowledged.push((place(1, 0), 0, 0, 1))),
            42,
        ),
        (of(&|_| {}), 0),
        (of(&|fetch| fetch.epoch = 5), 123),
        (renewal(1), 42),
        (renewal(0), 0),
    ] {
        assert_eq!(world.fetch(A, &fetch).error, code, "{fetch:?}");
    }
    for (member, epoch, code) in [("m", 0, 123), ("m", 9, 123), ("other", 1, 122), ("", 1, 42)] {
        let told = world.acknowledge(A, &Acknowledge::of(member, epoch, &[]));
        assert_eq!(told.error, code, "{member} {epoch}");
    }
}

#[test]
fn a_member_without_room_is_told_so_after_the_time_that_it_would_wait() {
    let limits = Limits {
        sessions: 1,
        ..Limits::default()
    };
    let mut world = World::with(limits, &[A, B]);
    world.fetch(A, &Fetch::of("a", 0));
    assert_eq!(world.fetch(B, &Fetch::of("b", 0)).error, 133);
    world.feed(B, &Fetch::of("b", 0).waiting(500).frame(1));
    world.pass(499);
    assert_eq!(world.frame(B), None);
    world.pass(1);
    assert_eq!(world.answer(B, 78).unwrap().error, 133);
    world.feed(B, &Fetch::of("b", 0).waiting(500).frame(1));
    world.close(B);
    world.pass(500);
    assert_eq!(world.frame(B), None);
}

#[test]
fn a_member_without_room_waits_no_longer_than_clients_survive_and_others_do_not_wait() {
    let limits = Limits {
        sessions: 1,
        ..Limits::default()
    };
    let mut world = World::with(limits, &[A, B]);
    world.fetch(A, &Fetch::of("a", 0));
    for (member, epoch, code) in [("a", 9, 123), ("b", 4, 122)] {
        let refused = world.fetch(A, &Fetch::of(member, epoch).waiting(500));
        assert_eq!(refused.error, code);
    }
    world.feed(B, &Fetch::of("b", 0).waiting(i32::MAX).frame(1));
    world.pass(24_999);
    assert_eq!(world.frame(B), None);
    world.pass(1);
    assert_eq!(world.answer(B, 78).unwrap().error, 133);
    assert_eq!(world.fetch(B, &Fetch::of("b", 0).waiting(-1)).error, 133);
}

#[test]
fn the_group_is_checked_before_the_member() {
    let mut world = world();
    let rules = vec![rule(Resource::Group, "g", false, true)];
    world.node.set_access(Access::new(rules, []));
    let (id, long) = ("m".repeat(36), "m".repeat(37));
    for (group, member, code) in [
        ("", "m", 42),
        ("h", "m", 30),
        ("h", "", 30),
        ("g", "", 42),
        ("g", &long, 42),
        ("g", &id, 0),
    ] {
        let mut fetch = Fetch::of(member, 0);
        fetch.group = group.to_owned();
        assert_eq!(world.fetch(A, &fetch).error, code, "{group} {member}");
        let mut request = Acknowledge::of(member, 1, &[]);
        request.group = group.to_owned();
        assert_eq!(world.acknowledge(A, &request).error, code);
    }
}

#[test]
fn a_session_of_more_partitions_than_a_request_may_have_is_ended() {
    let limits = Limits {
        elements: 5,
        ..Limits::default()
    };
    let mut world = World::with(limits, &[A]);
    world.fetch(A, &Fetch::of("m", 0).adding(&[place(1, 0), place(1, 1)]));
    world.fetch(A, &Fetch::of("m", 1).adding(&[place(1, 2), place(2, 0)]));
    let last = Fetch::of("m", 2).adding(&[place(2, 1), place(2, 2)]);
    assert_eq!(world.fetch(A, &last).error, 42);
    assert_eq!(world.fetch(A, &Fetch::of("m", 3)).error, 122);
}

#[test]
fn a_partition_that_nobody_has_is_refused_by_itself() {
    let mut world = world();
    let asked = [
        place(1, 0),
        place(1, 3),
        place(1, -1),
        place(9, 0),
        place(7, 0),
    ];
    let told = world.fetch(A, &Fetch::of("m", 0).adding(&asked));
    let codes: Vec<_> = told.rows.iter().map(|row| (row.id, row.error)).collect();
    let expected = [
        (place(1, 3), 3),
        (place(1, -1), 3),
        (place(9, 0), 3),
        (place(7, 0), 100),
    ];
    assert_eq!(codes.len(), 4);
    for row in expected {
        assert!(codes.contains(&row), "{codes:?}");
    }
}

fn rule(resource: Resource, name: &str, prefixed: bool, allow: bool) -> Rule {
    Rule {
        principal: Arc::from("User:ANONYMOUS"),
        resource,
        name: Arc::from(name),
        prefixed,
        allow,
    }
}

#[test]
fn groups_and_topics_are_read_by_those_who_may() {
    let mut world = world();
    let rules = vec![
        rule(Resource::Group, "gr", true, true),
        rule(Resource::Topic, "*", false, true),
        rule(Resource::Topic, "topic-2", false, false),
    ];
    world.node.set_access(Access::new(rules, []));
    let mut other = Fetch::of("m", 0);
    other.group = "other".to_owned();
    assert_eq!(world.fetch(A, &other).error, 30);
    let asked = [place(1, 0), place(2, 0)];
    let told = world.fetch(A, &Fetch::of("m", 0).adding(&asked));
    assert_eq!((told.row().id, told.row().error), (place(2, 0), 29));
    let lost = world.acknowledge(A, &Acknowledge::of("m", 1, &[(place(2, 0), 0, 0, 1)]));
    assert_eq!(lost.row().acknowledged, 29);
    let nobody = Access::new(Vec::new(), []);
    world.node.set_access(nobody);
    assert_eq!(world.fetch(A, &Fetch::of("m", 2)).error, 30);
    let by_name = Access::new(Vec::new(), [Arc::from("User:ANONYMOUS")]);
    world.node.set_access(by_name);
    assert_eq!(world.fetch(A, &Fetch::of("m", 2)).error, 0);
}

/// Every partition at another node.
fn elsewhere() -> Slots {
    let slot = Slot {
        home: Home::At(Leader {
            node_id: 5,
            host: Arc::from("other.example"),
            port: 9093,
        }),
        leader_epoch: 11,
    };
    Slots::several(slot, Vec::new())
}

#[test]
fn a_partition_that_is_elsewhere_is_answered_with_a_hint() {
    let (mut world, id) = (world(), place(1, 0));
    world.produce(id, 1);
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]).waiting(9));
    world.feed(B, &Fetch::of("b", 0).adding(&[id]).waiting(500).frame(1));
    world.node.set_slots(elsewhere(), world.now);
    world.drive();
    // It was here when the fetch began: the client asks again and is told.
    assert_eq!(world.answer(B, 78).unwrap().rows, []);
    let moved = world.fetch(B, &Fetch::of("b", 1));
    assert_eq!((moved.row().error, moved.row().leader), (6, (5, 11)));
    assert_eq!(moved.nodes, [5]);
    let told = world.acknowledge(A, &Acknowledge::of("m", 1, &[(id, 0, 1, 1)]));
    assert_eq!((told.row().acknowledged, told.row().leader), (6, (5, 11)));
    assert_eq!(told.nodes, [5]);
    let nobody = Slot {
        home: Home::Unknown,
        leader_epoch: 12,
    };
    world
        .node
        .set_slots(Slots::several(nobody, Vec::new()), world.now);
    let lost = world.fetch(B, &Fetch::of("b", 2));
    assert_eq!((lost.row().error, lost.row().leader), (6, (-1, -1)));
    world
        .node
        .set_slots(Slots::one(LEADER_EPOCH + 1), world.now);
    let back = world.fetch(B, &Fetch::of("b", 3).waiting(9));
    assert_eq!(back.row().acquired, [(0, 1, 1)]);
}

#[test]
fn a_topic_that_goes_ends_the_wait_for_it() {
    let (mut world, id) = (world(), place(1, 0));
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]));
    world.feed(A, &Fetch::of("m", 1).waiting(500).frame(1));
    world.node.set_topics(Topics::default());
    world.drive();
    assert_eq!(world.frame(A), None);
    world.node.topic_deleted(id.topic_id, LockTime(0));
    world.drive();
    assert_eq!(world.answer(A, 78).unwrap().row().error, 100);
    assert_eq!(world.node.sizes(), (0, 0, 0));
}

#[test]
fn a_group_that_nobody_names_is_forgotten() {
    let (mut world, id): (_, TopicIdPartition) = (world(), place(1, 0));
    world.produce(id, 1);
    world.fetch(A, &Fetch::of("m", 0).adding(&[id]).waiting(9));
    world.pass(100);
    world.node.sweep(world.now, world.now);
    assert_eq!(world.node.sizes().0, 1, "records are held");
    world.close(A);
    world.node.sweep(world.now, world.now);
    world.drive();
    assert_eq!(world.node.sizes(), (0, 0, 0));
    assert_eq!(world.node.remains(), [0; 4]);
}
