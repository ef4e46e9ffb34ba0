//! What both naive models do alike: the rules, as far as the workloads use them. How records are kept is their own.

use share_state_core::persister::{ReadStateResult, WriteState};
use share_state_core::share_partition::AcknowledgeBatch;
use share_state_core::state_batch::StateBatch;

use crate::engine::{Engine, Fetch, Grant, Persister, Window};
use crate::oplog::Header;

pub(super) const AVAILABLE: i8 = 0;
pub(super) const ACQUIRED: i8 = 1;
const ACKNOWLEDGED: i8 = 2;
const ARCHIVED: i8 = 4;
const INVALID_RECORD_STATE: i16 = 121;

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

/// Share partitions that keep their records one way or another.
#[derive(Debug)]
pub struct ModelEngine<R> {
    partitions: Vec<Partition<R>>,
    lock_ms: i64,
    limit: i16,
    now: i64,
}

#[derive(Debug, Default)]
struct Partition<R> {
    records: R,
    start: i64,
    end: i64,
    complete: u64,
    available: u64,
    /// While a new leader has not read everything again: up to where.
    gap_end: Option<i64>,
    changed: Vec<StateBatch>,
}

impl<R: Records> Partition<R> {
    /// Changes the records of the range that are in `from`, and notes it.
    fn set(&mut self, range: (i64, i64), from: impl Fn(Cell) -> bool, to: impl Fn(Cell) -> Cell) {
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

    fn advance(&mut self) {
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

    fn gap(&mut self) -> Option<i64> {
        let end = self.gap_end?;
        let hole = self.records.first_hole(self.start);
        if hole <= end {
            return Some(hole);
        }
        self.gap_end = None;
        None
    }

    fn give(&mut self, (first, last): (i64, i64), taken: Cell, given: &mut impl FnMut(Grant)) {
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

fn back(limit: i16) -> impl Fn(Cell) -> Cell {
    move |cell| Cell {
        state: if cell.count >= limit {
            ARCHIVED
        } else {
            AVAILABLE
        },
        ..cell
    }
}

impl<R: Records> Engine for ModelEngine<R> {
    fn open(header: &Header) -> Self {
        Self {
            partitions: (0..header.partitions)
                .map(|_| Partition {
                    records: R::default(),
                    start: 0,
                    end: 0,
                    complete: 0,
                    available: 0,
                    gap_end: None,
                    changed: Vec::new(),
                })
                .collect(),
            lock_ms: i64::from(header.lock_ms),
            limit: header.delivery_limit as i16,
            now: 0,
        }
    }

    fn acquire(&mut self, fetch: &Fetch<'_>, mut given: impl FnMut(Grant)) -> i16 {
        let taken = Cell {
            state: ACQUIRED,
            count: 1,
            member: fetch.member,
            deadline: self.now + self.lock_ms,
        };
        let (Some(first), Some(last)) = (fetch.fetched.first(), fetch.fetched.last()) else {
            return 0;
        };
        let range = (first.base_offset, last.last_offset);
        self.partitions[fetch.partition as usize].give(range, taken, &mut given);
        0
    }

    fn acknowledge(&mut self, partition: u32, member: u16, ranges: &[AcknowledgeBatch<'_>]) -> i16 {
        let at = &mut self.partitions[partition as usize];
        let held = |cell: Cell| cell.state == ACQUIRED && cell.member == member;
        let mut sound = true;
        for batch in ranges {
            at.records
                .update((batch.first, batch.last), |_, _, Record(cell)| {
                    sound &= held(cell);
                    None
                });
        }
        if !sound {
            return INVALID_RECORD_STATE;
        }
        let (limit, deadline) = (self.limit, self.now + self.lock_ms);
        for batch in ranges {
            let mut first = batch.first;
            for same in batch.types.chunk_by(|a, b| a == b) {
                let last = if batch.types.len() == 1 {
                    batch.last
                } else {
                    first + same.len() as i64 - 1
                };
                let range = (first, last);
                let to = |state| move |cell| Cell { state, ..cell };
                match same[0] {
                    1 => at.set(range, held, to(ACKNOWLEDGED)),
                    2 => at.set(range, held, back(limit)),
                    4 => at.records.update(range, |_, _, Record(cell)| {
                        Some(Record(Cell { deadline, ..cell }))
                    }),
                    _ => at.set(range, held, to(ARCHIVED)),
                }
                first = last + 1;
            }
        }
        0
    }

    fn release(&mut self, partition: u32, member: u16) {
        let limit = self.limit;
        let at = &mut self.partitions[partition as usize];
        let held = |cell: Cell| cell.state == ACQUIRED && cell.member == member;
        if let Some(all) = at.records.bounds() {
            at.set(all, held, back(limit));
        }
    }

    fn tick(&mut self, partition: u32, now: i64) {
        self.now = now;
        let limit = self.limit;
        let at = &mut self.partitions[partition as usize];
        for range in at.records.due(now) {
            at.set(
                range,
                |cell| cell.state == ACQUIRED && cell.deadline <= now,
                back(limit),
            );
        }
    }

    fn next_fetch_offset(&mut self, partition: u32) -> i64 {
        let at = &mut self.partitions[partition as usize];
        let gap = at.gap();
        let available = (at.available > 0)
            .then(|| at.records.first(at.start, |r| r.0.state == AVAILABLE))
            .flatten();
        let behind = at.end + i64::from(at.records.bounds().is_some_and(|(_, l)| l >= at.start));
        gap.into_iter().chain(available).min().unwrap_or(behind)
    }

    fn log_start(&mut self, partition: u32, offset: i64) {
        let at = &mut self.partitions[partition as usize];
        let passed = (at.start, offset - 1);
        let (available, complete) = (&mut at.available, &mut at.complete);
        at.records.update(passed, |first, last, Record(cell)| {
            let len = first.abs_diff(last) + 1;
            *complete -= len * u64::from(cell.is_terminal());
            *available -= len * u64::from(cell.state == AVAILABLE);
            (cell.state == AVAILABLE).then_some(Record(Cell {
                state: ARCHIVED,
                ..cell
            }))
        });
        at.start = offset;
        at.end = at.end.max(offset);
    }

    fn settle(&mut self, partition: u32, persister: &mut impl Persister) {
        let at = &mut self.partitions[partition as usize];
        if at.changed.is_empty() {
            return;
        }
        let state = WriteState {
            state_epoch: 0,
            leader_epoch: 0,
            start_offset: at.start,
            delivery_complete_count: at.complete as i32,
            state_batches: core::mem::take(&mut at.changed),
        };
        persister.write(partition, &state);
        at.advance();
    }

    fn complete(&mut self, _: i64) {}

    fn reopen(&mut self, partition: u32, read: ReadStateResult) {
        let at = &mut self.partitions[partition as usize];
        *at = Partition {
            records: R::default(),
            start: read.start_offset,
            end: read.start_offset,
            complete: 0,
            available: 0,
            gap_end: None,
            changed: Vec::new(),
        };
        for batch in &read.state_batches {
            let cell = Cell {
                state: batch.delivery_state,
                count: batch.delivery_count,
                member: 0,
                deadline: 0,
            };
            let range = (batch.first_offset, batch.last_offset);
            let len = range.0.abs_diff(range.1) + 1;
            at.complete += len * u64::from(cell.is_terminal());
            at.available += len * u64::from(cell.state == AVAILABLE);
            at.records.insert(range, Record(cell));
            at.end = range.1;
        }
        at.gap_end = (!read.state_batches.is_empty()).then_some(at.end);
        at.advance();
    }

    fn window(&self, partition: u32) -> Window {
        let at = &self.partitions[partition as usize];
        Window {
            start: at.start,
            end: at.end,
            complete: at.complete,
        }
    }
}
