//! Tests of the store: a small world of keys and requests, on a simulated disk and on a real one.

mod batches;
mod closed;
mod commands;
mod crash;
mod damage;
mod errors;
mod fault;
mod format;
mod loading;
mod lying_disks;
mod many;
mod noted;
mod process;
mod property;
mod repair;
#[cfg(feature = "schedules")]
mod schedules;
mod sizes;
mod swapped;
mod threads;
mod torn_and_damaged;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use share_state_core::coordinator::CoordinatorConfig;
use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::{InitializeState, ReadState, WriteState};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::WallTime;
use share_state_wire::record_batch::peek_size;

use super::{OpenError, StateStore, StoreConfig, StoreError, SyncPolicy};
use crate::damage::Damage;
use crate::disk::sim::{Loss, SimDisk};
use crate::layout::{META_FILE, partition_dir, segment_name};

type States = Vec<(SharePartitionKey, ShareGroupOffset)>;

const ROOT: &str = "/store";

const POLICIES: [SyncPolicy; 3] = [
    SyncPolicy::Always,
    SyncPolicy::Interval { ms: u64::MAX },
    SyncPolicy::Never,
];

fn key(n: i32) -> SharePartitionKey {
    SharePartitionKey::new("g", TopicId([1; 16]), n)
}

/// Three updates of a key before a snapshot, one state partition.
fn config() -> StoreConfig {
    StoreConfig {
        coordinator: CoordinatorConfig {
            snapshot_update_records_per_snapshot: 3,
            cold_partition_snapshot_interval_ms: 100,
        },
        ..StoreConfig::default()
    }
}

fn open(disk: &SimDisk, config: &StoreConfig) -> Result<StateStore, OpenError> {
    StateStore::open_on(Arc::new(disk.clone()), Path::new(ROOT), config, &mut |_| {
        ControlFlow::Continue(())
    })
}

fn segment(partition: u32, base_offset: i64) -> PathBuf {
    Path::new(ROOT)
        .join(partition_dir(partition))
        .join(segment_name(base_offset))
}

fn meta() -> PathBuf {
    Path::new(ROOT).join(META_FILE)
}

fn write_request(first_offset: i64, last_offset: i64, start_offset: i64) -> WriteState {
    WriteState {
        state_epoch: 1,
        leader_epoch: 0,
        start_offset,
        delivery_complete_count: -1,
        state_batches: vec![StateBatch {
            first_offset,
            last_offset,
            delivery_state: 2,
            delivery_count: 1,
        }],
    }
}

/// An empty store whose writer was killed.
fn killed() -> SimDisk {
    let disk = SimDisk::default();
    let store = open(&disk, &config()).unwrap();
    let image = disk.copy();
    drop(store);
    image
}

/// Command of a test to a store.
#[derive(Clone, Copy, Debug)]
enum Command {
    Initialize(i32),
    Write(i32, i64),
    Read(i32, i32),
    Delete(i32),
    ColdSnapshots,
    Prune,
    Flush,
}

impl Command {
    /// Carries it out at its own time, so that a script is the same in every run.
    fn run(self, store: &StateStore, now: i64) -> Result<(), StoreError> {
        let wall = WallTime(now);
        match self {
            Self::Initialize(n) => {
                let request = InitializeState {
                    state_epoch: 1,
                    start_offset: 0,
                };
                store.initialize(&key(n), &request, wall)
            }
            Self::Write(n, offset) => store.write(
                &key(n),
                &write_request(offset, offset + 1, offset / 2),
                wall,
            ),
            Self::Read(n, leader_epoch) => store
                .read(&key(n), &ReadState { leader_epoch }, wall)
                .map(|_| ()),
            Self::Delete(n) => store.delete(&key(n), wall),
            Self::ColdSnapshots => store.cold_snapshots(wall).map(|_| ()),
            Self::Prune => store.prune().map(|_| ()),
            Self::Flush => store.flush(),
        }
    }
}

/// A script in which every kind of record, a roll and a prune occur (with small segments).
fn script() -> Vec<Command> {
    let mut script = vec![
        Command::Initialize(0),
        Command::Initialize(1),
        Command::Initialize(2),
    ];
    for i in 0..6 {
        script.push(Command::Write(0, 3 * i));
        script.push(Command::Write(1, 2 * i));
    }
    script.extend([
        Command::Read(1, 0),
        Command::Delete(2),
        Command::ColdSnapshots,
        Command::Prune,
    ]);
    script.extend((6..10).map(|i| Command::Write(0, 3 * i)));
    script
}

/// The same without a prune, so that all that was written is there.
fn unpruned() -> Vec<Command> {
    let mut script = script();
    script.retain(|command| !matches!(command, Command::Prune));
    script
}

/// All of it, in segments of a few batches.
fn in_many_segments() -> (StoreConfig, Vec<Command>) {
    let config = StoreConfig {
        segment_bytes: 1024,
        ..config()
    };
    (config, unpruned())
}

/// Milliseconds between two commands.
const TICK: i64 = 50;

/// Runs the script to its end and returns the disk as a kill leaves it, and the states before it and after each command.
fn history(config: &StoreConfig, script: &[Command]) -> (SimDisk, Vec<States>) {
    let (disk, store, history) = played(config, script);
    let killed = disk.copy();
    drop(store);
    (killed, history)
}

/// The same after a clean close, after which the power was lost.
fn closed_history(config: &StoreConfig, script: &[Command]) -> (SimDisk, Vec<States>) {
    let (disk, store, history) = played(config, script);
    store.close().unwrap();
    (disk.after_crash(Loss::Everything), history)
}

fn played(config: &StoreConfig, script: &[Command]) -> (SimDisk, StateStore, Vec<States>) {
    let disk = SimDisk::default();
    let store = open(&disk, config).unwrap();
    let mut history = vec![store.states().unwrap()];
    for (now, command) in (0..).zip(script) {
        command.run(&store, now * TICK).unwrap();
        history.push(store.states().unwrap());
    }
    (disk, store, history)
}

/// Opens a changed copy of the store and expects refusal without any change.
fn damages(image: &SimDisk, config: &StoreConfig) -> Vec<Damage> {
    let before = image.files();
    let error = open(image, config).expect_err("damage");
    assert_eq!(
        image.files(),
        before,
        "a refused open changed something: {error}"
    );
    match error {
        OpenError::Damaged(damages) => damages,
        other => panic!("{other}"),
    }
}

/// Positions at which the batches of a segment begin, and its end.
fn boundaries(bytes: &[u8]) -> Vec<usize> {
    let mut boundaries = vec![0];
    let mut at = 0;
    while let Some(size) = peek_size(&bytes[at..]).unwrap() {
        at += size;
        boundaries.push(at);
    }
    boundaries
}
