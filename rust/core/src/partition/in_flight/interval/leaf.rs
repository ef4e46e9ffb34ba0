//! A leaf: a stretch of offsets that begins and ends with a record, kept as few runs or as one code an offset.

use super::cell::{Cell, Class, Code};
use super::dense::{Dense, LONGEST, Misfit};
use super::runs::{self, Becomes, Edge, Merge};
use super::runs_change;
use super::tally::Tally;
use crate::offset::{OffsetRange, after, before_saturating};

/// Records of a leaf, as runs or as codes.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// Few runs.
    Runs(Vec<Edge>),
    /// A code of four bytes for each offset.
    Dense(Box<Dense>),
}

/// A stretch of the window.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub range: OffsetRange,
    /// Entries by class: runs and holes, or offsets.
    pub tally: Tally,
    pub body: Body,
}

impl Leaf {
    pub fn of_batch(batch: OffsetRange, cell: Cell) -> Self {
        Self::of_edges(
            vec![Edge {
                first: batch.first,
                cell,
            }],
            batch.last,
        )
    }

    /// A leaf of runs; the first and the last hold records.
    pub fn of_edges(edges: Vec<Edge>, last: i64) -> Self {
        debug_assert!(
            edges.first().is_some_and(|edge| !edge.cell.is_hole())
                && edges
                    .last()
                    .is_some_and(|edge| !edge.cell.is_hole() && edge.first <= last),
            "a leaf begins and ends with a record: {edges:?} to {last}"
        );
        debug_assert!(
            edges.windows(2).all(|pair| pair[0].first < pair[1].first),
            "runs ascend: {edges:?}"
        );
        let mut tally = Tally::default();
        for edge in &edges {
            tally.add(edge.cell.classes(), 1);
        }
        Self {
            range: OffsetRange {
                first: edges.first().map_or(last, |edge| edge.first),
                last,
            },
            tally,
            body: Body::Runs(edges),
        }
    }

    /// Runs and holes.
    pub fn runs(&self) -> usize {
        match &self.body {
            Body::Runs(edges) => edges.len(),
            Body::Dense(dense) => dense.runs(),
        }
    }

    /// Returns `true` if entries of a class have come or gone since the leaf had these.
    #[inline]
    pub fn shows_others(&self, (tally, _): (Tally, usize)) -> bool {
        tally != self.tally && tally.classes() != self.tally.classes()
    }

    pub const fn is_dense(&self) -> bool {
        !matches!(self.body, Body::Runs(_))
    }

    /// The cell at `offset`, and the last offset up to `last` that continues it.
    pub fn run(&self, offset: i64, last: i64) -> (Cell, i64) {
        match &self.body {
            Body::Runs(edges) => {
                let at = runs::holding(edges, offset);
                let Edge { first, cell } = edges[at];
                let cell = if first < offset { cell.tail() } else { cell };
                (
                    cell,
                    runs::range_of(edges, at, self.range.last).last.min(last),
                )
            }
            Body::Dense(dense) => dense.run(offset, last),
        }
    }

    /// The first offset from `from` on that belongs to `class`.
    #[inline]
    pub fn next(&self, from: i64, class: Class) -> Option<i64> {
        if !self.tally.has(class) {
            return None;
        }
        match &self.body {
            Body::Runs(edges) => runs::next(edges, from, class),
            Body::Dense(dense) => dense.next(from, class, true),
        }
    }

    /// The first offset from `from` on that holds a record.
    pub fn held_from(&self, from: i64) -> Option<i64> {
        if from <= self.range.first || !self.tally.has(Class::Hole) {
            return Some(from.max(self.range.first));
        }
        match &self.body {
            Body::Runs(edges) => {
                let at = runs::holding(edges, from);
                if edges[at].cell.is_hole() {
                    edges.get(at + 1).map(|edge| edge.first)
                } else {
                    Some(from)
                }
            }
            Body::Dense(dense) => dense.next(from, Class::Hole, false),
        }
    }

    /// The last beginning of a batch at or before `offset`.
    pub fn start_at_or_before(&self, offset: i64) -> Option<i64> {
        if offset < self.range.first {
            return None;
        }
        match &self.body {
            Body::Runs(edges) => runs::start_at_or_before(edges, offset),
            Body::Dense(dense) => dense.start_at_or_before(offset),
        }
    }

    /// Shows every run that `range`, which lies inside the leaf, touches, and puts in its place what `f` returns.
    pub fn update(&mut self, range: OffsetRange, merge: Merge, f: Becomes<'_>) {
        let mut rest = range;
        if let Body::Dense(dense) = &mut self.body {
            let Some(Misfit { range: part, cell }) = dense.update(rest, &mut self.tally, f) else {
                return;
            };
            self.put(part, cell);
            match after(part.last).and_then(|first| OffsetRange::new(first, range.last)) {
                Some(beyond) => rest = beyond,
                None => return,
            }
        }
        if let Body::Runs(edges) = &mut self.body {
            let end = (self.range.last, merge);
            runs_change::update(edges, end, &mut self.tally, rest, f);
        }
    }

    /// Gives the offsets of `range`, which are one run or a hole of a dense leaf, the cell. The leaf becomes one of runs, perhaps
    /// of too many, if the cell does not fit.
    pub fn put(&mut self, range: OffsetRange, cell: Cell) {
        if let Body::Dense(dense) = &mut self.body
            && dense.set(range, cell, &mut self.tally)
        {
            return;
        }
        *self = Self::of_edges(self.edges(), self.range.last);
        let Body::Runs(edges) = &mut self.body else {
            return;
        };
        if edges[runs::holding(edges, range.first)].cell.is_hole() {
            let span = (self.range, Merge::Never);
            runs_change::insert(edges, span, &mut self.tally, range, cell);
        } else {
            let end = (self.range.last, Merge::Never);
            runs_change::update(edges, end, &mut self.tally, range, &mut |_, _| Some(cell));
        }
    }

    /// Adds a batch, which lies before, after or in a hole of the leaf, if the leaf can take it in.
    pub fn insert(&mut self, batch: OffsetRange, cell: Cell, merge: Merge) -> bool {
        if let Body::Runs(edges) = &mut self.body {
            runs_change::insert(edges, (self.range, merge), &mut self.tally, batch, cell);
            self.range.first = self.range.first.min(batch.first);
            self.range.last = self.range.last.max(batch.last);
            return true;
        }
        if self.range.covers(batch) {
            self.put(batch, cell);
            return true;
        }
        if batch.first < self.range.first
            || self.reach(batch.last) > LONGEST as u64
            || Code::of(cell).is_none()
        {
            return false;
        }
        if let Some(hole) = after(self.range.last)
            .and_then(|first| OffsetRange::new(first, before_saturating(batch.first)))
        {
            self.push(hole, Cell::HOLE);
        }
        self.push(batch, cell)
    }

    /// First offset of the codes of a dense leaf.
    fn base(&self) -> i64 {
        match &self.body {
            Body::Runs(_) => self.range.first,
            Body::Dense(dense) => dense.base(),
        }
    }

    /// Number of offsets that a dense leaf would hold if it reached to `last`.
    pub fn reach(&self, last: i64) -> u64 {
        OffsetRange::new(self.base(), last).map_or(u64::MAX, OffsetRange::len)
    }

    /// Adds a run or a hole right after the last offset of a dense leaf. Returns whether it fits.
    fn push(&mut self, range: OffsetRange, cell: Cell) -> bool {
        let n = range.len() as usize;
        let Body::Dense(dense) = &mut self.body else {
            return false;
        };
        let fits = dense.push(cell, n, &mut self.tally);
        if fits {
            self.range.last = range.last;
        }
        fits
    }

    /// Returns `true` if a code takes in each of its records.
    pub fn has_codes(&self) -> bool {
        match &self.body {
            Body::Runs(edges) => edges.iter().all(|edge| Code::of(edge.cell).is_some()),
            Body::Dense(_) => true,
        }
    }

    /// Adds the entries of `next`, which lies after this dense leaf, fits into its room and has codes.
    pub fn absorb(&mut self, next: &Self) {
        debug_assert!(
            self.is_dense() && self.range.last < next.range.first,
            "{} is not after the dense leaf {}",
            next.range,
            self.range
        );
        if let Some(hole) = after(self.range.last)
            .and_then(|first| OffsetRange::new(first, before_saturating(next.range.first)))
        {
            self.push(hole, Cell::HOLE);
        }
        let edges = next.edges();
        for at in 0..edges.len() {
            let range = runs::range_of(&edges, at, next.range.last);
            self.push(range, edges[at].cell);
        }
    }

    /// The same leaf with a code for each offset, if it has codes.
    pub fn dense(&self) -> Option<Self> {
        let room = (self.range.len() as usize).next_power_of_two().min(LONGEST);
        let mut dense = Self {
            range: OffsetRange::single(self.range.first),
            tally: Tally::default(),
            body: Body::Dense(Box::new(Dense::new(self.range.first, room))),
        };
        let edges = self.edges();
        for at in 0..edges.len() {
            let range = runs::range_of(&edges, at, self.range.last);
            if !dense.push(range, edges[at].cell) {
                return None;
            }
        }
        Some(dense)
    }

    /// The entries as runs and holes.
    pub fn edges(&self) -> Vec<Edge> {
        match &self.body {
            Body::Runs(edges) => edges.clone(),
            Body::Dense(dense) => dense.edges(),
        }
    }

    /// Drops the offsets up to `end`, which lies inside, and shows what held a record.
    pub fn drop_front(&mut self, end: i64, f: &mut impl FnMut(OffsetRange, Cell)) {
        debug_assert!(
            self.range.first <= end && end < self.range.last,
            "{end} lies inside {}",
            self.range
        );
        let tally = &mut self.tally;
        let first = match &mut self.body {
            Body::Runs(edges) => runs_change::drop_front(edges, (self.range.last, end), tally, f),
            Body::Dense(dense) => dense.drop_front(end, tally, f),
        };
        self.range.first = first.unwrap_or(self.range.last);
    }

    pub fn heap_bytes(&self) -> usize {
        match &self.body {
            Body::Runs(edges) => edges.capacity() * size_of::<Edge>(),
            Body::Dense(dense) => dense.heap_bytes(),
        }
    }
}
