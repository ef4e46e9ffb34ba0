//! Descending to where an edit takes place, and putting the tree in order after it.
//!
//! After every edit each node has between 1 and `N` items (only a root leaf may be empty). A node that loses items is
//! merged with a neighbour under the same parent when both have together at most 7/8 `N`, and the halves of a cut have
//! more than `N` together. So nodes are about 7/16 full or more on average, whatever was removed.

use super::IntervalTree;
use super::node::{Entry, reaching};
use super::run::RunValue;

/// A child taken on the way down.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    pub node: u32,
    pub at: u32,
}

/// Direction in which the edits march. Most march through a window in one direction and never come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum March {
    Up,
    Down,
    Nowhere,
}

/// Returns the index at which to cut an overfull node of `len` items, of which `hot` will be the next to be cut. The
/// side that the march leaves behind is left as full as possible, and the hot item goes to the edge of the other, away
/// from those that it would push before it.
fn cut(len: usize, hot: usize, march: March, fan_out: usize) -> usize {
    let cut = match march {
        March::Up if hot + 1 < len => hot + 1,
        March::Up => len - 1,
        March::Down => hot,
        March::Nowhere => len / 2,
    };
    cut.clamp((len - fan_out).max(1), fan_out.min(len - 1))
}

impl<V: RunValue, const N: usize> IntervalTree<V, N> {
    /// Descends to the leaf with the first run that holds or lies after `offset`, or else to the last leaf, and
    /// remembers the way for [`Self::rebalance`].
    pub(super) fn seek(&mut self, offset: i64) -> Option<u32> {
        let mut node = self.root?;
        for step in &mut self.path {
            let (last, others) = self.inners.get(node).split_last()?;
            let at = reaching(others, offset);
            *step = Step {
                node,
                at: at as u32,
            };
            node = others.get(at).unwrap_or(last).child;
        }
        Some(node)
    }

    /// Last offset of the leaf before the one that [`Self::seek`] found last.
    pub(super) fn last_before(&self) -> Option<i64> {
        self.path.iter().rev().find_map(|step| {
            let at = step.at.checked_sub(1)?;
            let entry = self.inners.get(step.node).get(at as usize)?;
            Some(entry.range.last)
        })
    }

    /// First offset of the leaf after the one that [`Self::seek`] found last.
    pub(super) fn first_after(&self) -> Option<i64> {
        self.path.iter().rev().find_map(|step| {
            let entry = self.inners.get(step.node).get(step.at as usize + 1)?;
            Some(entry.range.first)
        })
    }

    /// Puts the tree in order after an edit of the leaf that [`Self::seek`] found last: it held `before` runs, and its
    /// newest run is the one at `at`.
    pub(super) fn rebalance(&mut self, leaf: u32, before: usize, at: usize) {
        let len = self.leaves.get(leaf).len();
        let march = if len > before {
            self.march(leaf, at)
        } else {
            March::Nowhere
        };
        let hot = match march {
            March::Up => at + 1,
            March::Down | March::Nowhere => at.saturating_sub(1),
        };
        let (mut node, mut before, mut hot) = (leaf, before, hot);
        self.runs = self.runs - before + len;
        for level in 0..self.height {
            let depth = (self.height - 1 - level) as usize;
            let Some(step) = self.path.get(depth) else {
                return;
            };
            let (parent, i) = (step.node, step.at as usize);
            let siblings = self.inners.get(parent).len();
            match self.summary(level, node) {
                None => {
                    self.free(level, node);
                    self.inners.get_mut(parent).remove(i);
                    self.merge_around(level, parent, i);
                }
                Some(entry) => {
                    let len = self.count(level, node);
                    let same = self.inners.get(parent)[i] == entry;
                    if len > N {
                        self.split(level, node, cut(len, hot, march, N), parent, i);
                        hot = if march == March::Up { i + 1 } else { i };
                    } else {
                        self.inners.get_mut(parent)[i] = entry;
                        if len < before {
                            self.merge_around(level, parent, i);
                        }
                    }
                    if same && self.inners.get(parent).len() == siblings {
                        return;
                    }
                }
            }
            (node, before) = (parent, siblings);
        }
        self.rebalance_root(node, hot, march);
    }

    /// Compares the newest run with the one that was new before it, which lies at most two runs away on a march.
    fn march(&mut self, leaf: u32, at: usize) -> March {
        let runs = self.leaves.get(leaf);
        let near = |i: usize| runs.get(i).map(|run| run.range.first);
        let Some(newest) = near(at) else {
            return March::Nowhere;
        };
        let last = std::mem::replace(&mut self.newest, newest);
        if near(at.saturating_sub(2)).is_some_and(|low| low <= last) && last < newest {
            March::Up
        } else if near((at + 2).min(runs.len() - 1)).is_some_and(|high| last <= high)
            && newest < last
        {
            March::Down
        } else {
            March::Nowhere
        }
    }

    fn rebalance_root(&mut self, node: u32, hot: usize, march: March) {
        let level = self.height;
        let len = self.count(level, node);
        if len > N {
            let only = self.summary(level, node);
            let root = self.inners.add(only.into_iter().collect());
            self.split(level, node, cut(len, hot, march, N), root, 0);
            self.root = Some(root);
            self.set_height(level + 1);
        } else if len == 0 && (level > 0 || self.leaves.slots() > 1) {
            // Nothing is left of a large tree; the one leaf of a small tree is kept for the next run.
            *self = Self::default();
        } else {
            while self.height > 0
                && let Some(root) = self.root
                && let [only] = *self.inners.get(root)
            {
                self.inners.take(root);
                self.root = Some(only.child);
                self.set_height(self.height - 1);
            }
        }
    }

    fn set_height(&mut self, height: u32) {
        self.height = height;
        self.path.resize(height as usize, Step::default());
    }

    /// Cuts a node and enters both halves in the parent, where the node is child `i`.
    fn split(&mut self, level: u32, node: u32, cut: usize, parent: u32, i: usize) {
        let right = if level == 0 {
            self.leaves.split(node, cut, N)
        } else {
            self.inners.split(node, cut, N)
        };
        let (left, right) = (self.summary(level, node), self.summary(level, right));
        let entries = self.inners.get_mut(parent);
        super::node::reserve(entries, 1, N);
        entries.splice(i..=i, left.into_iter().chain(right));
    }

    /// Merges child `i` of the parent, which has lost items, with a neighbour, if both fit one node and leave some room.
    fn merge_around(&mut self, level: u32, parent: u32, i: usize) {
        let room = N - N / 8;
        let child = |at: usize| self.inners.get(parent).get(at).map(|entry| entry.child);
        let fits = |left: usize| {
            let pair = (child(left)?, child(left + 1)?);
            (self.count(level, pair.0) + self.count(level, pair.1) <= room).then_some((left, pair))
        };
        let Some((at, (left, right))) = i.checked_sub(1).and_then(fits).or_else(|| fits(i)) else {
            return;
        };
        if level == 0 {
            self.leaves.absorb(left, right, N);
        } else {
            self.inners.absorb(left, right, N);
        }
        let merged = self.summary(level, left);
        self.inners.get_mut(parent).splice(at..at + 2, merged);
    }

    pub(super) fn count(&self, level: u32, node: u32) -> usize {
        if level == 0 {
            self.leaves.get(node).len()
        } else {
            self.inners.get(node).len()
        }
    }

    pub(super) fn summary(&self, level: u32, node: u32) -> Option<Entry> {
        if level == 0 {
            self.leaves.summary(node)
        } else {
            self.inners.summary(node)
        }
    }

    fn free(&mut self, level: u32, node: u32) {
        if level == 0 {
            self.leaves.take(node);
        } else {
            self.inners.take(node);
        }
    }
}
