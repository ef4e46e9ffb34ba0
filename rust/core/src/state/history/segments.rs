//! Delivery states of given offsets, holes included, and the differences of two of them.

use super::row::Delivery;
use crate::offset::{OffsetRange, after, before};
use crate::state::state_batch::{StateBatch, StateBatches};

/// A stretch of offsets of which the same is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub range: OffsetRange,
    pub known: Option<Delivery>,
}

/// A stretch of offsets and what is known of it before and after a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub range: OffsetRange,
    pub from: Option<Delivery>,
    pub to: Option<Delivery>,
}

pub(super) const fn delivery(batch: &StateBatch) -> Delivery {
    Delivery {
        state: batch.delivery_state,
        count: batch.delivery_count,
    }
}

/// Brings ranges into order and joins those that overlap or touch.
pub(super) fn join(ranges: &mut Vec<OffsetRange>) {
    ranges.sort_unstable_by_key(|range| range.first);
    ranges.dedup_by(|next, kept| {
        let joins = next.first <= kept.last || kept.is_followed_by(next.first);
        if joins {
            kept.last = kept.last.max(next.last);
        }
        joins
    });
}

/// Covers `ranges`, which are in order and disjoint, with segments; no batches are holes all over.
pub(super) fn cover(
    batches: Option<&StateBatches>,
    ranges: &[OffsetRange],
    out: &mut Vec<Segment>,
) {
    for range in ranges {
        let mut rest = Some(*range);
        for run in batches
            .into_iter()
            .flat_map(|batches| batches.within(*range))
        {
            let hole =
                rest.and_then(|rest| OffsetRange::new(rest.first, before(run.first_offset)?));
            out.extend(hole.map(|range| Segment { range, known: None }));
            let known = Some(delivery(&run));
            let covered = OffsetRange::new(run.first_offset, run.last_offset);
            out.extend(covered.map(|range| Segment { range, known }));
            rest = after(run.last_offset).and_then(|first| OffsetRange::new(first, range.last));
        }
        out.extend(rest.map(|range| Segment { range, known: None }));
    }
}

/// Lays two coverings of the same ranges beside each other, cut where either changes and before each of `cuts`.
pub(super) fn beside<'a>(
    old: &'a [Segment],
    new: &'a [Segment],
    cuts: [i64; 2],
) -> impl Iterator<Item = Pair> + 'a {
    let mut olds = old.iter().copied();
    let mut news = new.iter().copied();
    let mut pending = olds.next().zip(news.next());
    core::iter::from_fn(move || {
        let (a, b) = pending?;
        let first = a.range.first.max(b.range.first);
        let mut last = a.range.last.min(b.range.last);
        for cut in cuts {
            if first < cut && cut <= last {
                last = before(cut)?;
            }
        }
        let next_a = rest(a, last).or_else(|| olds.next());
        let next_b = rest(b, last).or_else(|| news.next());
        pending = next_a.zip(next_b);
        Some(Pair {
            range: OffsetRange::new(first, last)?,
            from: a.known,
            to: b.known,
        })
    })
}

/// The part of `segment` after `last`.
fn rest(segment: Segment, last: i64) -> Option<Segment> {
    let range = OffsetRange::new(after(last)?, segment.range.last)?;
    Some(Segment { range, ..segment })
}
