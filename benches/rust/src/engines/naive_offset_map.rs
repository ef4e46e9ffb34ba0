//! An entry an offset in a B-tree map, and one in a heap of deadlines: whatever touches a batch touches each of its records.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::partition::{ACQUIRED, Record, Records};

/// See the module.
#[derive(Debug, Default)]
pub struct NaiveOffsetMap {
    offsets: BTreeMap<i64, Record>,
    /// A renewed or settled record leaves its old deadline here, which is passed over when it comes up.
    deadlines: BinaryHeap<Reverse<(i64, i64)>>,
}

impl Records for NaiveOffsetMap {
    fn update(
        &mut self,
        (first, last): (i64, i64),
        mut change: impl FnMut(i64, i64, Record) -> Option<Record>,
    ) {
        for (offset, record) in self.offsets.range_mut(first..=last) {
            if let Some(after) = change(*offset, *offset, *record) {
                if after.0.state == ACQUIRED {
                    self.deadlines.push(Reverse((after.0.deadline, *offset)));
                }
                *record = after;
            }
        }
    }

    fn insert(&mut self, (first, last): (i64, i64), record: Record) {
        for offset in first..=last {
            self.offsets.insert(offset, record);
            if record.0.state == ACQUIRED {
                self.deadlines.push(Reverse((record.0.deadline, offset)));
            }
        }
    }

    fn first(&self, from: i64, wanted: impl Fn(Record) -> bool) -> Option<i64> {
        let mut records = self.offsets.range(from..);
        records
            .find(|(_, r)| wanted(**r))
            .map(|(offset, _)| *offset)
    }

    fn first_hole(&self, from: i64) -> i64 {
        let mut hole = from;
        for offset in self.offsets.range(from..).map(|(offset, _)| *offset) {
            if offset != hole {
                break;
            }
            hole += 1;
        }
        hole
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
            let held = self
                .offsets
                .get(&offset)
                .is_some_and(|record| record.0.state == ACQUIRED && record.0.deadline == deadline);
            if held {
                due.push((offset, offset));
            }
        }
        due
    }

    fn bounds(&self) -> Option<(i64, i64)> {
        let (first, _) = self.offsets.first_key_value()?;
        let (last, _) = self.offsets.last_key_value()?;
        Some((*first, *last))
    }
}
