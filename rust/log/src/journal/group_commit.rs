//! The group commit. Whoever waits first leads: it takes the oldest group and writes it as one record batch, without the
//! mutex, while others form the next group after it.
//!
//! Turns are numbered, each takes one group, and who waits for an even turn waits apart from who waits for an odd one. So the end
//! of a turn wakes those whose records it wrote, and one of the others, who leads the next.

use std::sync::{Condvar, MutexGuard, PoisonError};

use share_state_core::offset::plus_saturating;
use share_state_core::time::WallTime;

use super::group::{Group, Records};
use super::{Journal, Machine, Settled, Shared};
use crate::store::{PoisonCause, StoreError, SyncPolicy};

impl<M> Shared<M> {
    /// The turn that writes the records below `ticket`, while one is under way.
    fn turn_of(&self, ticket: i64) -> u64 {
        let ahead = self
            .groups
            .iter()
            .position(|group| ticket <= group.next_offset());
        ahead.map_or(self.turn, |at| self.turn + 1 + at as u64)
    }
}

impl<M: Machine> Journal<M> {
    /// Puts the records of one decision into one group and replays them. An error has changed nothing.
    pub fn take_in(
        &self,
        shared: &mut Shared<M>,
        records: &[M::Record],
        now: WallTime,
    ) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        let encoded = Records::encode::<M>(records, now)?;
        let next_offset = plus_saturating(shared.next_offset, records.len() as u64);
        if next_offset == i64::MAX {
            return Err(StoreError::OffsetEnd);
        }
        let bytes = encoded.log_bytes();
        match shared.groups.back_mut() {
            Some(group) if group.has_room_for(&encoded) => group.add(encoded),
            _ => shared
                .groups
                .push_back(Group::new(shared.next_offset, encoded)),
        }
        for (i, record) in records.iter().enumerate() {
            let offset = plus_saturating(shared.next_offset, i as u64);
            shared.machine.replay(offset, record);
        }
        shared.next_offset = next_offset;
        if let Some(rewriting) = &mut shared.rewriting
            && rewriting.grown(bytes)
        {
            shared.rewrite(now);
        }
        Ok(())
    }

    /// Waits until the records below `ticket` are settled, leading where nobody does.
    pub fn wait<'a>(
        &'a self,
        mut shared: MutexGuard<'a, Shared<M>>,
        ticket: i64,
        how: Settled,
    ) -> Result<(), StoreError> {
        let durably = how == Settled::Durably || self.sync == SyncPolicy::Always;
        loop {
            if self.reached(&shared, how) >= ticket {
                return Ok(());
            }
            self.healthy()?;
            if shared.led {
                shared = self
                    .settled(shared.turn_of(ticket))
                    .wait(shared)
                    .map_err(|_| self.fail(PoisonCause::Panic))?;
                continue;
            }
            shared.led = true;
            shared.turn += 1;
            let turn = shared.turn;
            let group = shared.groups.pop_front();
            let end = group.as_ref().map_or(shared.appended, Group::next_offset);
            drop(shared);
            let leader = Leader { journal: self };
            let written = self.write(group.as_ref(), durably);
            drop(leader);
            let mut panicked = false;
            shared = self.shared.lock().unwrap_or_else(|poisoned| {
                panicked = true;
                poisoned.into_inner()
            });
            shared.led = false;
            if panicked || written.is_err() {
                // Nobody may sleep through a failure.
                self.wake_all();
            }
            if panicked {
                return Err(self.fail(PoisonCause::Panic));
            }
            written?;
            shared.appended = end;
            if durably {
                shared.synced = end;
            }
            if end >= ticket {
                // Whoever is woken finds the mutex free.
                drop(shared);
                self.wake(turn);
                return Ok(());
            }
            self.wake(turn);
        }
    }

    /// What those wait for who wait for a turn.
    pub(super) fn settled(&self, turn: u64) -> &Condvar {
        let [even, odd] = &self.settled;
        if turn.is_multiple_of(2) { even } else { odd }
    }

    /// Wakes one of those who wait for the next turn, to lead it, and whoever waited for this one.
    fn wake(&self, turn: u64) {
        self.settled(turn + 1).notify_one();
        self.settled(turn).notify_all();
    }

    fn wake_all(&self) {
        self.settled.iter().for_each(Condvar::notify_all);
    }

    /// Writes a group and syncs if asked.
    fn write(&self, group: Option<&Group>, sync: bool) -> Result<(), StoreError> {
        let mut log = self.log()?;
        if let Some(group) = group {
            let (bytes, batches) = group
                .to_batches(self.compression)
                .map_err(|error| self.fail(PoisonCause::Encode(error)))?;
            let appended = if group.is_whole() {
                log.begin_anew(group.base_offset(), &bytes)
                    .map(|removed| self.tally.pruned(removed))
            } else {
                log.append(group.base_offset(), &bytes)
            };
            appended.map_err(|failure| self.fail(PoisonCause::Io(failure)))?;
            self.tally.batches(batches, group.len(), bytes.len());
        }
        if sync {
            log.sync()
                .map_err(|failure| self.fail(PoisonCause::Io(failure)))?;
        }
        Ok(())
    }
}

/// A leader at work. If it panics the store is poisoned and the waiters are woken.
struct Leader<'a, M: Machine> {
    journal: &'a Journal<M>,
}

impl<M: Machine> Drop for Leader<'_, M> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.journal.fail(PoisonCause::Panic);
            // Whoever saw the store healthy is asleep by the time the mutex can be had.
            let shared = self.journal.shared.lock();
            shared.unwrap_or_else(PoisonError::into_inner).led = false;
            self.journal.wake_all();
        }
    }
}
