//! Configurations of groups, and states that were changed elsewhere.

use share_state_core::limits::{IsolationLevel, ShareGroupConfig};
use share_state_gateway::node::Limits;

use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B, config};
use crate::world::World;

fn world() -> World {
    World::with(Limits::default(), &[A, B])
}

/// A fetch in a group of its own.
fn of(group: &str, epoch: i32) -> Fetch {
    let mut fetch = Fetch::of("m", epoch);
    fetch.group = group.to_owned();
    fetch
}

#[test]
fn a_group_that_changes_its_isolation_level_reads_another_ring() {
    let (mut world, id) = (world(), place(1, 0));
    let committed = ShareGroupConfig {
        isolation_level: IsolationLevel::ReadCommitted,
        ..config()
    };
    assert_eq!(world.node.configure("group", committed, world.now), Ok(()));
    world.produce(id, 2);
    for (connection, group) in [(A, "group"), (B, "other")] {
        let mut fetch = of(group, 0).adding(&[id]).waiting(9);
        fetch.max_records = 2;
        assert_eq!(world.fetch(connection, &fetch).row().acquired, [(0, 1, 1)]);
    }
    // A ring for each level.
    assert_eq!((world.node.sizes().1, world.reads), (2, 2));
    assert_eq!(world.node.configure("group", config(), world.now), Ok(()));
    assert_eq!(world.node.sizes().1, 1);
    let given = world.fetch(A, &of("group", 1));
    assert_eq!(given.row().acquired, [(2, 3, 1)]);
    // What the other group has had read is at hand.
    assert_eq!(world.reads, 2);
}

#[test]
fn a_shorter_lock_runs_out_before_longer_ones() {
    let (mut world, id) = (world(), place(1, 0));
    world.produce(id, 2);
    let mut fetch = Fetch::of("a", 0).adding(&[id]).waiting(9);
    fetch.max_records = 2;
    assert_eq!(world.fetch(A, &fetch).row().acquired, [(0, 1, 1)]);
    let short = ShareGroupConfig {
        record_lock_duration_ms: 300,
        ..config()
    };
    assert_eq!(world.node.configure("group", short, world.now), Ok(()));
    (fetch.epoch, fetch.added) = (1, Vec::new());
    assert_eq!(world.fetch(A, &fetch).row().acquired, [(2, 3, 1)]);
    world.feed(B, &Fetch::of("b", 0).adding(&[id]).waiting(5_000).frame(1));
    world.pass(299);
    assert_eq!(world.frame(B), None);
    world.pass(1);
    assert_eq!(world.answer(B, 78).unwrap().row().acquired, [(2, 3, 2)]);
    // The first lock holds as long as it was promised.
    world.pass(699);
    let held = world.acknowledge(A, &Acknowledge::of("a", 2, &[(id, 0, 1, 1)]));
    assert_eq!(held.row().acknowledged, 0);
}

#[test]
fn a_configuration_that_cannot_be_used_changes_nothing() {
    let (mut world, id) = (world(), place(1, 0));
    world.produce(id, 1);
    world.fetch(A, &Fetch::of("a", 0).adding(&[id]).waiting(9));
    let wrong = ShareGroupConfig {
        record_lock_duration_ms: 0,
        ..config()
    };
    let refused = world.node.configure("group", wrong, world.now);
    assert_eq!(refused.unwrap_err().name, "share.record.lock.duration.ms");
    world.pass(999);
    let held = world.acknowledge(A, &Acknowledge::of("a", 1, &[(id, 0, 1, 1)]));
    assert_eq!(held.row().acknowledged, 0);
}

#[test]
fn states_that_were_changed_elsewhere_are_loaded_again_in_that_group_alone() {
    let mut world = world();
    let places = [place(1, 0), place(2, 0)];
    for id in places {
        world.produce(id, 1);
    }
    let batches = places.map(|id| (id, 0, 1, 1));
    for (connection, group) in [(A, "group"), (B, "other")] {
        // Each place by itself: both are read while a fetch waits.
        for (epoch, id) in (0..).zip(places) {
            let fetch = of(group, epoch).adding(&[id]).waiting(9);
            assert_eq!(world.fetch(connection, &fetch).row().id, id);
        }
    }
    let topic_id = places[1].topic_id;
    world.node.state_changed(Some("group"), topic_id, world.now);
    world.drive();
    for (connection, group, codes) in [(A, "group", [0, 121]), (B, "other", [0, 0])] {
        let mut request = Acknowledge::of("m", 2, &batches);
        request.group = group.to_owned();
        let told = world.acknowledge(connection, &request);
        let told: Vec<_> = told.rows.iter().map(|row| row.acknowledged).collect();
        assert_eq!(told, codes, "{group}");
    }
}
