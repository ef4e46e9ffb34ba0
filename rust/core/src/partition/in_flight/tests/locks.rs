//! Acquisition locks.

use super::*;

fn a_lock_is_due_at_its_deadline_and_not_a_millisecond_before<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9)]);
    acquire(&mut store, range(0, 4), MEMBER, 1_000);
    assert_eq!(store.next_deadline(), Some(LockTime(31_000)));
    assert_eq!(store.expire(LockTime(30_999), u32::MAX), []);
    assert_eq!(store.expire(LockTime(31_000), u32::MAX), [range(0, 4)]);
    let lock = Lock {
        member: MEMBER,
        acquired_at: LockTime(1_000),
        deadline: LockTime(31_000),
        expired: true,
    };
    assert_eq!(
        store.run_in(range(2, 2)).and_then(|run| run.lock),
        Some(lock)
    );
    assert_eq!(store.next_deadline(), None, "a lock is reported once");
    assert_eq!(store.expire(LockTime(99_000), u32::MAX), []);
    store.check().unwrap();
}

fn a_pending_record_keeps_its_lock_after_it_ran_out<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9)]);
    acquire(&mut store, range(0, 9), MEMBER, 0);
    set(&mut store, range(0, 4), Acknowledged, Phase::Pending);
    assert_eq!(store.expire(LockTime(LOCK_MS), u32::MAX), [range(0, 9)]);
    set(&mut store, range(5, 9), Available, Phase::Stable);
    assert_eq!(
        store.held_by(MEMBER).first().map(|held| held.first),
        Some(0)
    );
    assert!(
        store
            .run_in(range(0, 0))
            .is_some_and(|run| run.lock.is_some_and(|lock| lock.expired))
    );
    acquire(&mut store, range(5, 9), OTHER, LOCK_MS);
    set(&mut store, range(0, 4), Acknowledged, Phase::Stable);
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
        let held = lock(MEMBER, offset, duration);
        store.hold(range(offset, offset), held, |_| Some(1));
    }
    store.check().unwrap();
    assert_eq!(store.next_deadline(), Some(LockTime(1_005)));
    assert_eq!(store.expire(LockTime(1_005), u32::MAX), [range(5, 5)]);
    assert_eq!(
        store.expire(LockTime(60_000), u32::MAX),
        [range(0, 1), range(4, 4)]
    );
    assert_eq!(store.next_deadline(), Some(LockTime(60_002)));
    store.check().unwrap();
}

/// A lock is what one call took, and ends whole. Among equal deadlines the one that was taken first ends first.
fn no_more_locks_run_out_at_once_than_are_asked_for<S: InFlightStore>() {
    let mut store = available::<S>(&[(10, 19), (20, 29)]);
    store.insert_batch(range(30, 37), Acquired, 1, Some(lock(OTHER, 0, 1_000)));
    for (held, now, duration) in [
        (range(16, 19), 0, 500),
        (range(10, 12), 0, 1_000),
        (range(22, 23), 200, 700),
        (range(20, 21), 300, 700),
        (range(13, 15), 300, 100),
        (range(24, 24), 400, 600),
    ] {
        store.hold(held, lock(MEMBER, now, duration), |_| Some(1));
        store.check().unwrap();
    }
    set(&mut store, range(33, 34), Acknowledged, Phase::Pending);
    let now = LockTime(5_000);
    assert_eq!(store.expire(now, 0), []);
    assert_eq!(store.expire(now, 1), [range(13, 15)]);
    assert_eq!(store.next_deadline(), Some(LockTime(500)));
    assert_eq!(store.expire(now, 2), [range(16, 19), range(22, 23)]);
    assert_eq!(store.expire(now, 1), [range(30, 37)]);
    assert_eq!(store.expire(now, 1), [range(10, 12)]);
    assert_eq!(store.expire(now, 1), [range(20, 21)]);
    assert_eq!(store.next_deadline(), Some(LockTime(1_000)));
    assert_eq!(store.expire(now, 7), [range(24, 24)]);
    assert_eq!(store.next_deadline(), None);
    store.check().unwrap();
}

fn the_clock_of_a_store_never_goes_back<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9)]);
    acquire(&mut store, range(0, 0), MEMBER, 5_000);
    acquire(&mut store, range(1, 1), MEMBER, 2_000);
    let lock = store.run_in(range(1, 1)).and_then(|run| run.lock);
    assert_eq!(lock.map(|lock| lock.acquired_at), Some(LockTime(5_000)));
    assert_eq!(store.expire(LockTime(35_000), u32::MAX), [range(0, 1)]);
    acquire(&mut store, range(2, 2), MEMBER, i64::MIN);
    assert_eq!(store.next_deadline(), Some(LockTime(65_000)));
}

fn a_deadline_stays_at_the_end_of_time<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9)]);
    acquire(&mut store, range(0, 0), MEMBER, i64::MAX - 1);
    assert_eq!(store.next_deadline(), Some(LockTime(i64::MAX)));
    assert_eq!(store.expire(LockTime(i64::MAX - 1), u32::MAX), []);
    assert_eq!(store.expire(LockTime(i64::MAX), u32::MAX), [range(0, 0)]);
}

fn a_member_holds_what_it_acquired_and_nothing_after_letting_go<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9), (10, 19), (30, 39)]);
    acquire(&mut store, range(0, 9), MEMBER, 0);
    acquire(&mut store, range(10, 19), OTHER, 1);
    acquire(&mut store, range(30, 39), MEMBER, 2);
    assert_eq!(store.held_by(MEMBER), [range(0, 9), range(30, 39)]);
    assert_eq!(store.held_by(OTHER), [range(10, 19)]);
    set(&mut store, range(0, 39), Available, Phase::Stable);
    assert_eq!(store.held_by(MEMBER), []);
    assert_eq!(store.next_deadline(), None);
}

fn a_renewed_record_runs_out_with_its_new_lock<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9)]);
    acquire(&mut store, range(0, 9), MEMBER, 0);
    let renewed = lock(MEMBER, 10_000, LOCK_MS);
    store.hold(range(4, 4), renewed, |run| Some(run.delivery_count));
    store.check().unwrap();
    assert_eq!(ranges(&store), [(0, 3), (4, 4), (5, 9)]);
    assert!(
        store
            .expire(LockTime(30_000), u32::MAX)
            .iter()
            .any(|due| due.contains(0))
    );
    assert!(
        store
            .run_in(range(4, 4))
            .is_some_and(|run| run.lock.is_some_and(|lock| !lock.expired))
    );
    assert_eq!(store.next_deadline(), Some(LockTime(40_000)));
}

fn members_are_told_apart_among_few_locks_and_among_many<S: InFlightStore>() {
    const MANY: i64 = 300;
    let mut store = available::<S>(&[(0, MANY - 1)]);
    let of_member = |member: u32| MemberIndex(member % 3);
    // Twice, so that places given back are used again.
    for round in 0..2 {
        for offset in 0..MANY {
            let here = range(offset, offset);
            acquire(&mut store, here, of_member(offset as u32), round);
        }
        store.check().unwrap();
        for left in [MANY, 100, 20, 10, 0] {
            for offset in left..MANY {
                set(&mut store, range(offset, offset), Available, Phase::Stable);
            }
            store.check().unwrap();
            for member in 0..3 {
                let held: u64 = store
                    .held_by(of_member(member))
                    .iter()
                    .map(|r| r.len())
                    .sum();
                let exact = (0..left).filter(|offset| offset % 3 == i64::from(member));
                assert_eq!(held, exact.count() as u64, "{member} of {left}");
            }
        }
    }
}

/// Around the greatest number that a lease counts itself.
fn a_lease_counts_its_records_however_many_they_are<S: InFlightStore>() {
    for len in [65_534, 65_535, 65_536, 70_000] {
        let mut store = available::<S>(&[(0, len - 1)]);
        acquire(&mut store, range(0, len - 1), MEMBER, 0);
        for offset in (0..len).step_by(1_000) {
            let here = range(offset, offset);
            set(&mut store, here, Acknowledged, Phase::Stable);
        }
        let mut release = |run: &InFlightRun| {
            let free = change(Available, Phase::Stable, LockChange::End);
            (run.state == Acquired).then_some(free)
        };
        let some = range(0, len / 2);
        store.update([some].into_iter(), Holder::Member(MEMBER), &mut release);
        store.check().unwrap();
        let due = store.expire(LockTime(LOCK_MS), u32::MAX);
        let last = due.last().map(|range| range.last);
        assert_eq!(last, Some(len - 1), "{len}");
        store.update(due.into_iter(), Holder::RunOut, &mut release);
        store.check().unwrap();
        assert_eq!(store.held_by(MEMBER), [], "{len}");
        let acknowledged = (len as u64).div_ceil(1_000);
        let counts = [len as u64 - acknowledged, 0, acknowledged, 0, 0];
        assert_eq!(store.counts(), counts, "{len}");
    }
}

fn a_lock_that_no_record_is_put_under_is_none<S: InFlightStore>() {
    for (len, offsets) in [(10, range(20, 29)), (100_000, range(0, 99_999))] {
        let mut store = available::<S>(&[(0, len - 1)]);
        store.hold(offsets, lock(MEMBER, 0, LOCK_MS), |_| None);
        assert_eq!(store.next_deadline(), None);
        assert_eq!(store.held_by(MEMBER), []);
        store.check().unwrap();
    }
}

over_both_stores! {
    a_lock_that_no_record_is_put_under_is_none
    a_lease_counts_its_records_however_many_they_are
    members_are_told_apart_among_few_locks_and_among_many
    a_lock_is_due_at_its_deadline_and_not_a_millisecond_before
    a_pending_record_keeps_its_lock_after_it_ran_out
    locks_of_several_durations_run_out_in_the_order_of_their_deadlines
    no_more_locks_run_out_at_once_than_are_asked_for
    the_clock_of_a_store_never_goes_back
    a_deadline_stays_at_the_end_of_time
    a_member_holds_what_it_acquired_and_nothing_after_letting_go
    a_renewed_record_runs_out_with_its_new_lock
}

#[test]
fn a_million_adjacent_locks_run_out_as_one_range() {
    let mut store = IntervalStore::default();
    for offset in 0..1_000_000 {
        let here = range(offset, offset);
        let held = lock(MEMBER, offset / 1_000, LOCK_MS);
        store.insert_batch(here, Acquired, 1, Some(held));
    }
    let per_record = store.heap_bytes() as f64 / 1e6;
    assert!(per_record <= 64.0, "{per_record} bytes a record");
    assert_eq!(store.held_by(MEMBER), [range(0, 999_999)]);
    let mut run_out = Vec::new();
    while store.next_deadline().is_some() {
        run_out.extend(store.expire(LockTime(100_000), u32::MAX));
    }
    let ends = run_out.windows(2).map(|two| (two[0].last, two[1].first));
    assert!(ends.into_iter().all(|(last, first)| last + 1 == first));
    let (first, last) = (run_out[0].first, run_out[run_out.len() - 1].last);
    assert_eq!((first, last), (0, 999_999));
    assert!(run_out.len() <= 250, "{} ranges", run_out.len());
    set(&mut store, range(0, 999_999), Available, Phase::Stable);
    assert_eq!(store.counts(), [1_000_000, 0, 0, 0, 0]);
    assert!(store.heap_bytes() <= 5_000_000, "the leases are given back");
}

#[test]
fn records_acquired_one_by_one_out_of_large_batches_take_no_more_memory() {
    let mut store = IntervalStore::default();
    for first in (0..100_000).step_by(500) {
        store.insert_batch(range(first, first + 499), Available, 0, None);
    }
    for offset in 0..100_000 {
        let here = range(offset, offset);
        store.hold(here, lock(MEMBER, 0, LOCK_MS), |_| Some(1));
    }
    store.check().unwrap();
    let per_record = store.heap_bytes() as f64 / 1e5;
    assert!(per_record <= 64.0, "{per_record} bytes a record");
}
