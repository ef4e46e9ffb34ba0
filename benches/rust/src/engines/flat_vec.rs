//! A flat list of runs, split where operations cut them and joined after each: short while nothing is torn, and every
//! operation goes through all of it.

use super::partition::{ACQUIRED, Record, Records};

#[derive(Clone, Copy, Debug)]
struct Run {
    first: i64,
    last: i64,
    record: Record,
}

/// See the module.
#[derive(Debug, Default)]
pub struct FlatVec {
    runs: Vec<Run>,
}

impl FlatVec {
    /// Sees to it that a run begins at `offset`, if there is one around it.
    fn cut(&mut self, offset: i64) {
        let Some(index) = self.runs.iter().position(|run| offset <= run.last) else {
            return;
        };
        let run = self.runs[index];
        if run.first < offset {
            self.runs[index].last = offset - 1;
            let tail = Run {
                first: offset,
                ..run
            };
            self.runs.insert(index + 1, tail);
        }
    }

    fn join(&mut self) {
        self.runs.dedup_by(|next, run| {
            let joins = run.last + 1 == next.first && run.record == next.record;
            if joins {
                run.last = next.last;
            }
            joins
        });
    }
}

impl Records for FlatVec {
    fn update(
        &mut self,
        (first, last): (i64, i64),
        mut change: impl FnMut(i64, i64, Record) -> Option<Record>,
    ) {
        self.cut(first);
        self.cut(last + 1);
        for run in &mut self.runs {
            if first <= run.first
                && run.last <= last
                && let Some(after) = change(run.first, run.last, run.record)
            {
                run.record = after;
            }
        }
        self.join();
    }

    fn insert(&mut self, (first, last): (i64, i64), record: Record) {
        let behind = self.runs.iter().position(|run| first < run.first);
        let run = Run {
            first,
            last,
            record,
        };
        self.runs.insert(behind.unwrap_or(self.runs.len()), run);
        self.join();
    }

    fn first(&self, from: i64, wanted: impl Fn(Record) -> bool) -> Option<i64> {
        let mut runs = self.runs.iter();
        runs.find(|run| run.last >= from && wanted(run.record))
            .map(|run| run.first.max(from))
    }

    fn first_hole(&self, from: i64) -> i64 {
        let mut hole = from;
        for run in self.runs.iter().filter(|run| run.last >= from) {
            if run.first > hole {
                break;
            }
            hole = run.last + 1;
        }
        hole
    }

    fn remove_before(&mut self, offset: i64) {
        self.cut(offset);
        self.runs.retain(|run| run.first >= offset);
    }

    fn due(&mut self, now: i64) -> Vec<(i64, i64)> {
        let due = |run: &&Run| run.record.0.state == ACQUIRED && run.record.0.deadline <= now;
        let due = self.runs.iter().filter(due);
        due.map(|run| (run.first, run.last)).collect()
    }

    fn bounds(&self) -> Option<(i64, i64)> {
        Some((self.runs.first()?.first, self.runs.last()?.last))
    }
}
