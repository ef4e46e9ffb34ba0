//! The coordinator's process and its disk: calls come in, writes wait for a common sync, and it may end at any moment.

use std::path::Path;

use share_state_core::coordinator::CoordinatorConfig;
use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::{InitializeState, ReadState, WriteState};
use share_state_core::time::WallTime;
use share_state_log::sim::{self, SimDisk};
use share_state_log::{AcceptedWrite, StateStore, StoreConfig, StoreError, SyncPolicy};

use super::World;
use super::brokers::key;
use super::events::{Ask, Call, CallAnswer, Seen, What};
use crate::broken::Broken;
use crate::chance::Chance;
use crate::ledger::Ledger;
use crate::meeting::Meeting;
use crate::plan::{MS, Plan};

/// Folder of the store.
pub const ROOT: &str = "/store";

/// Beginning of the world, milliseconds of the wall clock.
const BEGINNING: i64 = 1_700_000_000_000;

/// Trouble of the disk until the store is opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    None,
    /// The process ends at an operation.
    Stops,
    /// An operation fails once.
    Fails,
}

/// See the module.
#[derive(Debug)]
pub struct Store {
    pub disk: SimDisk,
    pub open: Option<StateStore>,
    pub life: u32,
    pub config: StoreConfig,
    /// Writes that have their place in the log and wait for the sync.
    pub waiting: Vec<(Call, WriteState, AcceptedWrite)>,
    pub ledgers: Vec<Ledger>,
    pub trouble: Trouble,
    /// Steps of its wall clock, milliseconds.
    pub shift_ms: i64,
    pub has_pruned: bool,
    pub flips: bool,
    /// Ends of its process, in words.
    pub ended: Vec<String>,
    /// Figures that its summary has shown last: state epoch, leader epoch, start offset.
    shown: Vec<(i32, i32, i64)>,
}

impl Store {
    pub fn new(plan: &Plan, broken: Option<Broken>) -> Self {
        let config = StoreConfig {
            partitions: Some(plan.state_partitions),
            segment_bytes: plan.segment_bytes,
            sync: if broken == Some(Broken::SyncsNever) {
                SyncPolicy::Never
            } else {
                SyncPolicy::Always
            },
            coordinator: CoordinatorConfig {
                snapshot_update_records_per_snapshot: plan.updates_per_snapshot,
                cold_partition_snapshot_interval_ms: 500,
            },
            ..StoreConfig::default()
        };
        Self {
            disk: SimDisk::default(),
            open: None,
            life: 0,
            config,
            waiting: Vec::new(),
            ledgers: vec![Ledger::default(); plan.partitions],
            trouble: Trouble::None,
            shift_ms: 0,
            has_pruned: false,
            flips: false,
            ended: Vec::new(),
            shown: vec![(0, 0, -1); plan.partitions],
        }
    }

    /// Makes the store, with the states of the share partitions.
    pub fn make(&mut self, plan: &Plan, chance: &mut Chance) -> Result<(), String> {
        let store = sim::open(&self.disk, Path::new(ROOT), &self.config)
            .map_err(|error| format!("store: {error}"))?;
        for (part, ledger) in (0..plan.partitions).zip(&mut self.ledgers) {
            let request = InitializeState {
                state_epoch: 0,
                start_offset: chance.within(-1, 0),
            };
            store
                .initialize(&key(part), &request, WallTime(BEGINNING))
                .map_err(|error| format!("store: {error}"))?;
            ledger.initialized(&request);
        }
        self.open = Some(store);
        Ok(())
    }

    pub fn leader_epoch(&self, part: usize) -> i32 {
        self.ledgers.get(part).map_or(0, Ledger::reader)
    }

    pub const fn wall(&self, now: i64) -> WallTime {
        WallTime(BEGINNING + now / MS + self.shift_ms)
    }

    /// Checks that the figures shown of a share partition never go back.
    fn look(&mut self, part: usize) -> Result<(), String> {
        let Some(Ok(summary)) = self.open.as_ref().map(|store| store.summary(&key(part))) else {
            return Ok(());
        };
        let now = (
            summary.state_epoch,
            summary.leader_epoch,
            summary.start_offset,
        );
        let Some(before) = self.shown.get_mut(part) else {
            return Ok(());
        };
        let back = now.0 < before.0 || now.0 == before.0 && (now.1 < before.1 || now.2 < before.2);
        if back {
            return Err(format!("store: {before:?} was shown, and then {now:?}"));
        }
        *before = now;
        Ok(())
    }
}

impl<S: InFlightStore> World<S> {
    pub(super) fn at_store(&mut self, call: Call) {
        if self.given_up.contains(&call.id) {
            self.meet(Meeting::GiveUpThenLate);
        }
        if call.tries > 0 && self.store.life > 0 {
            self.meet(Meeting::RepeatAfterRestart);
        }
        let wall = self.store.wall(self.now);
        let Some(store) = &self.store.open else {
            return;
        };
        let name = key(call.part);
        match call.ask.clone() {
            Ask::Read { leader_epoch } => {
                let waited = !self.store.waiting.is_empty();
                match store.read(&name, &ReadState { leader_epoch }, wall) {
                    Ok(state) => {
                        // A leader that reads a state again after a reset is not written down: see the page.
                        let kept = store
                            .summary(&name)
                            .map_or(0, |summary| summary.leader_epoch);
                        if let Some(ledger) = self.store.ledgers.get_mut(call.part) {
                            ledger.read(leader_epoch, kept);
                        }
                        if waited {
                            self.meet(Meeting::ReadInGroup);
                        }
                        // The leader is shown what it reads. An observer might never see its epoch, if a reset comes first.
                        self.show(Seen {
                            sent: self.now,
                            part: call.part,
                            start_offset: state.start_offset,
                            leader_epoch,
                            state_epoch: state.state_epoch,
                        });
                        self.answer_call(call, CallAnswer::State(state));
                    }
                    Err(error) => self.refuse(call, &error),
                }
                self.look_at_store(None);
            }
            Ask::Write { mut write, .. } => {
                if self.broken == Some(Broken::TakesStaleLeader) {
                    write.leader_epoch = write.leader_epoch.max(self.store.leader_epoch(call.part));
                }
                if let Some(ledger) = self.store.ledgers.get_mut(call.part) {
                    ledger.asked(&write);
                }
                match store.begin_write(&name, &write, wall) {
                    Ok(accepted) => {
                        self.store.waiting.push((call, write, accepted));
                        if self.store.waiting.len() == 1 {
                            let wait = self.chance.within(0, self.plan.delay_us);
                            let life = self.store.life;
                            self.later(wait, What::Sync { life });
                        }
                    }
                    Err(error) => self.refuse(call, &error),
                }
            }
        }
    }

    fn refuse(&mut self, call: Call, error: &StoreError) {
        match error {
            StoreError::Refused(error) => {
                if error.kafka_code() == KafkaCode::FencedStateEpoch {
                    self.meet(Meeting::OldStateFenced);
                }
                self.answer_call(call, CallAnswer::Code(error.kafka_code()));
            }
            error => {
                let error = error.to_string();
                self.store_failed(&error);
            }
        }
    }

    /// The writes that wait are durable, and answered.
    pub(super) fn sync(&mut self, life: u32) {
        if self.store.life != life {
            return;
        }
        let waiting = core::mem::take(&mut self.store.waiting);
        let first = waiting.first().map(|(call, ..)| call.part);
        for (call, write, accepted) in waiting {
            let Some(store) = &self.store.open else {
                return;
            };
            match store.end_write(accepted) {
                Ok(()) => {
                    if let Some(ledger) = self.store.ledgers.get_mut(call.part) {
                        ledger.confirmed(&write);
                    }
                    self.answer_call(call, CallAnswer::Code(KafkaCode::None));
                }
                Err(error) => self.refuse(call, &error),
            }
        }
        self.look_at_store(first);
    }

    fn look_at_store(&mut self, part: Option<usize>) {
        let parts = part.map_or(0..self.plan.partitions, |part| part..part + 1);
        for part in parts {
            if let Err(error) = self.store.look(part) {
                self.find(error);
            }
        }
    }

    /// Somebody asks for the summary of a share partition.
    pub(super) fn observe(&mut self) {
        if self.is_over {
            return;
        }
        for part in 0..self.plan.partitions {
            if let Some(view) = self.summary(part) {
                let delay = self.delay();
                self.later(delay, What::Viewed { view });
            }
        }
        let wait = self.chance.within(20, 400) * MS;
        self.later(wait, What::Observe);
    }

    /// Figures that the store shows of a share partition now.
    fn summary(&self, part: usize) -> Option<Seen> {
        let summary = self.store.open.as_ref()?.summary(&key(part)).ok()?;
        Some(Seen {
            sent: self.now,
            part,
            start_offset: summary.start_offset,
            leader_epoch: summary.leader_epoch,
            state_epoch: summary.state_epoch,
        })
    }

    /// Somebody looks at all of them, and at once.
    pub(super) fn view_all(&mut self) {
        for part in 0..self.plan.partitions {
            if let Some(view) = self.summary(part) {
                self.show(view);
            }
        }
    }

    pub(super) fn viewed(&mut self, view: Seen) {
        self.show(view);
    }

    /// A new state forgets which leaders have read the old one, so its epoch is shown once a leader has read it again.
    pub(super) fn show(&mut self, view: Seen) {
        let Some(shown) = self.shown.get_mut(view.part) else {
            return;
        };
        let leader_epoch = (view.leader_epoch >= *shown).then_some(view.leader_epoch);
        *shown = view.leader_epoch.max(*shown);
        let shows = (view.start_offset, leader_epoch, view.state_epoch);
        self.recorder
            .viewed((view.sent, self.now), view.part, shows);
    }

    pub(super) fn maintain(&mut self) {
        let wall = self.store.wall(self.now);
        if let Some(store) = &self.store.open {
            let done = store.cold_snapshots(wall).and_then(|_| store.prune());
            match done {
                Ok(removed) => self.store.has_pruned |= removed > 0,
                Err(StoreError::Prune(_)) if self.store.trouble != Trouble::None => {}
                Err(error) => {
                    let error = error.to_string();
                    self.store_failed(&error);
                }
            }
        }
        if !self.is_calm {
            let wait = self.plan.faulty_us / 4;
            self.later(wait, What::Maintain);
        }
    }
}
