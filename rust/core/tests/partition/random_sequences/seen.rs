//! View of a share partition from the outside, offset by offset, and the invariants that need no more than that.

use std::collections::BTreeMap;

use share_state_core::in_flight::InFlightStore;
use share_state_core::offset::OffsetRange;
use share_state_core::persister::WriteState;
use share_state_core::record_state::{Phase, RecordState};
use share_state_core::state_batch::StateBatch;

use crate::common::lab::Lab;

/// Record in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub state: RecordState,
    pub phase: Phase,
    pub delivery_count: i16,
    /// Member and deadline.
    pub holder: Option<(String, i64)>,
    /// Time at which the lock was taken or last renewed.
    pub since: Option<i64>,
}

impl Record {
    /// A member may get it at `now`.
    pub fn is_free(&self, now: i64) -> bool {
        let available = self.state == RecordState::Available && self.phase == Phase::Stable;
        available
            || self
                .holder
                .as_ref()
                .is_some_and(|(_, deadline)| *deadline <= now)
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Seen {
    pub records: BTreeMap<i64, Record>,
    pub start_offset: i64,
    pub end_offset: i64,
    pub next_fetch_offset: i64,
    pub has_gap: bool,
    pub delivery_complete_count: u64,
    /// Records archived by this leader.
    pub archived: u64,
    runs: Vec<OffsetRange>,
}

pub fn look<S: InFlightStore>(lab: &Lab<S>) -> Seen {
    let mut records = BTreeMap::new();
    let mut runs = Vec::new();
    for run in lab.sp.in_flight() {
        runs.push(run.range);
        let record = Record {
            state: run.state,
            phase: run.phase,
            delivery_count: run.delivery_count,
            holder: run
                .holder
                .map(|(member, _, deadline)| (member.to_owned(), deadline.0)),
            since: run.holder.map(|(_, since, _)| since.0),
        };
        for offset in run.range.first..=run.range.last {
            records.insert(offset, record.clone());
        }
    }
    Seen {
        records,
        start_offset: lab.sp.start_offset(),
        end_offset: lab.sp.end_offset(),
        next_fetch_offset: lab.sp.next_fetch_offset(),
        has_gap: lab.sp.gap_window().is_some(),
        delivery_complete_count: lab.sp.delivery_complete_count(),
        archived: lab.sp.counters().archived,
        runs,
    }
}

impl Seen {
    /// The ranges that `member` holds, as far as they look the same.
    pub fn held_by(&self, member: &str) -> Vec<(i64, i64)> {
        let mut held: Vec<(i64, i64)> = Vec::new();
        for (offset, record) in &self.records {
            if record
                .holder
                .as_ref()
                .is_some_and(|(name, _)| name == member)
            {
                match held.last_mut() {
                    Some(last) if last.1 + 1 == *offset => last.1 = *offset,
                    _ => held.push((*offset, *offset)),
                }
            }
        }
        held
    }

    /// Offsets that are done.
    pub fn done(&self) -> impl Iterator<Item = i64> {
        let done = |record: &Record| record.state.is_terminal() && record.phase == Phase::Stable;
        self.records
            .iter()
            .filter(move |(_, record)| done(record))
            .map(|(offset, _)| *offset)
    }

    /// The invariants of one moment. `max_limit`: the highest delivery limit there has been.
    pub fn check(&self, max_limit: i16) {
        for pair in self.runs.windows(2) {
            assert!(
                pair[0].last < pair[1].first,
                "runs are ordered and disjoint: {pair:?}"
            );
            let (a, b) = (&self.records[&pair[0].last], &self.records[&pair[1].first]);
            assert!(
                !pair[0].is_followed_by(pair[1].first)
                    || pair[1].first == self.start_offset
                    || a != b,
                "runs are coalesced: {pair:?}"
            );
        }
        let mut terminal = 0;
        for (offset, record) in &self.records {
            let acquired = record.state == RecordState::Acquired;
            assert_eq!(
                acquired,
                record.holder.is_some(),
                "single holder: {offset} {record:?}"
            );
            assert!(
                !acquired || record.phase == Phase::Stable,
                "{offset} {record:?}"
            );
            assert!(
                !acquired || record.delivery_count >= 1,
                "{offset} {record:?}"
            );
            assert!(
                record.delivery_count <= max_limit,
                "delivery limit: {offset} {record:?}"
            );
            if record.state == RecordState::Available {
                assert!(
                    record.delivery_count < max_limit,
                    "delivery limit: {offset} {record:?}"
                );
            }
            if record.state.is_terminal() && *offset >= self.start_offset {
                terminal += 1;
            }
        }
        assert_eq!(
            self.delivery_complete_count, terminal,
            "delivery complete count"
        );
        assert!(self.next_fetch_offset >= self.start_offset, "{self:?}");
        let first_free = self
            .records
            .range(self.start_offset..)
            .find(|(_, record)| {
                record.state == RecordState::Available && record.phase == Phase::Stable
            })
            .map(|(offset, _)| *offset);
        if !self.has_gap && self.records.range(self.start_offset..).next().is_some() {
            let expected = first_free.unwrap_or(self.end_offset + 1);
            assert_eq!(self.next_fetch_offset, expected, "next fetch offset");
        }
    }

    /// Checks what must hold between two moments in one leader's life.
    pub fn check_since(&self, before: &Self) {
        assert!(
            self.start_offset >= before.start_offset,
            "start offset is monotone"
        );
        for (offset, record) in &self.records {
            let Some(earlier) = before.records.get(offset) else {
                continue;
            };
            assert!(
                record.delivery_count >= earlier.delivery_count,
                "a delivery count fell: {offset} {earlier:?} {record:?}"
            );
            if earlier.state.is_terminal() && earlier.phase == Phase::Stable {
                assert_eq!(record.state, earlier.state, "terminal: {offset}");
            }
        }
    }
}

impl Seen {
    /// After a refusal no record is acknowledged that was so by the refused write alone.
    pub fn check_undone(&self, before: &Self, write: &WriteState) {
        let accepted = write
            .state_batches
            .iter()
            .filter(|batch| batch.delivery_state == 2);
        for offset in accepted.flat_map(|batch| batch.first_offset..=batch.last_offset) {
            let pending = |record: &&Record| record.phase == Phase::Pending;
            if before.records.get(&offset).filter(pending).is_some() {
                let state = self.records.get(&offset).map(|record| record.state);
                assert_ne!(
                    state,
                    Some(RecordState::Acknowledged),
                    "{offset} was refused"
                );
            }
        }
    }
}

/// Batches are ordered, disjoint and not inverted, and nobody persists an acquired record.
pub fn check_batches(batches: &[StateBatch]) {
    for batch in batches {
        assert!(
            batch.first_offset <= batch.last_offset,
            "inverted: {batch:?}"
        );
        assert!(
            matches!(batch.delivery_state, 0 | 2 | 3 | 4),
            "state: {batch:?}"
        );
        assert!(batch.delivery_count >= 1, "never delivered: {batch:?}");
    }
    for pair in batches.windows(2) {
        assert!(
            pair[0].last_offset < pair[1].first_offset,
            "disjoint: {pair:?}"
        );
    }
}

pub fn check_write(write: &WriteState) {
    assert!(!write.state_batches.is_empty(), "an empty write");
    assert!(write.delivery_complete_count >= 0, "{write:?}");
    check_batches(&write.state_batches);
}
