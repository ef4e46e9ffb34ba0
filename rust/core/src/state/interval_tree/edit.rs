//! Changes. Each walks leaf by leaf, works on the packed runs of one leaf, rebalances the tree and descends again.

use super::IntervalTree;
use super::node::{beginning, reaching, reserve, touching};
use super::run::{Run, RunValue};
use crate::offset::{OffsetRange, after, before};

/// First to last offset of a leaf.
fn span<V>(runs: &[Run<V>]) -> Option<OffsetRange> {
    OffsetRange::new(runs.first()?.range.first, runs.last()?.range.last)
}

/// Returns the part of the run left of `range`.
fn left_of<V: RunValue>(run: Run<V>, range: OffsetRange) -> Option<Run<V>> {
    run.clipped(OffsetRange::new(run.range.first, before(range.first)?)?)
}

/// Returns the part of the run right of `range`.
fn right_of<V: RunValue>(run: Run<V>, range: OffsetRange) -> Option<Run<V>> {
    run.clipped(OffsetRange::new(after(range.last)?, run.range.last)?)
}

/// Puts `items` in the place of `runs[from..to]`.
fn replace<V: RunValue>(
    runs: &mut Vec<Run<V>>,
    (from, to): (usize, usize),
    items: impl Iterator<Item = Run<V>>,
    fan_out: usize,
) {
    let mut at = from;
    items.for_each(|item| {
        if at < to {
            runs[at] = item;
        } else {
            reserve(runs, 1, fan_out);
            runs.insert(at, item);
        }
        at += 1;
    });
    if at < to {
        runs.drain(at..to);
    }
    debug_assert!(
        runs.windows(2)
            .all(|pair| pair[0].range.last < pair[1].range.first),
        "runs ascend and are disjoint"
    );
}

impl<V: RunValue, const N: usize> IntervalTree<V, N> {
    /// Gives every offset of `range` the value, whether it had one or not, as one run.
    pub fn set(&mut self, range: OffsetRange, value: V) {
        let leaf = self.seek_or_plant(range.first);
        if self.ends_in(leaf, range) {
            let touched = touching(self.leaves.get(leaf), range);
            self.set_in(leaf, touched, range, value);
        } else {
            self.remove(range);
            self.set(range, value);
        }
    }

    /// Gives the offsets of `range` the value wherever they have none or a lower one. Returns whether any had.
    pub fn raise(&mut self, range: OffsetRange, value: V) -> bool
    where
        V: Ord,
    {
        if self.is_empty()
            && let Some(root) = self.root
        {
            // Only a leaf may be empty.
            let runs = self.leaves.get_mut(root);
            reserve(runs, 1, N);
            runs.push(Run { range, value });
            (self.runs, self.newest) = (1, range.first);
            return true;
        }
        let mut changed = false;
        let mut rest = Some(range);
        while let Some(range) = rest {
            let leaf = self.seek_or_plant(range.first);
            let runs = self.leaves.get(leaf);
            let (from, to) = touching(runs, range);
            let overlapped = &runs[from..to];
            // Nearly always the whole range is raised, or none of it: what is written is new, or is written again.
            if overlapped.iter().all(|run| run.value < value) && self.ends_in(leaf, range) {
                self.set_in(leaf, (from, to), range, value);
                return true;
            }
            let Some(lower) = self.first_lower(range, value) else {
                break;
            };
            self.set(lower, value);
            changed = true;
            rest = range.after(lower.last);
        }
        changed
    }

    /// The first stretch of `range` that holds nothing or less than `value`, as long as it goes.
    fn first_lower(&self, range: OffsetRange, value: V) -> Option<OffsetRange>
    where
        V: Ord,
    {
        let mut first = range.first;
        for run in self.iter_from(first) {
            if run.range.first > range.last {
                break;
            }
            if run.value < value {
                continue;
            }
            if run.range.first > first {
                return OffsetRange::new(first, before(run.range.first)?);
            }
            first = after(run.range.last)?;
        }
        OffsetRange::new(first, range.last)
    }

    /// As [`Self::seek`], in a tree that has a leaf.
    fn seek_or_plant(&mut self, offset: i64) -> u32 {
        if let Some(leaf) = self.seek(offset) {
            return leaf;
        }
        let leaf = self.leaves.add(Vec::new());
        self.root = Some(leaf);
        leaf
    }

    /// Returns `true` if a range, for whose first offset the leaf was sought, ends before the next leaf.
    fn ends_in(&self, leaf: u32, range: OffsetRange) -> bool {
        let end = self.leaves.get(leaf).last();
        end.is_some_and(|run| range.last <= run.range.last)
            || self.first_after().is_none_or(|next| range.last < next)
    }

    /// [`Self::set`] in the leaf that was sought for the first offset, and that the range does not reach beyond; of its
    /// runs the range touches `from..to`.
    ///
    /// ```text
    /// before     aaaaaaaa bbb       aaa bbb ccc        aaa     ccc
    /// set           nnn             nnnnnnnnnn             nnn
    /// after      aaannnaa bbb       nnnnnnnnnnc        aaa nnn ccc
    /// ```
    fn set_in(
        &mut self,
        leaf: u32,
        (mut from, mut to): (usize, usize),
        range: OffsetRange,
        value: V,
    ) {
        let runs = self.leaves.get_mut(leaf);
        // Mostly a run between two others gets another value, and neither of them has that.
        if let Some([before, old, beyond]) = from.checked_sub(1).and_then(|i| runs.get_mut(i..=to))
            && old.range == range
            && old.value.classes() == value.classes()
            && before.value != value
            && beyond.value != value
        {
            old.value = value;
            return;
        }
        let len = runs.len();
        let overlapped = &runs[from..to];
        let mut left = overlapped.first().and_then(|run| left_of(*run, range));
        let mut right = overlapped.last().and_then(|run| right_of(*run, range));
        let mut run = Run { range, value };
        match left.or_else(|| from.checked_sub(1).map(|at| runs[at])) {
            Some(neighbour) if neighbour.joins(run) => {
                run.range.first = neighbour.range.first;
                run.value = neighbour.value;
                from -= usize::from(left.take().is_none());
            }
            _ => {}
        }
        match right.or_else(|| runs.get(to).copied()) {
            Some(next) if run.joins(next) => {
                run.range.last = next.range.last;
                to += usize::from(right.take().is_none());
            }
            _ => {}
        }
        let at = from + usize::from(left.is_some());
        let more = usize::from(left.is_some()) + usize::from(right.is_some());
        let within = match runs[from..to] {
            [old] => old.range.covers(run.range) && old.value.classes() == run.value.classes(),
            _ => false,
        };
        if to == from + 1 && more == 0 {
            runs[from] = run;
        } else {
            let items = left.into_iter().chain([run]).chain(right);
            replace(runs, (from, to), items, N);
        }
        // At the edge of the leaf the neighbour is in another one.
        let to_prev =
            at == 0 && before(run.range.first).is_some_and(|last| self.last_before() == Some(last));
        let to_next = to == len
            && right.is_none()
            && after(run.range.last).is_some_and(|first| self.first_after() == Some(first));
        let now = self.leaves.get(leaf).len();
        if (within || self.height == 0) && now <= N {
            // What is known above the leaf, if anything is, stays true.
            self.runs = self.runs - len + now;
            if now > len {
                self.newest = run.range.first;
            }
        } else {
            self.rebalance(leaf, len, at);
        }
        if to_prev {
            self.join_at(run.range.first);
        }
        if to_next {
            self.join_at(run.range.last.saturating_add(1));
        }
    }

    /// Drops the offsets of `range`.
    pub fn remove(&mut self, range: OffsetRange) {
        self.drain(range, |_| {});
    }

    /// Drops the offsets before `start`. Returns whether there were any.
    pub fn remove_before(&mut self, start: i64) -> bool {
        let Some(held) = self.bounds().filter(|held| held.first < start) else {
            return false;
        };
        let first = held.first;
        if held.last < start
            && self.height == 0
            && let Some(root) = self.root
        {
            // All of a small tree: nothing is known above its one leaf, which may be empty.
            self.leaves.get_mut(root).clear();
            self.runs = 0;
            return true;
        }
        // Mostly the first run is cut short, and what is known above it but for the offset stays true.
        let leaf = self.seek(first).map(|leaf| self.leaves.get_mut(leaf));
        match leaf.and_then(|runs| runs.first_mut()) {
            Some(run) if start <= run.range.last => {
                run.range.first = start;
                for step in &self.path {
                    self.inners.get_mut(step.node)[step.at as usize].range.first = start;
                }
            }
            _ => {
                if let Some(below) = before(start).and_then(|last| OffsetRange::new(first, last)) {
                    self.remove(below);
                }
            }
        }
        true
    }

    /// Drops the offsets of `range`, and shows every run that it touched, clipped to it, in ascending order.
    pub fn drain(&mut self, range: OffsetRange, mut f: impl FnMut(Run<V>)) {
        let mut next = Some(range.first);
        while let Some(from) = next
            && let Some(leaf) = self.seek(from)
        {
            let runs = self.leaves.get_mut(leaf);
            let len = runs.len();
            let Some(span) = span(runs).filter(|span| from <= span.last) else {
                break;
            };
            let (from, to) = (reaching(runs, from), beginning(runs, range.last));
            if from < to {
                let removed = &runs[from..to];
                removed
                    .iter()
                    .filter_map(|run| run.clipped(range))
                    .for_each(&mut f);
                let left = removed.first().and_then(|run| left_of(*run, range));
                let right = removed.last().and_then(|run| right_of(*run, range));
                replace(runs, (from, to), left.into_iter().chain(right), N);
                self.rebalance(leaf, len, from);
            }
            next = if span.last < range.last {
                after(span.last)
            } else {
                None
            };
        }
    }

    /// Joins the run that begins at `boundary` to the one before it, which may be in another leaf.
    fn join_at(&mut self, boundary: i64) {
        let Some(left) = before(boundary).and_then(|offset| self.at(offset)) else {
            return;
        };
        let Some(right) = self.at(boundary).filter(|right| left.joins(*right)) else {
            return;
        };
        if let Some(leaf) = self.seek(boundary) {
            let runs = self.leaves.get_mut(leaf);
            let (len, at) = (runs.len(), reaching(runs, boundary));
            runs.remove(at);
            self.rebalance(leaf, len, at);
        }
        if let Some(leaf) = self.seek(left.range.last) {
            let runs = self.leaves.get_mut(leaf);
            let (len, at) = (runs.len(), reaching(runs, left.range.last));
            runs[at].range.last = right.range.last;
            self.rebalance(leaf, len, at);
        }
    }
}
