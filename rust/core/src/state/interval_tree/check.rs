//! The invariants of the tree, checked one by one.

use super::IntervalTree;
use super::run::{Run, RunValue};

impl<V: RunValue, const N: usize> IntervalTree<V, N> {
    /// Checks every invariant: runs ordered, disjoint and coalesced; every summary true; no node empty or overfull; no
    /// node lost; the number of runs right.
    ///
    /// # Errors
    /// The first invariant that is broken, with the state.
    pub fn check(&self) -> Result<(), String> {
        let mut nodes = [0, 0];
        let mut runs = 0;
        let mut previous = None;
        if let Some(root) = self.root {
            let empty_root = self.height == 0 && self.count(0, root) == 0;
            if empty_root {
                nodes[0] = 1;
            } else {
                self.check_node(self.height, root, &mut nodes, &mut |run| {
                    runs += 1;
                    follows(previous.replace(run), run)
                })?;
            }
        }
        if runs != self.runs {
            return Err(format!("{} runs are counted, {runs} are there", self.runs));
        }
        if self.path.len() != self.height as usize {
            let (steps, levels) = (self.path.len(), self.height);
            return Err(format!("{steps} steps lead down {levels} levels"));
        }
        let used = [self.leaves.used(), self.inners.used()];
        if nodes != used {
            return Err(format!(
                "nodes in use {used:?}, nodes in the tree {nodes:?}"
            ));
        }
        Ok(())
    }

    fn check_node(
        &self,
        level: u32,
        node: u32,
        nodes: &mut [usize; 2],
        visit: &mut impl FnMut(Run<V>) -> Result<(), String>,
    ) -> Result<(), String> {
        let len = self.count(level, node);
        if len == 0 || len > N {
            return Err(format!(
                "node {node} on level {level} has {len} items, fan-out {N}"
            ));
        }
        if level == 0 {
            nodes[0] += 1;
            return self.leaves.get(node).iter().try_for_each(|run| visit(*run));
        }
        nodes[1] += 1;
        for entry in self.inners.get(node) {
            let now = self.summary(level - 1, entry.child);
            if now != Some(*entry) {
                return Err(format!(
                    "level {level}: the summary {entry:?} should be {now:?}"
                ));
            }
            self.check_node(level - 1, entry.child, nodes, visit)?;
        }
        Ok(())
    }
}

fn follows<V: RunValue>(previous: Option<Run<V>>, run: Run<V>) -> Result<(), String> {
    let range = run.range;
    if range.first > range.last {
        return Err(format!("the run {range} is inverted"));
    }
    let Some(previous) = previous else {
        return Ok(());
    };
    if previous.range.last >= range.first {
        return Err(format!("{range} does not lie after {}", previous.range));
    }
    if previous.joins(run) {
        return Err(format!("{} and {range} are not coalesced", previous.range));
    }
    Ok(())
}
