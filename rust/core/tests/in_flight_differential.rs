//! The interval tree and the obvious twin are given the same changes and asked every question after each.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use share_state_core::in_flight::{
    Change, InFlightRun, InFlightStore, IntervalStore, LockChange, MemberIndex, TwinStore,
};
use share_state_core::offset::OffsetRange;
use share_state_core::record_state::{Phase, RecordState};
use share_state_core::time::LockTime;

const MEMBERS: u32 = 3;
const DURATIONS: [i64; 3] = [100, 30, 250];

/// What a share partition does to its store.
#[derive(Clone, Debug)]
enum Op {
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
    Written {
        range: OffsetRange,
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
struct Side<S> {
    store: S,
    now: i64,
    /// All that the store has shown in updates.
    shown: Vec<InFlightRun>,
}

impl<S: InFlightStore> Side<S> {
    fn new() -> Self {
        Self {
            store: S::default(),
            now: 1_000,
            shown: Vec::new(),
        }
    }

    fn update(&mut self, range: OffsetRange, mut f: impl FnMut(&InFlightRun) -> Option<Change>) {
        let shown = &mut self.shown;
        self.store.update(range, |run| {
            shown.push(*run);
            f(run)
        });
    }

    fn runs(&self) -> Vec<InFlightRun> {
        let mut runs = Vec::new();
        let mut from = Some(i64::MIN);
        while let Some(run) = from.and_then(|from| self.store.run_from(from)) {
            from = run.range.last.checked_add(1);
            runs.push(run);
        }
        runs
    }

    fn acquirable(&self, range: OffsetRange) -> Vec<OffsetRange> {
        let runs = self.runs().into_iter();
        let free = runs.filter(|run| run.state == RecordState::Available && is_settled(run));
        free.filter_map(|run| run.range.intersection(range))
            .collect()
    }

    fn lock_all(&mut self, range: OffsetRange, member: u32, duration: usize) {
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
    fn apply(&mut self, op: &Op) -> Vec<OffsetRange> {
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
                    && self.store.run_at(first).is_none()
                {
                    let end = self.store.run_from(first).map_or(range.last, |run| {
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
                for range in &held {
                    self.update(*range, |run| {
                        holds(run, member).then(|| to(run, Available, Phase::Pending, Keep))
                    });
                }
                self.shown.clear();
                return held;
            }
            Op::Expire { after_ms } => {
                self.now += after_ms;
                let due = self.store.expire(LockTime(self.now));
                for range in &due {
                    self.update(*range, |run| {
                        let expired = run.lock.is_some_and(|lock| lock.expired);
                        (expired && is_settled(run))
                            .then(|| to(run, Available, Phase::Settled, End))
                    });
                }
                self.shown.clear();
                return due;
            }
            Op::RemoveThrough { last } => self.store.remove_through(last),
        }
        Vec::new()
    }
}

fn is_settled(run: &InFlightRun) -> bool {
    run.phase == Phase::Settled
}

fn holds(run: &InFlightRun, member: u32) -> bool {
    let lock = run.lock.filter(|lock| !lock.expired);
    is_settled(run) && lock.is_some_and(|lock| lock.member == MemberIndex(member))
}

fn to(run: &InFlightRun, state: RecordState, phase: Phase, lock: LockChange) -> Change {
    Change {
        state,
        delivery_count: run.delivery_count,
        phase,
        lock,
    }
}

fn assert_covers(wide: &[OffsetRange], exact: &[OffsetRange]) {
    for pair in wide.windows(2) {
        assert!(
            pair[0].last < pair[1].first,
            "{wide:?} is not ascending and disjoint"
        );
    }
    for range in exact {
        assert!(
            wide.iter().any(|cover| cover.covers(*range)),
            "{wide:?} misses {range}"
        );
    }
}

fn compare(twin: &Side<TwinStore>, tree: &Side<IntervalStore>, probes: &[i64]) {
    assert_eq!(twin.store.check(), Ok(()));
    assert_eq!(tree.store.check(), Ok(()));
    let (a, b) = (&twin.store, &tree.store);
    assert_eq!(a.is_empty(), b.is_empty());
    assert_eq!(a.bounds(), b.bounds());
    assert_eq!(a.counts(), b.counts());
    assert_eq!(a.next_deadline(), b.next_deadline());
    assert_eq!(twin.runs(), tree.runs());
    for member in (0..MEMBERS).map(MemberIndex) {
        assert_covers(&b.held_by(member), &a.held_by(member));
        assert_eq!(a.held_by(member).is_empty(), b.held_by(member).is_empty());
    }
    for &offset in probes {
        assert_eq!(a.run_at(offset), b.run_at(offset), "the run at {offset}");
        assert_eq!(
            a.run_from(offset),
            b.run_from(offset),
            "the run from {offset}"
        );
        assert_eq!(
            a.first_available(offset),
            b.first_available(offset),
            "from {offset}"
        );
        assert_eq!(
            a.first_unsettled(offset),
            b.first_unsettled(offset),
            "from {offset}"
        );
        assert_eq!(
            a.first_hole(offset),
            b.first_hole(offset),
            "the hole from {offset}"
        );
        assert_eq!(
            a.batch_floor(offset),
            b.batch_floor(offset),
            "the batch before {offset}"
        );
        assert_eq!(
            a.batch_ceiling(offset),
            b.batch_ceiling(offset),
            "the batch from {offset}"
        );
    }
}

/// Makes both stores do the same, and returns how often each kind of change had an effect.
fn run(ops: &[Op], probes: &[i64]) -> BTreeMap<String, u32> {
    let (mut twin, mut tree) = (Side::<TwinStore>::new(), Side::<IntervalStore>::new());
    let mut effects = BTreeMap::new();
    for op in ops {
        let before = twin.runs();
        let exact = twin.apply(op);
        let wide = tree.apply(op);
        assert_covers(&wide, &exact);
        assert_eq!(twin.shown, tree.shown, "{op:?}");
        twin.shown.clear();
        tree.shown.clear();
        compare(&twin, &tree, probes);
        if twin.runs() != before {
            let name = format!("{op:?}");
            let kind = name.split(' ').next().unwrap_or_default().to_owned();
            *effects.entry(kind).or_insert(0) += 1;
        }
    }
    effects
}

fn ranges(base: i64, width: i64) -> impl Strategy<Value = OffsetRange> {
    let short = (0..width, 0..6i64);
    let long = (0..width, 0..width);
    prop_oneof![3 => short, 2 => long].prop_map(move |(first, extra)| OffsetRange {
        first: base + first,
        last: base + (first + extra).min(width - 1),
    })
}

fn op(base: i64, width: i64) -> impl Strategy<Value = Op> {
    let range = move || ranges(base, width);
    let member = || 0..MEMBERS;
    let state = prop_oneof![
        5 => Just(RecordState::Available),
        2 => Just(RecordState::Acquired),
        1 => Just(RecordState::Acknowledged),
        1 => Just(RecordState::Archived),
    ];
    let target = prop::sample::select(vec![
        RecordState::Available,
        RecordState::Acknowledged,
        RecordState::Archiving,
        RecordState::Archived,
    ]);
    prop_oneof![
        4 => (range(), 0u8..8, state, member())
            .prop_map(|(range, length, state, locked_by)| Op::Insert { range, length, state, locked_by }),
        4 => (range(), member(), 0..3usize)
            .prop_map(|(range, member, duration)| Op::Acquire { range, member, duration }),
        2 => (range(), member(), 0..3usize)
            .prop_map(|(range, member, duration)| Op::AcquireEach { range, member, duration }),
        6 => (range(), member(), target)
            .prop_map(|(range, member, target)| Op::Acknowledge { range, member, target }),
        1 => (range(), member()).prop_map(|(range, member)| Op::Renew { range, member }),
        3 => range().prop_map(|range| Op::Written { range }),
        2 => range().prop_map(|range| Op::Refused { range }),
        1 => range().prop_map(|range| Op::LogStart { range }),
        1 => range().prop_map(|range| Op::Abort { range }),
        1 => member().prop_map(|member| Op::Release { member }),
        3 => (-5i64..120).prop_map(|after_ms| Op::Expire { after_ms }),
        1 => (0..width).prop_map(move |last| Op::RemoveThrough { last: base + last / 2 }),
    ]
}

fn ops(base: i64, width: i64, max: usize) -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(base, width), 1..max)
}

fn probes(base: i64, width: i64) -> Vec<i64> {
    let mut probes: Vec<i64> = (0..width).map(|i| base + i).collect();
    probes.extend([
        i64::MIN,
        base.saturating_sub(1),
        base.saturating_add(width),
        i64::MAX,
    ]);
    probes
}

/// Single records, each a batch of its own under a lock of its own, so that the tree is deep from the beginning.
fn shredded(base: i64, width: i64, ops: Vec<Op>) -> Vec<Op> {
    let range = OffsetRange {
        first: base,
        last: base + width - 1,
    };
    let state = RecordState::Available;
    let fill = Op::Insert {
        range,
        length: 0,
        state,
        locked_by: 0,
    };
    let acquire = Op::AcquireEach {
        range,
        member: 1,
        duration: 0,
    };
    [fill, acquire].into_iter().chain(ops).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn both_stores_answer_every_question_the_same_after_every_change(ops in ops(100, 40, 80)) {
        run(&ops, &probes(100, 40));
    }

    #[test]
    fn both_stores_agree_at_the_first_offsets_there_are(ops in ops(i64::MIN, 24, 40)) {
        run(&ops, &probes(i64::MIN, 24));
    }

    #[test]
    fn both_stores_agree_at_the_last_offsets_there_are(ops in ops(i64::MAX - 23, 24, 40)) {
        run(&ops, &probes(i64::MAX - 23, 24));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn both_stores_agree_in_a_window_of_single_records(ops in ops(0, 300, 40)) {
        let every_seventh: Vec<i64> = probes(0, 300).into_iter().step_by(7).collect();
        run(&shredded(0, 300, ops), &every_seventh);
    }
}

#[test]
fn every_kind_of_change_has_an_effect_in_the_sequences_that_are_tried() {
    let mut runner = TestRunner::deterministic();
    let mut effects: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..40 {
        let tree = ops(0, 40, 80).new_tree(&mut runner).unwrap();
        for (kind, count) in run(&tree.current(), &[]) {
            *effects.entry(kind).or_insert(0) += count;
        }
    }
    assert_eq!(effects.len(), 12, "{effects:?}");
    assert!(effects.values().all(|count| *count >= 5), "{effects:?}");
}
