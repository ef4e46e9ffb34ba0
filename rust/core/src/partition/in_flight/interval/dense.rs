//! A dense leaf: a code for each offset, and a bit map for each class, so that what a search looks for is found by words.

use super::cell::{Cell, Class, Code};
use super::runs::{Becomes, Edge};
use super::tally::Tally;
use crate::offset::{OffsetRange, plus_saturating};

/// Offsets of a dense leaf at most.
pub(super) const LONGEST: usize = 512;
pub(super) const WORDS: usize = LONGEST / 64;

/// The offsets `base..base + codes.len()`; those before `live` have been dropped.
#[derive(Clone, Debug)]
pub(super) struct Dense {
    base: i64,
    pub live: u32,
    /// Entries that do not continue the one before, the first one excepted.
    pub seams: u32,
    pub codes: Vec<Code>,
    pub maps: [[u64; WORDS]; 4],
}

/// Offsets whose change does not fit into the codes of a leaf, and their cell after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    pub range: OffsetRange,
    pub cell: Cell,
}

/// The bits `from..=to` of the word `word`.
fn mask(word: usize, from: usize, to: usize) -> u64 {
    let low = from.max(word * 64) - word * 64;
    let high = to.min(word * 64 + 63) - word * 64;
    (u64::MAX << low) & (u64::MAX >> (63 - high))
}

impl Dense {
    pub fn new(base: i64, room: usize) -> Self {
        Self {
            base,
            live: 0,
            seams: 0,
            codes: Vec::with_capacity(room),
            maps: [[0; WORDS]; 4],
        }
    }

    pub const fn base(&self) -> i64 {
        self.base
    }

    /// Runs and holes.
    pub const fn runs(&self) -> usize {
        self.seams as usize + 1
    }

    pub fn index(&self, offset: i64) -> usize {
        offset.abs_diff(self.base) as usize
    }

    pub fn offset(&self, index: usize) -> i64 {
        plus_saturating(self.base, index as u64)
    }

    #[inline]
    pub fn seam(&self, at: usize) -> u32 {
        let inside = at > self.live as usize && at < self.codes.len();
        u32::from(inside && self.codes[at - 1].tail() != self.codes[at])
    }

    /// Adds `n` entries after the last one, or returns false if the cell does not fit.
    pub fn push(&mut self, cell: Cell, n: usize, tally: &mut Tally) -> bool {
        let (Some(head), Some(tail)) = (Code::of(cell), Code::of(cell.tail())) else {
            return false;
        };
        let from = self.codes.len();
        debug_assert!(from + n <= LONGEST, "{from} offsets and {n} more");
        self.reserve(n);
        self.codes.push(head);
        self.codes.resize(from + n, tail);
        self.seams += self.seam(from);
        self.mark(from, from, cell.classes());
        tally.add(cell.classes(), 1);
        if n > 1 {
            self.mark(from + 1, from + n - 1, cell.tail().classes());
            tally.add(cell.tail().classes(), n as u64 - 1);
        }
        true
    }

    fn reserve(&mut self, n: usize) {
        let need = self.codes.len() + n;
        if need > self.codes.capacity() {
            let room = need.next_power_of_two();
            self.codes.reserve_exact(room - self.codes.len());
        }
    }

    fn mark(&mut self, from: usize, to: usize, classes: u8) {
        for class in Class::ALL {
            if classes & class.bit() != 0 {
                self.flip(from, to, class);
            }
        }
    }

    fn flip(&mut self, from: usize, to: usize, class: Class) {
        let map = &mut self.maps[class as usize];
        for (word, bits) in map.iter_mut().enumerate().take(to / 64 + 1).skip(from / 64) {
            *bits ^= mask(word, from, to);
        }
    }

    /// The cell at `offset`, and the last offset up to `last` that continues it.
    pub fn run(&self, offset: i64, last: i64) -> (Cell, i64) {
        let at = self.index(offset);
        let code = self.codes[at];
        if offset == last {
            return (code.cell(), last);
        }
        let end = self.index(last);
        (code.cell(), self.offset(self.end_of_run(at, end)))
    }

    fn end_of_run(&self, at: usize, end: usize) -> usize {
        let tail = self.codes[at].tail();
        let beyond = self.codes[at + 1..=end].iter();
        at + beyond.take_while(|code| **code == tail).count()
    }

    /// The first offset from `from` on that belongs to `class`, or does not if `is` is false.
    pub fn next(&self, from: i64, class: Class, is: bool) -> Option<i64> {
        debug_assert!(self.base <= from, "{from} lies before {}", self.base);
        let at = self.index(from).max(self.live as usize);
        let flip = if is { 0 } else { u64::MAX };
        let words = self.codes.len().div_ceil(64);
        let mut keep = u64::MAX << (at % 64);
        for word in at / 64..words {
            let bits = (self.maps[class as usize][word] ^ flip) & keep;
            if bits != 0 {
                let found = word * 64 + bits.trailing_zeros() as usize;
                return (found < self.codes.len()).then(|| self.offset(found));
            }
            keep = u64::MAX;
        }
        None
    }

    /// The last beginning of a batch at or before `offset`.
    pub fn start_at_or_before(&self, offset: i64) -> Option<i64> {
        let at = self.index(offset).min(self.codes.len().checked_sub(1)?);
        let mut keep = u64::MAX >> (63 - at % 64);
        for word in (0..=at / 64).rev() {
            let bits = self.maps[Class::Start as usize][word] & keep;
            if bits != 0 {
                return Some(self.offset(word * 64 + 63 - bits.leading_zeros() as usize));
            }
            keep = u64::MAX;
        }
        None
    }

    /// Shows every run that `range` touches, clipped to it, and puts in its place what `f` returns, up to the first answer
    /// that does not fit.
    pub fn update(
        &mut self,
        range: OffsetRange,
        tally: &mut Tally,
        f: Becomes<'_>,
    ) -> Option<Misfit> {
        debug_assert!(self.base <= range.first, "{range} lies before the leaf");
        let (mut at, end) = (self.index(range.first), self.index(range.last));
        if at == end {
            let old = self.codes[at].cell();
            if old.is_hole() {
                return None;
            }
            let new = f(range, old).filter(|new| *new != old)?;
            let fits = self.put_one(at, old, new, tally);
            return (!fits).then_some(Misfit { range, cell: new });
        }
        while at <= end {
            let old = self.codes[at].cell();
            let to = self.end_of_run(at, end);
            let shown = OffsetRange {
                first: self.offset(at),
                last: self.offset(to),
            };
            if !old.is_hole()
                && let Some(new) = f(shown, old)
                && new != old
                && !self.put(at, to, new, tally)
            {
                return Some(Misfit {
                    range: shown,
                    cell: new,
                });
            }
            at = to + 1;
        }
        None
    }

    /// Gives the offsets of `range`, which are one run or a hole, the cell; returns whether it fits.
    pub fn set(&mut self, range: OffsetRange, cell: Cell, tally: &mut Tally) -> bool {
        self.put(self.index(range.first), self.index(range.last), cell, tally)
    }

    #[inline]
    pub fn put_one(&mut self, at: usize, old: Cell, new: Cell, tally: &mut Tally) -> bool {
        let Some(code) = Code::of(new) else {
            return false;
        };
        self.replace(at, (old, new), code, tally);
        true
    }

    /// Gives the record at `at` the code of the cell `new` instead of `old`.
    #[inline]
    pub fn replace(&mut self, at: usize, (old, new): (Cell, Cell), code: Code, tally: &mut Tally) {
        self.exchange(at, code);
        self.reclass_one(at, (old.classes(), new.classes()), tally);
    }

    /// Gives the record at `at` another code; its classes are left to be noted.
    #[inline]
    pub fn exchange(&mut self, at: usize, code: Code) {
        debug_assert!(self.live as usize <= at, "the entry at {at} is dropped");
        let was = core::mem::replace(&mut self.codes[at], code);
        if at > self.live as usize {
            let tail = self.codes[at - 1].tail();
            self.seams += u32::from(tail != code);
            self.seams -= u32::from(tail != was);
        }
        if let Some(next) = self.codes.get(at + 1) {
            self.seams += u32::from(code.tail() != *next);
            self.seams -= u32::from(was.tail() != *next);
        }
    }

    /// Notes that the classes of the entry at `at` were `from` and are `to`; what is in both may be left out.
    #[inline]
    pub fn reclass_one(&mut self, at: usize, (from, to): (u8, u8), tally: &mut Tally) {
        if from != to {
            tally.take(from, 1);
            tally.add(to, 1);
            let mut changed = from ^ to;
            while changed != 0 {
                let class = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                self.maps[class % 4][at / 64 % WORDS] ^= 1 << (at % 64);
            }
        }
    }

    fn put(&mut self, at: usize, to: usize, new: Cell, tally: &mut Tally) -> bool {
        let (Some(head), Some(tail)) = (Code::of(new), Code::of(new.tail())) else {
            return false;
        };
        let old = self.codes[at].cell();
        self.seams -= self.seam(at) + self.seam(to + 1);
        self.codes[at] = head;
        self.reclass(at, at, old.classes(), new.classes(), tally);
        if to > at {
            self.codes[at + 1..=to].fill(tail);
            let (old, new) = (old.tail().classes(), new.tail().classes());
            self.reclass(at + 1, to, old, new, tally);
        }
        self.seams += self.seam(at) + self.seam(to + 1);
        true
    }

    /// Brings the classes of the entries `from..=to` up to date.
    pub fn reclass(&mut self, from: usize, to: usize, old: u8, new: u8, tally: &mut Tally) {
        if old != new {
            let entries = (to - from + 1) as u64;
            tally.take(old, entries);
            tally.add(new, entries);
            self.mark(from, to, old ^ new);
        }
    }

    /// Drops the offsets up to `end`, shows what held a record, and returns the first offset that is left.
    pub fn drop_front(
        &mut self,
        end: i64,
        tally: &mut Tally,
        f: &mut impl FnMut(OffsetRange, Cell),
    ) -> Option<i64> {
        let (mut at, end) = (self.live as usize, self.index(end));
        while at <= end {
            let cell = self.codes[at].cell();
            let to = self.end_of_run(at, end);
            if !cell.is_hole() {
                let (first, last) = (self.offset(at), self.offset(to));
                f(OffsetRange { first, last }, cell);
            }
            at = to + 1;
        }
        let held = self.next(self.offset(at), Class::Hole, false)?;
        debug_assert!(end < self.index(held), "{held} is not dropped");
        for at in self.live as usize..self.index(held) {
            self.seams -= self.seam(at + 1);
            self.live += 1;
            let classes = self.codes[at].cell().classes();
            tally.take(classes, 1);
            self.mark(at, at, classes);
        }
        Some(held)
    }

    /// The entries as runs and holes.
    pub fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::with_capacity(self.runs());
        for at in self.live as usize..self.codes.len() {
            if edges.is_empty() || self.seam(at) != 0 {
                let (first, cell) = (self.offset(at), self.codes[at].cell());
                edges.push(Edge { first, cell });
            }
        }
        edges
    }

    pub fn heap_bytes(&self) -> usize {
        size_of::<Self>() + self.codes.capacity() * size_of::<Code>()
    }
}
