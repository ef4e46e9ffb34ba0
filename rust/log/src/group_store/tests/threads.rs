//! Many who wait: one sync serves all of them, and tickets tell the truth.

use std::sync::Barrier;

use super::*;

#[test]
fn verbs_that_are_waited_for_together_share_a_sync() {
    let disk = SimDisk::default();
    let store = open(&disk, &GroupStoreConfig::default()).unwrap();
    let fsyncs = store.counters().fsyncs;
    let members = ["a", "b", "c", "d", "e", "f"];
    let tickets: Vec<_> = members
        .map(|member| Command::Beat(member, 0).begin(&store, 0).unwrap())
        .into();
    assert!(tickets.is_sorted_by(|a, b| a < b), "{tickets:?}");
    assert_eq!(store.is_durable(tickets[0]), Ok(false));
    assert_eq!(store.ticket(), Ok(tickets[5]));
    store.wait(tickets[2]).unwrap();
    assert_eq!(store.is_durable(tickets[5]), Ok(true));
    assert_eq!(store.ticket(), Ok(0));
    // The first batch makes the segment: that is a sync of the file and one of its name.
    assert_eq!(store.counters().fsyncs - fsyncs, 2);
    assert_eq!((store.counters().writes, store.counters().batches), (6, 1));
}

#[test]
fn an_answer_that_writes_nothing_waits_for_what_it_rests_on() {
    let disk = SimDisk::default();
    let store = open(&disk, &GroupStoreConfig::default()).unwrap();
    let join = Command::Beat("a", 0).begin(&store, 0).unwrap();
    let idle = Command::Beat("a", 1).begin(&store, 0).unwrap();
    assert_eq!(idle, join);
    store.wait(idle).unwrap();
    assert_eq!(Command::Beat("a", 1).begin(&store, 0), Ok(0));
}

#[test]
fn a_ticket_that_was_never_given_out_is_no_trap() {
    let disk = SimDisk::default();
    let store = open(&disk, &GroupStoreConfig::default()).unwrap();
    for ticket in [i64::MIN, -1, 0, 7, i64::MAX] {
        assert_eq!(store.wait(ticket), Ok(()));
        assert_eq!(store.is_durable(ticket), Ok(true));
    }
    Command::Beat("a", 0).begin(&store, 0).unwrap();
    store.wait(i64::MAX).unwrap();
    assert_eq!(store.ticket(), Ok(0));
}

#[test]
fn many_threads_join_and_wait_and_all_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let config = GroupStoreConfig {
        rewrite_bytes: 4096,
        ..GroupStoreConfig::default()
    };
    let store = ShareGroupStore::open(dir.path(), &config).unwrap();
    store.set_topics(topics()).unwrap().unwrap();
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (store, barrier) = (&store, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for round in 0..20 {
                    let group = format!("g{}", round % 3);
                    let member = format!("m{thread}");
                    let request = Heartbeat {
                        group: &group,
                        member: &member,
                        member_epoch: if round % 4 == 3 { -1 } else { 0 },
                        rack: None,
                        topics: Some(&["orders"]),
                        client_id: "",
                        client_host: "",
                    };
                    let missing = store.to_initialize(&request).unwrap();
                    let new: Vec<_> = missing.iter().map(|m| (m.topic_id, m.partition)).collect();
                    let now = 1_000 * round;
                    let accepted = store
                        .heartbeat(&request, &new, LockTime(now), WallTime(now))
                        .unwrap();
                    store.wait(accepted.ticket).unwrap();
                    assert_eq!(store.is_durable(accepted.ticket), Ok(true));
                }
            });
        }
    });
    let left = state(&store);
    store.look(|groups| groups.check()).unwrap().answer.unwrap();
    assert!(store.counters().pruned_segments > 0);
    store.close().unwrap();
    assert_eq!(
        state(&ShareGroupStore::open(dir.path(), &config).unwrap()),
        left
    );
}
