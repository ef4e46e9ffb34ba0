//! The in-flight store: which record between the start offset and the end of the window is in which state.
//!
//! A store holds *in-flight batches* (Kafka: `InFlightBatch`), each a contiguous stretch of offsets acquired or loaded
//! together; between batches there may be holes. Inside and across batches the records form *runs* of equal state.
//! Where a batch begins matters to Kafka's rules (throttling, acquired ranges, the advance of the start offset), so a run
//! never crosses the beginning of a batch.

mod interval;
mod locks;
mod questions;
#[cfg(test)]
mod tests;
mod twin;

pub use interval::{AdaptiveStore, IntervalStore};
pub use questions::InFlightQuestions;
pub use twin::TwinStore;

use crate::offset::{OffsetRange, before};
use crate::partition::record_state::{Phase, RecordState};
use crate::time::LockTime;

/// A member of the share group, interned by the share partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberIndex(pub u32);

/// A lock to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewLock {
    /// Member that takes it.
    pub member: MemberIndex,
    /// Time at which it is taken.
    pub now: LockTime,
    /// Duration of the lock.
    pub duration_ms: i64,
}

/// Lock on records: its holder, its beginning and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lock {
    /// The only member that may acknowledge the records.
    pub member: MemberIndex,
    /// Time at which the lock was taken or last renewed.
    pub acquired_at: LockTime,
    /// The lock has run out when `now >= deadline`.
    pub deadline: LockTime,
    /// The store has reported the lock as run out; only a pending write still refers to it.
    pub expired: bool,
}

/// A maximal run of records that a store reports as equal; it never crosses the beginning of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlightRun {
    /// The offsets.
    pub range: OffsetRange,
    /// State, or the target state while `phase` is pending.
    pub state: RecordState,
    /// Number of deliveries of each record.
    pub delivery_count: i16,
    /// Phase of the write of the last change.
    pub phase: Phase,
    /// Set if an in-flight batch begins at the first offset.
    pub batch_start: bool,
    /// The lock: present exactly while the records are acquired, or pending with a way back.
    pub lock: Option<Lock>,
}

impl InFlightRun {
    /// The part of the run inside `range`.
    #[must_use]
    pub fn clipped(self, range: OffsetRange) -> Option<Self> {
        let part = self.range.intersection(range)?;
        Some(Self {
            range: part,
            batch_start: self.batch_start && part.first == self.range.first,
            ..self
        })
    }
}

/// Effect of a change on the lock of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockChange {
    /// The lock stays, where there is one.
    Keep,
    /// The lock ends for these records.
    End,
}

/// Holder whose records [`InFlightStore::look`] shows and [`InFlightStore::update`] changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Anybody's, and those that nobody holds.
    Anybody,
    /// Records under a lock of this member.
    Member(MemberIndex),
    /// Records whose lock was reported as run out.
    RunOut,
}

impl Holder {
    fn holds(self, run: &InFlightRun) -> bool {
        match self {
            Self::Anybody => true,
            Self::Member(member) => run.lock.is_some_and(|lock| lock.member == member),
            Self::RunOut => run.lock.is_some_and(|lock| lock.expired),
        }
    }
}

/// The new state of the records of a run. Their delivery count stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// State afterwards.
    pub state: RecordState,
    /// Phase afterwards.
    pub phase: Phase,
    /// Effect on the lock.
    pub lock: LockChange,
}

/// Kind of record that [`InFlightStore::first`] looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// A record that is available with no write under way.
    Available,
    /// A record that is not done: not terminal, or its write is under way.
    Outstanding,
    /// The first offset of a batch.
    BatchStart,
    /// An offset that no batch holds.
    Hole,
}

/// Front of the window once its done batches are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// Nothing was in flight.
    Empty,
    /// All was done up to this last offset, and nothing is in flight any more.
    Done(i64),
    /// The first record, which is outstanding or the limit.
    Standing(i64),
    /// The first outstanding record, or the limit, and how many records at or after the start offset lay before it.
    Passed(i64, u64),
}

/// Change that a command makes to records. A function that decides is one, with nothing to note.
pub trait RunChange {
    /// The change of a run, or `None` if it stays as it is. It must depend only on the state, the phase and the delivery count
    /// of the run: a store asks once for records that have them in common.
    fn decide(&mut self, run: &InFlightRun) -> Option<Change>;
    /// Takes note of a change: the ranges, which ascend and may touch, hold records equal to `run` but for their locks and for
    /// where their batches begin. Notes come in ascending order.
    fn note(&mut self, run: &InFlightRun, change: Change, ranges: &[OffsetRange]);
}

impl<F: FnMut(&InFlightRun) -> Option<Change>> RunChange for F {
    fn decide(&mut self, run: &InFlightRun) -> Option<Change> {
        self(run)
    }

    fn note(&mut self, _: &InFlightRun, _: Change, _: &[OffsetRange]) {}
}

/// Records by state; a pending record counts as its target state. `[RecordState as usize]`.
pub type StateCounts = [u64; 5];

/// The questions and changes of an in-flight store; further questions follow from them ([`InFlightQuestions`]). Two stores answer
/// them: the obvious twin ([`TwinStore`]), with one
/// entry an offset, and the one that serves ([`IntervalStore`]). Every suite runs over both.
///
/// A store may show one run in several pieces in [`InFlightStore::update`], and may count neighbouring batches as one
/// ([`InFlightStore::merge_done_batches`]).
///
/// The clock of a store never goes back: a `now` before the latest one it was given counts as the latest.
pub trait InFlightStore: Default {
    /// First offset of the first batch and last offset of the last.
    fn bounds(&self) -> Option<OffsetRange>;
    /// The first run that `range` touches, clipped to it.
    fn run_in(&self, range: OffsetRange) -> Option<InFlightRun>;
    /// The first offset at or after `from` of this kind.
    fn first(&self, from: i64, sought: Sought) -> Option<i64>;
    /// The batch with the greatest first offset at or before `offset`.
    fn batch_floor(&self, offset: i64) -> Option<OffsetRange>;
    /// Shows `change` the records of `holder` in `ranges`, which ascend and are disjoint, as [`InFlightStore::update`] would, and
    /// changes nothing. Returns whether that was all of `ranges`: no hole, nobody else's record, and each would change.
    fn look<C: RunChange>(
        &self,
        ranges: impl Iterator<Item = OffsetRange>,
        holder: Holder,
        change: &mut C,
    ) -> bool {
        let mut all = true;
        for range in ranges {
            let mut rest = Some(range);
            while let Some(part) = rest {
                let Some(run) = self.run_in(part) else {
                    all = false;
                    break;
                };
                let new = holder.holds(&run).then(|| change.decide(&run)).flatten();
                all &= run.range.first == part.first && new.is_some();
                if let Some(new) = new {
                    change.note(&run, new, &[run.range]);
                }
                rest = part.after(run.range.last);
            }
        }
        all
    }
    /// Records by state.
    fn counts(&self) -> StateCounts;
    /// The earliest deadline of a lock that has not been reported as run out.
    fn next_deadline(&self) -> Option<LockTime>;
    /// Ranges that cover every record locked by `member` (they may cover others too), ascending and disjoint.
    fn held_by(&self, member: MemberIndex) -> Vec<OffsetRange>;
    /// Returns `true` if there is a lock of `member`.
    fn holds(&self, member: MemberIndex) -> bool {
        !self.held_by(member).is_empty()
    }

    /// Adds a batch in one state, with all its records under one new lock or under none. `batch` must lie in a hole.
    fn insert_batch(
        &mut self,
        batch: OffsetRange,
        state: RecordState,
        delivery_count: i16,
        lock: Option<NewLock>,
    );
    /// Puts the records of `range` for which `delivery_count` gives a count under one new lock, acquired and with that count.
    /// Without such a record there is no lock. Where batches begin stays as it is.
    fn hold<F: FnMut(&InFlightRun) -> Option<i16>>(
        &mut self,
        range: OffsetRange,
        lock: NewLock,
        delivery_count: F,
    );
    /// Changes the records of `holder` in `ranges`, which ascend and are disjoint, as `change` decides. Where batches begin stays
    /// as it is.
    fn update<C: RunChange>(
        &mut self,
        ranges: impl Iterator<Item = OffsetRange>,
        holder: Holder,
        change: &mut C,
    );
    /// A look at one range and then its update, by one search where it is one run: `confirm` is told whether all of it would
    /// change, and says whether it does.
    fn update_if<C: RunChange>(
        &mut self,
        range: OffsetRange,
        holder: Holder,
        change: &mut C,
        confirm: impl FnOnce(&mut C, bool) -> bool,
    ) {
        let all = self.look(core::iter::once(range), holder, change);
        if confirm(change, all) {
            let mut decide = |run: &InFlightRun| change.decide(run);
            self.update(core::iter::once(range), holder, &mut decide);
        }
    }
    /// Lets neighbouring batches count as one, from now on, if their records are all done and equal, so that a long
    /// stretch of them need not remember where its batches began.
    fn merge_done_batches(&mut self, allowed: bool) {
        let _ = allowed;
    }
    /// Drops every batch whose last offset is at most `last`.
    fn remove_through(&mut self, last: i64);
    /// Drops every batch that is done to its end and lies before the first outstanding record and before `limit`, the
    /// beginning of a batch.
    fn pass_done(&mut self, start_offset: i64, limit: Option<i64>) -> Front {
        pass_step_by_step(self, start_offset, limit)
    }
    /// Marks locks whose deadline is at most `now` as run out, `most` of them at most, and returns ranges that cover their records
    /// (they may cover others too), ascending and disjoint. The records stay as they are until [`InFlightStore::update`]. More
    /// locks are due as long as [`InFlightStore::next_deadline`] is.
    ///
    /// A lock is what one call of [`InFlightStore::insert_batch`] or [`InFlightStore::hold`] took, however many records it holds:
    /// it runs out whole. Those with the earliest deadline come first, of these the earliest taken.
    fn expire(&mut self, now: LockTime, most: u32) -> Vec<OffsetRange>;
    /// A word of each piece of memory that a change of few records looks at first, mixed: see
    /// [`SharePartition::preload`](crate::share_partition::SharePartition::preload).
    fn preload(&self) -> u64 {
        0
    }
    /// Bytes on the heap, as far as the store knows them.
    fn heap_bytes(&self) -> usize;
    /// Checks every invariant of the store and names the first that is broken, with the state.
    ///
    /// # Errors
    /// The broken invariant.
    fn check(&self) -> Result<(), String>;
}

/// [`InFlightStore::pass_done`] by what every store can tell.
fn pass_step_by_step<S: InFlightStore>(
    store: &mut S,
    start_offset: i64,
    limit: Option<i64>,
) -> Front {
    let Some(bounds) = store.bounds() else {
        return Front::Empty;
    };
    let outstanding = store.first_outstanding(bounds.first);
    let Some(stop) = outstanding.into_iter().chain(limit).min() else {
        store.remove_through(bounds.last);
        return Front::Done(bounds.last);
    };
    // The window begins with a batch, and that is where it stops: the common case, as the oldest record is still out.
    let Some(last) = before(stop).filter(|last| bounds.first <= *last) else {
        return Front::Standing(stop);
    };
    let passed = OffsetRange::new(start_offset, last);
    let records = passed.map_or(0, |passed| store.held_in(passed));
    store.remove_through(last);
    Front::Passed(stop, records)
}
