//! Tests of the share groups' log: a script of verbs, on a simulated disk and on a real one.

mod closed;
mod crash;
mod damage;
mod fault;
mod format;
mod lying_disks;
mod rewriting;
mod threads;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use share_state_core::ids::TopicId;
use share_state_core::share_group::{AlteredPartition, GroupRecord, Heartbeat, Topic};
use share_state_core::time::{LockTime, WallTime};

use super::{GroupStoreConfig, ShareGroupStore};
use crate::disk::sim::{Loss, SimDisk};
use crate::error::{OpenError, StoreError};
use crate::layout::{group_dir, segment_name};

const ROOT: &str = "/gateway";
const ORDERS: TopicId = TopicId([1; 16]);

/// Live records of a log.
type State = Vec<GroupRecord>;

fn open(disk: &SimDisk, config: &GroupStoreConfig) -> Result<ShareGroupStore, OpenError> {
    let store = ShareGroupStore::open_on(Arc::new(disk.clone()), Path::new(ROOT), config)?;
    store.set_topics(topics()).unwrap().unwrap();
    Ok(store)
}

fn topics() -> Vec<Topic> {
    vec![Topic {
        name: "orders".into(),
        id: ORDERS,
        partitions: 3,
    }]
}

fn segment(base_offset: i64) -> PathBuf {
    Path::new(ROOT)
        .join(group_dir())
        .join(segment_name(base_offset))
}

fn state(store: &ShareGroupStore) -> State {
    store
        .look(|groups| groups.live_records().collect())
        .unwrap()
        .answer
}

/// Command of a test to a store, each a verb with one batch of records.
#[derive(Clone, Copy, Debug)]
enum Command {
    /// A heartbeat with the member's epoch, initialising what is missing.
    Beat(&'static str, i32),
    Expire,
    Alter(i32),
    BeginDelete,
    FinishDelete,
    TopicDeleted,
}

impl Command {
    /// Carries it out at its own time, so that a script is the same in every run, and waits for it.
    fn run(self, store: &ShareGroupStore, now: i64) -> Result<(), StoreError> {
        let ticket = self.begin(store, now)?;
        store.wait(ticket)
    }

    fn begin(self, store: &ShareGroupStore, now: i64) -> Result<i64, StoreError> {
        let (lock, wall) = (LockTime(now), WallTime(now));
        Ok(match self {
            Self::Beat(member, member_epoch) => {
                let request = Heartbeat {
                    group: "g",
                    member,
                    member_epoch,
                    rack: None,
                    topics: Some(&["orders"]),
                    client_id: "client",
                    client_host: "/127.0.0.1",
                };
                let missing = store.to_initialize(&request)?;
                let initialized: Vec<_> =
                    missing.iter().map(|m| (m.topic_id, m.partition)).collect();
                let accepted = store.heartbeat(&request, &initialized, lock, wall)?;
                accepted.answer.unwrap();
                accepted.ticket
            }
            Self::Expire => store.handle_timeout(lock, wall)?.ticket,
            Self::Alter(partition) => {
                let altered = [AlteredPartition {
                    topic_id: ORDERS,
                    name: "orders".into(),
                    partition,
                }];
                store.begin_alter_offsets("h", &altered, wall)?.ticket
            }
            Self::BeginDelete => store.begin_delete_group("g", wall)?.ticket,
            Self::FinishDelete => store.finish_delete_group("g", wall)?.ticket,
            Self::TopicDeleted => store.topics_deleted(&[ORDERS], wall)?.ticket,
        })
    }
}

/// Milliseconds between two commands.
const TICK: i64 = 2_000;

/// A script in which every kind of record and of tombstone occurs.
fn script() -> Vec<Command> {
    vec![
        Command::Beat("a", 0),
        Command::Beat("b", 0),
        Command::Beat("a", 1),
        Command::Alter(0),
        Command::Beat("b", -1),
        Command::Beat("c", 0),
        Command::Beat("a", 2),
        Command::Alter(1),
        Command::Beat("a", -1),
        Command::Beat("c", -1),
        Command::Beat("d", 0),
        Command::Beat("d", -1),
        Command::BeginDelete,
        Command::FinishDelete,
        Command::Beat("e", 0),
        Command::TopicDeleted,
    ]
}

/// Runs the script to its end and returns the disk as a kill leaves it, and the states before it and after each command.
fn history(config: &GroupStoreConfig, script: &[Command]) -> (SimDisk, Vec<State>) {
    let (disk, store, history) = played(config, script);
    let killed = disk.copy();
    drop(store);
    (killed, history)
}

/// The same after a clean close, after which the power was lost.
fn closed_history(config: &GroupStoreConfig, script: &[Command]) -> (SimDisk, Vec<State>) {
    let (disk, store, history) = played(config, script);
    store.close().unwrap();
    (disk.after_crash(Loss::Everything), history)
}

fn played(config: &GroupStoreConfig, script: &[Command]) -> (SimDisk, ShareGroupStore, Vec<State>) {
    let disk = SimDisk::default();
    let store = open(&disk, config).unwrap();
    let mut history = vec![state(&store)];
    for (now, command) in (0..).zip(script) {
        command.run(&store, now * TICK).unwrap();
        history.push(state(&store));
    }
    (disk, store, history)
}
