//! One of the stores, and what a share partition does to it.

use share_state_core::in_flight::{
    Change, Holder, InFlightRun, InFlightStore, LockChange, MemberIndex,
};
use share_state_core::offset::OffsetRange;
use share_state_core::record_state::{Phase, RecordState};
use share_state_core::time::LockTime;

pub const MEMBERS: u32 = 3;
pub const DURATIONS: [i64; 3] = [100, 30, 250];

/// What a share partition does to its store.
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
    },
    RemoveThrough {
        last: i64,
    },
}

/// One of the two stores, with what the changes need to know.
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
        range: OffsetRange,
        mut f: impl FnMut(&InFlightRun) -> Option<Change>,
    ) {
        let shown = &mut self.shown;
        self.store.update(range, |run| {
            shown.push(*run);
            f(run)
        });
    }

    pub fn runs(&self) -> Vec<InFlightRun> {
        self.store.runs().collect()
    }

    pub fn acquirable(&self, range: OffsetRange) -> Vec<OffsetRange> {
        let runs = self.runs().into_iter();
        let free = runs.filter(|run| run.state == RecordState::Available && is_settled(run));
        free.filter_map(|run| run.range.intersection(range))
            .collect()
    }

    pub fn lock_all(&mut self, range: OffsetRange, member: u32, duration: usize) {
        let (now, duration) = (LockTime(self.now), DURATIONS[duration]);
        let lock = self
            .store
            .new_lock(range, MemberIndex(member), now, duration);
        self.update(range, |run| {
            let free = run.state == RecordState::Available && is_settled(run);
            free.then(|| Change {
                delivery_count: run.delivery_count.saturating_add(1),
                ..to(
                    run,
                    RecordState::Acquired,
                    Phase::Settled,
                    LockChange::Hold(lock),
                )
            })
        });
    }

    /// Applies the change, and returns the ranges that the store named on the way.
    pub fn apply(&mut self, op: &Op) -> Vec<OffsetRange> {
        use LockChange::{End, Hold, Keep};
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
                    let lock = locked.then(|| {
                        let (now, member) = (LockTime(self.now), MemberIndex(locked_by));
                        self.store.new_lock(batch, member, now, DURATIONS[0])
                    });
                    self.store
                        .insert_batch(batch, state, i16::from(length), lock);
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
                self.update(range, |run| {
                    holds(run, member).then(|| to(run, target, Phase::Pending, Keep))
                });
            }
            Op::AcknowledgeAtOnce {
                range,
                member,
                target,
            } => {
                let settle = |run: &InFlightRun| Some(to(run, target, Phase::Settled, End));
                for run in self.runs() {
                    let Some(part) = run.range.intersection(range) else {
                        continue;
                    };
                    if !holds(&run, member) {
                        continue;
                    }
                    let mut found = None;
                    self.store.update_run(part, |run| {
                        found = Some(*run);
                        settle(run)
                    });
                    match found {
                        Some(found) => {
                            assert_eq!(Some(found), run.clipped(part));
                            self.shown.push(found);
                        }
                        // Its records stand in several places.
                        None => self.update(part, settle),
                    }
                }
            }
            Op::Renew { range, member } => {
                let inside = |run: &InFlightRun| run.range.intersection(range).is_some();
                if self
                    .runs()
                    .iter()
                    .any(|run| inside(run) && holds(run, member))
                {
                    let (now, name) = (LockTime(self.now), MemberIndex(member));
                    let lock = self.store.new_lock(range, name, now, DURATIONS[2]);
                    self.update(range, |run| {
                        holds(run, member).then(|| to(run, Acquired, Phase::Settled, Hold(lock)))
                    });
                }
            }
            Op::Written { range } => self.update(range, |run| {
                (!is_settled(run)).then(|| to(run, run.state, Phase::Settled, End))
            }),
            Op::WrittenInPieces { range, len, step } => {
                let pieces = pieces(range, len, step);
                self.store.update_held(
                    pieces.into_iter(),
                    Holder::Anybody,
                    &mut |run: &InFlightRun| {
                        (!is_settled(run)).then(|| to(run, run.state, Phase::Settled, End))
                    },
                );
            }
            Op::Refused { range } => self.update(range, |run| match run.phase {
                Phase::Settled => None,
                // A lock that ran out meanwhile is not given back.
                Phase::Pending if run.lock.is_some_and(|lock| lock.expired) => {
                    Some(to(run, Available, Phase::Settled, End))
                }
                Phase::Pending => Some(to(run, Acquired, Phase::Settled, Keep)),
                Phase::PendingFinal => Some(to(run, run.state, Phase::Settled, Keep)),
            }),
            Op::LogStart { range } => self.update(range, |run| {
                let phase = if is_settled(run) {
                    Phase::Settled
                } else {
                    Phase::PendingFinal
                };
                (run.state == Available).then(|| to(run, Archived, phase, End))
            }),
            Op::Abort { range } => self.update(range, |run| {
                let held = run.state == Acquired && is_settled(run);
                held.then(|| to(run, Archived, Phase::Settled, End))
            }),
            Op::Release { member } => {
                let held = self.store.held_by(MemberIndex(member));
                let holder = Holder::Member(MemberIndex(member));
                self.store
                    .update_held(held.iter().copied(), holder, &mut |run: &InFlightRun| {
                        let acquired = run.state == Acquired && is_settled(run);
                        acquired.then(|| to(run, Available, Phase::Pending, Keep))
                    });
                return held;
            }
            Op::Expire { after_ms } => {
                self.now += after_ms;
                let due = self.store.expire(LockTime(self.now));
                self.store.update_held(
                    due.iter().copied(),
                    Holder::RunOut,
                    &mut |run: &InFlightRun| {
                        is_settled(run).then(|| to(run, Available, Phase::Settled, End))
                    },
                );
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

pub fn is_settled(run: &InFlightRun) -> bool {
    run.phase == Phase::Settled
}

pub fn holds(run: &InFlightRun, member: u32) -> bool {
    let lock = run.lock.filter(|lock| !lock.expired);
    is_settled(run) && lock.is_some_and(|lock| lock.member == MemberIndex(member))
}

pub fn to(run: &InFlightRun, state: RecordState, phase: Phase, lock: LockChange) -> Change {
    Change {
        state,
        delivery_count: run.delivery_count,
        phase,
        lock,
    }
}
