//! Disks that lie, for the store of share groups, which also rewrites its log.

use super::*;
use crate::config::SyncPolicy;
use crate::disk::sim::Fault;
use crate::store::Recovery;
use crate::trials::{self, Subject};

impl Subject for ShareGroupStore {
    type State = State;
    const STEPS: usize = 18;

    fn open(disk: &SimDisk, sync: SyncPolicy, repair: bool) -> Result<Self, OpenError> {
        let config = GroupStoreConfig {
            segment_bytes: 1024,
            rewrite_bytes: 1500,
            sync,
            repair,
            ..GroupStoreConfig::default()
        };
        super::open(disk, &config)
    }

    fn step(&self, number: usize) -> Result<(), StoreError> {
        match flushed_script()[number] {
            Some(command) => command.run(self, i64::try_from(number).unwrap() * TICK),
            None => self.flush(),
        }
    }

    fn is_flush(number: usize) -> bool {
        flushed_script()[number].is_none()
    }

    fn one_more(&self) -> Result<(), StoreError> {
        Command::Beat("z", 0).run(self, 1_000_000)
    }

    fn state(&self) -> Result<State, StoreError> {
        let seen = self.look(|groups| groups.live_records().collect());
        seen.map(|seen| seen.answer)
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

/// The script; where there is no command, a flush, so that something is durable under every policy.
fn flushed_script() -> Vec<Option<Command>> {
    let mut script: Vec<_> = script().into_iter().map(Some).collect();
    script.insert(5, None);
    script.insert(12, None);
    script
}

#[test]
fn the_script_is_as_long_as_it_says() {
    assert_eq!(flushed_script().len(), ShareGroupStore::STEPS);
}

trials::walks::walks!(ShareGroupStore);
