//! Aborted batches: judged when the answer arrives, told when a slice is given out.

use share_state_core::share_partition::{ControlType, aborted_ranges};

use super::*;

fn append(ring: &mut BatchRing, asked: i64, list: &[LogBatch], aborted: &[(i64, i64)]) {
    let aborted: Vec<_> = aborted
        .iter()
        .map(|(producer_id, first_offset)| AbortedTransaction {
            producer_id: *producer_id,
            first_offset: *first_offset,
        })
        .collect();
    let bytes: Vec<u8> = list.iter().flat_map(LogBatch::bytes).collect();
    let read = Read {
        aborted: &aborted,
        ..plain(asked, bytes)
    };
    ring.append(read).unwrap();
}

/// The first offsets of the batches that the engine will take for aborted, in a slice from `offset` on.
fn gone(ring: &mut BatchRing, offset: i64) -> Vec<i64> {
    let (fetched, aborted) = sliced(ring, offset, ALL).unwrap();
    let ranges = aborted_ranges(&fetched, &aborted);
    ranges.iter().map(|range| range.first).collect()
}

fn listed(ring: &mut BatchRing, offset: i64) -> Vec<(i64, i64)> {
    let (_, aborted) = sliced(ring, offset, ALL).unwrap();
    aborted
        .iter()
        .map(|t| (t.producer_id, t.first_offset))
        .collect()
}

const ABORT: ControlType = ControlType::Abort;

#[test]
fn a_slice_after_the_marker_names_no_transaction_before_it() {
    let mut ring = BatchRing::new();
    let log = [
        LogBatch::of(7, 0, 4),
        LogBatch::marker(7, 5, ABORT),
        LogBatch::of(7, 6, 9),
        LogBatch::marker(7, 10, ControlType::Commit),
    ];
    append(&mut ring, 0, &log, &[(7, 0)]);
    assert_eq!(listed(&mut ring, 0), [(7, 0)]);
    assert_eq!(gone(&mut ring, 0), [0]);
    // The answer's own list, given with this slice, would archive what was committed.
    assert_eq!(listed(&mut ring, 6), []);
    let (fetched, _) = sliced(&mut ring, 6, ALL).unwrap();
    let own = AbortedTransaction {
        producer_id: 7,
        first_offset: 0,
    };
    assert_eq!(aborted_ranges(&fetched, &[own]).len(), 1);
}

#[test]
fn a_slice_inside_a_transaction_names_what_is_left_of_it() {
    let mut ring = BatchRing::new();
    let log = [
        LogBatch::of(7, 0, 4),
        LogBatch::plain(5, 6),
        LogBatch::of(7, 7, 9),
        LogBatch::of(8, 10, 11),
        LogBatch::marker(7, 12, ABORT),
        LogBatch::of(7, 13, 14),
        LogBatch::marker(7, 15, ABORT),
        LogBatch::marker(8, 16, ControlType::Commit),
    ];
    append(&mut ring, 0, &log, &[(7, 0), (7, 13)]);
    assert_eq!(listed(&mut ring, 0), [(7, 0), (7, 13)]);
    assert_eq!(listed(&mut ring, 5), [(7, 7), (7, 13)]);
    assert_eq!(gone(&mut ring, 5), [7, 13]);
    assert_eq!(gone(&mut ring, 10), [13]);
    assert_eq!(gone(&mut ring, 16), [] as [i64; 0]);
}

#[test]
fn a_batch_is_judged_by_its_own_answer() {
    let mut ring = BatchRing::new();
    append(&mut ring, 0, &[LogBatch::of(7, 0, 4)], &[(7, 0)]);
    append(&mut ring, 5, &[LogBatch::of(7, 5, 9)], &[(7, 0)]);
    let end = [LogBatch::marker(7, 10, ABORT), LogBatch::of(7, 11, 12)];
    append(&mut ring, 10, &end, &[(7, 0)]);
    assert_eq!(gone(&mut ring, 0), [0, 5]);
    assert_eq!(gone(&mut ring, 6), [5]);
    assert_eq!(gone(&mut ring, 10), [] as [i64; 0]);
}

#[test]
fn a_marker_before_the_offset_asked_for_counts_although_its_batch_is_passed_over() {
    let mut ring = BatchRing::new();
    let log = [LogBatch::marker(7, 4, ABORT), LogBatch::of(7, 5, 9)];
    append(&mut ring, 5, &log, &[(7, 0)]);
    assert_eq!(offsets(&mut ring, 5), Some(vec![(5, 9)]));
    assert_eq!(gone(&mut ring, 5), [] as [i64; 0]);
}

#[test]
fn without_its_marker_an_aborted_transaction_ends_the_slice_before_a_committed_one() {
    let mut ring = BatchRing::new();
    append(&mut ring, 0, &[LogBatch::of(7, 0, 4)], &[(7, 0)]);
    // Compaction has taken the rest of the transaction and its marker meanwhile.
    let rest = [LogBatch::plain(8, 9), LogBatch::of(7, 10, 14)];
    append(&mut ring, 5, &rest, &[]);
    assert_eq!(offsets(&mut ring, 0), Some(vec![(0, 4), (8, 9)]));
    assert_eq!(gone(&mut ring, 0), [0]);
    assert_eq!(offsets(&mut ring, 10), Some(vec![(10, 14)]));
    assert_eq!(gone(&mut ring, 10), [] as [i64; 0]);
}

#[test]
fn a_read_without_a_list_judges_nobody() {
    let mut ring = BatchRing::new();
    let log = [LogBatch::of(7, 0, 4), LogBatch::marker(7, 5, ABORT)];
    append(&mut ring, 0, &log, &[]);
    assert_eq!(listed(&mut ring, 0), []);
}
