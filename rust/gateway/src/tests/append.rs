//! Reads that follow each other, that do not, and that are refused.

use share_state_wire::{WireError, WireErrorKind};

use super::*;
use crate::AppendError;

fn append(ring: &mut BatchRing, asked: i64, list: &[(i64, i64)]) -> (i64, usize) {
    let appended = ring.append(plain(asked, batches(list))).unwrap();
    (appended.next_offset, appended.bytes)
}

fn size(list: &[(i64, i64)]) -> usize {
    batches(list).len()
}

#[test]
fn an_empty_ring_holds_nothing() {
    let mut ring = BatchRing::new();
    assert!(!ring.holds(0));
    assert_eq!((ring.end_offset(), ring.first_offset()), (None, None));
    assert_eq!(
        (ring.leader_epoch(), ring.nbytes(), ring.batches()),
        (-1, 0, 0)
    );
    assert_eq!(
        (ring.bytes_from(0, 10), ring.evict(0), ring.compact()),
        (0, 0, 0)
    );
    assert_eq!(offsets(&mut ring, 0), None);
    assert_eq!(append(&mut ring, 7, &[]), (7, 0));
    assert!(!ring.holds(7));
}

#[test]
fn a_read_that_begins_where_the_run_ends_makes_a_hole_a_fact() {
    let mut ring = BatchRing::new();
    assert_eq!(append(&mut ring, 0, &[(0, 4)]), (5, size(&[(0, 4)])));
    append(&mut ring, 5, &[(20, 24)]);
    assert_eq!(
        (ring.first_offset(), ring.end_offset()),
        (Some(0), Some(25))
    );
    assert_eq!(offsets(&mut ring, 3), Some(vec![(0, 4), (20, 24)]));
    assert_eq!(offsets(&mut ring, 12), Some(vec![(20, 24)]));
    assert_eq!(offsets(&mut ring, 25), None);
    assert_eq!((ring.leader_epoch(), ring.batches()), (3, 2));
}

#[test]
fn what_lies_between_two_runs_is_not_known() {
    let mut ring = BatchRing::new();
    append(&mut ring, 10, &[(20, 24)]);
    append(&mut ring, 0, &[(0, 4)]);
    for (offset, held) in [(4, true), (5, false), (9, false), (10, true), (24, true)] {
        assert_eq!(ring.holds(offset), held, "offset {offset}");
    }
    assert_eq!(
        (ring.first_offset(), ring.end_offset()),
        (Some(0), Some(25))
    );
    assert_eq!(offsets(&mut ring, 0), Some(vec![(0, 4)]));
}

#[test]
fn a_batch_may_begin_before_the_offset_asked_for() {
    let mut ring = BatchRing::new();
    assert_eq!(append(&mut ring, 3, &[(0, 4), (5, 9)]).0, 10);
    assert_eq!(ring.first_offset(), Some(0));
    assert_eq!(offsets(&mut ring, 1), Some(vec![(0, 4), (5, 9)]));
}

#[test]
fn batches_that_end_before_the_offset_asked_for_are_passed_over() {
    let mut ring = BatchRing::new();
    let kept = size(&[(5, 9)]);
    assert_eq!(append(&mut ring, 5, &[(0, 2), (3, 4), (5, 9)]), (10, kept));
    assert_eq!(ring.nbytes(), kept);
    assert!(!ring.holds(4));
    assert_eq!(append(&mut ring, 50, &[(10, 12)]), (50, 0));
}

#[test]
fn what_the_run_holds_already_is_not_taken_twice() {
    let mut ring = BatchRing::new();
    append(&mut ring, 0, &[(0, 4), (5, 9)]);
    assert_eq!(append(&mut ring, 2, &[(0, 4), (5, 9)]), (10, 0));
    assert_eq!(
        append(&mut ring, 7, &[(5, 9), (12, 14)]),
        (15, size(&[(12, 14)]))
    );
    assert_eq!(offsets(&mut ring, 0), Some(vec![(0, 4), (5, 9), (12, 14)]));
    assert!(ring.holds(11));
}

#[test]
fn a_batch_across_the_end_of_the_run_begins_another() {
    let mut ring = BatchRing::new();
    append(&mut ring, 0, &[(0, 4), (5, 9)]);
    append(&mut ring, 8, &[(8, 14)]);
    assert_eq!(offsets(&mut ring, 0), Some(vec![(0, 4), (5, 9)]));
    assert_eq!(offsets(&mut ring, 9), Some(vec![(8, 14)]));
}

#[test]
fn of_two_runs_the_one_that_reaches_further_is_asked() {
    let mut ring = BatchRing::new();
    append(&mut ring, 10, &[(10, 14), (15, 19)]);
    append(&mut ring, 5, &[(5, 9), (10, 14)]);
    assert_eq!(offsets(&mut ring, 12), Some(vec![(10, 14), (15, 19)]));
    assert_eq!(offsets(&mut ring, 7), Some(vec![(5, 9), (10, 14)]));
}

#[test]
fn bytes_are_counted_from_the_batch_that_holds_the_offset_up_to_the_limit() {
    let mut ring = BatchRing::new();
    let (first, second, third) = ([(0, 4)], [(5, 9)], [(10, 30)]);
    append(&mut ring, 0, &[first, second].concat());
    append(&mut ring, 10, &third);
    let bytes = |list: &[&[(i64, i64)]]| size(&list.concat());
    assert_eq!(
        ring.bytes_from(2, usize::MAX),
        bytes(&[&first, &second, &third])
    );
    assert_eq!(ring.bytes_from(5, usize::MAX), bytes(&[&second, &third]));
    assert_eq!(ring.bytes_from(30, usize::MAX), bytes(&[&third]));
    assert_eq!(ring.bytes_from(31, usize::MAX), 0);
    assert_eq!((ring.bytes_from(0, 70), ring.bytes_from(0, 0)), (70, 0));
}

#[test]
fn a_slice_ends_with_its_bytes_and_records_and_has_one_batch_at_least() {
    let mut ring = BatchRing::new();
    let list = [(10, 14), (15, 19), (20, 24)];
    append(&mut ring, 0, &list);
    let mut count = |max_bytes, max_records, window_end| {
        let extent = Extent {
            max_bytes,
            max_records,
            window_end,
        };
        sliced(&mut ring, 0, extent).map(|(fetched, _)| fetched.len())
    };
    let two = size(&list[..2]);
    assert_eq!(count(two, u64::MAX, 0), Some(2));
    assert_eq!(count(two - 1, u64::MAX, 0), Some(1));
    assert_eq!(count(0, u64::MAX, 0), Some(1));
    // Counted from the first batch and not from the hole before it, and from the end of the window.
    assert_eq!(count(usize::MAX, 9, 0), Some(2));
    assert_eq!(count(usize::MAX, 10, 0), Some(3));
    assert_eq!(count(usize::MAX, 4, 14), Some(2));
    assert_eq!(count(usize::MAX, 0, 0), Some(1));
}

#[test]
fn a_read_that_is_refused_changes_nothing() {
    let mut ring = BatchRing::new();
    append(&mut ring, 0, &[(0, 4)]);
    let before = format!("{ring:?}");
    let mut torn = batches(&[(5, 9), (10, 14)]);
    let at = torn.len() / 2;
    torn[at + 16] = 1;
    let magic = WireError {
        position: at + 16,
        kind: WireErrorKind::Magic { magic: 1 },
    };
    assert_eq!(
        ring.append(plain(5, torn)),
        Err(AppendError::Batches(magic))
    );
    let negative = ring.append(plain(-1, batches(&[(5, 9)])));
    assert_eq!(negative, Err(AppendError::AskedOffset { asked_offset: -1 }));
    for (start, end) in [(0, 67), (3, 2), (67, 67)] {
        let read = Read {
            start,
            end,
            ..plain(5, batches(&[(5, 9)]))
        };
        let size = 66;
        assert_eq!(
            ring.append(read),
            Err(AppendError::Part { start, end, size })
        );
    }
    let mut wrong = plain(5, batches(&[(5, 9)]));
    wrong.checksums = Checksums::Checked;
    assert!(matches!(ring.append(wrong), Err(AppendError::Batches(_))));
    assert_eq!(format!("{ring:?}"), before);
}

#[test]
fn a_cleared_ring_is_a_new_one() {
    let mut ring = BatchRing::new();
    append(&mut ring, 0, &[(0, 4)]);
    ring.clear();
    assert_eq!(
        (ring.nbytes(), ring.batches(), ring.end_offset()),
        (0, 0, None)
    );
    append(&mut ring, 40, &[(40, 44)]);
    assert_eq!(offsets(&mut ring, 40), Some(vec![(40, 44)]));
}
