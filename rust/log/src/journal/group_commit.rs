//! The group commit. The first waiting thread leads: it takes the oldest group and writes it as one record batch, without the
//! mutex, while other threads form the next group.
//!
//! Rounds are numbered, and each writes one group. Threads that wait for an even round wait apart from those that wait for an odd
//! one. The end of a round wakes the threads whose records it wrote, and one other thread, which leads the next round.

use share_state_core::offset::plus_saturating;
use share_state_core::time::WallTime;

use super::group::{Group, KEPT_BYTES, Records, SHORT_BATCH_BYTES};
use super::{Durability, Journal, Machine, Shared};
use crate::config::SyncPolicy;
use crate::error::{PoisonCause, StoreError};
use crate::segment_log::SegmentLog;
use crate::sync::{Condvar, MutexGuard, PoisonError};

impl<M> Shared<M> {
    /// The round that writes the last record below `ticket`, while a round is in progress. A record that no group holds is being
    /// written, or waits for a sync: its round is the current one.
    pub(super) fn round_of(&self, ticket: i64) -> u64 {
        let ahead = self
            .groups
            .iter()
            .position(|group| (group.base_offset()..group.next_offset()).contains(&(ticket - 1)));
        ahead.map_or(self.round, |at| self.round + 1 + at as u64)
    }
}

impl<M: Machine> Journal<M> {
    /// Adds the records of one decision to a group and replays them. An error has changed nothing.
    pub fn take_in(
        &self,
        shared: &mut Shared<M>,
        records: &[M::Record],
        now: WallTime,
    ) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        let spare = std::mem::take(&mut shared.spare);
        let encoded = Records::encode::<M>(spare, records, now)?;
        let next_offset = plus_saturating(shared.next_offset, records.len() as u64);
        if next_offset == i64::MAX {
            return Err(StoreError::OffsetEnd);
        }
        let bytes = encoded.log_bytes();
        match shared.groups.back_mut() {
            Some(group) if group.has_room_for(&encoded) => shared.spare = group.add(encoded),
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

    /// Waits until the records below `ticket` are as durable as required. Leads a round if nobody does.
    pub fn wait<'a>(
        &'a self,
        mut shared: MutexGuard<'a, Shared<M>>,
        ticket: i64,
        how: Durability,
    ) -> Result<(), StoreError> {
        let durably = how == Durability::OnDisk || self.sync == SyncPolicy::Always;
        loop {
            if shared.reached(how) >= ticket {
                return Ok(());
            }
            if let Err(poisoned) = self.healthy() {
                // Another partition's journal may have failed. This thread may be the only one that a round's end woke.
                self.wake_all();
                return Err(poisoned);
            }
            if shared.led {
                shared.waiting += 1;
                shared = self
                    .round_end(shared.round_of(ticket))
                    .wait(shared)
                    .map_err(|_| self.fail(PoisonCause::Panic))?;
                shared.waiting -= 1;
                continue;
            }
            match self.lead(shared, None, ticket, durably)? {
                Some(again) => shared = again,
                None => return Ok(()),
            }
        }
    }

    /// Leads a round for the records below `ticket`, if one short append is all that they need. Returns whether they are as durable
    /// as the sync policy requires.
    pub(super) fn append_at_once<'a>(
        &'a self,
        shared: MutexGuard<'a, Shared<M>>,
        ticket: i64,
    ) -> Result<bool, StoreError> {
        if shared.reached(Durability::ByPolicy) >= ticket {
            return Ok(true);
        }
        let is_short = |group: &Group| group.next_offset() >= ticket && group.is_short();
        if shared.led
            || self.sync == SyncPolicy::Always
            || !shared.groups.front().is_some_and(is_short)
        {
            return Ok(false);
        }
        // Pruning may have it, or a thread that panicked with it.
        let Ok(log) = self.log.try_lock() else {
            return Ok(false);
        };
        if !log.has_room_for(SHORT_BATCH_BYTES) {
            return Ok(false);
        }
        let left = self.lead(shared, Some(log), ticket, false)?;
        Ok(left.is_none())
    }

    /// Leads a round, which writes the oldest group. Returns the mutex if some records below `ticket` are not in it.
    fn lead<'a>(
        &'a self,
        mut shared: MutexGuard<'a, Shared<M>>,
        log: Option<MutexGuard<'a, SegmentLog>>,
        ticket: i64,
        durably: bool,
    ) -> Result<Option<MutexGuard<'a, Shared<M>>>, StoreError> {
        shared.led = true;
        shared.round += 1;
        let round = shared.round;
        let group = shared.groups.pop_front();
        let end = group.as_ref().map_or(shared.appended, Group::next_offset);
        drop(shared);
        let leader = Leader { journal: self };
        let written = self.write(log, group.as_ref(), durably);
        drop(leader);
        let mut panicked = false;
        let mut shared = self.shared.lock().unwrap_or_else(|poisoned| {
            panicked = true;
            poisoned.into_inner()
        });
        shared.led = false;
        if panicked || written.is_err() {
            // Every waiting thread must see the failure.
            self.wake_all();
        }
        if panicked {
            return Err(self.fail(PoisonCause::Panic));
        }
        written?;
        if let Some(group) = group {
            shared.spare = group.into_spare();
        }
        shared.appended = end;
        if durably {
            shared.synced = end;
        }
        // Waking takes a call of the system, whether anybody waits or not. Who is not asleep yet sees this round's end.
        let somebody_waits = shared.waiting > 0;
        let left = (end < ticket).then_some(shared);
        // Where nothing is left the mutex is free by now, for the threads that are woken.
        if somebody_waits {
            self.wake(round);
        }
        Ok(left)
    }

    /// The condition variable that signals the end of a round.
    pub(super) fn round_end(&self, round: u64) -> &Condvar {
        let [even, odd] = &self.round_ended;
        if round.is_multiple_of(2) { even } else { odd }
    }

    /// Wakes the threads that waited for this round, and one of those that wait for the next, to lead it.
    fn wake(&self, round: u64) {
        self.round_end(round + 1).notify_one();
        self.round_end(round).notify_all();
    }

    fn wake_all(&self) {
        self.round_ended.iter().for_each(Condvar::notify_all);
    }

    /// Writes a group, and syncs if required.
    fn write(
        &self,
        log: Option<MutexGuard<'_, SegmentLog>>,
        group: Option<&Group>,
        sync: bool,
    ) -> Result<(), StoreError> {
        let mut log = match log {
            Some(log) => log,
            None => self.log()?,
        };
        if let Some(group) = group {
            let mut bytes = std::mem::take(&mut log.spare);
            let batches = group
                .append_batches(self.framing, &mut bytes)
                .map_err(|error| self.fail(PoisonCause::Encode(error)))?;
            let offsets = group.base_offset()..group.next_offset();
            let appended = if group.is_whole() {
                log.begin_anew(offsets, &bytes, &self.record_start.0)
                    .map(|removed| self.tally.pruned(removed))
            } else {
                log.append(offsets, &bytes)
            };
            appended.map_err(|failure| self.fail(PoisonCause::Io(failure)))?;
            self.tally.batches(batches, group.len(), bytes.len());
            if bytes.capacity() <= KEPT_BYTES {
                bytes.clear();
                log.spare = bytes;
            }
        }
        if sync {
            log.sync()
                .map_err(|failure| self.fail(PoisonCause::Io(failure)))?;
        }
        Ok(())
    }
}

/// The leader of a round. If it panics, the store is poisoned and all waiting threads are woken.
pub(super) struct Leader<'a, M: Machine> {
    pub(super) journal: &'a Journal<M>,
}

impl<M: Machine> Drop for Leader<'_, M> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.journal.fail(PoisonCause::Panic);
            // A thread that saw the store healthy is asleep once the mutex is free.
            let shared = self.journal.shared.lock();
            shared.unwrap_or_else(PoisonError::into_inner).led = false;
            self.journal.wake_all();
        }
    }
}
