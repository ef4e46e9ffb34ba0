//! Batches, runs and the questions about them.

use super::*;

fn an_empty_store_holds_nothing<S: InFlightStore>() {
    let mut store = S::default();
    assert!(store.is_empty());
    assert_eq!(store.bounds(), None);
    assert_eq!(store.run_in(range(i64::MIN, i64::MAX)), None);
    assert_eq!(store.runs().next(), None);
    assert_eq!(store.first_available(i64::MIN), None);
    assert_eq!(store.first_outstanding(i64::MIN), None);
    assert_eq!(store.first_hole(5), 5);
    assert_eq!(store.batch_floor(i64::MAX), None);
    assert_eq!(store.batch_ceiling(i64::MIN), None);
    assert_eq!(store.counts(), [0; 5]);
    assert_eq!(store.next_deadline(), None);
    assert_eq!(store.held_by(MEMBER), []);
    assert_eq!(store.expire(LockTime(i64::MAX), u32::MAX), []);
    assert_eq!(store.heap_bytes(), 0);
    store.remove_through(i64::MAX);
    update(&mut store, range(i64::MIN, i64::MAX), |_| {
        panic!("there is nothing to show")
    });
    store.check().unwrap();
}

fn a_run_never_crosses_the_beginning_of_a_batch<S: InFlightStore>() {
    let store = available::<S>(&[(0, 4), (5, 9), (20, 29)]);
    assert_eq!(ranges(&store), [(0, 4), (5, 9), (20, 29)]);
    assert!(store.run_in(range(5, 7)).is_some_and(|run| run.batch_start));
    assert!(
        store
            .run_in(range(6, 7))
            .is_some_and(|run| !run.batch_start)
    );
    assert_eq!(store.bounds(), Some(range(0, 29)));
    assert_eq!(store.first_hole(0), 10);
    assert_eq!(store.first_hole(25), 30);
    assert_eq!(
        store.run_in(range(10, 25)).map(|run| run.range),
        Some(range(20, 25))
    );
    assert_eq!(store.run_in(range(10, 19)), None);
    assert_eq!(store.counts(), [20, 0, 0, 0, 0]);
}

fn a_batch_keeps_its_extent_however_its_records_change<S: InFlightStore>() {
    let mut store = available::<S>(&[(0, 9), (10, 19), (30, 39)]);
    acquire(&mut store, range(3, 14), MEMBER, 0);
    set(&mut store, range(5, 5), Acknowledged, Phase::Stable);
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
    update(&mut store, range(2, 12), |run| {
        seen.push((run.range.first, run.range.last, run.state));
        None
    });
    let expected = [
        (2, 3, Available),
        (4, 5, Acquired),
        (6, 9, Available),
        (10, 12, Available),
    ];
    assert_eq!(seen, expected);
    assert_eq!(ranges(&store), [(0, 3), (4, 5), (6, 9), (10, 19)]);
    set(&mut store, range(4, 5), Available, Phase::Stable);
    store.hold(range(4, 5), lock(MEMBER, 0, LOCK_MS), |_| Some(0));
    set(&mut store, range(4, 5), Available, Phase::Stable);
    assert_eq!(
        ranges(&store),
        [(0, 9), (10, 19)],
        "equal neighbours are one run again"
    );
}

fn only_stable_available_records_can_be_acquired_and_only_stable_terminal_ones_are_done<
    S: InFlightStore,
>() {
    let mut store = available::<S>(&[(0, 9)]);
    acquire(&mut store, range(0, 5), MEMBER, 0);
    set(&mut store, range(0, 1), Acknowledged, Phase::Pending);
    set(&mut store, range(2, 3), Available, Phase::Pending);
    assert_eq!(store.first_available(0), Some(6));
    assert_eq!(store.first_available(8), Some(8));
    assert_eq!(store.first_outstanding(0), Some(0));
    set(&mut store, range(0, 1), Acknowledged, Phase::Stable);
    assert_eq!(store.first_outstanding(0), Some(2));
    set(&mut store, range(0, 9), Archived, Phase::Stable);
    assert_eq!(store.first_outstanding(0), None);
    assert_eq!(store.first_available(0), None);
    assert_eq!(store.counts(), [0, 0, 0, 0, 10]);
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
    let due = store.expire(LockTime(LOCK_MS), u32::MAX);
    assert_eq!(due, [range(i64::MIN, i64::MIN), range(i64::MAX, i64::MAX)]);
    store.remove_through(i64::MIN + 4);
    assert_eq!(store.bounds(), Some(range(i64::MAX - 4, i64::MAX)));
    store.remove_through(i64::MAX);
    assert!(store.is_empty());
    store.check().unwrap();
}

over_both_stores! {
    an_empty_store_holds_nothing
    a_run_never_crosses_the_beginning_of_a_batch
    a_batch_keeps_its_extent_however_its_records_change
    an_update_shows_runs_clipped_and_in_order_and_changes_what_it_is_told_to
    only_stable_available_records_can_be_acquired_and_only_stable_terminal_ones_are_done
    whole_batches_leave_at_the_front
    the_ends_of_the_offset_space_are_offsets_like_others
}

#[test]
fn a_batch_of_a_trillion_offsets_takes_no_more_memory_than_one_record() {
    let mut store = available::<IntervalStore>(&[(0, (1 << 40) - 1)]);
    let bytes = store.heap_bytes();
    assert!(bytes <= 320, "{bytes} bytes");
    acquire(&mut store, range(0, (1 << 40) - 1), MEMBER, 0);
    set(
        &mut store,
        range(1 << 39, 1 << 39),
        Acknowledged,
        Phase::Stable,
    );
    assert_eq!(store.counts(), [0, (1 << 40) - 1, 1, 0, 0]);
    assert_eq!(
        store.expire(LockTime(LOCK_MS), u32::MAX),
        [range(0, (1 << 40) - 1)]
    );
    set(&mut store, range(0, (1 << 40) - 1), Archived, Phase::Stable);
    assert_eq!(ranges(&store).len(), 1);
    assert!(store.heap_bytes() <= 2_048);
}
