//! Duties of every in-flight store, each test run over both.

mod batches;
mod leaves;
mod locks;

pub(super) use super::*;
pub(super) use crate::partition::record_state::RecordState::{
    Acknowledged, Acquired, Archived, Available,
};

const MEMBER: MemberIndex = MemberIndex(7);
const OTHER: MemberIndex = MemberIndex(8);
const LOCK_MS: i64 = 30_000;

fn range(first: i64, last: i64) -> OffsetRange {
    OffsetRange { first, last }
}

fn change(state: RecordState, phase: Phase, lock: LockChange) -> Change {
    Change { state, phase, lock }
}

fn lock(member: MemberIndex, now: i64, duration_ms: i64) -> NewLock {
    NewLock {
        member,
        now: LockTime(now),
        duration_ms,
    }
}

fn acquire<S: InFlightStore>(store: &mut S, offsets: OffsetRange, member: MemberIndex, now: i64) {
    store.hold(offsets, lock(member, now, LOCK_MS), |run| {
        let free = run.state == Available && run.phase == Phase::Stable;
        free.then_some(1)
    });
    store.check().unwrap();
}

/// Changes all records of a range.
fn update<S: InFlightStore>(
    store: &mut S,
    offsets: OffsetRange,
    mut change: impl FnMut(&InFlightRun) -> Option<Change>,
) {
    store.update(core::iter::once(offsets), Holder::Anybody, &mut change);
}

fn set<S: InFlightStore>(store: &mut S, offsets: OffsetRange, state: RecordState, phase: Phase) {
    let lock = if phase == Phase::Stable && state != Acquired {
        LockChange::End
    } else {
        LockChange::Keep
    };
    update(store, offsets, |_| Some(change(state, phase, lock)));
    store.check().unwrap();
}

fn available<S: InFlightStore>(batches: &[(i64, i64)]) -> S {
    let mut store = S::default();
    for &(first, last) in batches {
        store.insert_batch(range(first, last), Available, 0, None);
    }
    store.check().unwrap();
    store
}

fn ranges<S: InFlightStore>(store: &S) -> Vec<(i64, i64)> {
    let runs = store.runs();
    runs.map(|run| (run.range.first, run.range.last)).collect()
}

/// Runs each test over both stores.
macro_rules! over_both_stores {
    ($($title:ident)*) => {
        mod twin {
            $(#[test] fn $title() { super::$title::<super::TwinStore>(); })*
        }
        mod tree {
            $(#[test] fn $title() { super::$title::<super::IntervalStore>(); })*
        }
    };
}

use over_both_stores;
