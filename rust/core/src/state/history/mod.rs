//! History of every record: the changes that a state topic tells, with their times, one row an interval of offsets.
//!
//! [`History`] takes the records of one state partition in the order of their offsets, lets THE FOLD
//! ([`ShareGroupOffset::fold`]) apply each, and compares what the fold says of the touched offsets before and after it. So
//! it cannot tell another story than the fold. The cost of an update is that of the runs it touches, not of the window; a
//! snapshot is compared whole, as it is written whole. Memory is that of the live states.
//!
//! What the log does not hold, no row tells: a record in a member's hands is never written, a release and a lock that ran out
//! look alike, and so do a rejection and the delivery limit.

mod as_of;
mod change;
mod oddity;
mod row;
mod segments;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub use as_of::{AsOf, Prefix};
pub use change::Beginning;
pub use oddity::Oddity;
pub use row::{At, Cause, Delivery, HistoryRow, Standing};

use crate::ids::SharePartitionKey;
use crate::offset::OffsetRange;
use crate::records::{ShareRecord, ShareValue};
use crate::state::group_offset::ShareGroupOffset;
use change::{Move, odd, touched};
use segments::{Pair, Segment, beside, cover, join};

/// A key's state, and where its last snapshot stands.
#[derive(Clone, Debug)]
struct Live {
    state: ShareGroupOffset,
    snapshot_offset: Option<i64>,
}

impl Live {
    const fn standing(&self) -> Standing {
        Standing::of(&self.state, self.snapshot_offset)
    }
}

/// Turns the records of one state partition into rows.
#[derive(Clone, Debug, Default)]
pub struct History {
    live: HashMap<SharePartitionKey, Live>,
    /// Kept from record to record for their allocations only.
    touched: Vec<OffsetRange>,
    old: Vec<Segment>,
    new: Vec<Segment>,
}

impl History {
    /// Nothing is known of any share partition.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The state of a share partition after the last record.
    #[must_use]
    pub fn state(&self, key: &SharePartitionKey) -> Option<&ShareGroupOffset> {
        self.live.get(key).map(|live| &live.state)
    }

    /// Applies the next record and appends what it changed to `rows`; a record that changes nothing appends nothing.
    pub fn apply(&mut self, at: At, record: &ShareRecord, rows: &mut Vec<HistoryRow>) {
        let value = &record.value;
        let old = self.live.remove(&record.key);
        let before = old.as_ref().map(Live::standing);
        let (mut state, mut snapshot_offset) = match old {
            Some(old) => (Some(old.state), old.snapshot_offset),
            None => (None, None),
        };
        let oddity = Oddity::of(value, state.as_ref()).and_then(odd);
        let beginning = Beginning::of(value, state.as_ref());
        // What was known before an initialisation is not compared: the row of the initialisation says that it is gone.
        let known = state
            .as_ref()
            .filter(|_| beginning != Beginning::Initialised);
        let from = known.map_or(-1, |state| state.start_offset);
        let resolves = known.is_some() && from == -1;
        self.touched.clear();
        touched(value, known, &mut self.touched);
        join(&mut self.touched);
        self.old.clear();
        cover(
            known.map(|state| &state.state_batches),
            &self.touched,
            &mut self.old,
        );

        ShareGroupOffset::fold(&mut state, value);
        if matches!(value, ShareValue::Snapshot(_)) {
            snapshot_offset = Some(at.offset);
        }
        let live = state.map(|state| Live {
            state,
            snapshot_offset,
        });
        let after = live.as_ref().map(Live::standing);
        let Some(standing) = after.or(before) else {
            return;
        };
        let mut rows = RecordRows::new(&record.key, at, standing, rows);
        let Some(live) = live else {
            return rows.whole(Cause::Deleted);
        };

        self.new.clear();
        cover(
            Some(&live.state.state_batches),
            &self.touched,
            &mut self.new,
        );
        match beginning {
            Beginning::Initialised => rows.whole(Cause::Initialised),
            Beginning::Found => rows.whole(Cause::Found),
            Beginning::No => {}
        }
        if let Some(cause) = oddity {
            rows.whole(cause);
        }
        if before.is_some_and(|before| before.leader_epoch != standing.leader_epoch) {
            rows.whole(Cause::Led);
        }
        if resolves && standing.start_offset != -1 {
            rows.whole(Cause::StartOffsetResolved);
        }
        let moved = Move {
            from,
            to: standing.start_offset,
            is_first_snapshot: beginning != Beginning::No
                && matches!(value, ShareValue::Snapshot(_)),
        };
        for pair in beside(&self.old, &self.new, [moved.from, moved.to]) {
            if let Some(cause) = moved.cause(pair) {
                rows.interval(pair, cause);
            }
        }
        if rows.is_empty() && before != Some(standing) {
            rows.whole(match value {
                ShareValue::Snapshot(_) => Cause::Snapshot,
                _ => Cause::Counted,
            });
        }
        self.live.insert(record.key.clone(), live);
    }
}

/// The rows of one record, appended to those of the records before it.
struct RecordRows<'a> {
    key: &'a SharePartitionKey,
    at: At,
    standing: Standing,
    rows: &'a mut Vec<HistoryRow>,
    /// Rows of the records before.
    already: usize,
}

impl<'a> RecordRows<'a> {
    const fn new(
        key: &'a SharePartitionKey,
        at: At,
        standing: Standing,
        rows: &'a mut Vec<HistoryRow>,
    ) -> Self {
        let already = rows.len();
        Self {
            key,
            at,
            standing,
            rows,
            already,
        }
    }

    const fn is_empty(&self) -> bool {
        self.rows.len() == self.already
    }

    /// A change of the share partition as a whole.
    fn whole(&mut self, cause: Cause) {
        self.push(None, None, None, cause);
    }

    /// A change of an interval; joined with the one before where it continues it.
    fn interval(&mut self, pair: Pair, cause: Cause) {
        let Pair { range, from, to } = pair;
        if let Some(last) = self.rows.get_mut(self.already..).and_then(<[_]>::last_mut)
            && (last.cause, last.from, last.to) == (cause, from, to)
            && let Some(before) = &mut last.range
            && before.is_followed_by(range.first)
        {
            before.last = range.last;
            return;
        }
        self.push(Some(range), from, to, cause);
    }

    fn push(
        &mut self,
        range: Option<OffsetRange>,
        from: Option<Delivery>,
        to: Option<Delivery>,
        cause: Cause,
    ) {
        self.rows.push(HistoryRow {
            key: self.key.clone(),
            at: self.at,
            range,
            from,
            to,
            cause,
            standing: self.standing,
        });
    }
}
