//! What every in-flight store must do, each test run over both.

use super::*;
use crate::record_state::RecordState::{Acknowledged, Acquired, Archived, Available};

const MEMBER: MemberIndex = MemberIndex(7);
const OTHER: MemberIndex = MemberIndex(8);
const LOCK_MS: i64 = 30_000;

fn range(first: i64, last: i64) -> OffsetRange {
    OffsetRange { first, last }
}

fn change(state: RecordState, phase: Phase, lock: LockChange) -> Change {
    Change {
        state,
        delivery_count: 1,
        phase,
        lock,
    }
}

fn acquire<S: InFlightStore>(store: &mut S, offsets: OffsetRange, member: MemberIndex, now: i64) {
    let lock = store.new_lock(offsets, member, LockTime(now), LOCK_MS);
    store.update(offsets, |run| {
        let free = run.state == Available && run.phase == Phase::Settled;
        free.then_some(change(Acquired, Phase::Settled, LockChange::Hold(lock)))
    });
    store.check().unwrap();
}

fn set<S: InFlightStore>(store: &mut S, offsets: OffsetRange, state: RecordState, phase: Phase) {
    let lock = if phase == Phase::Settled && state != Acquired {
        LockChange::End
    } else {
        LockChange::Keep
    };
    store.update(offsets, |_| Some(change(state, phase, lock)));
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
    let mut ranges = Vec::new();
    let mut from = Some(i64::MIN);
    while let Some(run) = from.and_then(|from| store.run_from(from)) {
        ranges.push((run.range.first, run.range.last));
        from = run.range.last.checked_add(1);
    }
    ranges
}

fn an_empty_store_holds_nothing<S: InFlightStore>() {
    let mut store = S::default();
    assert!(store.is_empty());
    assert_eq!(store.bounds(), None);
    assert_eq!(store.run_at(0), None);
    assert_eq!(store.run_from(i64::MIN), None);
    assert_eq!(store.first_available(i64::MIN), None);
    assert_eq!(store.first_unsettled(i64::MIN), None);
    assert_eq!(store.first_hole(5), 5);
    assert_eq!(store.batch_floor(i64::MAX), None);
    assert_eq!(store.batch_ceiling(i64::MIN), None);
    assert_eq!(store.counts(), [0; 5]);
    assert_eq!(store.next_deadline(), None);
    assert_eq!(store.held_by(MEMBER), []);
    assert_eq!(store.expire(LockTime(i64::MAX)), []);
    assert_eq!(store.heap_bytes(), 0);
    store.remove_through(i64::MAX);
    store.update(range(i64::MIN, i64::MAX), |_| {
        panic!("there is nothing to show")
    });
    store.check().unwrap();
}

fn a_run_never_crosses_the_beginning_of_a_batch<S: InFlightStore>() {
    let store = available::<S>(&[(0, 4), (5, 9), (20, 29)]);
    assert_eq!(ranges(&store), [(0, 4), (5, 9), (20, 29)]);
    assert!(store.run_at(7).is_some_and(|run| run.batch_start));
    assert_eq!(store.bounds(), Some(range(0, 29)));
    assert_eq!(store.first_hole(0), 10);
    assert_eq!(store.first_hole(25), 30);
    assert_eq!(store.run_from(10).map(|run| run.range), Some(range(20, 29)));
    assert_eq!(store.run_at(10), None);
    assert_eq!(store.counts(), [20, 0, 0, 0, 0]);
}

fn a_batch_keeps_its_extent_however_its_records_change<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9), (10, 19), (30, 39)]);
    acquire(&mut store, range(3, 14), MEMBER, 0);
    set(&mut store, range(5, 5), Acknowledged, Phase::Settled);
    assert_eq!(
        ranges(&store),
        [(0, 2), (3, 4), (5, 5), (6, 9), (10, 14), (15, 19), (30, 39)]
    );
    assert_eq!(store.batch_floor(9), Some(range(0, 9)));
    assert_eq!(store.batch_floor(25), Some(range(10, 19)));
    assert_eq!(store.batch_floor(-1), None);
    assert_eq!(store.batch_ceiling(0), Some(range(0, 9)));
    assert_eq!(store.batch_ceiling(1), Some(range(10, 19)));
    assert_eq!(store.batch_ceiling(20), Some(range(30, 39)));
    assert_eq!(store.batch_ceiling(31), None);
}

fn an_update_shows_runs_clipped_and_in_order_and_changes_what_it_is_told_to<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9), (10, 19)]);
    acquire(&mut store, range(4, 5), MEMBER, 0);
    let mut seen = Vec::new();
    store.update(range(2, 12), |run| {
        seen.push((run.range.first, run.range.last, run.state, run.batch_start));
        None
    });
    let expected = [
        (2, 3, Available, false),
        (4, 5, Acquired, false),
        (6, 9, Available, false),
        (10, 12, Available, true),
    ];
    assert_eq!(seen, expected);
    assert_eq!(ranges(&store), [(0, 3), (4, 5), (6, 9), (10, 19)]);
    set(&mut store, range(4, 5), Available, Phase::Settled);
    store.update(range(4, 5), |run| {
        Some(Change {
            delivery_count: 0,
            ..change(run.state, run.phase, LockChange::Keep)
        })
    });
    assert_eq!(
        ranges(&store),
        [(0, 9), (10, 19)],
        "equal neighbours are one run again"
    );
}

fn only_settled_available_records_can_be_acquired_and_only_settled_terminal_ones_are_done<
    S: InFlightStore,
>() {
    let mut store = available::<S>(&[(0, 9)]);
    acquire(&mut store, range(0, 5), MEMBER, 0);
    set(&mut store, range(0, 1), Acknowledged, Phase::Pending);
    set(&mut store, range(2, 3), Available, Phase::Pending);
    assert_eq!(store.first_available(0), Some(6));
    assert_eq!(store.first_available(8), Some(8));
    assert_eq!(store.first_unsettled(0), Some(0));
    set(&mut store, range(0, 1), Acknowledged, Phase::Settled);
    assert_eq!(store.first_unsettled(0), Some(2));
    set(&mut store, range(0, 9), Archived, Phase::Settled);
    assert_eq!(store.first_unsettled(0), None);
    assert_eq!(store.first_available(0), None);
    assert_eq!(store.counts(), [0, 0, 0, 0, 10]);
}

fn a_lock_is_due_at_its_deadline_and_not_a_millisecond_before<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9)]);
    acquire(&mut store, range(0, 4), MEMBER, 1_000);
    assert_eq!(store.next_deadline(), Some(LockTime(31_000)));
    assert_eq!(store.expire(LockTime(30_999)), []);
    assert_eq!(store.expire(LockTime(31_000)), [range(0, 4)]);
    let lock = Lock {
        member: MEMBER,
        acquired_at: LockTime(1_000),
        deadline: LockTime(31_000),
        expired: true,
    };
    assert_eq!(store.run_at(2).and_then(|run| run.lock), Some(lock));
    assert_eq!(store.next_deadline(), None, "a lock is reported once");
    assert_eq!(store.expire(LockTime(99_000)), []);
    store.check().unwrap();
}

fn a_pending_record_keeps_its_lock_after_it_ran_out<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9)]);
    acquire(&mut store, range(0, 9), MEMBER, 0);
    set(&mut store, range(0, 4), Acknowledged, Phase::Pending);
    assert_eq!(store.expire(LockTime(LOCK_MS)), [range(0, 9)]);
    set(&mut store, range(5, 9), Available, Phase::Settled);
    assert_eq!(
        store.held_by(MEMBER).first().map(|held| held.first),
        Some(0)
    );
    assert!(
        store
            .run_at(0)
            .is_some_and(|run| run.lock.is_some_and(|lock| lock.expired))
    );
    acquire(&mut store, range(5, 9), OTHER, LOCK_MS);
    set(&mut store, range(0, 4), Acknowledged, Phase::Settled);
    assert_eq!(
        store.held_by(MEMBER),
        [],
        "with its last record the lock is gone"
    );
    assert_eq!(store.held_by(OTHER), [range(5, 9)]);
}

fn locks_of_several_durations_run_out_in_the_order_of_their_deadlines<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9)]);
    for (offset, duration) in [
        (0, 60_000),
        (1, 15_000),
        (2, 60_000),
        (4, 15_000),
        (5, 1_000),
    ] {
        let lock = store.new_lock(range(offset, offset), MEMBER, LockTime(offset), duration);
        let held = change(Acquired, Phase::Settled, LockChange::Hold(lock));
        store.update(range(offset, offset), |_| Some(held));
    }
    store.check().unwrap();
    assert_eq!(store.next_deadline(), Some(LockTime(1_005)));
    assert_eq!(store.expire(LockTime(1_005)), [range(5, 5)]);
    assert_eq!(store.expire(LockTime(60_000)), [range(0, 1), range(4, 4)]);
    assert_eq!(store.next_deadline(), Some(LockTime(60_002)));
    store.check().unwrap();
}

fn the_clock_of_a_store_never_goes_back<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9)]);
    acquire(&mut store, range(0, 0), MEMBER, 5_000);
    acquire(&mut store, range(1, 1), MEMBER, 2_000);
    let lock = store.run_at(1).and_then(|run| run.lock);
    assert_eq!(lock.map(|lock| lock.acquired_at), Some(LockTime(5_000)));
    assert_eq!(store.expire(LockTime(35_000)), [range(0, 1)]);
    acquire(&mut store, range(2, 2), MEMBER, i64::MIN);
    assert_eq!(store.next_deadline(), Some(LockTime(65_000)));
}

fn a_deadline_stays_at_the_end_of_time<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9)]);
    acquire(&mut store, range(0, 0), MEMBER, i64::MAX - 1);
    assert_eq!(store.next_deadline(), Some(LockTime(i64::MAX)));
    assert_eq!(store.expire(LockTime(i64::MAX - 1)), []);
    assert_eq!(store.expire(LockTime(i64::MAX)), [range(0, 0)]);
}

fn a_member_holds_what_it_acquired_and_nothing_after_letting_go<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9), (10, 19), (30, 39)]);
    acquire(&mut store, range(0, 9), MEMBER, 0);
    acquire(&mut store, range(10, 19), OTHER, 1);
    acquire(&mut store, range(30, 39), MEMBER, 2);
    assert_eq!(store.held_by(MEMBER), [range(0, 9), range(30, 39)]);
    assert_eq!(store.held_by(OTHER), [range(10, 19)]);
    set(&mut store, range(0, 39), Available, Phase::Settled);
    assert_eq!(store.held_by(MEMBER), []);
    assert_eq!(store.next_deadline(), None);
}

fn a_renewed_record_runs_out_with_its_new_lock<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9)]);
    acquire(&mut store, range(0, 9), MEMBER, 0);
    let lock = store.new_lock(range(4, 4), MEMBER, LockTime(10_000), LOCK_MS);
    store.update(range(4, 4), |run| {
        Some(change(run.state, run.phase, LockChange::Hold(lock)))
    });
    store.check().unwrap();
    assert_eq!(ranges(&store), [(0, 3), (4, 4), (5, 9)]);
    assert!(
        store
            .expire(LockTime(30_000))
            .iter()
            .any(|due| due.contains(0))
    );
    assert!(
        store
            .run_at(4)
            .is_some_and(|run| run.lock.is_some_and(|lock| !lock.expired))
    );
    assert_eq!(store.next_deadline(), Some(LockTime(40_000)));
}

fn whole_batches_leave_at_the_front<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9), (10, 19), (30, 39)]);
    acquire(&mut store, range(5, 14), MEMBER, 0);
    store.remove_through(8);
    assert_eq!(
        store.bounds(),
        Some(range(0, 39)),
        "a batch leaves whole or not at all"
    );
    store.remove_through(18);
    store.check().unwrap();
    assert_eq!(store.bounds(), Some(range(10, 39)));
    assert_eq!(store.counts(), [15, 5, 0, 0, 0]);
    store.remove_through(25);
    store.check().unwrap();
    assert_eq!(store.bounds(), Some(range(30, 39)));
    assert_eq!(store.held_by(MEMBER), [], "locks leave with their records");
    store.remove_through(i64::MAX);
    assert!(store.is_empty());
    store.check().unwrap();
}

fn the_ends_of_the_offset_space_are_offsets_like_others<S: InFlightStore>() {
    let mut store = available::<S>(&[(i64::MIN, i64::MIN + 4), (i64::MAX - 4, i64::MAX)]);
    assert_eq!(store.first_hole(i64::MAX - 2), i64::MAX);
    assert_eq!(store.first_hole(i64::MIN), i64::MIN + 5);
    acquire(&mut store, range(i64::MAX, i64::MAX), MEMBER, 0);
    acquire(&mut store, range(i64::MIN, i64::MIN), OTHER, 0);
    assert_eq!(
        store.batch_floor(i64::MAX),
        Some(range(i64::MAX - 4, i64::MAX))
    );
    assert_eq!(
        store.batch_ceiling(i64::MIN),
        Some(range(i64::MIN, i64::MIN + 4))
    );
    let due = store.expire(LockTime(LOCK_MS));
    assert_eq!(due, [range(i64::MIN, i64::MIN), range(i64::MAX, i64::MAX)]);
    store.remove_through(i64::MIN + 4);
    assert_eq!(store.bounds(), Some(range(i64::MAX - 4, i64::MAX)));
    store.remove_through(i64::MAX);
    assert!(store.is_empty());
    store.check().unwrap();
}

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

over_both_stores! {
    an_empty_store_holds_nothing
    a_run_never_crosses_the_beginning_of_a_batch
    a_batch_keeps_its_extent_however_its_records_change
    an_update_shows_runs_clipped_and_in_order_and_changes_what_it_is_told_to
    only_settled_available_records_can_be_acquired_and_only_settled_terminal_ones_are_done
    a_lock_is_due_at_its_deadline_and_not_a_millisecond_before
    a_pending_record_keeps_its_lock_after_it_ran_out
    locks_of_several_durations_run_out_in_the_order_of_their_deadlines
    the_clock_of_a_store_never_goes_back
    a_deadline_stays_at_the_end_of_time
    a_member_holds_what_it_acquired_and_nothing_after_letting_go
    a_renewed_record_runs_out_with_its_new_lock
    whole_batches_leave_at_the_front
    the_ends_of_the_offset_space_are_offsets_like_others
}

#[test]
fn a_batch_of_a_trillion_offsets_takes_no_more_memory_than_one_record() {
    let mut store = available::<IntervalStore>(&[(0, (1 << 40) - 1)]);
    let bytes = store.heap_bytes();
    assert!(bytes <= 160, "{bytes} bytes");
    acquire(&mut store, range(0, (1 << 40) - 1), MEMBER, 0);
    set(
        &mut store,
        range(1 << 39, 1 << 39),
        Acknowledged,
        Phase::Settled,
    );
    assert_eq!(store.counts(), [0, (1 << 40) - 1, 1, 0, 0]);
    assert_eq!(store.expire(LockTime(LOCK_MS)), [range(0, (1 << 40) - 1)]);
    set(
        &mut store,
        range(0, (1 << 40) - 1),
        Archived,
        Phase::Settled,
    );
    assert_eq!(ranges(&store).len(), 1);
    assert!(store.heap_bytes() <= 2_048);
}

#[test]
fn a_million_adjacent_locks_run_out_as_one_range() {
    let mut store = IntervalStore::default();
    for offset in 0..1_000_000 {
        let here = range(offset, offset);
        let lock = store.new_lock(here, MEMBER, LockTime(offset / 1_000), LOCK_MS);
        store.insert_batch(here, Acquired, 1, Some(lock));
    }
    let per_record = store.heap_bytes() as f64 / 1e6;
    assert!(per_record <= 110.0, "{per_record} bytes a record");
    assert_eq!(store.held_by(MEMBER), [range(0, 999_999)]);
    assert_eq!(store.expire(LockTime(100_000)), [range(0, 999_999)]);
    set(&mut store, range(0, 999_999), Available, Phase::Settled);
    assert_eq!(store.counts(), [1_000_000, 0, 0, 0, 0]);
    assert!(
        store.heap_bytes() <= 40_000_000,
        "the leases are given back"
    );
}
