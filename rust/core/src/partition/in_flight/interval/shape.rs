//! The shape of the leaves: one of too many runs is cut, and becomes dense where the runs are short; a dense leaf of few runs
//! becomes runs again; small neighbours become one.

use super::cell::{Cell, Class};
use super::directory::{Leaves, Spot};
use super::leaf::{Body, Leaf};
use super::runs::{self, Edge};
use super::runs_change;
use crate::offset::{OffsetRange, after, before, plus_saturating};

/// A dense leaf is worth it from one run in eight offsets on: it takes four bytes an offset, a run sixteen.
pub(super) const SPARSE: usize = 8;

/// The part of a leaf's entries inside `range`, without the holes at its ends.
fn cut(edges: &[Edge], last: i64, range: OffsetRange) -> Option<Leaf> {
    let mut kept: Vec<Edge> = Vec::new();
    let mut end = None;
    for (at, edge) in edges.iter().enumerate() {
        let whole = runs::range_of(edges, at, last);
        let Some(part) = whole.intersection(range) else {
            continue;
        };
        if edge.cell.is_hole() && kept.is_empty() {
            continue;
        }
        let first = part.first;
        let cell = if first > edge.first {
            edge.cell.tail()
        } else {
            edge.cell
        };
        kept.push(Edge { first, cell });
        if !cell.is_hole() {
            end = Some((kept.len(), part.last));
        }
    }
    let (len, last) = end?;
    kept.truncate(len);
    Some(Leaf::of_edges(kept, last))
}

impl<const N: usize> Leaves<N> {
    /// Runs and holes of a leaf at most.
    pub const RUNS: usize = N / 2;
    /// Offsets of a dense leaf at most.
    pub const DENSE: usize = SPARSE * N;

    /// Gives a leaf its best shape.
    pub fn adapt(&mut self, at: Spot) {
        let merge = self.merge(at);
        let Some(leaf) = self.get_mut(at) else { return };
        if leaf.is_dense() {
            let done = !leaf.tally.has(Class::Outstanding);
            if leaf.runs() > Self::RUNS / 4 && !done {
                return;
            }
            let last = leaf.range.last;
            let mut sparse = Leaf::of_edges(leaf.edges(), last);
            if let Body::Runs(edges) = &mut sparse.body {
                let all = (0, edges.len());
                runs_change::coalesce(edges, &mut sparse.tally, all, merge);
            }
            if sparse.runs() > Self::RUNS / 2 {
                return;
            }
            if let Body::Runs(edges) = &mut sparse.body {
                edges.shrink_to_fit();
            }
            *leaf = sparse;
            self.refresh(at);
        } else if leaf.runs() > Self::RUNS {
            self.relieve(at);
            return;
        }
        self.join(at);
    }

    /// Finds the offsets that should be dense, because the runs of the leaf are short there.
    pub fn stretch(&self, leaf: &Leaf) -> Option<OffsetRange> {
        let Body::Runs(edges) = &leaf.body else {
            return None;
        };
        let enough = Self::RUNS / 2;
        let span = |from: usize, to: usize| edges[from].first.abs_diff(edges[to].first);
        let short = |from: usize, to: usize| span(from, to) <= (SPARSE * (to - from)) as u64;
        let from = (0..edges.len().saturating_sub(enough))
            .find(|from| !edges[*from].cell.is_hole() && short(*from, from + enough))?;
        let mut to = from + enough;
        while to + 1 < edges.len() && short(from, to + 1) {
            to += 1;
        }
        let len = (SPARSE * (to - from)).min(Self::DENSE) as u64;
        let first = edges[from].first;
        let last = plus_saturating(first, len - 1).min(leaf.range.last);
        OffsetRange::new(first, last)
    }

    /// Cuts a leaf of too many runs: out of it what should be dense, or in two halves.
    pub fn relieve(&mut self, at: Spot) {
        let Some(leaf) = self.get(at) else { return };
        let (range, edges) = (leaf.range, leaf.edges());
        let piece = |part: OffsetRange| cut(&edges, range.last, part);
        let dense = self
            .stretch(leaf)
            .and_then(|part| Some((part, piece(part)?.dense()?)));
        let half = || {
            let half = edges.get(edges.len() / 2)?;
            let part = OffsetRange::new(half.first, range.last)?;
            Some((part, piece(part)?))
        };
        let Some((middle, leaf)) = dense.or_else(half) else {
            return;
        };
        let head = before(middle.first).and_then(|end| OffsetRange::new(range.first, end));
        let tail = after(middle.last).and_then(|first| OffsetRange::new(first, range.last));
        let pieces = [head.and_then(piece), Some(leaf), tail.and_then(piece)];
        let mut spot = None;
        let mut begins = [None; 3];
        for (piece, begin) in pieces.into_iter().flatten().zip(&mut begins) {
            *begin = Some(piece.range.first);
            spot = Some(match spot {
                None => {
                    if let Some(leaf) = self.get_mut(at) {
                        *leaf = piece;
                    }
                    self.refresh_both(at);
                    at
                }
                Some(_) => self.insert_after(spot, piece),
            });
        }
        for begin in begins.into_iter().flatten() {
            if let Some(at) = self.reaching(begin) {
                self.relieve_or_join(at);
            }
        }
    }

    /// A dense leaf whose records have no codes any more may have left many runs.
    fn relieve_or_join(&mut self, at: Spot) {
        let runs = |leaf: &Leaf| !leaf.is_dense() && leaf.runs() > Self::RUNS;
        if self.get(at).is_some_and(runs) {
            self.relieve(at);
        } else {
            self.join(at);
        }
    }

    /// Merges neighbouring leaves while the result stays within the limits of one.
    fn join(&mut self, at: Spot) {
        let mut at = at;
        loop {
            let prev = self.prev(at);
            let pair = match prev {
                Some(prev) if self.fit(prev, at) => (prev, at),
                _ => match self.next(at) {
                    Some(next) if self.fit(at, next) => (at, next),
                    _ => return,
                },
            };
            self.unite(pair.0, pair.1);
            at = pair.0;
        }
    }

    fn fit(&self, left: Spot, right: Spot) -> bool {
        let (Some(left), Some(right)) = (self.get(left), self.get(right)) else {
            return false;
        };
        if !left.is_dense() && !right.is_dense() {
            return left.runs() + right.runs() < Self::RUNS * 3 / 4;
        }
        let torn =
            |leaf: &Leaf| leaf.is_dense() || leaf.range.len() <= (SPARSE * leaf.runs()) as u64;
        let is_small = left.reach(right.range.last) <= Self::DENSE as u64;
        is_small && torn(left) && torn(right) && left.has_codes() && right.has_codes()
    }

    fn unite(&mut self, left: Spot, right: Spot) {
        let merge = self.merge(right);
        let Some(next) = self.remove(right) else {
            return;
        };
        let Some(leaf) = self.get_mut(left) else {
            return;
        };
        if next.is_dense()
            && !leaf.is_dense()
            && let Some(dense) = leaf.dense()
        {
            *leaf = dense;
        }
        if leaf.is_dense() {
            leaf.absorb(&next);
        } else {
            let mut edges = leaf.edges();
            edges.reserve_exact(next.runs() + 1);
            if !leaf.range.is_followed_by(next.range.first)
                && let Some(first) = after(leaf.range.last)
            {
                let cell = Cell::HOLE;
                edges.push(Edge { first, cell });
            }
            edges.extend(next.edges());
            *leaf = Leaf::of_edges(edges, next.range.last);
            if let Body::Runs(edges) = &mut leaf.body {
                let all = (0, edges.len());
                runs_change::coalesce(edges, &mut leaf.tally, all, merge);
            }
        }
        self.refresh_both(left);
    }
}
