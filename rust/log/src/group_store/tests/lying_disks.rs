//! Disks that lie, for the store of share groups, which also rewrites its log.

use super::*;
use crate::disk::sim::Fault;
use crate::store::{Recovery, SyncPolicy};
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

#[test]
fn an_error_at_any_operation_loses_nothing_that_was_confirmed() {
    let (faults, failed) = trials::faults::each_fault::<ShareGroupStore>(Fault::AnyFailsOnce);
    println!("{faults} faults, {failed} failed");
    assert!(
        faults > 300 && failed > 300,
        "{faults} faults, {failed} failed"
    );
}

#[test]
fn a_sync_that_fails_once_is_not_trusted_afterwards() {
    let (faults, failed) = trials::faults::each_fault::<ShareGroupStore>(Fault::FailOnce);
    println!("{faults} faults, {failed} failed");
    assert!(
        faults > 200 && failed > 200,
        "{faults} faults, {failed} failed"
    );
}

#[test]
fn a_disk_that_fills_up_at_any_operation_loses_nothing_that_was_confirmed() {
    let (faults, failed) = trials::faults::each_fault::<ShareGroupStore>(Fault::FullFrom);
    println!("{faults} faults, {failed} failed");
    assert!(
        faults > 300 && failed > 300,
        "{faults} faults, {failed} failed"
    );
}

#[test]
fn any_subset_of_what_was_not_synced_may_be_lost() {
    let (cuts, images) = trials::power::each_subset::<ShareGroupStore>();
    println!("{cuts} power cuts, {images} images");
    assert!(cuts > 200 && images > 1500, "{cuts} cuts, {images} images");
}

#[test]
fn reads_may_bring_little() {
    trials::faults::reads_by_little::<ShareGroupStore>();
}

#[test]
fn a_second_opener_is_refused_at_every_step() {
    let refused = trials::faults::two_openers::<ShareGroupStore>();
    assert_eq!(refused, ShareGroupStore::STEPS + 1);
}

#[test]
fn every_changed_byte_at_rest_is_refused_or_changes_no_answer() {
    let mut cases = 0;
    for sync in [SyncPolicy::Always, SyncPolicy::Never] {
        let outcomes = trials::at_rest::each_byte::<ShareGroupStore>(sync);
        println!("changed at rest, {sync:?}: {outcomes:?}");
        assert!(outcomes.refused > 4_000, "{outcomes:?}");
        assert!(
            outcomes.unchanged > 20 && outcomes.torn > 20,
            "{outcomes:?}"
        );
        cases += outcomes.cases();
    }
    assert!(cases > 10_000, "{cases}");
}
