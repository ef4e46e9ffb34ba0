//! Copies of record bytes: the buffers are held, not their bytes, and only as long as a batch refers to them.

use std::sync::Arc;

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::IntervalStore;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::ReadStateResult;
use share_state_core::share_partition::{AcquireMode, SharePartition};
use share_state_core::time::LockTime;

use super::*;
use crate::{Delivery, Wanted, deliver};

/// A frame whose holders can be counted.
#[derive(Clone)]
struct Frame(Arc<Vec<u8>>);

impl AsRef<[u8]> for Frame {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Frame {
    /// A frame with `before` bytes before these batches.
    fn new(before: usize, list: &[(i64, i64)]) -> Self {
        Self(Arc::new([vec![0xaa; before], batches(list)].concat()))
    }

    fn read(&self, asked_offset: i64, start: usize) -> Read<'static> {
        Read {
            asked_offset,
            buffer: Buffer::new(self.clone()),
            start,
            end: self.0.len(),
            aborted: &[],
            checksums: Checksums::Trusted,
        }
    }

    /// Others than this one.
    fn holders(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

fn delivered(ring: &mut BatchRing) -> Delivery {
    let key = SharePartitionKey::new("g", TopicId([7; 16]), 0);
    let mut sp = SharePartition::<IntervalStore>::new(key, 0, ShareGroupConfig::default()).unwrap();
    let read = ReadStateResult {
        state_epoch: 0,
        start_offset: 0,
        state_batches: Vec::new(),
    };
    sp.initialize(read).unwrap();
    let wanted = Wanted {
        member: "m",
        mode: AcquireMode::BatchOptimized,
        batch_size: 500,
        max_records: 500,
        max_bytes: usize::MAX,
        first_bytes: None,
    };
    deliver(ring, &mut sp, &wanted, LockTime(0))
        .unwrap()
        .unwrap()
}

#[test]
fn a_delivery_shows_the_bytes_of_the_frames_themselves() {
    let (first, second) = (Frame::new(9, &[(0, 4), (5, 9)]), Frame::new(3, &[(10, 14)]));
    let mut ring = BatchRing::new();
    ring.append(first.read(0, 9)).unwrap();
    ring.append(second.read(10, 3)).unwrap();
    let delivery = delivered(&mut ring);
    let pieces: Vec<_> = delivery
        .pieces()
        .map(|piece| piece.as_ptr_range())
        .collect();
    assert_eq!(
        pieces,
        [first.0[9..].as_ptr_range(), second.0[3..].as_ptr_range()]
    );
}

#[test]
fn a_frame_goes_with_the_last_batch_or_delivery_that_refers_to_it() {
    let frame = Frame::new(0, &[(0, 4), (5, 9)]);
    let mut ring = BatchRing::new();
    ring.append(frame.read(0, 0)).unwrap();
    assert_eq!(frame.holders(), 1);
    let delivery = delivered(&mut ring);
    assert_eq!(frame.holders(), 1, "a delivery shares the ring's holder");
    ring.evict(1 << 6);
    assert_eq!((ring.batches(), frame.holders()), (0, 1));
    assert_eq!(
        delivery.pieces().map(<[u8]>::len).sum::<usize>(),
        frame.0.len()
    );
    drop(delivery);
    assert_eq!(frame.holders(), 0);
}

#[test]
fn a_read_of_which_nothing_is_kept_holds_no_frame() {
    let frame = Frame::new(0, &[(0, 4)]);
    let mut ring = BatchRing::new();
    ring.append(frame.read(5, 0)).unwrap();
    assert_eq!(frame.holders(), 0);
    assert!(ring.append(frame.read(-1, 0)).is_err());
    assert_eq!(frame.holders(), 0);
}

#[test]
fn what_lingers_of_a_frame_is_copied_at_the_second_compaction_and_no_more() {
    let large = Frame::new(1_000, &[(0, 4), (5, 9)]);
    let small = Frame::new(100, &[(10, 14), (15, 19)]);
    let mut ring = BatchRing::new();
    ring.append(large.read(0, 1_000)).unwrap();
    ring.append(small.read(10, 100)).unwrap();
    let before = delivered(&mut ring).pieces().collect::<Vec<_>>().concat();
    assert_eq!(
        (ring.compact(), ring.held_bytes()),
        (0, 1_000 + 100 + 4 * 66)
    );
    assert_eq!(ring.compact(), 2 * 66);
    assert_eq!((large.holders(), small.holders()), (0, 1));
    assert_eq!((ring.held_bytes(), ring.compact()), (100 + 4 * 66, 0));
    let after = delivered(&mut ring).pieces().collect::<Vec<_>>().concat();
    assert_eq!(before, after);
    // What is left of a frame counts, not what was once there.
    ring.evict(66);
    assert_eq!((ring.compact(), small.holders()), (66, 0));
    assert_eq!(ring.held_bytes(), 66);
}
