//! Walking over the runs.

use super::IntervalTree;
use super::run::{Run, RunValue};
use crate::offset::after;

/// Runs in ascending order: the rest of one leaf, and where to descend for the next.
#[derive(Clone, Debug)]
struct Runs<'a, V, const N: usize> {
    tree: &'a IntervalTree<V, N>,
    leaf: std::slice::Iter<'a, Run<V>>,
    next: Option<i64>,
}

impl<V: RunValue, const N: usize> Iterator for Runs<'_, V, N> {
    type Item = Run<V>;

    fn next(&mut self) -> Option<Run<V>> {
        if let Some(run) = self.leaf.next() {
            return Some(*run);
        }
        let runs = self.tree.runs_reaching(self.next?);
        self.next = runs.last().and_then(|run| after(run.range.last));
        self.leaf = runs.iter();
        self.leaf.next().copied()
    }
}

impl<V: RunValue, const N: usize> IntervalTree<V, N> {
    /// The runs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Run<V>> + '_ {
        self.iter_from(i64::MIN)
    }

    /// The runs in ascending order, from the one that holds `offset` or is the first after it. It is shown whole.
    pub fn iter_from(&self, offset: i64) -> impl Iterator<Item = Run<V>> + '_ {
        Runs {
            tree: self,
            leaf: [].iter(),
            next: Some(offset),
        }
    }
}
