//! Disks that lie, for every store alike: the walks over faults, power cuts and damage, and what a store has to be for them.

pub(crate) mod at_rest;
pub(crate) mod changes;
pub(crate) mod faults;
pub(crate) mod power;
pub(crate) mod repairs;
pub(crate) mod walks;

use core::fmt;

use crate::config::SyncPolicy;
use crate::disk::sim::SimDisk;
use crate::error::{OpenError, StoreError};
use crate::store::Recovery;

/// Every policy; the thread of the second one never comes to sync.
pub(crate) const POLICIES: [SyncPolicy; 3] = [
    SyncPolicy::Always,
    SyncPolicy::Interval { ms: u64::MAX },
    SyncPolicy::Never,
];

/// A store with a script of steps, each a verb that is confirmed. Small segments, so that there are several.
pub(crate) trait Subject: Sized {
    /// State of the store.
    type State: Clone + PartialEq + fmt::Debug;
    /// Number of steps of the script.
    const STEPS: usize;

    fn open(disk: &SimDisk, sync: SyncPolicy, repair: bool) -> Result<Self, OpenError>;
    /// Does a step, the same at each time.
    fn step(&self, number: usize) -> Result<(), StoreError>;
    /// Returns `true` if a step makes everything before it durable.
    fn is_flush(number: usize) -> bool;
    /// A step that none of the script is like.
    fn one_more(&self) -> Result<(), StoreError>;
    fn state(&self) -> Result<Self::State, StoreError>;
    fn flush(&self) -> Result<(), StoreError>;
    fn close(&self) -> Result<(), StoreError>;
    fn recovery(&self) -> &Recovery;
}

/// States of a store before the script and after each step.
pub(crate) fn history<S: Subject>(sync: SyncPolicy) -> Vec<S::State> {
    let disk = SimDisk::default();
    let mut store = S::open(&disk, sync, false).unwrap();
    let mut history = vec![store.state().unwrap()];
    for number in 0..S::STEPS {
        if number == S::STEPS / 2 {
            store.close().unwrap();
            store = S::open(&disk, sync, false).unwrap();
        }
        store.step(number).unwrap();
        history.push(store.state().unwrap());
    }
    history
}

/// Life of a store on a disk that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Life {
    /// Steps that were confirmed.
    pub acknowledged: usize,
    /// Confirmed steps that are durable.
    pub durable: usize,
    /// Set if something failed.
    pub failed: bool,
}

impl Life {
    /// The states that may be found of it: all that is durable, perhaps what came later, up to what was in flight.
    pub fn allows<State: PartialEq>(&self, history: &[State], found: &State) -> bool {
        Self::within(history, self.durable, self.acknowledged, found)
    }

    /// The states that may be found where no power was lost.
    pub fn allows_after_a_kill<State: PartialEq>(&self, history: &[State], found: &State) -> bool {
        Self::within(history, self.acknowledged, self.acknowledged, found)
    }

    fn within<State: PartialEq>(
        history: &[State],
        from: usize,
        acknowledged: usize,
        found: &State,
    ) -> bool {
        history[from..(acknowledged + 2).min(history.len())].contains(found)
    }
}

/// Opens, does half of the script, closes, opens again, does the rest and closes; up to what fails. A store that has failed
/// answers nothing more, and says why.
pub(crate) fn live<S: Subject>(disk: &SimDisk, sync: SyncPolicy) -> Life {
    let mut life = Life::default();
    for half in [0..S::STEPS / 2, S::STEPS / 2..S::STEPS] {
        let store = match S::open(disk, sync, false) {
            Ok(store) => store,
            Err(OpenError::Io(failure)) => {
                assert!(failure.os_error.is_some(), "{failure}");
                life.failed = true;
                return life;
            }
            Err(other) => panic!("{other}"),
        };
        for number in half {
            match store.step(number) {
                Ok(()) => {
                    life.acknowledged += 1;
                    if sync == SyncPolicy::Always || S::is_flush(number) {
                        life.durable = life.acknowledged;
                    }
                }
                // The segments stay, and the store goes on.
                Err(StoreError::Prune(_)) => {
                    life.failed = true;
                    life.acknowledged += 1;
                }
                Err(error) => {
                    assert!(error.os_error().is_some(), "{error}");
                    assert_eq!(store.one_more(), Err(error.clone()));
                    assert_eq!(store.state(), Err(error.clone()));
                    assert_eq!(store.flush(), Err(error.clone()));
                    assert_eq!(store.close(), Err(error));
                    life.failed = true;
                    return life;
                }
            }
        }
        if store.close().is_err() {
            life.failed = true;
            return life;
        }
        life.durable = life.acknowledged;
    }
    life
}

/// A seed that is always the same, or one that no other run has, in a campaign (`SHARE_STATE_FRESH`); a failure prints it.
pub(crate) fn drawn_seed() -> u64 {
    use std::hash::BuildHasher as _;
    match std::env::var_os("SHARE_STATE_FRESH") {
        Some(_) => std::hash::RandomState::new().hash_one(0),
        None => 932,
    }
}
