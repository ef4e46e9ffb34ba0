//! A persister of the runner that keeps what it is given: a [`StateStore`] in a directory.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::{InitializeState, ReadStateResult, WriteState, WriteStateRef};
use share_state_core::time::WallTime;
use share_state_log::{Counters, StateStore, StoreConfig, SyncPolicy};

use crate::durable::Durable;
use crate::engine::nothing_read;
use crate::persister::Persister;

/// The store has one leader and no other writer.
const CONFIRMED: &str = "a store that confirms every write of its only leader";
/// Milliseconds between two syncs of [`Durability::Interval`], the default of the Python package.
const INTERVAL_MS: u64 = 1_000;

/// Time at which writes reach the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Inside the call that leads to it; synced when the operating system likes.
    Never,
    /// Inside the call; synced once a second.
    Interval,
    /// Inside the call, which returns after the sync.
    Always,
    /// Polled: what acknowledgements in a row lead to is gathered, written in one call and synced once.
    Polled,
}

impl FromStr for Durability {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "never" => Ok(Self::Never),
            "interval" => Ok(Self::Interval),
            "always" => Ok(Self::Always),
            "polled" => Ok(Self::Polled),
            _ => Err(format!(
                "durability {name}: expected never, interval, always or polled"
            )),
        }
    }
}

/// Content that a store must hold when writes reach it in this way: a poller's writes are made before the earlier ones are
/// confirmed, so that they carry other start offsets than writes inside the calls.
#[derive(Debug)]
pub struct Expected {
    /// Persisted states.
    pub durable: Durable,
    durability: Durability,
    gathered: usize,
}

impl Expected {
    /// Expectation of nothing yet, for `partitions` share partitions.
    #[must_use]
    pub fn of(partitions: u32, durability: Durability) -> Self {
        Self {
            durable: Durable::of(partitions),
            durability,
            gathered: 0,
        }
    }
}

impl Persister for Expected {
    fn write(&mut self, partition: u32, state: WriteStateRef<'_>) {
        self.durable.write(partition, state);
        self.gathered += usize::from(self.is_polled());
    }

    fn is_polled(&self) -> bool {
        self.durability == Durability::Polled
    }

    fn read(&self, _: u32, _: i64) -> ReadStateResult {
        nothing_read()
    }

    fn gathered(&self) -> usize {
        self.gathered
    }

    fn commit(&mut self) {
        self.gathered = 0;
    }
}

/// See the module.
#[derive(Debug)]
pub struct Stored {
    store: StateStore,
    keys: Vec<SharePartitionKey>,
    durability: Durability,
    gathered: Vec<(SharePartitionKey, WriteState)>,
    began: Counters,
}

fn now() -> WallTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    WallTime(since.map_or(0, |since| since.as_millis() as i64))
}

impl Stored {
    /// A new store in `dir`, in which each share partition has an empty state.
    ///
    /// # Errors
    /// The store cannot be made.
    pub fn make(
        dir: &Path,
        partitions: u32,
        durability: Durability,
    ) -> Result<Self, Box<dyn Error>> {
        let config = StoreConfig {
            sync: match durability {
                Durability::Never => SyncPolicy::Never,
                Durability::Interval => SyncPolicy::Interval { ms: INTERVAL_MS },
                Durability::Always | Durability::Polled => SyncPolicy::Always,
            },
            ..StoreConfig::default()
        };
        let store = StateStore::open(dir, &config, |_| ControlFlow::Continue(()))?;
        let key = |partition| SharePartitionKey::new("group", TopicId([7; 16]), partition as i32);
        let keys: Vec<_> = (0..partitions).map(key).collect();
        let request = InitializeState {
            state_epoch: 0,
            start_offset: 0,
        };
        let requests: Vec<_> = keys.iter().map(|key| (key.clone(), request)).collect();
        for answer in store.initialize_many(&requests, now())? {
            answer?;
        }
        let began = store.counters();
        Ok(Self {
            store,
            keys,
            durability,
            gathered: Vec::new(),
            began,
        })
    }

    /// Group commits since the store was made, and their bytes.
    #[must_use]
    pub fn commits(&self) -> (u64, u64) {
        let now = self.store.counters();
        (
            now.batches - self.began.batches,
            now.bytes - self.began.bytes,
        )
    }

    /// Returns true if the store holds what was persisted according to `expected`.
    ///
    /// # Errors
    /// The store cannot be used.
    pub fn holds(&self, expected: &Durable) -> Result<bool, Box<dyn Error>> {
        let states = self.store.states()?;
        let held = states.iter().all(|(key, state)| {
            let partition = key.partition as u32;
            expected.batches(partition, state.start_offset) == state.state_batches.to_vec()
        });
        Ok(held && states.len() == self.keys.len())
    }
}

impl Persister for Stored {
    fn write(&mut self, partition: u32, state: WriteStateRef<'_>) {
        let key = &self.keys[partition as usize];
        if self.is_polled() {
            self.gathered.push((key.clone(), state.to_write_state()));
        } else {
            self.store.write(key, state, now()).expect(CONFIRMED);
        }
    }

    fn is_polled(&self) -> bool {
        self.durability == Durability::Polled
    }

    fn read(&self, _: u32, _: i64) -> ReadStateResult {
        nothing_read()
    }

    fn gathered(&self) -> usize {
        self.gathered.len()
    }

    fn commit(&mut self) {
        for answer in self
            .store
            .write_many(&self.gathered, now())
            .expect(CONFIRMED)
        {
            answer.expect(CONFIRMED);
        }
        self.gathered.clear();
    }
}

#[cfg(test)]
mod tests {
    use share_state_core::in_flight::IntervalStore;

    use super::*;
    use crate::generate::generate;
    use crate::oplog::OpLog;
    use crate::replay::{Spent, time_on};

    fn kept(log: &OpLog, durability: Durability) -> Stored {
        let dir = tempfile::tempdir().unwrap();
        let mut stored = Stored::make(dir.path(), log.header.partitions, durability).unwrap();
        time_on::<IntervalStore>(log, &mut stored, &mut Spent::default());
        stored
    }

    fn expected(log: &OpLog, durability: Durability) -> Durable {
        let mut expected = Expected::of(log.header.partitions, durability);
        time_on::<IntervalStore>(log, &mut expected, &mut Spent::default());
        expected.durable
    }

    #[test]
    fn a_store_holds_what_was_persisted_and_nothing_else() {
        for workload in ["W4-durable", "W13-durable"] {
            let log = generate(workload, 64, 1).unwrap();
            let other = generate(workload, 60, 1).unwrap();
            for name in ["never", "interval", "polled"] {
                let durability = name.parse().unwrap();
                let stored = kept(&log, durability);
                assert!(
                    stored.holds(&expected(&log, durability)).unwrap(),
                    "{workload}, {name}"
                );
                let other = expected(&other, durability);
                assert!(
                    workload != "W4-durable" || !stored.holds(&other).unwrap(),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn a_poller_commits_what_it_has_gathered_together() {
        let log = generate("W1-durable", 10, 1).unwrap();
        assert_eq!(kept(&log, Durability::Never).commits().0, 2_000);
        assert_eq!(kept(&log, Durability::Polled).commits().0, 100);
        let log = generate("W4-durable", 10_000, 1).unwrap();
        assert_eq!(kept(&log, Durability::Polled).commits().0, 2);
    }

    #[test]
    fn a_durability_that_nobody_knows_is_refused() {
        let refused = "sometimes".parse::<Durability>().unwrap_err();
        assert_eq!(
            refused,
            "durability sometimes: expected never, interval, always or polled"
        );
    }
}
