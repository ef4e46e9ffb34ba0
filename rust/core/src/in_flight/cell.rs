//! What the interval tree keeps of a run of records: eight bytes, so that a run takes 24.

use super::locks::NONE;
use crate::interval_tree::{Run, RunValue};
use crate::record_state::{Phase, RecordState};

/// Available, no write under way.
pub(super) const AVAILABLE: u8 = 1;
/// Not terminal, or a write is under way.
pub(super) const UNSETTLED: u8 = 1 << 1;
/// A batch begins here.
pub(super) const BATCH_START: u8 = 1 << 2;

/// State of the records of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// Lease, or [`NONE`].
    pub lock: u32,
    pub delivery_count: i16,
    pub state: RecordState,
    /// Phase, and whether a batch begins at the first offset.
    marks: u8,
}

const _: () = assert!(size_of::<Run<Cell>>() == 24, "a run takes 24 bytes");

const START: u8 = 1 << 2;
const PHASE: u8 = START - 1;

impl Cell {
    pub const fn new(state: RecordState, delivery_count: i16, phase: Phase, lock: u32) -> Self {
        Self {
            lock,
            delivery_count,
            state,
            marks: phase as u8,
        }
    }

    /// The same cell, with `start` saying whether a batch begins at its first offset.
    pub const fn starting(self, start: bool) -> Self {
        let mark = if start { START } else { 0 };
        Self {
            marks: (self.marks & PHASE) | mark,
            ..self
        }
    }

    pub const fn phase(self) -> Phase {
        match self.marks & PHASE {
            0 => Phase::Settled,
            1 => Phase::Pending,
            _ => Phase::PendingFinal,
        }
    }

    pub const fn is_batch_start(self) -> bool {
        self.marks & START != 0
    }

    /// Whether the records must have a lock: exactly while acquired, or pending with a way back.
    pub fn is_lockable(self) -> bool {
        self.state == RecordState::Acquired || self.phase() == Phase::Pending
    }

    pub const fn is_locked(self) -> bool {
        self.lock != NONE
    }
}

impl RunValue for Cell {
    fn tail(self) -> Self {
        self.starting(false)
    }

    fn joins(self, next: Self) -> bool {
        self.tail() == next
    }

    fn classes(self) -> u8 {
        let settled = self.phase() == Phase::Settled;
        let available = self.state == RecordState::Available && settled;
        let unsettled = !self.state.is_terminal() || !settled;
        (u8::from(available) * AVAILABLE)
            | (u8::from(unsettled) * UNSETTLED)
            | (u8::from(self.is_batch_start()) * BATCH_START)
    }
}
