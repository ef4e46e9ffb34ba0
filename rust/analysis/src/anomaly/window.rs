//! What is known of the records of one share partition, run by run, while its history is read.

use share_state_core::history::Delivery;
use share_state_core::interval_tree::{IntervalTree, Run, RunValue};
use share_state_core::offset::{OffsetRange, after, before};
use share_state_core::state_batch::StateBatch;

use super::Mark;
use crate::state::is_settled;

/// The class of values from which a record may come back.
const UNSETTLED: u8 = 1;

/// What is known of each offset of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub delivery: Delivery,
    /// The record of the state topic that told of them first.
    pub first_told: Mark,
    /// When something was written of them last, ms.
    pub changed_ms: i64,
    /// The longest time between two writes of them, ms; `None` if a delivery between is not in the log. How long the first
    /// delivery took is never known.
    pub longest_ms: Option<i64>,
    /// Releases in a row, each about a lock duration after the change before.
    pub loops: u64,
    /// Where the first of them was.
    pub loop_since: Mark,
}

impl RunValue for Known {
    fn classes(self) -> u8 {
        if is_settled(self.delivery.state) {
            0
        } else {
            UNSETTLED
        }
    }
}

/// The runs in order of their offsets, and how many offsets of them are settled.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    runs: IntervalTree<Known>,
    settled: u128,
}

impl Window {
    pub fn runs(&self) -> impl Iterator<Item = Run<Known>> + '_ {
        self.runs.iter()
    }

    /// How many offsets are settled.
    pub const fn settled(&self) -> u128 {
        self.settled
    }

    /// Removes what is known of an interval, and appends it to `taken`.
    pub fn take(&mut self, range: OffsetRange, taken: &mut Vec<Run<Known>>) {
        let settled = &mut self.settled;
        self.runs.drain(range, |run| {
            if is_settled(run.value.delivery.state) {
                *settled -= u128::from(run.range.len());
            }
            taken.push(run);
        });
    }

    /// Adds a run where nothing is known.
    pub fn put(&mut self, range: OffsetRange, known: Known) {
        if is_settled(known.delivery.state) {
            self.settled += u128::from(range.len());
        }
        self.runs.set(range, known);
    }

    /// The first offset from `start` on that is not settled, and what is known of it; `None` if all that is known is.
    pub fn holder(&self, start: i64) -> Option<(i64, Option<StateBatch>)> {
        let end = self.runs.bounds()?.last;
        let hole = self.runs.first_hole(start);
        let unsettled = self.runs.next_with(start, UNSETTLED);
        let unsettled = unsettled.map(|run| (run.range.first.max(start), run));
        match unsettled {
            Some((offset, run)) if offset <= hole => Some((
                offset,
                Some(StateBatch {
                    first_offset: run.range.first,
                    last_offset: run.range.last,
                    delivery_state: run.value.delivery.state,
                    delivery_count: run.value.delivery.count,
                }),
            )),
            _ => (hole <= end && self.runs.at(hole).is_none()).then_some((hole, None)),
        }
    }

    /// The intervals from `start` on that are not known, each with the run after it.
    pub fn holes(&self, start: i64) -> impl Iterator<Item = (OffsetRange, Run<Known>)> + '_ {
        let mut position = Some(start);
        self.runs.iter_from(start).filter_map(move |run| {
            let hole = OffsetRange::new(position?, before(run.range.first)?);
            position = after(run.range.last);
            hole.map(|hole| (hole, run))
        })
    }
}
