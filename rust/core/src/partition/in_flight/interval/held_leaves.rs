//! Applies a change to many ascending ranges in one pass over the leaves.

use super::cell::{CellChange, Class};
use super::dense::{Dense, WORDS};
use super::directory::Leaves;
use super::held::Held;
use super::leaf::{Body, Leaf};
use super::runs::Merge;
use super::runs_change;
use super::tally::Tally;
use crate::offset::OffsetRange;
use crate::partition::in_flight::RunChange;
use crate::partition::in_flight::locks::{Leases, NONE};

/// Ranges whose records are loaded together: so few that a near cache still holds them when they change.
pub(super) const AHEAD: usize = 64;
/// Ranges for which it is not worth it, at most.
pub(super) const FEW: usize = 16;

impl Dense {
    /// Loads the record at `offset` and what shows that it is available, and returns its lease.
    fn touch(&self, offset: i64, seen: &mut u64) -> u32 {
        let at = self.index(offset);
        *seen ^= self.maps[Class::Available as usize][at / 64 % WORDS];
        self.codes.get(at).map_or(NONE, |code| code.lock())
    }

    /// Shows the records of `range` and of the ranges after it that the holder holds, as far as this leaf reaches, and changes
    /// them. Returns the first range that is not done.
    fn update_held<C: RunChange>(
        &mut self,
        range: OffsetRange,
        (ranges, span): (&mut impl Iterator<Item = OffsetRange>, OffsetRange),
        tally: &mut Tally,
        held: &mut Held<'_, C>,
    ) -> Option<OffsetRange> {
        let mut next = Some(range);
        while let Some(range) = next
            && range.first <= span.last
        {
            if range.first == range.last && range.first >= span.first {
                self.change_one(self.index(range.first), range, tally, held);
                next = ranges.next();
                continue;
            }
            if range.last >= span.first {
                let from = self.index(range.first.max(span.first));
                let to = self.index(range.last.min(span.last));
                self.change_all(from, to, tally, held);
            }
            next = range.after(span.last).or_else(|| ranges.next());
        }
        next
    }

    #[inline]
    fn change_one<C: RunChange>(
        &mut self,
        at: usize,
        range: OffsetRange,
        tally: &mut Tally,
        held: &mut Held<'_, C>,
    ) {
        let Some(&old) = self.codes.get(at) else {
            return;
        };
        if !held.holds(old.lock()) {
            return;
        }
        let Some((becomes, classes)) = held.change_of_code(range, old) else {
            return;
        };
        if !becomes.keeps_lock() {
            held.leave(old.lock(), 1);
        }
        let new = old.with(becomes);
        if old.is_start() && self.codes.get(at + 1).is_none_or(|next| next.is_start()) {
            // A batch of one record: whatever it is, it neither continues its neighbours nor do they continue it.
            self.codes[at] = new;
        } else {
            self.exchange(at, new);
        }
        self.reclass_one(at, classes, tally);
    }

    /// Turns the records `at..=end`, in runs of those that are equal but for lease and beginning of a batch.
    fn change_all<C: RunChange>(
        &mut self,
        mut at: usize,
        end: usize,
        tally: &mut Tally,
        held: &mut Held<'_, C>,
    ) {
        while at <= end {
            let head = self.codes[at];
            if head.cell().is_hole() || !held.holds(head.lock()) {
                at += 1;
                continue;
            }
            let becomes = held.change_of(self.range(at, at), head.cell());
            let ends_locks = becomes.is_some_and(|becomes| !becomes.keeps_lock());
            let to = self.leave_alike(at, end, ends_locks, held);
            if let Some(becomes) = becomes {
                held.widen(self.offset(to));
                self.change_run(at, to, becomes, tally);
            }
            at = to + 1;
        }
    }

    /// The last of the records from `at` on that are the holder's and equal, but for their leases, which they leave if those end.
    fn leave_alike<C: RunChange>(
        &self,
        at: usize,
        end: usize,
        ends_locks: bool,
        held: &mut Held<'_, C>,
    ) -> usize {
        let (codes, head) = (&self.codes[..=end], self.codes[at]);
        let mut from = at;
        while let Some(&code) = codes.get(from)
            && code.is_like(head)
        {
            let tail = code.tail();
            let beyond = codes[from + 1..].iter();
            let to = from + beyond.take_while(|next| next.tail() == tail).count();
            let is_held = if ends_locks {
                held.leave_held(code.lock(), (to + 1 - from) as u64)
            } else {
                held.holds(code.lock())
            };
            if !is_held {
                break;
            }
            from = to + 1;
        }
        from - 1
    }

    /// Turns the records `at..=to`, which are equal but for their leases and where batches begin.
    fn change_run(&mut self, at: usize, to: usize, becomes: CellChange, tally: &mut Tally) {
        let old = self.codes[at].cell().tail();
        self.seams -= self.seams_in(at, to);
        for code in &mut self.codes[at..=to] {
            *code = code.with(becomes);
        }
        self.seams += self.seams_in(at, to);
        self.reclass(at, to, old.classes(), old.with(becomes).classes(), tally);
    }

    /// The seams before each of the entries `at..=to` and after the last of them.
    fn seams_in(&self, at: usize, to: usize) -> u32 {
        let from = at.max(self.live as usize + 1) - 1;
        let end = (to + 1).min(self.codes.len() - 1);
        let pairs = self.codes[from..end]
            .iter()
            .zip(&self.codes[from + 1..=end]);
        pairs.map(|(a, b)| u32::from(a.tail() != *b)).sum()
    }

    fn range(&self, from: usize, to: usize) -> OffsetRange {
        OffsetRange {
            first: self.offset(from),
            last: self.offset(to),
        }
    }
}

impl Leaf {
    /// Loads what a change of the record at `offset` will look at, if it is kept by itself, and returns its lease.
    fn touch(&self, offset: i64, seen: &mut u64) -> u32 {
        match &self.body {
            Body::Dense(dense) => dense.touch(offset, seen),
            Body::Runs(_) => NONE,
        }
    }

    /// Does `range`, or if the leaf is dense all ranges as far as it reaches, and returns the first that is not done.
    fn update_held<C: RunChange>(
        &mut self,
        range: OffsetRange,
        ranges: &mut impl Iterator<Item = OffsetRange>,
        merge: Merge,
        held: &mut Held<'_, C>,
    ) -> Option<OffsetRange> {
        let (span, tally) = (self.range, &mut self.tally);
        match &mut self.body {
            Body::Runs(edges) => {
                let mut f = |range, cell| held.replace(range, cell);
                if let Some(part) = span.intersection(range) {
                    runs_change::update(edges, (span.last, merge), tally, part, &mut f);
                }
                range.after(span.last).or_else(|| ranges.next())
            }
            Body::Dense(dense) => dense.update_held(range, (ranges, span), tally, held),
        }
    }
}

impl<const N: usize> Leaves<N> {
    /// Shows the records of `ranges`, which ascend, that the holder holds, and changes them. Many are first loaded, some at a time.
    pub fn update_held<C: RunChange>(
        &mut self,
        mut ranges: impl Iterator<Item = OffsetRange>,
        held: &mut Held<'_, C>,
    ) {
        let mut some = [OffsetRange::single(0); AHEAD];
        loop {
            let mut len = 0;
            for (place, range) in some.iter_mut().zip(&mut ranges) {
                *place = range;
                len += 1;
            }
            let some = &some[..len];
            if len > FEW {
                self.load(some.iter().copied(), held.locks());
            }
            self.update_some(some.iter().copied(), held);
            if len < AHEAD {
                return;
            }
        }
    }

    /// The shape of a dense leaf is looked at when all its ranges are done.
    fn update_some<C: RunChange>(
        &mut self,
        mut ranges: impl Iterator<Item = OffsetRange>,
        held: &mut Held<'_, C>,
    ) {
        let mut next = ranges.next();
        let mut near = None;
        while let Some(range) = next {
            let is_near = near.is_some();
            let Some(at) = near.take().or_else(|| self.reaching(range.first)) else {
                return;
            };
            let Some(leaf) = self.get_mut(at) else { return };
            if is_near && !leaf.range.contains(range.first) {
                continue;
            }
            let before = (leaf.tally, leaf.runs());
            if leaf.is_dense() {
                next = leaf.update_held(range, &mut ranges, Merge::Never, held);
                if leaf.runs() != before.1 || !leaf.tally.occurs_as(before.0) {
                    self.reshape(at, before);
                }
            } else {
                let merge = self.merge(at);
                let Some(leaf) = self.get_mut(at) else { return };
                next = leaf.update_held(range, &mut ranges, merge, held);
                self.reshape(at, before);
            }
            near = self.next(at);
        }
    }

    /// Loads what a look at each range, or a change of it, begins with. These loads do not wait for each other, so many are
    /// under way at once where one record after the other would wait for memory.
    pub fn load(&self, mut ranges: impl Iterator<Item = OffsetRange>, locks: &Leases) {
        let (mut near, mut seen) = (None, 0);
        let mut next = ranges.next();
        while let Some(range) = next {
            let at = near.take().or_else(|| self.reaching(range.first));
            let Some((at, leaf)) = at.and_then(|at| Some((at, self.get(at)?))) else {
                break;
            };
            while let Some(range) = next
                && range.first <= leaf.range.last
            {
                let lock = leaf.touch(range.first, &mut seen);
                seen ^= locks.touch(lock);
                next = ranges.next();
                near = Some(at);
            }
            near = near.and_then(|at| self.next(at));
        }
        core::hint::black_box(seen);
    }
}
