//! Store under test, and the operations of a share partition on it.

use share_state_core::in_flight::{
    Change, Holder, InFlightQuestions, InFlightRun, InFlightStore, LockChange, MemberIndex,
    NewLock, RunChange,
};
use share_state_core::offset::OffsetRange;
use share_state_core::record_state::{Phase, RecordState};
use share_state_core::time::LockTime;

pub const MEMBERS: u32 = 3;
pub const DURATIONS: [i64; 3] = [100, 30, 250];

/// Operation of a share partition on its store.
#[derive(Clone, Debug)]
pub enum Op {
    /// Adds batches of this length in the holes of the range.
    Insert {
        range: OffsetRange,
        length: u8,
        state: RecordState,
        locked_by: u32,
    },
    /// Acquires what is available, under one lock.
    Acquire {
        range: OffsetRange,
        member: u32,
        duration: usize,
    },
    /// Acquires what is available, each run under a lock of its own.
    AcquireEach {
        range: OffsetRange,
        member: u32,
        duration: usize,
    },
    Acknowledge {
        range: OffsetRange,
        member: u32,
        target: RecordState,
    },
    Renew {
        range: OffsetRange,
        member: u32,
    },
    /// Runs by themselves, as an acknowledgement that is written at once.
    AcknowledgeAtOnce {
        range: OffsetRange,
        member: u32,
        target: RecordState,
    },
    Written {
        range: OffsetRange,
    },
    /// Confirms the writes of so many records of each `step`.
    WrittenInPieces {
        range: OffsetRange,
        len: i64,
        step: i64,
    },
    Refused {
        range: OffsetRange,
    },
    LogStart {
        range: OffsetRange,
    },
    Abort {
        range: OffsetRange,
    },
    Release {
        member: u32,
    },
    Expire {
        after_ms: i64,
        most: u32,
    },
    RemoveThrough {
        last: i64,
    },
}

/// Now and then the largest count that a dense leaf keeps: the next delivery does not fit.
fn delivery_count(first: i64, length: u8) -> i16 {
    if first.rem_euclid(37) == 0 {
        31
    } else {
        i16::from(length)
    }
}

/// Store under test, with what the changes need to know.
pub struct Side<S> {
    pub store: S,
    now: i64,
    /// All that the store has shown in updates.
    pub shown: Vec<InFlightRun>,
}

impl<S: InFlightStore> Side<S> {
    pub fn new() -> Self {
        Self {
            store: S::default(),
            now: 1_000,
            shown: Vec::new(),
        }
    }

    pub fn update(
        &mut self,
        ranges: impl IntoIterator<Item = OffsetRange>,
        holder: Holder,
        decide: impl FnMut(&InFlightRun) -> Option<Change>,
    ) {
        let shown = &mut self.shown;
        let mut change = Noting { decide, shown };
        self.store.update(ranges.into_iter(), holder, &mut change);
    }

    /// Puts the records of which `free` is true under one lock, and notes them.
    fn hold(
        &mut self,
        range: OffsetRange,
        (member, duration): (u32, usize),
        free: impl Fn(&InFlightRun) -> bool,
    ) {
        let (lock, shown) = (self.lock(member, duration), &mut self.shown);
        self.store.hold(range, lock, |run| {
            free(run).then(|| {
                shown.push(seen(run, run.range));
                let delivered = i16::from(run.state == RecordState::Available);
                run.delivery_count.saturating_add(delivered)
            })
        });
    }

    fn lock(&self, member: u32, duration: usize) -> NewLock {
        NewLock {
            member: MemberIndex(member),
            now: LockTime(self.now),
            duration_ms: DURATIONS[duration],
        }
    }

    pub fn runs(&self) -> Vec<InFlightRun> {
        self.store.runs().collect()
    }

    pub fn acquirable(&self, range: OffsetRange) -> Vec<OffsetRange> {
        let runs = self.runs().into_iter();
        let free = runs.filter(|run| run.state == RecordState::Available && is_stable(run));
        free.filter_map(|run| run.range.intersection(range))
            .collect()
    }

    pub fn lock_all(&mut self, range: OffsetRange, member: u32, duration: usize) {
        let free = |run: &InFlightRun| run.state == RecordState::Available && is_stable(run);
        self.hold(range, (member, duration), free);
    }

    /// Applies the change, and returns the ranges that the store named on the way.
    pub fn apply(&mut self, op: &Op) -> Vec<OffsetRange> {
        use LockChange::{End, Keep};
        use RecordState::{Acquired, Archived, Available};
        match *op {
            Op::Insert {
                range,
                length,
                state,
                locked_by,
            } => {
                let mut next = Some(range.first);
                while let Some(first) = next.map(|from| self.store.first_hole(from))
                    && range.contains(first)
                    && self.store.run_in(OffsetRange::single(first)).is_none()
                {
                    let end = self
                        .store
                        .run_in(OffsetRange { first, ..range })
                        .map_or(range.last, |run| {
                            range.last.min(run.range.first.saturating_sub(1))
                        });
                    let last = first.saturating_add(i64::from(length)).min(end);
                    let batch = OffsetRange { first, last };
                    let locked = state == Acquired;
                    let lock = locked.then(|| self.lock(locked_by, 0));
                    let count = delivery_count(first, length);
                    self.store.insert_batch(batch, state, count, lock);
                    next = last.checked_add(1);
                }
            }
            Op::Acquire {
                range,
                member,
                duration,
            } => {
                if !self.acquirable(range).is_empty() {
                    self.lock_all(range, member, duration);
                }
            }
            Op::AcquireEach {
                range,
                member,
                duration,
            } => {
                for run in self.acquirable(range) {
                    self.lock_all(run, member, duration);
                }
            }
            Op::Acknowledge {
                range,
                member,
                target,
            } => {
                let holder = Holder::Member(MemberIndex(member));
                self.update([range], holder, |run| {
                    let held = run.state == Acquired && is_stable(run);
                    held.then_some(to(target, Phase::Pending, Keep))
                });
            }
            Op::AcknowledgeAtOnce {
                range,
                member,
                target,
            } => {
                for run in self.runs() {
                    let Some(part) = run.range.intersection(range) else {
                        continue;
                    };
                    if holds(&run, member) {
                        let change = to(target, Phase::Stable, End);
                        self.update([part], Holder::Anybody, |_| Some(change));
                    }
                }
            }
            Op::Renew { range, member } => self.hold(range, (member, 2), |run| holds(run, member)),
            Op::Written { range } => self.update([range], Holder::Anybody, written),
            Op::WrittenInPieces { range, len, step } => {
                self.update(pieces(range, len, step), Holder::Anybody, written);
            }
            Op::Refused { range } => {
                // A lock that ran out meanwhile is not given back.
                self.update([range], Holder::RunOut, |run| {
                    (run.phase == Phase::Pending).then_some(to(Available, Phase::Stable, End))
                });
                self.update([range], Holder::Anybody, |run| match run.phase {
                    Phase::Stable => None,
                    Phase::Pending => Some(to(Acquired, Phase::Stable, Keep)),
                    Phase::PendingFinal => Some(to(run.state, Phase::Stable, Keep)),
                });
            }
            Op::LogStart { range } => self.update([range], Holder::Anybody, |run| {
                let phase = if is_stable(run) {
                    Phase::Stable
                } else {
                    Phase::PendingFinal
                };
                (run.state == Available).then_some(to(Archived, phase, End))
            }),
            Op::Abort { range } => self.update([range], Holder::Anybody, |run| {
                let held = run.state == Acquired && is_stable(run);
                held.then_some(to(Archived, Phase::Stable, End))
            }),
            Op::Release { member } => {
                let held = self.store.held_by(MemberIndex(member));
                let holder = Holder::Member(MemberIndex(member));
                self.update(held.iter().copied(), holder, |run| {
                    let acquired = run.state == Acquired && is_stable(run);
                    acquired.then_some(to(Available, Phase::Pending, Keep))
                });
                return held;
            }
            Op::Expire { after_ms, most } => {
                self.now += after_ms;
                let due = self.store.expire(LockTime(self.now), most);
                self.update(due.iter().copied(), Holder::RunOut, |run| {
                    is_stable(run).then_some(to(Available, Phase::Stable, End))
                });
                return due;
            }
            Op::RemoveThrough { last } => self.store.remove_through(last),
        }
        Vec::new()
    }
}

/// The first `len` offsets of each `step` of the range.
fn pieces(range: OffsetRange, len: i64, step: i64) -> Vec<OffsetRange> {
    let starts = (0..(range.len() as i64 + step - 1) / step).map(|n| range.first + n * step);
    let pieces = starts.filter_map(|first| {
        let last = first.saturating_add(len - 1);
        OffsetRange { first, last }.intersection(range)
    });
    pieces.collect()
}

pub fn is_stable(run: &InFlightRun) -> bool {
    run.phase == Phase::Stable
}

pub fn holds(run: &InFlightRun, member: u32) -> bool {
    let lock = run.lock.filter(|lock| !lock.expired);
    is_stable(run) && lock.is_some_and(|lock| lock.member == MemberIndex(member))
}

fn written(run: &InFlightRun) -> Option<Change> {
    (!is_stable(run)).then_some(to(run.state, Phase::Stable, LockChange::End))
}

pub const fn to(state: RecordState, phase: Phase, lock: LockChange) -> Change {
    Change { state, phase, lock }
}

/// A change that notes the records it changes, as far as a store tells of them.
pub struct Noting<'a, F> {
    pub decide: F,
    pub shown: &'a mut Vec<InFlightRun>,
}

impl<F: FnMut(&InFlightRun) -> Option<Change>> RunChange for Noting<'_, F> {
    fn decide(&mut self, run: &InFlightRun) -> Option<Change> {
        (self.decide)(run)
    }

    fn note(&mut self, run: &InFlightRun, _: Change, ranges: &[OffsetRange]) {
        self.shown
            .extend(ranges.iter().map(|range| seen(run, *range)));
    }
}

/// Records that are equal but for their locks and for where batches begin.
fn seen(run: &InFlightRun, range: OffsetRange) -> InFlightRun {
    InFlightRun {
        range,
        batch_start: false,
        lock: None,
        ..*run
    }
}
