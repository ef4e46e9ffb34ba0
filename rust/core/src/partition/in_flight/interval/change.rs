//! Changes of the window: each looks for the leaves that it touches, changes them, and gives them a good shape.

use super::cell::{Cell, Class};
use super::directory::{Leaves, List, Spot};
use super::leaf::{Body, Leaf};
use super::runs::{self, Becomes, Edge, Merge};
use super::runs_change;
use super::shape::SPARSE;
use super::tally::Tally;
use crate::offset::{OffsetRange, after, before};
use crate::partition::in_flight::Front;

impl<const N: usize> Leaves<N> {
    /// Shows every run that `range` touches, clipped to it and perhaps in pieces, and puts in its place what `f` returns.
    pub fn update(&mut self, range: OffsetRange, f: Becomes<'_>) {
        if let Some(leaf) = self.hinted(range)
            && leaf.is_dense()
        {
            let before = (leaf.tally, leaf.runs());
            leaf.update(range, Merge::Never, f);
            if (leaf.shows_others(before) || Self::is_misshapen(leaf, before))
                && let Some(at) = self.reaching(range.first)
            {
                self.reshape(at, before);
            }
            return;
        }
        let mut next = Some(range.first);
        while let Some(from) = next
            && let Some(at) = self.reaching(from)
        {
            let runs = self.get(at).is_some_and(|leaf| !leaf.is_dense());
            let merge = if runs { self.merge(at) } else { Merge::Never };
            let Some(leaf) = self.get_mut(at) else { return };
            // The leaf may have taken in the one before.
            let rest = OffsetRange::new(from, range.last);
            let Some(part) = rest.and_then(|rest| leaf.range.intersection(rest)) else {
                return;
            };
            let before = (leaf.tally, leaf.runs());
            leaf.update(part, merge, f);
            self.note(at);
            next = after(part.last).filter(|next| *next <= range.last);
            self.reshape(at, before);
        }
    }

    /// Brings what is known of a changed leaf up to date, and its shape, given its entries and runs before.
    #[inline]
    pub fn reshape(&mut self, at: Spot, before: (Tally, usize)) {
        let Some(leaf) = self.get(at) else { return };
        let misshapen = Self::is_misshapen(leaf, before);
        if leaf.shows_others(before) {
            self.refresh(at);
        }
        if misshapen {
            self.adapt(at);
        }
    }

    /// Returns `true` if a leaf that had these entries and runs may be better kept in another way now.
    #[inline]
    pub fn is_misshapen(leaf: &Leaf, (tally, runs): (Tally, usize)) -> bool {
        let (now, dense) = (leaf.runs(), leaf.is_dense());
        let became_done = tally.has(Class::Outstanding) && !leaf.tally.has(Class::Outstanding);
        now > Self::RUNS && !dense || now < runs && now <= Self::RUNS / 4 || became_done && dense
    }

    /// Returns the extent to which neighbouring batches of a leaf may become one.
    pub fn merge(&self, at: Spot) -> Merge {
        if !self.merges {
            Merge::Never
        } else if self.ends(at) {
            Merge::ToTheEnd
        } else {
            Merge::Inside
        }
    }

    /// Returns `true` if no batch reaches from the leaf into the next one.
    pub fn ends(&self, at: Spot) -> bool {
        let (Some(next), Some(leaf)) = (self.next(at).and_then(|n| self.get(n)), self.get(at))
        else {
            return true;
        };
        let first = next.range.first;
        !leaf.range.is_followed_by(first) || next.run(first, first).0.is_start()
    }

    /// Adds a batch, which lies in a hole.
    #[inline(always)]
    pub fn insert(&mut self, batch: OffsetRange, cell: Cell) {
        match &mut self.list {
            List::None(_) => return self.begin(batch, cell),
            List::One(Leaf {
                range: span,
                tally,
                body: Body::Runs(edges),
            }) if span.last < batch.first && edges.len() + 2 <= Self::RUNS => {
                let merge = Merge::alone(self.merges);
                if span.is_followed_by(batch.first) && !cell.is_done() {
                    edges.push(Edge {
                        first: batch.first,
                        cell,
                    });
                    tally.add(cell.classes(), 1);
                } else {
                    runs_change::insert(edges, (*span, merge), tally, batch, cell);
                }
                span.last = batch.last;
                return;
            }
            _ => {}
        }
        self.insert_across(batch, cell);
    }

    #[inline(never)]
    fn insert_across(&mut self, batch: OffsetRange, cell: Cell) {
        let mut at = self.beginning(batch.first);
        if let Some(spot) = at
            && self.next(spot).is_none()
            && self.get(spot).is_some_and(|leaf| {
                !leaf.is_dense()
                    && leaf.runs() + 2 > Self::RUNS
                    && leaf.range.last < batch.first
                    && self.stretch(leaf).is_some()
            })
        {
            // Leaves are mostly filled at the end.
            self.relieve(spot);
            at = self.last();
        }
        let spot = at.or_else(|| self.first());
        let merge = spot.map_or(Merge::Never, |spot| self.merge(spot));
        let last = spot.is_none_or(|spot| self.next(spot).is_none());
        let took = spot
            .and_then(|spot| self.get_mut(spot))
            .is_some_and(|leaf| {
                let inside = leaf.range.covers(batch);
                let full = last && leaf.runs() + 2 > Self::RUNS;
                let fits = if leaf.is_dense() {
                    leaf.reach(batch.last) <= Self::DENSE as u64 && batch.len() <= SPARSE as u64
                } else {
                    !full
                };
                (inside || fits) && leaf.insert(batch, cell, merge)
            });
        match spot {
            Some(spot) if took => {
                self.refresh_both(spot);
                if self
                    .get(spot)
                    .is_some_and(|leaf| !leaf.is_dense() && leaf.runs() > Self::RUNS)
                {
                    self.relieve(spot);
                }
            }
            _ => {
                self.insert_after(at, Leaf::of_batch(batch, cell));
            }
        }
    }

    /// Drops the batches that end at or before `last`, and shows what held a record.
    pub fn drop_through(&mut self, last: i64, mut f: impl FnMut(OffsetRange, Cell)) {
        let Some(last) = self.end_of_batches(last) else {
            return;
        };
        while let Some(at) = self.first()
            && let Some(leaf) = self.get_mut(at)
            && leaf.range.first <= last
        {
            if leaf.range.last > last {
                leaf.drop_front(last, &mut f);
                self.refresh(at);
                return;
            }
            let Some(leaf) = self.remove(at) else { return };
            let edges = match leaf.body {
                Body::Runs(edges) => edges,
                Body::Dense(dense) => dense.edges(),
            };
            for (at, edge) in edges.iter().enumerate() {
                if !edge.cell.is_hole() {
                    f(runs::range_of(&edges, at, leaf.range.last), edge.cell);
                }
            }
            if self.is_empty() {
                self.empty(edges);
            }
        }
    }

    /// Drops all that a window of one leaf of runs holds, and shows what held a record.
    #[inline]
    fn drop_one(&mut self, mut f: impl FnMut(OffsetRange, Cell)) {
        if let List::One(Leaf {
            range: span,
            body: Body::Runs(edges),
            ..
        }) = &mut self.list
        {
            for at in 0..edges.len() {
                if !edges[at].cell.is_hole() {
                    f(runs::range_of(edges, at, span.last), edges[at].cell);
                }
            }
            let edges = core::mem::take(edges);
            self.empty(edges);
        }
    }

    /// Nothing is in flight any more; the room of the last leaf's runs is kept.
    #[inline]
    fn empty(&mut self, mut edges: Vec<Edge>) {
        edges.clear();
        edges.shrink_to(Self::RUNS);
        self.list = List::None(edges);
    }

    /// Passes what is done at the front of a window of one leaf without holes, in one pass over its runs: nearly every
    /// window is such a one. `None` for any other.
    pub fn pass_done(
        &mut self,
        start_offset: i64,
        f: impl FnMut(OffsetRange, Cell),
    ) -> Option<Front> {
        let List::One(Leaf {
            range: span,
            tally,
            body: Body::Runs(edges),
        }) = &mut self.list
        else {
            return None;
        };
        if tally.has(Class::Hole) {
            return None;
        }
        let outstanding = |edge: &Edge| edge.cell.classes() & Class::Outstanding.bit() != 0;
        let Some(at) = edges.iter().position(outstanding) else {
            let last = span.last;
            self.drop_one(f);
            return Some(Front::Done(last));
        };
        let stop = edges[at].first;
        if at == 0 {
            return Some(Front::Standing(stop));
        }
        let passed =
            before(stop).and_then(|last| OffsetRange::new(start_offset.max(span.first), last));
        runs_change::drop_batches_before(edges, at, span, tally, f);
        Some(Front::Passed(stop, passed.map_or(0, OffsetRange::len)))
    }
}
