//! Cell: a run as the store keeps it, in eight bytes, or a code of four for a single record that fits one.
//!
//! Both hold state and phase, the mark of a batch's beginning, the delivery count and the lease. A hole between batches
//! is a cell too, so that neighbouring cells always cover neighbouring offsets.

use crate::partition::in_flight::locks::NONE;
use crate::partition::record_state::{Phase, RecordState};

/// Kind of record that a search looks for; the classes of a cell are a set of them, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Available, no write under way.
    Available = 0,
    /// Not terminal, or a write is under way.
    Outstanding = 1,
    /// A batch begins here.
    Start = 2,
    /// No batch holds the offset.
    Hole = 3,
}

impl Class {
    pub const ALL: [Self; 4] = [Self::Available, Self::Outstanding, Self::Start, Self::Hole];

    /// The set that holds only this class.
    pub const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// State, phase, mark, delivery count and lease of a record, in one word: `lease:32 | count:16 | 0:10 | start:1 | phase:2 |
/// state:3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell(u64);

/// State and phase; all ones are the hole.
const KIND: u64 = 0x1F;
const HOLE: u64 = KIND;
const STATE: u64 = 0x7;
const PHASE_AT: u32 = 3;
const START: u64 = 1 << 5;
const COUNT_AT: u32 = 16;
const LOCK_AT: u32 = 32;

/// Classes by kind and mark.
static CLASSES: [u8; 64] = classes();

const fn classes() -> [u8; 64] {
    let mut classes = [0; 64];
    let mut at = 0;
    while at < 64 {
        let kind = at as u64 & KIND;
        let start = if at as u64 & START == 0 {
            0
        } else {
            Class::Start.bit()
        };
        classes[at] = if kind == HOLE {
            Class::Hole.bit()
        } else {
            let cell = Cell(kind);
            let stable = matches!(cell.phase(), Phase::Stable);
            let available = matches!(cell.state(), RecordState::Available) && stable;
            let outstanding = !cell.state().is_terminal() || !stable;
            (available as u8 * Class::Available.bit())
                | (outstanding as u8 * Class::Outstanding.bit())
                | start
        };
        at += 1;
    }
    classes
}

impl Cell {
    /// Cell of an offset that no batch holds.
    pub const HOLE: Self = Self(HOLE | (NONE as u64) << LOCK_AT);

    pub const fn new(state: RecordState, delivery_count: i16, phase: Phase, lock: u32) -> Self {
        let kind = state as u64 | (phase as u64) << PHASE_AT;
        let count = delivery_count.cast_unsigned() as u64;
        Self(kind | count << COUNT_AT | (lock as u64) << LOCK_AT)
    }

    /// The same cell, with `start` saying whether a batch begins at its first offset.
    pub const fn starting(self, start: bool) -> Self {
        if start {
            Self(self.0 | START)
        } else {
            Self(self.0 & !START)
        }
    }

    /// The same cell under another lease.
    pub const fn under(self, lock: u32) -> Self {
        Self(self.0 & !(u64::MAX << LOCK_AT) | (lock as u64) << LOCK_AT)
    }

    /// The cell of the offsets after the first one.
    pub const fn tail(self) -> Self {
        Self(self.0 & !START)
    }

    /// Returns `true` if `next`, right after a run of this cell, belongs to that run.
    pub const fn joins(self, next: Self) -> bool {
        self.0 & !START == next.0
    }

    pub const fn state(self) -> RecordState {
        match self.0 & STATE {
            0 => RecordState::Available,
            1 => RecordState::Acquired,
            2 => RecordState::Acknowledged,
            3 => RecordState::Archiving,
            _ => RecordState::Archived,
        }
    }

    pub const fn phase(self) -> Phase {
        match self.0 >> PHASE_AT & 3 {
            0 => Phase::Stable,
            1 => Phase::Pending,
            _ => Phase::PendingFinal,
        }
    }

    pub const fn delivery_count(self) -> i16 {
        ((self.0 >> COUNT_AT) as u16).cast_signed()
    }

    /// The lease, or [`NONE`].
    pub const fn lock(self) -> u32 {
        (self.0 >> LOCK_AT) as u32
    }

    pub const fn is_start(self) -> bool {
        self.0 & START != 0
    }

    pub const fn is_hole(self) -> bool {
        self.0 & KIND == HOLE
    }

    /// The set of classes that it belongs to.
    pub fn classes(self) -> u8 {
        CLASSES[(self.0 & (START | KIND)) as usize]
    }

    /// Returns `true` if nothing can happen to the records any more.
    pub fn is_done(self) -> bool {
        self.classes() & (Class::Outstanding.bit() | Class::Hole.bit()) == 0
    }

    /// Returns `true` if both are equal but for the lease and the beginning of a batch.
    pub const fn is_like(self, other: Self) -> bool {
        (self.0 ^ other.0) as u32 & !(START as u32) == 0
    }

    /// The record after a change.
    pub const fn with(self, change: CellChange) -> Self {
        Self(self.0 & !KIND | change.0)
    }

    /// Returns `true` if the records must have a lock: exactly while acquired, or pending with a way back.
    pub fn is_lockable(self) -> bool {
        !self.is_hole() && (self.state() == RecordState::Acquired || self.phase() == Phase::Pending)
    }
}

/// Change of a record whose delivery count stays: the bits of a cell that are set, once state and phase are cleared.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellChange(u64);

impl CellChange {
    pub const fn new(state: RecordState, phase: Phase, keeps_lock: bool) -> Self {
        let lock = if keeps_lock { 0 } else { NONE as u64 };
        Self(state as u64 | (phase as u64) << PHASE_AT | lock << LOCK_AT)
    }

    /// Otherwise the record leaves its lease.
    pub const fn keeps_lock(self) -> bool {
        self.0 >> LOCK_AT == 0
    }
}

/// Code of a single record in a dense leaf: `lease:21 | count:5 | start:1 | phase:2 | state:3`. Kafka's configuration
/// lets a delivery count reach 25; a state that was loaded may hold more, and then its record is kept as a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code(u32);

const SHORT_COUNT: u64 = 0x1F;
const SHORT_COUNT_AT: u32 = 6;
const SHORT_LOCK_AT: u32 = 11;
const SHORT_NONE: u32 = u32::MAX >> SHORT_LOCK_AT;

impl Code {
    /// The code of a cell, unless it does not fit.
    pub fn of(cell: Cell) -> Option<Self> {
        let count = (cell.0 >> COUNT_AT) & 0xFFFF;
        let lock = cell.lock();
        let fits = count <= SHORT_COUNT && (lock < SHORT_NONE || lock == NONE);
        let low = (cell.0 & (START | KIND) | count << SHORT_COUNT_AT) as u32;
        fits.then_some(Self(low | lock << SHORT_LOCK_AT))
    }

    /// The cell of a code.
    pub fn cell(self) -> Cell {
        let low = u64::from(self.0) & (START | KIND);
        Cell(low | self.count() << COUNT_AT | u64::from(self.lock()) << LOCK_AT)
    }

    fn count(self) -> u64 {
        u64::from(self.0 >> SHORT_COUNT_AT) & SHORT_COUNT
    }

    /// The lease, or [`NONE`].
    pub const fn lock(self) -> u32 {
        let short = self.0 >> SHORT_LOCK_AT;
        if short == SHORT_NONE { NONE } else { short }
    }

    /// [`Cell::tail`] of a code.
    pub const fn tail(self) -> Self {
        Self(self.0 & !(START as u32))
    }

    /// Returns `true` if a batch begins here.
    pub const fn is_start(self) -> bool {
        self.0 & START as u32 != 0
    }

    /// Returns `true` if both are equal but for the lease and the beginning of a batch.
    pub const fn is_like(self, other: Self) -> bool {
        (self.0 ^ other.0) & ((1 << SHORT_LOCK_AT) - 1) & !(START as u32) == 0
    }

    /// [`Self::is_like`] of a cell.
    pub fn is_like_cell(self, cell: Cell) -> bool {
        let own = u64::from(self.0) & KIND | self.count() << COUNT_AT;
        (own ^ cell.0) as u32 & !(START as u32) == 0
    }

    /// The record after a change.
    pub const fn with(self, change: CellChange) -> Self {
        // No lease is all ones, here as there.
        let lock = (change.0 >> LOCK_AT) as u32;
        Self(self.0 & !(KIND as u32) | change.0 as u32 | lock << SHORT_LOCK_AT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_and_a_code_give_back_what_was_put_in() {
        let mut codes = 0;
        for state in RecordState::ALL {
            for phase in Phase::ALL {
                for count in [0, 1, 31, 32, i16::MAX, i16::MIN, -1] {
                    for lock in [0, 1, SHORT_NONE - 1, SHORT_NONE, NONE - 1, NONE] {
                        for start in [false, true] {
                            let cell = Cell::new(state, count, phase, lock).starting(start);
                            let parts = (cell.state(), cell.phase(), cell.delivery_count());
                            assert_eq!(parts, (state, phase, count));
                            assert_eq!((cell.lock(), cell.is_start()), (lock, start));
                            assert!(!cell.is_hole() && cell.joins(cell.tail()));
                            let fits =
                                (0..32).contains(&count) && (lock < SHORT_NONE || lock == NONE);
                            let code = Code::of(cell);
                            assert_eq!(code.map(Code::cell), fits.then_some(cell));
                            assert_eq!(
                                code.map(|code| code.tail().cell()),
                                fits.then_some(cell.tail())
                            );
                            codes += 1;
                        }
                    }
                }
            }
        }
        assert_eq!(codes, 5 * 3 * 7 * 6 * 2);
        assert_eq!(Code::of(Cell::HOLE).map(Code::cell), Some(Cell::HOLE));
    }
}
