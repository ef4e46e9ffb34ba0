//! An entry an offset in a B-tree map, and one in a heap of deadlines: whatever touches a batch touches each of its records.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::naive::{Cell, Records};

/// See the module.
#[derive(Debug, Default)]
pub struct NaiveOffsetMap {
    offsets: BTreeMap<i64, Cell>,
    /// A renewed or settled record leaves its old deadline here, which is passed over when it comes up.
    deadlines: BinaryHeap<Reverse<(i64, i64)>>,
}

impl Records for NaiveOffsetMap {
    fn update(
        &mut self,
        (first, last): (i64, i64),
        mut change: impl FnMut(i64, i64, Cell) -> Option<Cell>,
    ) {
        for (offset, cell) in self.offsets.range_mut(first..=last) {
            if let Some(after) = change(*offset, *offset, *cell) {
                if let Some(deadline) = after.deadline() {
                    self.deadlines.push(Reverse((deadline, *offset)));
                }
                *cell = after;
            }
        }
    }

    fn push(&mut self, (first, last): (i64, i64), cell: Cell) {
        for offset in first..=last {
            self.offsets.insert(offset, cell);
            if let Some(deadline) = cell.deadline() {
                self.deadlines.push(Reverse((deadline, offset)));
            }
        }
    }

    fn first(&self, wanted: impl Fn(Cell) -> bool) -> Option<i64> {
        let mut offsets = self.offsets.iter();
        offsets
            .find(|(_, cell)| wanted(**cell))
            .map(|(offset, _)| *offset)
    }

    fn remove_before(&mut self, offset: i64) {
        while let Some(first) = self.offsets.first_entry().filter(|e| *e.key() < offset) {
            first.remove();
        }
    }

    fn due(&mut self, now: i64) -> Vec<(i64, i64)> {
        let mut due = Vec::new();
        while let Some(Reverse((deadline, offset))) = self.deadlines.peek().copied() {
            if deadline > now {
                break;
            }
            self.deadlines.pop();
            let cell = self.offsets.get(&offset);
            if cell.is_some_and(|cell| cell.deadline() == Some(deadline)) {
                due.push((offset, offset));
            }
        }
        due
    }
}
