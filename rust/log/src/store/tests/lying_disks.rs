//! Disks that lie, for the store of states.

use super::*;
use crate::disk::sim::Fault;
use crate::store::Recovery;
use crate::trials::{self, Subject};

impl Subject for StateStore {
    type State = States;
    const STEPS: usize = 25;

    fn open(disk: &SimDisk, sync: SyncPolicy, repair: bool) -> Result<Self, OpenError> {
        let config = StoreConfig {
            segment_bytes: 1024,
            sync,
            repair,
            ..config()
        };
        super::open(disk, &config)
    }

    fn step(&self, number: usize) -> Result<(), StoreError> {
        flushed_script()[number].run(self, i64::try_from(number).unwrap() * TICK)
    }

    fn is_flush(number: usize) -> bool {
        matches!(flushed_script()[number], Command::Flush)
    }

    fn one_more(&self) -> Result<(), StoreError> {
        Command::Initialize(7).run(self, 10_000)
    }

    fn state(&self) -> Result<States, StoreError> {
        self.states()
    }

    fn flush(&self) -> Result<(), StoreError> {
        Self::flush(self)
    }

    fn close(&self) -> Result<(), StoreError> {
        Self::close(self)
    }

    fn recovery(&self) -> &Recovery {
        Self::recovery(self)
    }
}

/// The script with flushes in it, so that something is durable under every policy.
fn flushed_script() -> Vec<Command> {
    let mut script = script();
    script.insert(7, Command::Flush);
    script.insert(14, Command::Flush);
    script
}

#[test]
fn the_script_is_as_long_as_it_says() {
    assert_eq!(flushed_script().len(), StateStore::STEPS);
}

trials::walks::walks!(StateStore);

/// Only the names in the last directory were durable: those above it went with a power cut, and the store with them.
#[test]
fn a_store_below_directories_that_it_made_survives_a_power_cut() {
    let root = Path::new("/a/b/c/store");
    let config = StoreConfig {
        create: false,
        ..config()
    };
    let open = |disk: &SimDisk, config: &StoreConfig| {
        StateStore::open_on(Arc::new(disk.clone()), root, config, &mut |_| {
            ControlFlow::Continue(())
        })
    };
    let disk = SimDisk::default();
    let store = open(&disk, &super::config()).unwrap();
    Command::Initialize(0).run(&store, 0).unwrap();
    let states = store.states().unwrap();
    let again = open(&disk.after_crash(Loss::Everything), &config).unwrap();
    assert_eq!(again.states().unwrap(), states);
}
