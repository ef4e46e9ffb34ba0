//! A leaf of few runs: where each begins, in ascending order; a run ends where the next one begins.

use super::cell::{Cell, Class, Tally};
use crate::offset::{OffsetRange, after, after_saturating, before_saturating};

/// The beginning of a run, or of a hole between batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub first: i64,
    pub cell: Cell,
}

/// Whether neighbouring batches may become one whose records are all equal, settled and terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merge {
    /// No: somebody wants to know where each began.
    Never,
    /// Yes, but the last batch of the leaf may reach into the next one.
    Inside,
    /// Yes, and no batch reaches into the next leaf.
    ToTheEnd,
}

const _: () = assert!(size_of::<Edge>() == 16, "a run takes 16 bytes");

/// The offsets of the entry `at`, in a leaf that ends at `last`.
#[inline]
pub(super) fn range_of(edges: &[Edge], at: usize, last: i64) -> OffsetRange {
    OffsetRange {
        first: edges[at].first,
        last: edges
            .get(at + 1)
            .map_or(last, |next| before_saturating(next.first)),
    }
}

/// The entry that holds `offset`, which is not before the first one. The oldest records are asked for most.
#[inline]
pub(super) fn holding(edges: &[Edge], offset: i64) -> usize {
    match edges.get(1) {
        Some(second) if second.first <= offset => {
            edges.partition_point(|edge| edge.first <= offset) - 1
        }
        _ => 0,
    }
}

/// The first run of a leaf over `span` that `range` touches, clipped to it.
#[inline]
pub(super) fn run_in(
    edges: &[Edge],
    span: OffsetRange,
    range: OffsetRange,
) -> Option<(OffsetRange, Cell)> {
    let OffsetRange { mut first, last } = span.intersection(range)?;
    let mut at = holding(edges, first);
    let mut edge = edges.get(at)?;
    if edge.cell.is_hole() {
        at += 1;
        edge = edges.get(at)?;
        first = edge.first;
        if first > last {
            return None;
        }
    }
    let cell = edge
        .cell
        .starting(edge.cell.is_start() && edge.first == first);
    let end = edges
        .get(at + 1)
        .map_or(last, |next| before_saturating(next.first).min(last));
    Some((OffsetRange { first, last: end }, cell))
}

/// The first offset from `from` on that belongs to `class`.
pub(super) fn next(edges: &[Edge], from: i64, class: Class) -> Option<i64> {
    let at = holding(edges, from);
    let head = edges.get(at)?;
    let here = if head.first < from {
        head.cell.tail()
    } else {
        head.cell
    };
    if here.classes() & class.bit() != 0 {
        return Some(from.max(head.first));
    }
    let behind = edges[at + 1..].iter();
    behind
        .into_iter()
        .find(|edge| edge.cell.classes() & class.bit() != 0)
        .map(|edge| edge.first)
}

/// The last beginning of a batch at or before `offset`.
pub(super) fn start_at_or_before(edges: &[Edge], offset: i64) -> Option<i64> {
    let upto = edges.partition_point(|edge| edge.first <= offset);
    let mut back = edges[..upto].iter().rev();
    back.find(|edge| edge.cell.is_start())
        .map(|edge| edge.first)
}

/// Does what [`update`] does where `range` is one whole run; returns whether that was all. What `f` answered and would change
/// the neighbours is put into place, and the neighbours are joined.
#[inline]
fn change_one(
    edges: &mut Vec<Edge>,
    at: usize,
    tally: &mut Tally,
    (range, last, merge): (OffsetRange, i64, Merge),
    f: &mut impl FnMut(OffsetRange, Cell) -> Option<Cell>,
) -> bool {
    let next = edges.get(at + 1).copied();
    let end = next.map_or(last, |next| before_saturating(next.first));
    let Some(edge) = edges.get_mut(at) else {
        return true;
    };
    let old = edge.cell;
    if edge.first != range.first || end != range.last || old.is_hole() {
        return false;
    }
    let Some(new) = f(range, old).filter(|new| *new != old) else {
        return true;
    };
    edge.cell = new;
    let (from, to) = (old.classes(), new.classes());
    if from != to {
        tally.take(from, 1);
        tally.add(to, 1);
    }
    let like = |other: Cell| other == new && merge != Merge::Never && new.is_done();
    let before = at.checked_sub(1).map(|before| edges[before].cell);
    if before.is_some_and(|before| before.joins(new) || like(before))
        || next.is_some_and(|next| new.joins(next.cell) || like(next.cell))
    {
        coalesce(edges, tally, (at, at), merge);
    }
    true
}

/// Shows every run that `range` touches, clipped to it, and puts in its place what `f` returns.
pub(super) fn update(
    edges: &mut Vec<Edge>,
    (last, merge): (i64, Merge),
    tally: &mut Tally,
    range: OffsetRange,
    f: &mut impl FnMut(OffsetRange, Cell) -> Option<Cell>,
) {
    let mut at = holding(edges, range.first);
    if change_one(edges, at, tally, (range, last, merge), f) {
        return;
    }
    let mut changed: Option<(usize, usize)> = None;
    while let Some(&Edge { first, cell }) = edges.get(at)
        && first <= range.last
    {
        let whole = range_of(edges, at, last);
        let part = OffsetRange {
            first: first.max(range.first),
            last: whole.last.min(range.last),
        };
        let (cut_left, cut_right) = (part.first > first, part.last < whole.last);
        let old = if cut_left { cell.tail() } else { cell };
        if !cell.is_hole()
            && let Some(new) = f(part, old)
            && new != old
        {
            let right = Edge {
                first: after_saturating(part.last),
                cell: cell.tail(),
            };
            let joins_left = !cut_left && at > 0 && edges[at - 1].cell.joins(new);
            if cut_right && joins_left {
                // The boundary to the run before moves.
                edges[at] = right;
                break;
            }
            if cut_left {
                let edge = Edge {
                    first: part.first,
                    cell: new,
                };
                edges.insert(at + 1, edge);
                at += 1;
            } else {
                tally.take(old.classes(), 1);
                edges[at].cell = new;
            }
            tally.add(new.classes(), 1);
            if cut_right {
                edges.insert(at + 1, right);
                tally.add(right.cell.classes(), 1);
            }
            changed = Some((changed.map_or(at, |(from, _)| from), at));
        }
        at += 1;
    }
    if let Some((from, to)) = changed {
        coalesce(edges, tally, (from, to), merge);
    }
}

/// Whether the batch that begins with the entry `at` consists of that entry.
fn is_whole_batch(edges: &[Edge], at: usize, merge: Merge) -> bool {
    let closed = |next: &Edge| next.cell.is_start() || next.cell.is_hole();
    edges[at].cell.is_start() && edges.get(at + 1).map_or(merge == Merge::ToTheEnd, closed)
}

/// Joins what can be joined around the entries `from..=to`: parts of a run, and neighbouring batches whose records are all
/// equal, settled and terminal, since nothing can happen to those any more.
pub(super) fn coalesce(
    edges: &mut Vec<Edge>,
    tally: &mut Tally,
    (from, to): (usize, usize),
    merge: Merge,
) {
    let changed = edges[from].cell;
    let joins = |left: usize| edges[left].cell.joins(edges[left + 1].cell);
    let apart = from == to
        && !(from > 0 && joins(from - 1) || to + 1 < edges.len() && joins(to))
        && (merge == Merge::Never || !changed.is_done());
    if apart {
        return;
    }
    let mut kept = from.saturating_sub(2);
    let end = (to + 2).min(edges.len());
    for at in kept + 1..end {
        let edge = edges[at];
        let before = edges[kept].cell;
        let same = before.joins(edge.cell)
            || (merge != Merge::Never
                && before == edge.cell
                && before.is_done()
                && is_whole_batch(edges, at, merge));
        if same {
            tally.take(edge.cell.classes(), 1);
        } else {
            kept += 1;
            edges[kept] = edge;
        }
    }
    if kept + 1 < end {
        edges.drain(kept + 1..end);
    }
}

/// Puts a batch into a hole: before the leaf, inside or behind it.
pub(super) fn insert(
    edges: &mut Vec<Edge>,
    (span, merge): (Option<OffsetRange>, Merge),
    tally: &mut Tally,
    batch: OffsetRange,
    cell: Cell,
) {
    let edge = Edge {
        first: batch.first,
        cell,
    };
    let hole_from = |first| Edge {
        first,
        cell: Cell::HOLE,
    };
    tally.add(cell.classes(), 1);
    let at = match span {
        None => {
            edges.push(edge);
            return;
        }
        Some(span) if span.last < batch.first => {
            if !span.is_followed_by(batch.first) {
                edges.push(hole_from(after_saturating(span.last)));
                tally.add(Class::Hole.bit(), 1);
            }
            edges.push(edge);
            edges.len() - 1
        }
        Some(span) if batch.last < span.first => {
            edges.insert(0, edge);
            if !batch.is_followed_by(span.first) {
                edges.insert(1, hole_from(after_saturating(batch.last)));
                tally.add(Class::Hole.bit(), 1);
            }
            0
        }
        Some(span) => {
            let mut at = holding(edges, batch.first);
            let hole = range_of(edges, at, span.last);
            if hole.first < batch.first {
                at += 1;
                edges.insert(at, edge);
            } else {
                edges[at] = edge;
                tally.take(Class::Hole.bit(), 1);
            }
            if batch.last < hole.last {
                edges.insert(at + 1, hole_from(after_saturating(batch.last)));
                tally.add(Class::Hole.bit(), 1);
            }
            at
        }
    };
    coalesce(edges, tally, (at, at), merge);
}

/// Drops the offsets up to `end`, which lies before the leaf's last, shows what held a record, and returns the first offset that
/// is left.
pub(super) fn drop_front(
    edges: &mut Vec<Edge>,
    (last, end): (i64, i64),
    tally: &mut Tally,
    f: &mut impl FnMut(OffsetRange, Cell),
) -> Option<i64> {
    let mut cut = 0;
    while let Some(&Edge { first, cell }) = edges.get(cut)
        && first <= end
    {
        let whole = range_of(edges, cut, last);
        if !cell.is_hole() {
            f(
                OffsetRange {
                    first,
                    last: whole.last.min(end),
                },
                cell,
            );
        }
        if whole.last > end && !cell.is_hole() {
            tally.take(cell.classes(), 1);
            tally.add(cell.tail().classes(), 1);
            edges[cut] = Edge {
                first: after(end)?,
                cell: cell.tail(),
            };
            break;
        }
        tally.take(cell.classes(), 1);
        cut += 1;
    }
    if edges.get(cut).is_some_and(|edge| edge.cell.is_hole()) {
        tally.take(Class::Hole.bit(), 1);
        cut += 1;
    }
    edges.copy_within(cut.., 0);
    edges.truncate(edges.len() - cut);
    edges.first().map(|edge| edge.first)
}
