//! The durable form: the writes of a sequence go to a store of `rust/log`, whose answers the share partition hears.
//!
//! A store answers what it decides, so it is asked only for writes that the sequence has succeed. The read of a new leader is the
//! store's, too. Where that would not be what the sequence says, the store is first given such a state. As the sequence goes on, the
//! store's files are read beside it, and it is closed and opened again: its state must be the one that it had, and what the share
//! partition knows as stable (see [`agree`]).

mod agree;
mod tally;
#[cfg(test)]
mod tests;

use core::ops::ControlFlow;
use std::path::Path;

use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::ids::SharePartitionKey;
use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::offset::OffsetRange;
use share_state_core::persister::{InitializeState, ReadState, ReadStateResult, WriteState};
use share_state_core::share_partition::SharePartition;
use share_state_core::time::WallTime;
use share_state_log::{AcceptedWrite, StateStore, StoreConfig, StoreError, SyncPolicy, read};
use tempfile::TempDir;

use crate::outcome::{ARCHIVED, State};
pub use tally::Tally;

/// The leader whose read the store has answered last.
#[derive(Clone, Copy, Debug)]
struct Leader {
    partition: usize,
    leader_epoch: i32,
    /// True if the store has every write that the share partition has made since.
    is_whole: bool,
}

/// A store, and whose state it keeps.
pub struct Keeper {
    directory: TempDir,
    /// Missing only while it is opened again.
    store: Option<StateStore>,
    key: SharePartitionKey,
    leader: Option<Leader>,
    /// Records that the leader has found gone from the log, and archived in memory alone.
    gone: Vec<OffsetRange>,
    wall: WallTime,
    /// Counts so far.
    pub tally: Tally,
}

/// A write that was begun.
pub enum Begun {
    /// The store has given it a place in its log.
    Accepted(AcceptedWrite),
    /// It does not go to the store: the answer is the sequence's.
    Planned,
}

fn told(error: &impl core::fmt::Debug) -> String {
    format!("the store: {error:?}")
}

fn open(directory: &TempDir) -> Result<StateStore, String> {
    let config = StoreConfig {
        // A kill loses nothing of it, a crash of the machine might.
        sync: SyncPolicy::Never,
        ..StoreConfig::default()
    };
    let opened = StateStore::open(directory.path(), &config, |_| ControlFlow::Continue(()));
    let store = opened.map_err(|error| told(&error))?;
    match store.recovery() {
        recovery if recovery.torn.is_empty() => Ok(store),
        recovery => Err(told(recovery)),
    }
}

impl Keeper {
    /// A new store.
    ///
    /// # Errors
    /// The disk.
    pub fn new(key: SharePartitionKey) -> Result<Self, String> {
        // In memory where that can be: no sequence loses power, and each store is synced when it is closed.
        let memory = Path::new("/dev/shm");
        let directory = if memory.is_dir() {
            TempDir::new_in(memory)
        } else {
            TempDir::new()
        };
        let directory = directory.map_err(|error| told(&error))?;
        let store = Some(open(&directory)?);
        Ok(Self {
            directory,
            store,
            key,
            leader: None,
            gone: Vec::new(),
            wall: WallTime(0),
            tally: Tally::default(),
        })
    }

    fn store(&self) -> Result<&StateStore, String> {
        self.store
            .as_ref()
            .ok_or_else(|| "the store is not open".to_owned())
    }

    /// The time on the wall, for the timestamps of records.
    fn next_wall(&mut self) -> WallTime {
        self.wall = WallTime(self.wall.0 + 1);
        self.wall
    }

    /// State of the share partition that the store holds.
    fn held(&self) -> Result<Option<ShareGroupOffset>, String> {
        let states = self.store()?.states().map_err(|error| told(&error))?;
        Ok(states.into_iter().next().map(|(_, state)| state))
    }

    /// State that a new leader reads: of the store if it can hold what the sequence says, else that.
    ///
    /// # Errors
    /// The store does not do what it should.
    pub fn read(
        &mut self,
        partition: usize,
        leader_epoch: i32,
        wanted: ReadStateResult,
    ) -> Result<ReadStateResult, String> {
        self.leader = None;
        self.gone.clear();
        let is_held = self.held()?.is_some_and(|held| {
            (held.state_epoch, held.start_offset) == (wanted.state_epoch, wanted.start_offset)
                && held.leader_epoch <= leader_epoch
                && held.state_batches.to_vec() == wanted.state_batches
        });
        if !is_held && !self.give(leader_epoch, &wanted)? {
            return Ok(wanted);
        }
        let wall = self.next_wall();
        let read = self
            .store()?
            .read(&self.key, &ReadState { leader_epoch }, wall);
        let read = read.map_err(|error| told(&error))?;
        if read != wanted {
            // Batches that overlap, say the same as a neighbour or lie below the start offset: no store gives them.
            return Ok(wanted);
        }
        self.tally.reads += 1;
        self.leader = Some(Leader {
            partition,
            leader_epoch,
            is_whole: true,
        });
        Ok(read)
    }

    /// Has the store hold this state; whether it can.
    fn give(&mut self, leader_epoch: i32, wanted: &ReadStateResult) -> Result<bool, String> {
        let wall = self.next_wall();
        let store = self.store()?;
        if self.held()?.is_some() {
            store
                .delete(&self.key, wall)
                .map_err(|error| told(&error))?;
        }
        let request = InitializeState {
            state_epoch: wanted.state_epoch,
            start_offset: wanted.start_offset,
        };
        let initialized = store.initialize(&self.key, &request, wall);
        if !accepted(initialized)? || wanted.state_batches.is_empty() {
            return Ok(self.held()?.is_some());
        }
        let write = WriteState {
            state_epoch: wanted.state_epoch,
            leader_epoch,
            start_offset: wanted.start_offset,
            delivery_complete_count: -1,
            state_batches: wanted.state_batches.clone(),
        };
        accepted(store.write(&self.key, &write, wall))
    }

    /// An acquire of a share partition has changed its state: what it has archived is gone from the log.
    pub fn acquired(&mut self, partition: usize, before: &State, after: &State) {
        if self
            .leader
            .is_none_or(|leader| leader.partition != partition)
        {
            return;
        }
        let archived = |state: &State| -> Vec<OffsetRange> {
            let archived = state.runs.iter().filter(|run| run.state == ARCHIVED);
            archived
                .filter_map(|run| OffsetRange::new(run.first, run.last))
                .collect()
        };
        let before = archived(before);
        for found in archived(after) {
            self.gone.extend(agree::without(found, &before));
        }
    }

    /// A write of a share partition, as it is handed out: gives it its place in the log if it is to succeed.
    ///
    /// # Errors
    /// The store cannot be used, or takes a write of a leader that has been succeeded.
    pub fn begin(
        &mut self,
        partition: usize,
        succeeds: bool,
        write: &WriteState,
    ) -> Result<Begun, String> {
        let Some(leader) = self.leader.as_mut() else {
            return Ok(Begun::Planned);
        };
        if leader.partition != partition {
            if leader.partition > partition && write.leader_epoch < leader.leader_epoch {
                self.refused(write)?;
            }
            return Ok(Begun::Planned);
        }
        if !succeeds {
            leader.is_whole = false;
            return Ok(Begun::Planned);
        }
        let wall = self.next_wall();
        let begun = self.store()?.begin_write(&self.key, write, wall);
        Ok(Begun::Accepted(begun.map_err(|error| told(&error))?))
    }

    /// A write of a leader that has been succeeded must be refused.
    fn refused(&mut self, write: &WriteState) -> Result<(), String> {
        let wall = self.next_wall();
        match self.store()?.write(&self.key, write, wall) {
            Err(error) if error.kafka_code() == KafkaCode::FencedLeaderEpoch => {
                self.tally.fenced += 1;
                Ok(())
            }
            other => Err(format!("a write of an earlier leader: {other:?}")),
        }
    }

    /// The store's answer.
    ///
    /// # Errors
    /// It cannot be used any more.
    pub fn end(&mut self, write: AcceptedWrite) -> Result<KafkaCode, String> {
        match self.store()?.end_write(write) {
            Ok(()) => {
                self.tally.written += 1;
                Ok(KafkaCode::None)
            }
            Err(StoreError::Refused(error)) => Ok(error.kafka_code()),
            Err(error) => Err(told(&error)),
        }
    }

    /// Reads the files beside the store; with `reopen`, also closes it and opens it again from them. Compares what they hold with
    /// what the store had, and with the share partition.
    ///
    /// # Errors
    /// What differs.
    pub fn look<S: InFlightStore>(
        &mut self,
        partitions: &[SharePartition<S>],
        reopen: bool,
    ) -> Result<(), String> {
        let before = self.held()?;
        let folded = read::fold(self.directory.path(), |_| ControlFlow::Continue(()));
        let folded = folded.map_err(|error| told(&error))?;
        if !folded.findings.is_empty() {
            return Err(told(&folded.findings));
        }
        let in_files = folded.states.into_iter().next().map(|found| found.state);
        same("the files hold", &before, &in_files)?;
        self.tally.folded += 1;
        if reopen {
            if let Some(store) = self.store.take() {
                store.close().map_err(|error| told(&error))?;
            }
            self.store = Some(open(&self.directory)?);
            same("the store opened again holds", &before, &self.held()?)?;
            self.tally.reopened += 1;
        }
        let Some(leader) = self.leader.filter(|leader| leader.is_whole) else {
            return Ok(());
        };
        if let (Some(held), Some(partition)) = (before, partitions.get(leader.partition))
            && agree::is_comparable(partition)
        {
            self.tally.compared += 1;
            agree::compare(&held, partition, &self.gone)?;
        }
        Ok(())
    }
}

fn same(
    what: &str,
    before: &Option<ShareGroupOffset>,
    now: &Option<ShareGroupOffset>,
) -> Result<(), String> {
    if before == now {
        return Ok(());
    }
    Err(format!("{what} {now:?}, not {before:?}"))
}

/// Returns true if the coordinator accepted the request.
fn accepted(result: Result<(), StoreError>) -> Result<bool, String> {
    match result {
        Ok(()) => Ok(true),
        Err(StoreError::Refused(_)) => Ok(false),
        Err(error) => Err(told(&error)),
    }
}
