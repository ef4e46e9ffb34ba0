//! One share partition of a naive model, over whatever keeps its records.

use share_state_core::state_batch::StateBatch;

use crate::engine::Grant;

pub(super) const AVAILABLE: i8 = 0;
pub(super) const ACQUIRED: i8 = 1;
pub(super) const ACKNOWLEDGED: i8 = 2;
pub(super) const ARCHIVED: i8 = 4;

/// What is known of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub state: i8,
    pub count: i16,
    pub member: u16,
    pub deadline: i64,
}

impl Cell {
    pub const fn is_terminal(self) -> bool {
        self.state >= ACKNOWLEDGED
    }
}

/// How a model keeps its records.
pub trait Records: Default {
    /// Changes what `change` answers for, of the records in the range that are there.
    fn update(&mut self, range: (i64, i64), change: impl FnMut(i64, i64, Record) -> Option<Record>);
    /// Puts records where there are none.
    fn insert(&mut self, range: (i64, i64), record: Record);
    /// The first record from `from` on that is wanted.
    fn first(&self, from: i64, wanted: impl Fn(Record) -> bool) -> Option<i64>;
    /// The first offset from `from` on without a record.
    fn first_hole(&self, from: i64) -> i64;
    /// Drops what lies before `offset`.
    fn remove_before(&mut self, offset: i64);
    /// The acquired records whose locks are due.
    fn due(&mut self, now: i64) -> Vec<(i64, i64)>;
    /// The offsets that are there.
    fn bounds(&self) -> Option<(i64, i64)>;
}

/// A record, which only the models look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record(pub(super) Cell);

#[derive(Debug, Default)]
pub(super) struct Partition<R> {
    pub records: R,
    pub start: i64,
    pub end: i64,
    pub complete: u64,
    pub available: u64,
    /// While a new leader has not read everything again: up to where.
    pub gap_end: Option<i64>,
    pub changed: Vec<StateBatch>,
}

impl<R: Records> Partition<R> {
    /// Changes the records of the range that are in `from`, and notes it.
    pub fn set(
        &mut self,
        range: (i64, i64),
        from: impl Fn(Cell) -> bool,
        to: impl Fn(Cell) -> Cell,
    ) {
        let Self {
            records,
            start,
            complete,
            available,
            changed,
            ..
        } = self;
        records.update(range, |first, last, Record(before)| {
            if !from(before) {
                return None;
            }
            let mut after = to(before);
            if last < *start && after.state == AVAILABLE {
                after.state = ARCHIVED;
            }
            let counted = first.max(*start)..=last;
            let len = if counted.is_empty() {
                0
            } else {
                counted.start().abs_diff(last) + 1
            };
            *complete += len * u64::from(after.is_terminal() && !before.is_terminal());
            *available += len * u64::from(after.state == AVAILABLE);
            match changed.last_mut() {
                Some(b)
                    if b.last_offset + 1 == first
                        && (b.delivery_state, b.delivery_count) == (after.state, after.count) =>
                {
                    b.last_offset = last;
                }
                _ => changed.push(StateBatch {
                    first_offset: first,
                    last_offset: last,
                    delivery_state: after.state,
                    delivery_count: after.count,
                }),
            }
            Some(Record(after))
        });
    }

    pub fn advance(&mut self) {
        let Some((_, last)) = self.records.bounds() else {
            return;
        };
        let unsettled = self.records.first(i64::MIN, |r| !r.0.is_terminal());
        let gap = self.gap();
        let stop = match (unsettled, gap) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let Some(stop) = stop else {
            self.start = self.start.max(last + 1);
            self.end = self.start;
            self.complete = 0;
            self.records.remove_before(i64::MAX);
            return;
        };
        if stop > self.start {
            let complete = &mut self.complete;
            let passed = (self.start, stop - 1);
            self.records.update(passed, |first, last, _| {
                *complete -= first.abs_diff(last) + 1;
                None
            });
            self.start = stop;
        }
        self.records.remove_before(stop);
    }

    pub fn gap(&mut self) -> Option<i64> {
        let end = self.gap_end?;
        let hole = self.records.first_hole(self.start);
        if hole <= end {
            return Some(hole);
        }
        self.gap_end = None;
        None
    }

    pub fn give(&mut self, (first, last): (i64, i64), taken: Cell, given: &mut impl FnMut(Grant)) {
        let mut at = first.max(self.start);
        while at <= last {
            let hole = self.records.first_hole(at).min(last + 1);
            let available = &mut self.available;
            if at < hole {
                self.records
                    .update((at, hole - 1), |first, last, Record(cell)| {
                        if cell.state != AVAILABLE {
                            return None;
                        }
                        *available -= first.abs_diff(last) + 1;
                        let delivery_count = cell.count + 1;
                        given(Grant {
                            first,
                            last,
                            delivery_count,
                        });
                        Some(Record(Cell {
                            count: delivery_count,
                            ..taken
                        }))
                    });
            }
            if hole > last {
                break;
            }
            let present = self.records.first(hole, |_| true);
            let end = present.map_or(last, |next| last.min(next - 1));
            self.records.insert((hole, end), Record(taken));
            given(Grant {
                first: hole,
                last: end,
                delivery_count: taken.count,
            });
            at = end + 1;
        }
        if let Some((_, last)) = self.records.bounds() {
            self.end = self.end.max(last);
        }
    }
}
