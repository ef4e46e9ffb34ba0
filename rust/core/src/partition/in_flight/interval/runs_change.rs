//! Changes of a leaf of few runs.

use super::cell::{Cell, Class};
use super::runs::{Becomes, Edge, Merge, holding, holding_all, range_of};
use super::tally::Tally;
use crate::offset::{OffsetRange, after, after_saturating, before_saturating};

/// Puts `new` where `old` is: all of `range`, which lies inside the entry `at`.
///
/// ```text
/// entry      aaaaaaaaa     aaaaaaaaa     aaaaaaaaa     aaaaaaaaa
/// range         nnn           nnnnnn     nnnn          nnnnnnnnn
/// becomes    aaannnaaa     aaannnnnn     nnnnaaaaa     nnnnnnnnn
///            two more      one more      one more      none more
/// ```
///
/// Where a neighbour continues `new`, its boundary moves instead of a new entry; in the last case entries may be joined
/// ([`coalesce`]).
#[inline(always)]
pub(super) fn put_within(
    edges: &mut Vec<Edge>,
    at: usize,
    tally: &mut Tally,
    (range, last, merge): (OffsetRange, i64, Merge),
    (old, new): (Cell, Cell),
) {
    let Some(&Edge { first, cell }) = edges.get(at) else {
        return;
    };
    let next = edges.get(at + 1).copied();
    let end = next.map_or(last, |next| before_saturating(next.first));
    let (cut_left, cut_right) = (first < range.first, range.last < end);
    let before = if at > 0 {
        Some(edges[at - 1].cell)
    } else {
        None
    };
    let right = Edge {
        first: after_saturating(range.last),
        cell: cell.tail(),
    };
    if cut_left {
        let edge = Edge {
            first: range.first,
            cell: new,
        };
        if cut_right {
            edges.insert(at + 1, edge);
            edges.insert(at + 2, right);
            tally.add(new.classes(), 1);
            tally.add(right.cell.classes(), 1);
        } else if next.is_some_and(|next| new.joins(next.cell)) {
            edges[at + 1].first = range.first;
        } else {
            edges.insert(at + 1, edge);
            tally.add(new.classes(), 1);
        }
    } else if cut_right {
        if before.is_some_and(|before| before.joins(new)) {
            edges[at] = right;
        } else {
            edges[at].cell = new;
            edges.insert(at + 1, right);
            tally.take(old.classes(), 1);
            tally.add(new.classes(), 1);
            tally.add(right.cell.classes(), 1);
        }
    } else {
        edges[at].cell = new;
        let (from, to) = (old.classes(), new.classes());
        if from != to {
            tally.take(from, 1);
            tally.add(to, 1);
        }
        let done = merge != Merge::Never && new.is_done();
        let near = |other: Cell| done && other == new;
        if before.is_some_and(|before| before.joins(new) || near(before))
            || next.is_some_and(|next| new.joins(next.cell) || near(next.cell))
        {
            coalesce(edges, tally, (at, at), merge);
        }
    }
}

/// Shows every run that `range` touches, clipped to it, and puts in its place what `f` returns.
pub(super) fn update(
    edges: &mut Vec<Edge>,
    (last, merge): (i64, Merge),
    tally: &mut Tally,
    range: OffsetRange,
    f: Becomes<'_>,
) {
    if let Some((at, old)) = holding_all(edges, last, range) {
        if let Some(new) = f(range, old).filter(|new| *new != old) {
            put_within(edges, at, tally, (range, last, merge), (old, new));
        }
        return;
    }
    let mut at = holding(edges, range.first);
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

/// Returns `true` if the batch that begins with the entry `at` consists of that entry.
fn is_whole_batch(edges: &[Edge], at: usize, merge: Merge) -> bool {
    let closed = |next: &Edge| next.cell.is_start() || next.cell.is_hole();
    edges[at].cell.is_start() && edges.get(at + 1).map_or(merge == Merge::ToTheEnd, closed)
}

/// Joins what can be joined around the entries `from..=to`: parts of a run, and neighbouring batches whose records are all
/// equal and done, since nothing can happen to those any more.
///
/// ```text
/// [aaa|aaa          a run in two entries                 →  [aaaaaa
/// [ddd[ddd[         two batches, equal and done          →  [dddddd[
/// [ddd[ddd|x        the second batch goes on otherwise   →  stays
/// ```
///
/// `[` begins a batch, `|` an entry.
pub(super) fn coalesce(
    edges: &mut Vec<Edge>,
    tally: &mut Tally,
    (from, to): (usize, usize),
    merge: Merge,
) {
    if from == to && from > 0 && edges[from - 1].cell.joins(edges[from].cell) {
        let closed = |next: &Edge| next.cell.is_start() || next.cell.is_hole();
        let follows = edges.get(to + 1);
        let joins_next = follows.is_some_and(|next| edges[to].cell.joins(next.cell));
        if !joins_next && !follows.is_none_or(closed) {
            // The common case: one record more at the end of those already done.
            tally.take(edges[from].cell.classes(), 1);
            edges.remove(from);
            return;
        }
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
        if merge != Merge::Never && edges[kept].cell.is_done() {
            // What became whole by that may be a batch like the one before it.
            let to = to.min(edges.len() - 1);
            coalesce(edges, tally, (from.min(to), to), merge);
        }
    }
}

/// Puts a batch into a hole: before the leaf, inside or after it.
pub(super) fn insert(
    edges: &mut Vec<Edge>,
    (span, merge): (OffsetRange, Merge),
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
    let at = if span.last < batch.first {
        if !span.is_followed_by(batch.first) {
            edges.push(hole_from(after_saturating(span.last)));
            tally.add(Class::Hole.bit(), 1);
        }
        edges.push(edge);
        edges.len() - 1
    } else if batch.last < span.first {
        edges.insert(0, edge);
        if !batch.is_followed_by(span.first) {
            edges.insert(1, hole_from(after_saturating(batch.last)));
            tally.add(Class::Hole.bit(), 1);
        }
        0
    } else {
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
    };
    coalesce(edges, tally, (at, at), merge);
}

/// Drops the batches before the one that the entry `cut` belongs to, and shows what held a record.
pub(super) fn drop_batches_before(
    edges: &mut Vec<Edge>,
    mut cut: usize,
    span: &mut OffsetRange,
    tally: &mut Tally,
    mut f: impl FnMut(OffsetRange, Cell),
) {
    while cut > 0 && !edges[cut].cell.is_start() {
        cut -= 1;
    }
    if cut == 0 {
        return;
    }
    for at in 0..cut {
        let cell = edges[at].cell;
        tally.take(cell.classes(), 1);
        if !cell.is_hole() {
            f(range_of(edges, at, span.last), cell);
        }
    }
    edges.drain(..cut);
    span.first = edges.first().map_or(span.last, |edge| edge.first);
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
