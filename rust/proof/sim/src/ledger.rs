//! Ledger of the writes that the store has confirmed of a share partition: it must hold them, whatever happened to it since, and
//! nothing that nobody asked of it.

use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::persister::{InitializeState, WriteState};
use share_state_core::record_state::RecordState;

/// State of an offset, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// The highest delivery count and state whose write was confirmed.
    confirmed: (i16, i8),
    /// All that was asked for, a bit each.
    asked: u64,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    state_epoch: i32,
    /// The newest leader that has read the state, and the newest of which the store has shown that since.
    reader: i32,
    leader_epoch: i32,
    start_offset: i64,
    cells: Vec<Cell>,
}

fn bit(count: i16, state: i8) -> u64 {
    1u64.checked_shl((i32::from(count) * 5 + i32::from(state)).unsigned_abs())
        .unwrap_or(0)
}

impl Ledger {
    /// A state was initialised.
    pub fn initialized(&mut self, request: &InitializeState) {
        *self = Self {
            state_epoch: request.state_epoch,
            start_offset: request.start_offset,
            ..Self::default()
        };
    }

    /// A leader has read the state; `kept` is the epoch that the store shows since.
    pub fn read(&mut self, leader_epoch: i32, kept: i32) {
        self.reader = self.reader.max(leader_epoch);
        self.leader_epoch = self.leader_epoch.max(kept);
    }

    /// The epoch of the newest leader that has read the state.
    pub const fn reader(&self) -> i32 {
        self.reader
    }

    fn each(&mut self, write: &WriteState, mut act: impl FnMut(&mut Cell, i16, i8)) {
        for batch in &write.state_batches {
            for offset in batch.first_offset..=batch.last_offset {
                let at = usize::try_from(offset).unwrap_or(0);
                if at >= self.cells.len() {
                    self.cells.resize(at + 1, Cell::default());
                }
                if let Some(cell) = self.cells.get_mut(at) {
                    act(cell, batch.delivery_count, batch.delivery_state);
                }
            }
        }
    }

    /// The store is asked to write.
    pub fn asked(&mut self, write: &WriteState) {
        self.each(write, |cell, count, state| cell.asked |= bit(count, state));
    }

    /// The store has confirmed a write.
    pub fn confirmed(&mut self, write: &WriteState) {
        // The offsets were reset since.
        if write.state_epoch != self.state_epoch {
            return;
        }
        self.start_offset = self.start_offset.max(write.start_offset);
        self.each(write, |cell, count, state| {
            cell.confirmed = cell.confirmed.max((count, state));
        });
    }

    /// Compares with what the store holds.
    ///
    /// # Errors
    /// The first thing that is missing, or that nobody asked for.
    pub fn check(&self, held: &ShareGroupOffset) -> Result<(), String> {
        if held.state_epoch != self.state_epoch
            || held.leader_epoch < self.leader_epoch
            || held.start_offset < self.start_offset
        {
            return Err(format!(
                "the store holds epochs {} and {} from {} on, and has confirmed {}, {} and {}",
                held.state_epoch,
                held.leader_epoch,
                held.start_offset,
                self.state_epoch,
                self.leader_epoch,
                self.start_offset
            ));
        }
        for (offset, cell) in (0..).zip(&self.cells) {
            if offset < held.start_offset {
                continue;
            }
            let found = held
                .state_batches
                .at(offset)
                .map_or((0, 0), |batch| (batch.delivery_count, batch.delivery_state));
            if found < cell.confirmed {
                let lost = cell.confirmed;
                return Err(format!(
                    "{offset}: the store has confirmed {lost:?} and holds {found:?}"
                ));
            }
            if found != (0, 0) && cell.asked & bit(found.0, found.1) == 0 {
                return Err(format!(
                    "{offset}: the store holds {found:?}, which nobody wrote"
                ));
            }
        }
        Ok(())
    }

    /// Returns true if the store holds a record as acknowledged, or below its start offset.
    pub fn is_held_as_acknowledged(held: &ShareGroupOffset, offset: i64) -> bool {
        offset < held.start_offset
            || held
                .state_batches
                .at(offset)
                .is_some_and(|batch| batch.delivery_state == RecordState::Acknowledged.id())
    }
}
