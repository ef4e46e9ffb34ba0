//! The rules that both naive models play by, as far as their workloads use them: records that are acquired in the order of the
//! log, acknowledged, released, renewed and run out. No leader change, no log start, no gap. How records are kept is their own.

use share_state_core::persister::{ReadStateResult, WriteState};
use share_state_core::share_partition::AcknowledgeBatch;
use share_state_core::state_batch::StateBatch;

use crate::engine::{Engine, Fetch, Grant, Persister, Window};
use crate::oplog::{Header, OpKind, OpLog};

const AVAILABLE: i8 = 0;
const ACQUIRED: i8 = 1;
const ACKNOWLEDGED: i8 = 2;
const ARCHIVED: i8 = 4;
const INVALID_RECORD_STATE: i16 = 121;

/// What is known of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    state: i8,
    count: i16,
    member: u16,
    deadline: i64,
}

impl Cell {
    /// When the lock of an acquired record ends.
    pub(super) fn deadline(self) -> Option<i64> {
        (self.state == ACQUIRED).then_some(self.deadline)
    }

    const fn is_terminal(self) -> bool {
        self.state >= ACKNOWLEDGED
    }
}

/// How a model keeps its records, which lie one after the other without a hole.
pub trait Records: Default {
    /// Changes what `change` answers for, of the records in the range that are there.
    fn update(&mut self, range: (i64, i64), change: impl FnMut(i64, i64, Cell) -> Option<Cell>);
    /// Puts records after all others.
    fn push(&mut self, range: (i64, i64), cell: Cell);
    /// The first record that is wanted.
    fn first(&self, wanted: impl Fn(Cell) -> bool) -> Option<i64>;
    /// Drops what lies before `offset`.
    fn remove_before(&mut self, offset: i64);
    /// The acquired records whose locks are due.
    fn due(&mut self, now: i64) -> Vec<(i64, i64)>;
}

/// A share partition: its records lie from `start` to before `next`.
#[derive(Debug, Default)]
struct Partition<R> {
    records: R,
    start: i64,
    next: i64,
    complete: u64,
    changed: Vec<StateBatch>,
}

const fn len(first: i64, last: i64) -> u64 {
    first.abs_diff(last) + 1
}

impl<R: Records> Partition<R> {
    /// Changes the records of the range that are in `from`, and notes it.
    fn set(&mut self, range: (i64, i64), from: impl Fn(Cell) -> bool, to: impl Fn(Cell) -> Cell) {
        let Self {
            records,
            complete,
            changed,
            ..
        } = self;
        records.update(range, |first, last, before| {
            if !from(before) {
                return None;
            }
            let after = to(before);
            if after.is_terminal() {
                *complete += len(first, last);
            }
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
            Some(after)
        });
    }

    /// The start offset passes what is done.
    fn advance(&mut self) {
        let stop = self.records.first(|cell| !cell.is_terminal());
        let stop = stop.unwrap_or(self.next);
        if stop > self.start {
            self.complete -= len(self.start, stop - 1);
            self.start = stop;
            self.records.remove_before(stop);
        }
    }

    /// Gives what is available of the range, and what is new.
    fn give(&mut self, (first, last): (i64, i64), taken: Cell, given: &mut impl FnMut(Grant)) {
        self.records.update((first, last), |first, last, cell| {
            let delivery_count = cell.count + 1;
            (cell.state == AVAILABLE).then(|| {
                given(Grant {
                    first,
                    last,
                    delivery_count,
                });
                Cell {
                    count: delivery_count,
                    ..taken
                }
            })
        });
        let first = first.max(self.next);
        if first <= last {
            self.records.push((first, last), taken);
            self.next = last + 1;
            given(Grant {
                first,
                last,
                delivery_count: taken.count,
            });
        }
    }
}

/// Share partitions that keep their records one way or another.
#[derive(Debug)]
pub struct NaiveEngine<R> {
    partitions: Vec<Partition<R>>,
    lock_ms: i64,
    limit: i16,
    now: i64,
}

/// Whether the naive models play this log.
#[must_use]
pub fn is_naive(log: &OpLog) -> bool {
    log.ops.iter().all(|op| {
        !matches!(
            op.kind,
            OpKind::LogStart | OpKind::Reopen | OpKind::Persister | OpKind::Complete
        )
    })
}

fn released(limit: i16) -> impl Fn(Cell) -> Cell {
    move |cell| Cell {
        state: if cell.count >= limit {
            ARCHIVED
        } else {
            AVAILABLE
        },
        ..cell
    }
}

fn held_by(member: u16) -> impl Fn(Cell) -> bool {
    move |cell| cell.state == ACQUIRED && cell.member == member
}

impl<R: Records> NaiveEngine<R> {
    /// A member's request, without the write.
    fn change(&mut self, partition: u32, member: u16, ranges: &[AcknowledgeBatch<'_>]) -> i16 {
        let at = &mut self.partitions[partition as usize];
        let (held, mut sound) = (held_by(member), true);
        for batch in ranges {
            at.records.update((batch.first, batch.last), |_, _, cell| {
                sound &= held(cell);
                None
            });
        }
        if !sound {
            return INVALID_RECORD_STATE;
        }
        let deadline = self.now + self.lock_ms;
        for batch in ranges {
            let mut first = batch.first;
            for same in batch.types.chunk_by(|a, b| a == b) {
                let last = match batch.types {
                    [_] => batch.last,
                    _ => first + same.len() as i64 - 1,
                };
                let range = (first, last);
                let to = |state| move |cell| Cell { state, ..cell };
                match same[0] {
                    1 => at.set(range, &held, to(ACKNOWLEDGED)),
                    2 => at.set(range, &held, released(self.limit)),
                    4 => {
                        at.records
                            .update(range, |_, _, cell| Some(Cell { deadline, ..cell }));
                    }
                    _ => at.set(range, &held, to(ARCHIVED)),
                }
                first = last + 1;
            }
        }
        0
    }
}

impl<R: Records> Engine for NaiveEngine<R> {
    fn open(header: &Header) -> Self {
        let partition = |_| Partition {
            records: R::default(),
            start: 0,
            next: 0,
            complete: 0,
            changed: Vec::new(),
        };
        Self {
            partitions: (0..header.partitions).map(partition).collect(),
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
        if let [first, .., last] | [first @ last] = fetch.fetched {
            let range = (first.base_offset, last.last_offset);
            self.partitions[fetch.partition as usize].give(range, taken, &mut given);
        }
        0
    }

    fn acknowledge(
        &mut self,
        partition: u32,
        member: u16,
        ranges: &[AcknowledgeBatch<'_>],
        persister: &mut impl Persister,
    ) -> i16 {
        let code = self.change(partition, member, ranges);
        self.settle(partition, persister);
        code
    }

    fn release(&mut self, partition: u32, member: u16, persister: &mut impl Persister) {
        let limit = self.limit;
        let at = &mut self.partitions[partition as usize];
        at.set((at.start, at.next - 1), held_by(member), released(limit));
        self.settle(partition, persister);
    }

    fn tick(&mut self, partition: u32, now: i64) {
        self.now = now;
        let limit = self.limit;
        let at = &mut self.partitions[partition as usize];
        for range in at.records.due(now) {
            let is_due = |cell: Cell| cell.deadline().is_some_and(|deadline| deadline <= now);
            at.set(range, is_due, released(limit));
        }
    }

    fn next_fetch_offset(&mut self, partition: u32) -> i64 {
        let at = &self.partitions[partition as usize];
        let available = at.records.first(|cell| cell.state == AVAILABLE);
        available.unwrap_or(at.next)
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
        persister.write(partition, (&state).into());
        at.advance();
    }

    fn window(&self, partition: u32) -> Window {
        let at = &self.partitions[partition as usize];
        Window {
            start: at.start,
            end: at.start.max(at.next - 1),
            complete: at.complete,
        }
    }

    fn log_start(&mut self, _: u32, _: i64) {
        unreachable!("see `is_naive`");
    }

    fn complete(&mut self, _: i64) {
        unreachable!("see `is_naive`");
    }

    fn reopen(&mut self, _: u32, _: ReadStateResult) {
        unreachable!("see `is_naive`");
    }
}
