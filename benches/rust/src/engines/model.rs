//! What both naive models do alike: the rules, as far as the workloads use them. How records are kept is their own.

use share_state_core::persister::{ReadStateResult, WriteState};
use share_state_core::share_partition::AcknowledgeBatch;

use super::partition::{
    ACKNOWLEDGED, ACQUIRED, ARCHIVED, AVAILABLE, Cell, Partition, Record, Records,
};
use crate::engine::{Engine, Fetch, Grant, Persister, Window};
use crate::oplog::Header;

const INVALID_RECORD_STATE: i16 = 121;

/// Share partitions that keep their records one way or another.
#[derive(Debug)]
pub struct ModelEngine<R> {
    partitions: Vec<Partition<R>>,
    lock_ms: i64,
    limit: i16,
    now: i64,
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

impl<R: Records> ModelEngine<R> {
    /// A member's request, without the write.
    fn change(&mut self, partition: u32, member: u16, ranges: &[AcknowledgeBatch<'_>]) -> i16 {
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
        let held = |cell: Cell| cell.state == ACQUIRED && cell.member == member;
        if let Some(all) = at.records.bounds() {
            at.set(all, held, back(limit));
        }
        self.settle(partition, persister);
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
        persister.write(partition, (&state).into());
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
