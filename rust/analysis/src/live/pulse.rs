//! Pulse: the events of one share partition since it is followed.

use std::collections::BTreeMap;

use share_state_core::history::{Cause, HistoryRow, Standing};

use crate::state::Writes;

/// Ends of deliveries, in records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Accepted by a member.
    pub accepted: u64,
    /// Released by members, or given back by locks that ran out: the log does not tell which.
    pub released: u64,
    /// On their way to the dead-letter queue.
    pub archiving: u64,
    /// Archived, by the delivery count with which they were: at the limit of the group, or rejected before it.
    pub archived: BTreeMap<i16, u64>,
    /// Passed by the start offset while they were available.
    pub passed_available: u64,
    /// Passed by the start offset before anything was written about them.
    pub passed_unknown: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Pulse {
    pub(super) writes: Writes,
    pub(super) outcomes: Outcomes,
    /// Time at which the start offset came to stand where it is, or was first seen there, ms since the epoch.
    pub(super) start_since: i64,
    /// Time at which a delivery after the start offset first ended since then, ms since the epoch.
    pub(super) held_since: Option<i64>,
    /// Times at which a delivery ended last, and at which one ended last with an acceptance, ms since the epoch.
    pub(super) newest_delivery: Option<i64>,
    pub(super) newest_acceptance: Option<i64>,
    pub(super) standing: Standing,
}

impl Pulse {
    /// Begins with its first row.
    pub(super) fn new(first: &HistoryRow) -> Self {
        let now = first.at.timestamp;
        Self {
            writes: Writes {
                oldest: now,
                newest: now,
            },
            outcomes: Outcomes::default(),
            start_since: now,
            held_since: None,
            newest_delivery: None,
            newest_acceptance: None,
            standing: first.standing,
        }
    }

    /// Offset of the last snapshot in the state topic; `None` if it is missing.
    pub(super) const fn snapshot_offset(&self) -> Option<i64> {
        self.standing.snapshot_offset
    }

    /// Takes the rows of one record of the state topic.
    pub(super) fn take(&mut self, rows: &[HistoryRow]) {
        let Some(first) = rows.first() else {
            return;
        };
        let now = first.at.timestamp;
        self.writes.newest = now;
        if first.standing.start_offset != self.standing.start_offset {
            self.start_since = now;
            self.held_since = None;
        }
        self.standing = first.standing;
        let mut delivered = false;
        for row in rows {
            let records = row.range.map_or(0, |range| range.len());
            delivered |= self.outcomes.count(row, records);
        }
        if delivered {
            self.held_since.get_or_insert(now);
            self.newest_delivery = Some(now);
        }
        if rows.iter().any(|row| row.cause == Cause::Accepted) {
            self.newest_acceptance = Some(now);
        }
    }
}

impl Outcomes {
    /// Counts a row; tells whether it is the end of a delivery.
    fn count(&mut self, row: &HistoryRow, records: u64) -> bool {
        let of_cause = match row.cause {
            Cause::Accepted => &mut self.accepted,
            Cause::Released => &mut self.released,
            Cause::Archiving => &mut self.archiving,
            Cause::Archived => {
                let count = row.to.map_or(0, |to| to.count);
                self.archived.entry(count).or_default()
            }
            Cause::Passed => {
                match row.from {
                    None => self.passed_unknown = self.passed_unknown.saturating_add(records),
                    Some(from) if !crate::state::is_terminal(from.state) => {
                        self.passed_available = self.passed_available.saturating_add(records);
                    }
                    Some(_) => {}
                }
                return false;
            }
            _ => return false,
        };
        *of_cause = of_cause.saturating_add(records);
        true
    }
}
