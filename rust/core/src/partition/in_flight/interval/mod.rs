//! The in-flight store on leaves that adapt to what they hold.
//!
//! The window is a list of *leaves*, each a stretch of offsets: few runs, or where records are torn from each other a code of
//! four bytes an offset, and runs again as soon as few are left. So a whole batch costs one entry however long it is, a record
//! by itself no more than its code, and a change looks at one leaf only. The leaves stand in groups which know what occurs
//! in each, so that the next available record is found without a look at what lies between.

mod cell;
mod change;
mod check;
mod dense;
mod directory;
mod directory_change;
mod held;
mod held_leaves;
mod leaf;
mod look;
mod one_run;
mod preload;
mod runs;
mod runs_change;
mod search;
mod shape;
mod tally;
mod window;

use cell::Cell;
use directory::Leaves;
use window::{Window, shown, uncount};

use super::locks::{NONE, NewLease};
use super::{
    Front, Holder, InFlightRun, InFlightStore, MemberIndex, NewLock, RunChange, Sought,
    StateCounts, pass_step_by_step,
};
use crate::offset::OffsetRange;
use crate::partition::in_flight::interval::cell::Class;
use crate::partition::record_state::RecordState;
use crate::time::LockTime;

/// The in-flight store for use.
pub type IntervalStore = AdaptiveStore<64>;

/// The in-flight store with groups of up to `N` leaves, leaves of up to `N / 2` runs, and dense leaves of up to `8 * N` offsets.
///
/// `N` is a multiple of 8 and at most 64; only tests use another one than 64, so that a small window has many leaves.
#[derive(Clone, Debug)]
pub struct AdaptiveStore<const N: usize> {
    /// Nothing, as long as nothing was ever in flight.
    window: Option<Box<Window<N>>>,
    /// The latest time seen.
    clock: LockTime,
}

impl<const N: usize> Default for AdaptiveStore<N> {
    fn default() -> Self {
        Self {
            window: None,
            clock: LockTime(i64::MIN),
        }
    }
}

impl<const N: usize> AdaptiveStore<N> {
    const SIZES: () = assert!(N.is_multiple_of(8) && 8 <= N && N <= 64);

    fn leaves(&self) -> Option<&Leaves<N>> {
        self.window.as_ref().map(|window| &window.leaves)
    }

    /// The lock as of the latest time seen.
    fn as_of_now(&mut self, lock: NewLock) -> NewLock {
        self.clock = self.clock.max(lock.now);
        NewLock {
            now: self.clock,
            ..lock
        }
    }

    fn window(&mut self) -> &mut Window<N> {
        const { Self::SIZES }
        self.window.get_or_insert_default()
    }
}

impl<const N: usize> InFlightStore for AdaptiveStore<N> {
    fn bounds(&self) -> Option<OffsetRange> {
        self.leaves()?.bounds()
    }

    fn run_in(&self, range: OffsetRange) -> Option<InFlightRun> {
        let window = self.window.as_ref()?;
        let (range, cell) = window.leaves.run_in(range)?;
        Some(shown(range, cell, &window.locks))
    }

    #[inline]
    fn first(&self, from: i64, sought: Sought) -> Option<i64> {
        let Some(leaves) = self.leaves() else {
            return (sought == Sought::Hole).then_some(from);
        };
        match sought {
            Sought::Available => leaves.find(from, Class::Available),
            Sought::Outstanding => leaves.find(from, Class::Outstanding),
            Sought::BatchStart => leaves.find(from, Class::Start),
            Sought::Hole => leaves.first_hole(from),
        }
    }

    fn batch_floor(&self, offset: i64) -> Option<OffsetRange> {
        let leaves = self.leaves()?;
        let start = leaves.start_at_or_before(offset)?;
        Some(leaves.batch(start))
    }

    #[inline]
    fn look<C: RunChange>(
        &self,
        mut ranges: impl Iterator<Item = OffsetRange>,
        holder: Holder,
        change: &mut C,
    ) -> bool {
        match &self.window {
            None => ranges.next().is_none(),
            Some(window) => window.look(ranges, holder, change),
        }
    }

    fn counts(&self) -> StateCounts {
        let counts = self.window.as_ref().map(|window| window.counts());
        counts.unwrap_or_default()
    }

    fn next_deadline(&self) -> Option<LockTime> {
        self.window.as_ref()?.locks.next_deadline()
    }

    fn held_by(&self, member: MemberIndex) -> Vec<OffsetRange> {
        let window = self.window.as_ref();
        window.map_or_else(Vec::new, |window| window.locks.held_by(member))
    }

    fn holds(&self, member: MemberIndex) -> bool {
        let window = self.window.as_ref();
        window.is_some_and(|window| window.locks.holds(member))
    }

    #[inline(always)]
    fn insert_batch(
        &mut self,
        batch: OffsetRange,
        state: RecordState,
        delivery_count: i16,
        lock: Option<NewLock>,
    ) {
        let lock = lock.map(|lock| self.as_of_now(lock));
        let window = self.window();
        let lock = lock.map(|lock| window.locks.make(NewLease::of(lock, batch, true)));
        window.insert(batch, state, delivery_count, lock.unwrap_or(NONE));
    }

    fn hold<F: FnMut(&InFlightRun) -> Option<i16>>(
        &mut self,
        range: OffsetRange,
        lock: NewLock,
        delivery_count: F,
    ) {
        let lock = self.as_of_now(lock);
        if let Some(window) = &mut self.window {
            window.hold(range, lock, delivery_count);
        }
    }

    #[inline]
    fn update<C: RunChange>(
        &mut self,
        ranges: impl Iterator<Item = OffsetRange>,
        holder: Holder,
        change: &mut C,
    ) {
        if let Some(window) = &mut self.window {
            window.update(ranges, holder, change);
        }
    }

    #[inline]
    fn update_if<C: RunChange>(
        &mut self,
        range: OffsetRange,
        holder: Holder,
        change: &mut C,
        confirm: impl FnOnce(&mut C, bool) -> bool,
    ) {
        match &mut self.window {
            None => {
                confirm(change, false);
            }
            Some(window) => window.update_if(range, holder, change, confirm),
        }
    }

    fn merge_done_batches(&mut self, allowed: bool) {
        if !allowed || self.window.is_some() {
            self.window().leaves.merges = allowed;
        }
    }

    fn remove_through(&mut self, last: i64) {
        let Some(window) = &mut self.window else {
            return;
        };
        let Window {
            leaves,
            locks,
            counts,
        } = &mut **window;
        leaves.drop_through(last, |range, cell| {
            locks.leave(cell.lock(), range.len());
            uncount(counts, cell, range.len());
        });
    }

    fn pass_done(&mut self, start_offset: i64, limit: Option<i64>) -> Front {
        if limit.is_none()
            && let Some(window) = &mut self.window
        {
            let Window { leaves, counts, .. } = &mut **window;
            // What is done refers to no lease.
            let count = |range: OffsetRange, cell: Cell| uncount(counts, cell, range.len());
            if let Some(front) = leaves.pass_done(start_offset, count) {
                return front;
            }
        }
        pass_step_by_step(self, start_offset, limit)
    }

    fn expire(&mut self, now: LockTime, most: u32) -> Vec<OffsetRange> {
        self.clock = self.clock.max(now);
        let window = self.window.as_mut();
        window.map_or_else(Vec::new, |window| window.locks.expire(self.clock, most))
    }

    #[inline]
    fn preload(&self) -> u64 {
        self.window
            .as_ref()
            .map_or(0, |window| window.leaves.preload() ^ window.locks.preload())
    }

    fn heap_bytes(&self) -> usize {
        self.window.as_ref().map_or(0, |window| {
            let counts = window.counts.as_deref().map_or(0, size_of_val);
            size_of::<Window<N>>() + counts + window.leaves.heap_bytes() + window.locks.heap_bytes()
        })
    }

    fn check(&self) -> Result<(), String> {
        self.window.as_ref().map_or(Ok(()), |window| window.check())
    }
}
