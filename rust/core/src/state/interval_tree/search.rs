//! Questions: each is answered by one descent, in which the summaries rule out all but one child a level.

use super::IntervalTree;
use super::node::{beginning, reaching};
use super::run::{Run, RunValue};
use crate::offset::{OffsetRange, after};

impl<V: RunValue, const N: usize> IntervalTree<V, N> {
    /// First offset of the first run and last offset of the last.
    #[must_use]
    pub fn bounds(&self) -> Option<OffsetRange> {
        let root = self.root?;
        let ends = |first: OffsetRange, last: OffsetRange| OffsetRange::new(first.first, last.last);
        if self.height == 0 {
            let runs = self.leaves.get(root);
            ends(runs.first()?.range, runs.last()?.range)
        } else {
            let entries = self.inners.get(root);
            ends(entries.first()?.range, entries.last()?.range)
        }
    }

    /// The run that holds `offset`.
    #[must_use]
    pub fn at(&self, offset: i64) -> Option<Run<V>> {
        self.at_or_after(offset)
            .filter(|run| run.range.first <= offset)
    }

    /// The run that holds `offset`, or else the first one after it.
    #[must_use]
    pub fn at_or_after(&self, offset: i64) -> Option<Run<V>> {
        self.runs_reaching(offset).first().copied()
    }

    /// The runs of one leaf, from the one that holds `offset` or is the first after it; empty when there is none.
    pub(super) fn runs_reaching(&self, offset: i64) -> &[Run<V>] {
        let Some(mut node) = self.root else {
            return &[];
        };
        for _ in 0..self.height {
            let entries = self.inners.get(node);
            match entries.get(reaching(entries, offset)) {
                Some(entry) => node = entry.child,
                None => return &[],
            }
        }
        let runs = self.leaves.get(node);
        &runs[reaching(runs, offset)..]
    }

    /// The first run that holds or lies after `offset` and belongs to any of `classes`.
    #[must_use]
    pub fn next_with(&self, offset: i64, classes: u8) -> Option<Run<V>> {
        self.next_below(self.height, self.root?, offset, classes)
    }

    /// Only the first child may disappoint, since only it can reach before `offset`; so this takes one descent, or two.
    fn next_below(&self, level: u32, node: u32, offset: i64, classes: u8) -> Option<Run<V>> {
        if level == 0 {
            let runs = self.leaves.get(node);
            let mut runs = runs[reaching(runs, offset)..].iter();
            return runs.find(|run| run.value.classes() & classes != 0).copied();
        }
        let entries = self.inners.get(node);
        let mut entries = entries[reaching(entries, offset)..].iter();
        entries
            .by_ref()
            .filter(|entry| entry.classes & classes != 0)
            .find_map(|entry| self.next_below(level - 1, entry.child, offset, classes))
    }

    /// The last offset of the stretch without a hole that holds `offset`; `None` when no run holds it.
    pub(super) fn contiguous_end(&self, offset: i64) -> Option<i64> {
        let mut end = self.at(offset)?.range;
        self.extend_below(self.height, self.root?, &mut end);
        Some(end.last)
    }

    /// Extends `end`, which ends inside or before the node, over what follows without a hole. Returns whether the end of
    /// the node was reached.
    fn extend_below(&self, level: u32, node: u32, end: &mut OffsetRange) -> bool {
        if level == 0 {
            let runs = self.leaves.get(node);
            for run in &runs[beginning(runs, end.last)..] {
                if !end.is_followed_by(run.range.first) {
                    return false;
                }
                end.last = run.range.last;
            }
            return true;
        }
        let entries = self.inners.get(node);
        for entry in &entries[reaching(entries, end.last)..] {
            let begun = entry.range.first <= end.last;
            if !begun && !end.is_followed_by(entry.range.first) {
                return false;
            }
            if entry.contiguous {
                end.last = entry.range.last;
            } else if !self.extend_below(level - 1, entry.child, end) {
                return false;
            }
        }
        true
    }

    /// The first offset at or after `offset` that no run holds; `i64::MAX` when all are held.
    #[must_use]
    pub fn first_hole(&self, offset: i64) -> i64 {
        match self.contiguous_end(offset) {
            None => offset,
            Some(end) => after(end).unwrap_or(i64::MAX),
        }
    }
}
