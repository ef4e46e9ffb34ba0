//! Group commit: many threads, one log, nothing acknowledged is lost and no answer comes early.

use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use super::*;
use crate::disk::sim::Fault;

const THREADS: i32 = 8;
const WRITES: i64 = 60;

#[test]
fn what_any_thread_was_told_survives() {
    for partitions in [1, 3] {
        let dir = tempfile::tempdir().unwrap();
        let config = StoreConfig {
            partitions: Some(partitions),
            ..config()
        };
        let store = StateStore::open(dir.path(), &config, |_| ControlFlow::Continue(())).unwrap();
        let barrier = Barrier::new(THREADS as usize);
        std::thread::scope(|scope| {
            for n in 0..THREADS {
                let (store, barrier) = (&store, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    Command::Initialize(n).run(store, 0).unwrap();
                    for i in 0..WRITES {
                        store
                            .write(&key(n), &write_request(2 * i, 2 * i, 0), WallTime(i))
                            .unwrap();
                        assert_eq!(store.summary(&key(n)).unwrap().state_epoch, 1);
                    }
                });
            }
        });
        let counters = store.counters();
        assert_eq!(counters.writes, THREADS as u64 * (WRITES as u64 + 1));
        assert_eq!(counters.records, counters.writes);
        assert!(counters.batches <= counters.records);
        let states = store.states().unwrap();
        drop(store);
        let reopened =
            StateStore::open(dir.path(), &config, |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(reopened.recovery().batches, counters.batches);
        assert_eq!(reopened.states().unwrap(), states);
        for (_, state) in states {
            assert_eq!(state.state_batches.len(), WRITES as usize);
        }
    }
}

/// Threads that come while a group is written wait for the next, which one of them has to lead: nobody comes after them.
#[test]
fn the_last_group_is_written_too() {
    let dir = tempfile::tempdir().unwrap();
    let store = StateStore::open(dir.path(), &config(), |_| ControlFlow::Continue(())).unwrap();
    let store = Arc::new(store);
    for n in 0..THREADS {
        Command::Initialize(n).run(&store, 0).unwrap();
    }
    for round in 0..400 {
        let barrier = Arc::new(Barrier::new(THREADS as usize));
        let (done, finished) = channel();
        for n in 0..THREADS {
            let (store, barrier, done) = (Arc::clone(&store), Arc::clone(&barrier), done.clone());
            std::thread::spawn(move || {
                barrier.wait();
                store
                    .write(&key(n), &write_request(round, round, 0), WallTime(round))
                    .unwrap();
                done.send(()).unwrap();
            });
        }
        for _ in 0..THREADS {
            let told = finished.recv_timeout(Duration::from_secs(60));
            assert!(told.is_ok(), "somebody was left waiting in round {round}");
        }
    }
}

/// A crash under load: each thread counts what it was told, and the log holds at least that and at most one more.
#[test]
fn a_crash_under_threads_keeps_what_each_was_told() {
    let mut crashes = 0;
    for at in (5..200).step_by(13) {
        let disk = SimDisk::default();
        let store = open(&disk, &config()).unwrap();
        for n in 0..THREADS {
            Command::Initialize(n).run(&store, 0).unwrap();
        }
        disk.set_fault(Some(Fault::PowerAt(at)));
        let told: Vec<i64> = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..THREADS)
                .map(|n| {
                    let store = &store;
                    scope.spawn(move || {
                        (0..WRITES)
                            .take_while(|i| {
                                store
                                    .write(&key(n), &write_request(2 * i, 2 * i, 0), WallTime(*i))
                                    .is_ok()
                            })
                            .count() as i64
                    })
                })
                .collect();
            writers
                .into_iter()
                .map(|writer| writer.join().unwrap())
                .collect()
        });
        crashes += usize::from(told.iter().any(|told| *told < WRITES));
        for loss in crate::disk::sim::Loss::ALL {
            let survivor = open(&disk.after_crash(loss), &config()).unwrap();
            let states = survivor.states().unwrap();
            for ((_, state), told) in states.iter().zip(&told) {
                let kept = state.state_batches.len() as i64;
                assert!(
                    (*told..=told + 1).contains(&kept),
                    "{kept} kept, {told} told, {loss:?}"
                );
            }
        }
    }
    assert!(crashes > 8, "{crashes} crashes");
}

#[test]
fn pruning_and_closing_may_come_at_any_time() {
    let config = StoreConfig {
        segment_bytes: 1024,
        ..config()
    };
    let disk = SimDisk::default();
    let store = open(&disk, &config).unwrap();
    for n in 0..4 {
        Command::Initialize(n).run(&store, 0).unwrap();
    }
    let told: Vec<usize> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|n| {
                let store = &store;
                scope.spawn(move || {
                    let write = |i: i64| {
                        store.write(&key(n), &write_request(2 * i, 2 * i, 0), WallTime(1000 + i))
                    };
                    (0..).take_while(|i| write(*i).is_ok()).count()
                })
            })
            .collect();
        for round in 0..50 {
            store.cold_snapshots(WallTime(2000 + 200 * round)).unwrap();
            store.prune().unwrap();
        }
        store.close().unwrap();
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });
    let survivor = open(&disk, &config).unwrap();
    assert_eq!(survivor.recovery().torn, []);
    for ((_, state), told) in survivor.states().unwrap().iter().zip(told) {
        assert_eq!(state.state_batches.len(), told);
    }
}
