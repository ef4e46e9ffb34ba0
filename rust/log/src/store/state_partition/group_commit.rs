//! The group commit. Whoever waits first leads: it takes the oldest group and writes it as one record batch, without the
//! mutex, while others form the next group behind it.

use std::sync::{MutexGuard, PoisonError};

use share_state_core::offset::plus_saturating;
use share_state_core::records::ShareRecord;
use share_state_core::time::WallTime;

use super::{Settled, Shared, StatePartition};
use crate::store::config::SyncPolicy;
use crate::store::error::{PoisonCause, StoreError};
use crate::store::group::{Group, Records};

impl StatePartition {
    /// Puts the records of one decision into one group and replays them. An error has changed nothing.
    pub(super) fn take_in(
        &self,
        shared: &mut Shared,
        records: &[ShareRecord],
        now: WallTime,
    ) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        let encoded = Records::encode(records, now)?;
        let next_offset = plus_saturating(shared.next_offset, records.len() as u64);
        if next_offset == i64::MAX {
            return Err(StoreError::OffsetEnd);
        }
        match shared.groups.back_mut() {
            Some(group) if group.has_room_for(&encoded) => group.add(encoded),
            _ => shared
                .groups
                .push_back(Group::new(shared.next_offset, encoded)),
        }
        for (i, record) in records.iter().enumerate() {
            let offset = plus_saturating(shared.next_offset, i as u64);
            shared.coordinator.replay(offset, record);
        }
        shared.next_offset = next_offset;
        Ok(())
    }

    /// Waits until the records below `ticket` are settled, leading where nobody does.
    pub(super) fn wait<'a>(
        &'a self,
        mut shared: MutexGuard<'a, Shared>,
        ticket: i64,
        how: Settled,
    ) -> Result<(), StoreError> {
        let durably = how == Settled::Durably || self.sync == SyncPolicy::Always;
        loop {
            let reached = if durably {
                shared.synced
            } else {
                shared.appended
            };
            if reached >= ticket {
                return Ok(());
            }
            self.healthy()?;
            if shared.led {
                shared = self
                    .settled
                    .wait(shared)
                    .map_err(|_| self.fail(PoisonCause::Panic))?;
                continue;
            }
            shared.led = true;
            let group = shared.groups.pop_front();
            let end = group.as_ref().map_or(shared.appended, Group::next_offset);
            drop(shared);
            let turn = Turn { partition: self };
            let written = self.write(group.as_ref(), durably);
            drop(turn);
            let mut panicked = false;
            shared = self.shared.lock().unwrap_or_else(|poisoned| {
                panicked = true;
                poisoned.into_inner()
            });
            shared.led = false;
            // Also after a failure or a panic elsewhere: nobody may sleep through that.
            self.settled.notify_all();
            if panicked {
                return Err(self.fail(PoisonCause::Panic));
            }
            written?;
            shared.appended = end;
            if durably {
                shared.synced = end;
            }
        }
    }

    /// Writes a group as one batch and syncs if asked.
    fn write(&self, group: Option<&Group>, sync: bool) -> Result<(), StoreError> {
        let mut log = self.log.lock().map_err(|_| self.fail(PoisonCause::Panic))?;
        if let Some(group) = group {
            let batch = group
                .to_batch(self.compression)
                .map_err(|error| self.fail(PoisonCause::Encode(error)))?;
            log.append(group.base_offset(), &batch)
                .map_err(|failure| self.fail(PoisonCause::Io(failure)))?;
            self.tally.batch(group.len(), batch.len());
        }
        if sync {
            log.sync()
                .map_err(|failure| self.fail(PoisonCause::Io(failure)))?;
        }
        Ok(())
    }
}

/// A leader at work. If it panics the store is poisoned and the waiters are woken.
struct Turn<'a> {
    partition: &'a StatePartition,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.partition.fail(PoisonCause::Panic);
            // Whoever saw the store healthy is asleep by the time the mutex can be had.
            let shared = self.partition.shared.lock();
            shared.unwrap_or_else(PoisonError::into_inner).led = false;
            self.partition.settled.notify_all();
        }
    }
}
