//! Descending to where an edit takes place, and putting the tree in order behind it.
//!
//! After every edit each node has between 1 and `N` items (only a root leaf may be empty), and two neighbours under one
//! parent have together more than 7/8 `N`, unless a merge further up has just made them neighbours. So the nodes are at
//! least about 7/16 full, whatever was removed.

use super::IntervalTree;
use super::node::{Entry, reaching};
use super::run::RunValue;

/// A child taken on the way down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    node: u32,
    at: u32,
}

/// A leaf, with what lies around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub leaf: u32,
    /// Last offset of the leaf before it.
    pub prev_last: Option<i64>,
    /// First offset of the leaf behind it.
    pub next_first: Option<i64>,
}

/// Where to cut an overfull node of `len` items whose item `at` is the newest. Edits often march through a window in
/// one direction and never come back, so the side that they leave behind is left as full as possible.
fn cut(len: usize, at: usize, fan_out: usize) -> usize {
    if at >= len / 2 {
        (at + 1).min(fan_out).min(len - 1)
    } else if at == 0 {
        (len - fan_out).max(1)
    } else {
        len / 2
    }
}

impl<V: RunValue, const N: usize> IntervalTree<V, N> {
    /// Descends to the leaf with the first run that holds or lies behind `offset`, or else to the last leaf, and
    /// remembers the way for [`Self::settle`].
    pub(super) fn seek(&mut self, offset: i64) -> Option<Spot> {
        let mut spot = Spot {
            leaf: self.root?,
            prev_last: None,
            next_first: None,
        };
        self.path.clear();
        for _ in 0..self.height {
            let entries = self.inners.get(spot.leaf);
            let at = reaching(entries, offset).min(entries.len() - 1);
            if at > 0 {
                spot.prev_last = Some(entries[at - 1].range.last);
            }
            if let Some(next) = entries.get(at + 1) {
                spot.next_first = Some(next.range.first);
            }
            self.path.push(Step {
                node: spot.leaf,
                at: at as u32,
            });
            spot.leaf = entries[at].child;
        }
        Some(spot)
    }

    /// Puts the tree in order after an edit of the leaf that [`Self::seek`] found last: it held `before` runs, and its
    /// newest run is the one at `at`.
    pub(super) fn settle(&mut self, leaf: u32, before: usize, at: usize) {
        let (mut node, mut before, mut at) = (leaf, before, at);
        self.runs = self.runs - before + self.leaves.get(leaf).len();
        for level in 0..self.height {
            let Some(step) = self.path.pop() else { return };
            let (parent, i) = (step.node, step.at as usize);
            let siblings = self.inners.get(parent).len();
            match self.summary(level, node) {
                None => {
                    self.free(level, node);
                    self.inners.get_mut(parent).remove(i);
                    self.merge_around(level, parent, i);
                    at = i.saturating_sub(1);
                }
                Some(entry) => {
                    let len = self.count(level, node);
                    let same = self.inners.get(parent)[i] == entry;
                    if len > N {
                        self.split(level, node, cut(len, at, N), parent, i);
                        at = i + 1;
                    } else {
                        self.inners.get_mut(parent)[i] = entry;
                        if len < before {
                            self.merge_around(level, parent, i);
                        }
                        at = i;
                    }
                    if same && self.inners.get(parent).len() == siblings {
                        return;
                    }
                }
            }
            (node, before) = (parent, siblings);
        }
        self.settle_root(node, at);
    }

    fn settle_root(&mut self, node: u32, at: usize) {
        let level = self.height;
        let len = self.count(level, node);
        if len > N {
            let only = self.summary(level, node);
            let root = self.inners.add(only.into_iter().collect());
            self.split(level, node, cut(len, at, N), root, 0);
            self.root = Some(root);
            self.height += 1;
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
                self.height -= 1;
            }
        }
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
