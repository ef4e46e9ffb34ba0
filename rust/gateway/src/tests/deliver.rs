//! Single deliveries: what is cut, what is skipped, what is refused.

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::{InFlightStore, IntervalStore, TwinStore};
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::ReadStateResult;
use share_state_core::record_state::RecordState;
use share_state_core::share_partition::{AcquireError, AcquireMode, ControlType, SharePartition};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::LockTime;

use super::*;
use crate::{Delivery, Wanted, deliver};

fn partition<S: InFlightStore>(state_batches: &[StateBatch]) -> SharePartition<S> {
    let key = SharePartitionKey::new("g", TopicId([7; 16]), 0);
    let mut partition = SharePartition::new(key, 0, ShareGroupConfig::default()).unwrap();
    let read = ReadStateResult {
        state_epoch: 0,
        start_offset: 0,
        state_batches: state_batches.to_vec(),
    };
    partition.initialize(read).unwrap();
    partition
}

const fn wanted(max_records: i32) -> Wanted<'static> {
    Wanted {
        member: "m",
        mode: AcquireMode::RecordLimit,
        batch_size: 500,
        max_records,
        max_bytes: usize::MAX,
        first_bytes: None,
    }
}

fn deliver_at<S: InFlightStore>(
    ring: &mut BatchRing,
    partition: &mut SharePartition<S>,
    wanted: Wanted<'_>,
) -> Option<Delivery> {
    deliver(ring, partition, &wanted, LockTime(0)).unwrap()
}

fn ranges(delivery: &Delivery) -> Vec<(i64, i64)> {
    let acquired = delivery.acquired.iter();
    acquired.map(|a| (a.range.first, a.range.last)).collect()
}

fn bytes(delivery: &Delivery) -> Vec<u8> {
    delivery.pieces().collect::<Vec<_>>().concat()
}

#[test]
fn whole_batches_around_what_was_acquired() {
    let mut ring = BatchRing::new();
    let list = [(0, 9), (10, 19), (20, 29)];
    ring.append(plain(0, batches(&list))).unwrap();
    for _ in 0..2 {
        let mut sp = partition::<TwinStore>(&[]);
        let first = deliver_at(&mut ring, &mut sp, wanted(12)).unwrap();
        assert_eq!((ranges(&first), first.fetch_offset), (vec![(0, 11)], 0));
        assert_eq!(bytes(&first), batches(&list[..2]));
        assert_eq!((first.batches, first.record_count()), (2, 12));
        let second = deliver_at(&mut ring, &mut sp, wanted(3)).unwrap();
        assert_eq!(ranges(&second), [(12, 14)]);
        assert_eq!(bytes(&second), batches(&list[1..2]));
    }
}

#[test]
fn a_ring_that_does_not_hold_the_offset_is_to_be_filled() {
    let mut sp = partition::<IntervalStore>(&[]);
    let mut ring = BatchRing::new();
    assert!(deliver_at(&mut ring, &mut sp, wanted(5)).is_none());
    ring.append(plain(10, batches(&[(10, 19)]))).unwrap();
    assert!(deliver_at(&mut ring, &mut sp, wanted(5)).is_none());
    assert_eq!(sp.store().bounds(), None);
}

#[test]
fn nothing_acquired_is_nothing_to_send() {
    let mut ring = BatchRing::new();
    ring.append(plain(0, batches(&[(0, 9)]))).unwrap();
    let mut sp = partition::<IntervalStore>(&[]);
    let delivery = deliver_at(&mut ring, &mut sp, wanted(0)).unwrap();
    assert_eq!(
        (delivery.batches, delivery.nbytes(), delivery.record_count()),
        (0, 0, 0)
    );
    assert_eq!(ranges(&delivery), []);
    assert_eq!(bytes(&delivery), b"");
}

#[test]
fn a_hole_between_runs_archives_nothing_and_a_hole_inside_a_run_does() {
    // An earlier leader has left ten available records, of which the log has the last five.
    let left = [StateBatch {
        first_offset: 0,
        last_offset: 9,
        delivery_state: 0,
        delivery_count: 1,
    }];
    let mut ring = BatchRing::new();
    ring.append(plain(5, batches(&[(5, 9)]))).unwrap();
    let mut sp = partition::<IntervalStore>(&left);
    assert!(deliver_at(&mut ring, &mut sp, wanted(50)).is_none());
    assert_eq!(sp.in_flight().count(), 1);

    ring.append(plain(0, batches(&[(5, 9)]))).unwrap();
    let delivery = deliver_at(&mut ring, &mut sp, wanted(50)).unwrap();
    assert_eq!(ranges(&delivery), [(5, 9)]);
    let first = sp.in_flight().next().unwrap();
    assert_eq!((first.range.last, first.state), (4, RecordState::Archived));
}

/// A read from the beginning, in which the transaction of producer 7 was aborted.
fn aborting(bytes: Vec<u8>) -> Read<'static> {
    const ABORTED: [AbortedTransaction; 1] = [AbortedTransaction {
        producer_id: 7,
        first_offset: 0,
    }];
    Read {
        aborted: &ABORTED,
        ..plain(0, bytes)
    }
}

#[test]
fn records_that_were_aborted_are_passed_over_in_one_call() {
    let log = [
        LogBatch::of(7, 0, 9),
        LogBatch::of(7, 10, 19),
        LogBatch::plain(20, 24),
    ];
    let bytes: Vec<u8> = log.iter().flat_map(LogBatch::bytes).collect();
    let mut ring = BatchRing::new();
    ring.append(aborting(bytes)).unwrap();
    let mut sp = partition::<IntervalStore>(&[]);
    let delivery = deliver_at(&mut ring, &mut sp, wanted(10)).unwrap();
    assert_eq!(
        (ranges(&delivery), delivery.fetch_offset),
        (vec![(20, 24)], 20)
    );
    assert_eq!(self::bytes(&delivery), log[2].bytes());
    assert_eq!(sp.start_offset(), 20);
    // And a ring that ends with them is to be filled.
    let mut sp = partition::<IntervalStore>(&[]);
    ring.clear();
    ring.append(aborting(log[0].bytes())).unwrap();
    assert!(deliver_at(&mut ring, &mut sp, wanted(10)).is_none());
    assert_eq!(sp.next_fetch_offset(), 10);
}

#[test]
fn a_first_batch_that_is_too_large_is_not_given_even_after_others_that_are_of_no_use() {
    let log = [LogBatch::of(7, 0, 9), LogBatch::plain(10, 99)];
    let bytes: Vec<u8> = log.iter().flat_map(LogBatch::bytes).collect();
    let [aborted_bytes, large] = [0, 1].map(|batch: usize| log[batch].bytes().len());
    assert!(aborted_bytes < large);
    let mut ring = BatchRing::new();
    ring.append(aborting(bytes)).unwrap();
    for (most, expected) in [
        (aborted_bytes - 1, (0, None)),
        (large - 1, (10, None)),
        (large, (10, Some((10, 14)))),
    ] {
        let mut sp = partition::<IntervalStore>(&[]);
        let wanted = Wanted {
            max_bytes: 1,
            first_bytes: Some(most),
            ..wanted(5)
        };
        let delivery = deliver_at(&mut ring, &mut sp, wanted).unwrap();
        let given = ranges(&delivery).first().copied();
        assert_eq!((delivery.fetch_offset, given), expected, "{most}");
    }
}

#[test]
fn a_marker_is_delivered_with_its_offset() {
    let log = [
        LogBatch::of(7, 0, 1),
        LogBatch::marker(7, 2, ControlType::Commit),
    ];
    let all: Vec<u8> = log.iter().flat_map(LogBatch::bytes).collect();
    let mut ring = BatchRing::new();
    ring.append(plain(0, all.clone())).unwrap();
    let mut sp = partition::<IntervalStore>(&[]);
    let delivery = deliver_at(&mut ring, &mut sp, wanted(10)).unwrap();
    assert_eq!((ranges(&delivery), bytes(&delivery)), (vec![(0, 2)], all));
}

#[test]
fn what_is_looked_at_does_not_grow_with_what_is_cached() {
    let list: Vec<_> = (0..1_000).map(|base| (base * 2, base * 2 + 1)).collect();
    let mut ring = BatchRing::new();
    ring.append(plain(0, batches(&list))).unwrap();
    let mut sp = partition::<IntervalStore>(&[]);
    deliver_at(&mut ring, &mut sp, wanted(4)).unwrap();
    let delivery = deliver_at(&mut ring, &mut sp, wanted(4)).unwrap();
    assert_eq!(ranges(&delivery), [(4, 7)]);
    let extent = Extent {
        max_records: 4,
        window_end: 3,
        ..ALL
    };
    assert_eq!(sliced(&mut ring, 4, extent).unwrap().0.len(), 3);
}

#[test]
fn a_malformed_request_is_refused_and_changes_nothing() {
    let mut ring = BatchRing::new();
    ring.append(plain(0, batches(&[(0, 9)]))).unwrap();
    let mut sp = partition::<IntervalStore>(&[]);
    let refused = |sp: &mut SharePartition<IntervalStore>, ring: &mut BatchRing, wanted| {
        deliver(ring, sp, &wanted, LockTime(0)).unwrap_err()
    };
    let nobody = Wanted {
        member: "",
        ..wanted(5)
    };
    assert_eq!(
        refused(&mut sp, &mut ring, nobody),
        AcquireError::EmptyMemberId
    );
    let none = Wanted {
        batch_size: 0,
        ..wanted(5)
    };
    let batch_size = AcquireError::BatchSize { batch_size: 0 };
    assert_eq!(refused(&mut sp, &mut ring, none), batch_size);
    assert_eq!(sp.store().bounds(), None);
}
