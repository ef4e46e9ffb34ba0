//! A change of what lies inside one run: it is looked up, whoever asks decides, and the change is put where the look ended.

use super::cell::Cell;
use super::dense::Dense;
use super::directory::{Leaves, List, ORIGIN, Spot};
use super::leaf::{Body, Leaf};
use super::runs::{Merge, holding_all};
use super::runs_change;
use super::tally::Tally;
use crate::offset::OffsetRange;

/// Place of a run; it holds until the next change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    leaf: Spot,
    /// The entry: a run, or an offset of a dense leaf.
    at: usize,
}

impl Dense {
    fn holding_all(&self, range: OffsetRange) -> Option<(usize, Cell)> {
        let (cell, last) = self.run(range.first, range.last);
        (last == range.last && !cell.is_hole()).then(|| (self.index(range.first), cell))
    }
}

impl Leaf {
    #[inline(always)]
    fn holding_all(&self, range: OffsetRange) -> Option<(usize, Cell)> {
        if !self.range.covers(range) {
            return None;
        }
        match &self.body {
            Body::Runs(edges) => holding_all(edges, self.range.last, range),
            Body::Dense(dense) => dense.holding_all(range),
        }
    }

    /// Puts `new` where `old` is, all of `range` in the entry `at`.
    #[inline(always)]
    fn put_at(
        &mut self,
        at: usize,
        (range, merge): (OffsetRange, Merge),
        (old, new): (Cell, Cell),
    ) {
        let tally = &mut self.tally;
        let fits = match &mut self.body {
            Body::Runs(edges) => {
                let last = self.range.last;
                runs_change::put_within(edges, at, tally, (range, last, merge), (old, new));
                true
            }
            Body::Dense(dense) => dense.put_from(at, range, (old, new), tally),
        };
        if !fits {
            self.put(range, new);
        }
    }
}

impl Dense {
    #[inline]
    fn put_from(
        &mut self,
        at: usize,
        range: OffsetRange,
        (old, new): (Cell, Cell),
        tally: &mut Tally,
    ) -> bool {
        if range.first == range.last {
            self.put_one(at, old, new, tally)
        } else {
            self.set(range, new, tally)
        }
    }
}

impl<const N: usize> Leaves<N> {
    /// Finds the one run of one leaf that holds all of `range`: its place, and its cell.
    #[inline(always)]
    pub fn look(&self, range: OffsetRange) -> Option<(Place, Cell)> {
        let leaf = match &self.list {
            List::None(_) => return None,
            List::One(_) => ORIGIN,
            List::Many(_) => self.reaching(range.first)?,
        };
        let (at, cell) = self.get(leaf)?.holding_all(range)?;
        Some((Place { leaf, at }, cell))
    }

    /// Puts `new` where `look` has found `old`.
    #[inline(always)]
    pub fn put(&mut self, place: Place, range: OffsetRange, (old, new): (Cell, Cell)) {
        if old == new {
            return;
        }
        if let List::One(leaf) = &mut self.list
            && !leaf.is_dense()
        {
            let merge = Merge::alone(self.merges);
            leaf.put_at(place.at, (range, merge), (old, new));
            if leaf.runs() > Self::RUNS {
                self.relieve(ORIGIN);
            }
            return;
        }
        self.put_across(place, range, (old, new));
    }

    fn put_across(&mut self, place: Place, range: OffsetRange, change: (Cell, Cell)) {
        let runs = self.get(place.leaf).is_some_and(|leaf| !leaf.is_dense());
        let merge = if runs {
            self.merge(place.leaf)
        } else {
            Merge::Never
        };
        self.note(place.leaf);
        let Some(leaf) = self.get_mut(place.leaf) else {
            return;
        };
        let before = (leaf.tally, leaf.runs());
        leaf.put_at(place.at, (range, merge), change);
        if leaf.shows_others(before) || Self::is_misshapen(leaf, before) {
            self.reshape(place.leaf, before);
        }
    }
}
