//! Ends of the coordinator's process, what its disk keeps, and how it is opened again.

use std::path::{Path, PathBuf};

use share_state_core::in_flight::InFlightStore;
use share_state_core::record_state::{Phase, RecordState};
use share_state_core::share_partition::Status;
use share_state_log::sim::{self, Fault as DiskFault, Loss, SimDisk};
use share_state_log::{OpenError, StateStore};

use super::World;
use super::brokers::key;
use super::events::What;
use super::store::{ROOT, Trouble};
use crate::broken::Broken;
use crate::ledger::Ledger;
use crate::meeting::Meeting;
use crate::plan::MS;

impl<S: InFlightStore> World<S> {
    /// An operation of the store failed for good. That is as it should be if its disk is in trouble.
    pub(super) fn store_failed(&mut self, error: &str) {
        let trouble = self.store.trouble;
        if trouble == Trouble::None {
            self.find(format!("store: {error}"));
            return;
        }
        if !self.store.waiting.is_empty() {
            self.meet(Meeting::FailsInWrite);
        }
        if trouble == Trouble::Stops {
            self.meet(Meeting::EndsAtDisk);
        }
        let with_power = trouble == Trouble::Stops && self.chance.once_in(2);
        self.end_store(with_power);
    }

    /// The process ends, with the power or without.
    pub(super) fn end_store(&mut self, with_power: bool) {
        let Some(store) = self.store.open.take() else {
            return;
        };
        if with_power && !self.store.waiting.is_empty() {
            self.meet(Meeting::PowerLostInGroup);
        }
        if with_power && self.store.has_pruned {
            self.meet(Meeting::PruneThenPower);
        }
        self.lose(with_power);
        // It writes to the disk as it was.
        drop(store);
        let wait = self.chance.within(1, 300) * MS;
        self.later(wait, What::StoreStarts);
    }

    fn lose(&mut self, with_power: bool) {
        self.store.waiting.clear();
        self.store.life += 1;
        let trouble = self.store.trouble;
        self.store.trouble = Trouble::None;
        let (disk, how) = if !with_power {
            (self.store.disk.after_kill(), "killed".to_owned())
        } else if self.chance.once_in(2) {
            let loss = self.chance.of(&Loss::ALL, Loss::Everything);
            (self.store.disk.after_crash(loss), format!("{loss:?}"))
        } else {
            let seed = self.chance.any();
            (
                self.store.disk.after_power_cut(seed),
                format!("power cut {seed}"),
            )
        };
        self.store.disk = disk;
        self.store.ended.push(format!("{how}, {trouble:?}"));
    }

    /// It is closed, and opened again.
    pub(super) fn close_store(&mut self) {
        let waiting = core::mem::take(&mut self.store.waiting);
        drop(waiting);
        if let Some(store) = self.store.open.take() {
            self.store.life += 1;
            if let Err(error) = store.close()
                && self.store.trouble == Trouble::None
            {
                self.find(format!("store: {error}"));
            }
            self.store.disk.set_fault(None);
            self.store.trouble = Trouble::None;
            self.store.disk = self.store.disk.after_kill();
            self.store.ended.push("closed".to_owned());
            let wait = self.chance.within(1, 100) * MS;
            self.later(wait, What::StoreStarts);
        }
    }

    pub(super) fn store_starts(&mut self) {
        if self.store.open.is_some() {
            return;
        }
        if self.is(Broken::ForgetsLastBatch) {
            forget_last_batch(&self.store.disk);
        }
        if core::mem::take(&mut self.store.flips) {
            self.flip();
        }
        match sim::open(&self.store.disk, Path::new(ROOT), &self.store.config) {
            Ok(store) => {
                if !store.recovery().torn.is_empty() {
                    self.meet(Meeting::TornTail);
                }
                if let Err(error) = self.compare(&store) {
                    self.find(format!(
                        "durable: {error}; the store ended so: {:?}",
                        self.store.ended
                    ));
                }
                self.store.open = Some(store);
            }
            Err(error) if self.store.trouble == Trouble::None => {
                self.find(format!(
                    "open: {error}; the store ended so: {:?}",
                    self.store.ended
                ));
            }
            Err(_) => {
                self.meet(Meeting::EndsInRecovery);
                let with_power = self.store.trouble == Trouble::Stops && self.chance.once_in(2);
                self.lose(with_power);
                self.later(MS, What::StoreStarts);
            }
        }
    }

    /// Checks that an opened store holds what was confirmed.
    fn compare(&self, store: &StateStore) -> Result<(), String> {
        let states = store.states().map_err(|error| error.to_string())?;
        for (part, ledger) in (0..).zip(&self.store.ledgers) {
            let name = key(part);
            let held = states.iter().find(|(key, _)| *key == name);
            let (_, held) = held.ok_or_else(|| format!("the state of {part} is gone"))?;
            ledger
                .check(held)
                .map_err(|error| format!("{part}: {error}"))?;
        }
        Ok(())
    }

    /// A copy of the disk, with a bit flipped, is opened: it is refused, or holds what was confirmed.
    fn flip(&mut self) {
        let copy = self.store.disk.copy();
        let files: Vec<(PathBuf, Vec<u8>)> = copy
            .files()
            .into_iter()
            .filter(|(_, bytes)| !bytes.is_empty())
            .collect();
        let Some((path, bytes)) = files.get(self.chance.below(files.len())) else {
            return;
        };
        let original = bytes.clone();
        let mut bytes = bytes.clone();
        let at = self.chance.below(bytes.len());
        let bit = self.chance.below(8);
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << bit;
        }
        copy.put(path, &bytes);
        match sim::open(&copy, Path::new(ROOT), &self.store.config) {
            Err(OpenError::Io(error)) => self.find(format!("flip: {error}")),
            Err(_) => self.meet(Meeting::FlipRefused),
            Ok(store) => {
                self.meet(Meeting::FlipHarmless);
                // A last batch that does not fit its checksum was never confirmed, as far as a log without a closing note can tell.
                let is_torn = store.recovery().torn.iter().any(|torn| {
                    torn.segment == *path && torn.position >= last_batch(&original) as u64
                });
                if !is_torn && let Err(error) = self.compare(&store) {
                    let place = format!(
                        "bit {bit} of byte {at} of {}, {} bytes",
                        path.display(),
                        bytes.len()
                    );
                    self.find(format!("flip: {place}: {error}"));
                }
            }
        }
    }

    /// Brings trouble to the disk, at one of its next operations.
    pub(super) fn trouble(&mut self, trouble: Trouble) {
        let at = self.chance.within(0, 30).unsigned_abs();
        self.store.disk.set_fault(Some(match trouble {
            Trouble::Fails => self.chance.of(
                &[
                    DiskFault::FailOnce(at),
                    DiskFault::AnyFailsOnce(at),
                    DiskFault::FullFrom(at),
                ],
                DiskFault::FailOnce(at),
            ),
            Trouble::None | Trouble::Stops => DiskFault::PowerAt(at),
        }));
        self.store.trouble = trouble;
    }

    /// Checks that the store holds as acknowledged what the newest leader knows as such.
    pub(super) fn compare_leader(&self) -> Result<(), String> {
        let Some(Ok(states)) = self.store.open.as_ref().map(StateStore::states) else {
            return Ok(());
        };
        let leader = &self.brokers[self.leader];
        for (number, led) in (0..).zip(&leader.led) {
            let Some(led) = led
                .as_ref()
                .filter(|led| led.part.status() == Status::Active)
            else {
                continue;
            };
            let name = key(number);
            let held = states.iter().find(|(key, _)| *key == name);
            let (_, held) = held.ok_or_else(|| format!("the state of {number} is gone"))?;
            if held.leader_epoch != leader.epoch || held.state_epoch != led.part.state_epoch() {
                continue;
            }
            let accepted = led
                .part
                .in_flight()
                .filter(|run| run.phase == Phase::Stable && run.state == RecordState::Acknowledged);
            for run in accepted {
                let lost = (run.range.first.max(led.part.start_offset())..=run.range.last)
                    .find(|offset| !Ledger::is_held_as_acknowledged(held, *offset));
                if let Some(offset) = lost {
                    return Err(format!(
                        "{number}: {offset} is acknowledged, and the store does not hold that"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Place where the last batch of a log begins, whole or torn.
fn last_batch(log: &[u8]) -> usize {
    let (mut at, mut last) = (0, 0);
    while at < log.len() {
        last = at;
        let Some(header) = log.get(at + 8..at + 12) else {
            break;
        };
        let length = header
            .iter()
            .fold(0usize, |sum, byte| sum << 8 | usize::from(*byte));
        at += 12 + length.max(1);
    }
    last
}

/// Cuts the last batch off each log.
fn forget_last_batch(disk: &SimDisk) {
    for (path, bytes) in disk.files() {
        let last = last_batch(&bytes);
        if last > 0 && path.extension().is_some_and(|ending| ending == "log") {
            disk.put(&path, bytes.get(..last).unwrap_or_default());
        }
    }
}
