//! A flat list of runs, split where operations cut them and joined after each: short while nothing is torn, and every
//! operation goes through all of it.

use super::naive::{Cell, Records};

#[derive(Clone, Copy, Debug)]
struct Run {
    first: i64,
    last: i64,
    cell: Cell,
}

/// See the module.
#[derive(Debug, Default)]
pub struct FlatVec {
    runs: Vec<Run>,
}

impl FlatVec {
    /// Sees to it that a run begins at `offset`, if there is one around it.
    fn cut(&mut self, offset: i64) {
        let around = |run: &Run| run.first < offset && offset <= run.last;
        if let Some(index) = self.runs.iter().position(around) {
            let run = self.runs[index];
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
            let joins = run.last + 1 == next.first && run.cell == next.cell;
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
        mut change: impl FnMut(i64, i64, Cell) -> Option<Cell>,
    ) {
        self.cut(first);
        self.cut(last + 1);
        for run in &mut self.runs {
            if first <= run.first
                && run.last <= last
                && let Some(after) = change(run.first, run.last, run.cell)
            {
                run.cell = after;
            }
        }
        self.join();
    }

    fn push(&mut self, (first, last): (i64, i64), cell: Cell) {
        self.runs.push(Run { first, last, cell });
        self.join();
    }

    fn first(&self, wanted: impl Fn(Cell) -> bool) -> Option<i64> {
        let mut runs = self.runs.iter();
        runs.find(|run| wanted(run.cell)).map(|run| run.first)
    }

    fn remove_before(&mut self, offset: i64) {
        self.cut(offset);
        self.runs.retain(|run| run.first >= offset);
    }

    fn due(&mut self, now: i64) -> Vec<(i64, i64)> {
        let is_due = |run: &&Run| run.cell.deadline().is_some_and(|deadline| deadline <= now);
        let due = self.runs.iter().filter(is_due);
        due.map(|run| (run.first, run.last)).collect()
    }
}
