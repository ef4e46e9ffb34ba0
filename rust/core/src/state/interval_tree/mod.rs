//! Runs of offsets with a value each, ordered, disjoint and coalesced: an augmented B+ tree.
//!
//! The state batches of a share partition cut a window of offsets into runs. The tree keeps one entry a run, never one an
//! offset, so that its size depends on how torn the window is and not on how wide.
//!
//! Leaves hold packed runs; every entry of an inner node carries the summary of its child: the offsets, the classes of
//! values that occur, and whether there is a hole. So every question, also *the next run of a class* and *the first hole*, is
//! one descent, O(log runs), and a change of a range is a descent a leaf. A tree of up to `N` runs, which most share
//! partitions never exceed, is one leaf without anything around it.

mod balance;
mod check;
mod edit;
mod iter;
#[cfg(test)]
mod model_tests;
mod node;
mod run;
mod search;
#[cfg(test)]
mod tests;

pub use run::{Run, RunValue};

use balance::Step;
use node::{Arena, Entry};

/// Items of a node. Thirty-two runs of 24 bytes are scanned in a few cache lines, and four levels hold a million runs.
pub const FAN_OUT: usize = 32;

/// An ordered set of disjoint, coalesced runs, with at most `N` items a node.
///
/// `N` is at least 4; only tests use another one than [`FAN_OUT`].
#[derive(Clone, Debug)]
pub struct IntervalTree<V, const N: usize = FAN_OUT> {
    leaves: Arena<Run<V>>,
    inners: Arena<Entry>,
    root: Option<u32>,
    /// Levels of inner nodes above the leaves.
    height: u32,
    /// Number of runs.
    runs: usize,
    /// First offset of the run that was added last.
    newest: i64,
    /// The way down to the leaf last sought, the root first: as many steps as there are levels above the leaves.
    path: Vec<Step>,
}

impl<V, const N: usize> Default for IntervalTree<V, N> {
    fn default() -> Self {
        const { assert!(N >= 4, "a node that is cut must leave two halves") };
        Self {
            leaves: Arena::default(),
            inners: Arena::default(),
            root: None,
            height: 0,
            runs: 0,
            newest: i64::MIN,
            path: Vec::new(),
        }
    }
}

impl<V: RunValue> IntervalTree<V> {
    /// An empty tree; it allocates nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<V: RunValue, const N: usize> IntervalTree<V, N> {
    /// Number of runs.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.runs
    }

    /// Returns `true` if no offset has a value.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.runs == 0
    }

    /// Bytes on the heap, free room included.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.leaves.heap_bytes()
            + self.inners.heap_bytes()
            + self.path.capacity() * size_of::<Step>()
    }
}
