//! Records of one share partition, run by run, while its history is read.

use share_state_core::history::Delivery;
use share_state_core::interval_tree::{IntervalTree, Run, RunValue};
use share_state_core::offset::{OffsetRange, after, before};
use share_state_core::state_batch::StateBatch;

use super::Mark;
use crate::state::is_terminal;

/// The class of values from which a record may come back.
const NOT_TERMINAL: u8 = 1;

/// Facts about each offset of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub delivery: Delivery,
    /// The record of the state topic that told of them first.
    pub first_told: Mark,
    /// Time at which something was written of them last, ms.
    pub changed_ms: i64,
    /// The longest time between two writes of them, ms; `None` if a delivery between is not in the log. How long the first
    /// delivery took is never known.
    pub longest_ms: Option<i64>,
    /// Releases in a row, each about a lock duration after the change before.
    pub loops: u64,
    /// Record of the state topic with the first of them.
    pub loop_since: Mark,
}

impl RunValue for Known {
    fn classes(self) -> u8 {
        if is_terminal(self.delivery.state) {
            0
        } else {
            NOT_TERMINAL
        }
    }
}

/// The runs in order of their offsets, and how many offsets of them are terminal.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    runs: IntervalTree<Known>,
    known: u128,
    terminal: u128,
}

impl Window {
    pub fn runs(&self) -> impl Iterator<Item = Run<Known>> + '_ {
        self.runs.iter()
    }

    /// Number of offsets that are terminal.
    pub const fn terminal(&self) -> u128 {
        self.terminal
    }

    /// Number of offsets from `start` to the last that is known.
    pub fn width(&self, start: i64) -> u64 {
        let known = self.runs.bounds();
        known
            .and_then(|known| OffsetRange::new(start, known.last))
            .map_or(0, OffsetRange::len)
    }

    /// Number of offsets from `start` to the last that is known that are not; `None` where one of the others is not terminal.
    pub fn unknown_between_terminal(&self, start: i64) -> Option<u128> {
        (self.known == self.terminal)
            .then(|| u128::from(self.width(start)).saturating_sub(self.known))
    }

    /// Removes what is known of an interval, and appends it to `taken`.
    pub fn take(&mut self, range: OffsetRange, taken: &mut Vec<Run<Known>>) {
        let terminal = &mut self.terminal;
        let known = &mut self.known;
        self.runs.drain(range, |run| {
            *known -= u128::from(run.range.len());
            if is_terminal(run.value.delivery.state) {
                *terminal -= u128::from(run.range.len());
            }
            taken.push(run);
        });
    }

    /// Adds a run where nothing is known.
    pub fn put(&mut self, range: OffsetRange, known: Known) {
        self.known += u128::from(range.len());
        if is_terminal(known.delivery.state) {
            self.terminal += u128::from(range.len());
        }
        self.runs.set(range, known);
    }

    /// The first offset from `start` on that is not terminal, and what is known of it; `None` if all that is known is.
    pub fn holder(&self, start: i64) -> Option<(i64, Option<StateBatch>)> {
        let end = self.runs.bounds()?.last;
        let hole = self.runs.first_hole(start);
        let first = self.runs.next_with(start, NOT_TERMINAL);
        let first = first.map(|run| (run.range.first.max(start), run));
        match first {
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
