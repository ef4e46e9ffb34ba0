//! The parts of a request that acknowledges records: ranges with one type each.

use crate::offset::{OffsetRange, plus_saturating};
use crate::partition::record_state::AcknowledgeType;

/// Acknowledgement of a range of offsets by a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcknowledgeBatch<'a> {
    /// First offset.
    pub first: i64,
    /// Last offset.
    pub last: i64,
    /// Id of an [`AcknowledgeType`] for all offsets, or an id for each.
    pub types: &'a [i8],
}

impl AcknowledgeBatch<'_> {
    /// Acknowledgement of one type for all offsets from `first` to `last`.
    #[must_use]
    pub const fn all(first: i64, last: i64, of: AcknowledgeType) -> Self {
        const IDS: [[i8; 1]; 5] = [[0], [1], [2], [3], [4]];
        Self {
            first,
            last,
            types: &IDS[of as usize],
        }
    }
}

/// Rest of a request of good form: ranges from the start offset on with the type for all of their records, in the order
/// of the request.
#[derive(Clone, Debug)]
pub(super) struct Parts<'a> {
    batches: core::slice::Iter<'a, AcknowledgeBatch<'a>>,
    start_offset: i64,
    /// Rest of the batch at hand.
    range: OffsetRange,
    /// Type for all of that, or a type for each record; none when nothing is left.
    types: &'a [i8],
}

impl<'a> Parts<'a> {
    pub fn new(batches: &'a [AcknowledgeBatch<'a>], start_offset: i64) -> Self {
        let mut parts = Self {
            batches: batches.iter(),
            start_offset,
            range: OffsetRange::single(start_offset),
            types: &[],
        };
        parts.next_batch();
        parts
    }

    /// The type of the next part, if there is one.
    pub fn next_type(&self) -> Option<AcknowledgeType> {
        AcknowledgeType::from_id(*self.types.first()?)
    }

    /// The next parts of this type, up to one of another.
    #[inline]
    pub fn of_type(&mut self, kind: AcknowledgeType) -> impl Iterator<Item = OffsetRange> {
        core::iter::from_fn(move || self.take(kind as i8))
    }

    #[inline(always)]
    fn take(&mut self, id: i8) -> Option<OffsetRange> {
        let range = self.range;
        match self.types {
            [one] if *one == id => {
                self.next_batch();
                Some(range)
            }
            [first, _, ..] if *first == id => Some(self.split()),
            _ => None,
        }
    }

    /// The records at the front that are given one type, where each has its own.
    fn split(&mut self) -> OffsetRange {
        let range = self.range;
        let (equal, others) = self.types.split_at(equal_at_front(self.types));
        let last = plus_saturating(range.first, equal.len() as u64 - 1);
        match range.after(last) {
            Some(rest) => (self.range, self.types) = (rest, others),
            None => self.next_batch(),
        }
        OffsetRange { last, ..range }
    }

    /// Goes to the next batch that reaches the start offset.
    #[inline(always)]
    fn next_batch(&mut self) {
        self.types = &[];
        for batch in &mut self.batches {
            let first = batch.first.max(self.start_offset);
            if let Some(range) = OffsetRange::new(first, batch.last) {
                let types = types_of(batch, range);
                (self.range, self.types) = (range, types);
                return self.join_next_batches();
            }
        }
    }

    /// Takes in the batches right after the one at hand that are given the same one type: records in order may come as a batch
    /// each.
    #[inline(always)]
    fn join_next_batches(&mut self) {
        while let (Some(next), [_]) = (self.batches.as_slice().first(), self.types)
            && self.range.is_followed_by(next.first)
            && next.types == self.types
        {
            self.range.last = next.last;
            self.batches.next();
        }
    }
}

/// The types of `range`, which is the batch, or its part from the start offset on.
#[inline]
pub(in crate::partition::share_partition) fn types_of<'a>(
    batch: &AcknowledgeBatch<'a>,
    range: OffsetRange,
) -> &'a [i8] {
    match batch.types {
        one @ [_] => one,
        each => {
            let skipped = usize::try_from(batch.first.abs_diff(range.first));
            let rest = skipped.ok().and_then(|skipped| each.get(skipped..));
            rest.unwrap_or(&[])
        }
    }
}

/// Number of types at the front that are equal; whole words of them at a time, for mostly all are.
pub(in crate::partition::share_partition) fn equal_at_front(types: &[i8]) -> usize {
    let Some(first) = types.first() else { return 0 };
    let (words, _) = types.as_chunks::<32>();
    let equal = words.iter().take_while(|word| **word == [*first; 32]);
    let known = 32 * equal.count();
    let rest = types.get(known..).unwrap_or_default();
    known + rest.iter().take_while(|id| *id == first).count()
}

#[cfg(test)]
mod tests {
    use super::{AcknowledgeBatch, AcknowledgeType, Parts};

    fn parts(batches: &[(i64, i64, &[i8])], start_offset: i64) -> Vec<(AcknowledgeType, i64, i64)> {
        let batch = |&(first, last, types)| AcknowledgeBatch { first, last, types };
        let batches: Vec<_> = batches.iter().map(batch).collect();
        let mut parts = Parts::new(&batches, start_offset);
        let mut found = Vec::new();
        while let Some(kind) = parts.next_type() {
            found.extend(
                parts
                    .of_type(kind)
                    .map(|part| (kind, part.first, part.last)),
            );
        }
        found
    }

    #[test]
    fn batches_in_a_row_that_are_given_one_type_are_one_part() {
        use AcknowledgeType::{Accept, Reject, Release};
        let row: &[(i64, i64, &[i8])] = &[
            (0, 4, &[1]),
            (5, 5, &[1]),
            (6, 9, &[2]),
            (10, 12, &[2]),
            (14, 14, &[2]),
            (15, 17, &[2, 2, 3]),
            (18, i64::MAX, &[3]),
        ];
        let found = [
            (Accept, 3, 5),
            (Release, 6, 12),
            (Release, 14, 14),
            (Release, 15, 16),
            (Reject, 17, 17),
            (Reject, 18, i64::MAX),
        ];
        assert_eq!(parts(row, 3), found);
        assert_eq!(parts(row, 12), [&[(Release, 12, 12)], &found[2..]].concat());
        assert_eq!(parts(&row[..2], 6), []);
    }
}
