//! Any bytes as the reads of an upstream partition, with what a gateway does between them: a read that is refused changes nothing,
//! and a member is given only whole batches that were read, those of the records that it holds.

use std::collections::BTreeMap;

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::IntervalStore;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::ReadStateResult;
use share_state_core::share_partition::{AbortedTransaction, AcquireMode, SharePartition};
use share_state_core::time::LockTime;
use share_state_gateway::{BatchRing, Buffer, Delivery, Read, Wanted, deliver};
use share_state_wire::record_batch::{BatchHeaders, Checksums};

/// The batches that were read, by their bytes: their first and last offsets.
type Known = BTreeMap<Vec<u8>, (i64, i64)>;

/// Runs one input: operations, each with two numbers and a frame, which may be empty. Tells whether a read was taken.
pub fn run(data: &[u8]) -> bool {
    let key = SharePartitionKey::new("g", TopicId([7; 16]), 0);
    let config = ShareGroupConfig::default();
    let Ok(mut partition) = SharePartition::<IntervalStore>::new(key, 1, config) else {
        unreachable!("the defaults are valid")
    };
    let begun = partition.initialize(ReadStateResult {
        state_epoch: 0,
        start_offset: 0,
        state_batches: Vec::new(),
    });
    assert!(begun.is_ok());
    let (mut ring, mut known, mut taken) = (BatchRing::new(), Known::new(), false);
    let mut rest = data;
    while let [what, a, b, high, low, after @ ..] = rest {
        let size = usize::from(u16::from_be_bytes([*high, *low]));
        let (frame, after) = after.split_at(after.len().min(size));
        rest = after;
        let (a, b) = (usize::from(*a), usize::from(*b));
        match what % 8 {
            0..=3 => taken |= append(&mut ring, &mut known, *what, (a, b), frame),
            4 => {
                let before = ring.nbytes();
                assert_eq!(ring.evict(a * b), before - ring.nbytes());
                assert!(ring.nbytes() <= a * b);
            }
            5 => {
                let before = ring.nbytes();
                ring.compact();
                assert_eq!(ring.nbytes(), before);
            }
            6 if a == 0 => ring.clear(),
            _ => {
                let wanted = Wanted {
                    member: "m",
                    mode: AcquireMode::BatchOptimized,
                    batch_size: 500,
                    max_records: a as i32,
                    max_bytes: b * 16,
                    first_bytes: None,
                };
                match deliver(&mut ring, &mut partition, &wanted, LockTime(0)) {
                    Ok(Some(delivery)) => given(&delivery, &known),
                    Ok(None) => assert!(!ring.holds(partition.next_fetch_offset())),
                    Err(refused) => unreachable!("{refused:?}"),
                }
                assert_eq!(partition.check(), Ok(()));
            }
        }
        questions(&ring);
    }
    taken
}

/// A read from `numbers.0` on; the aborted transactions of an answer stand in `numbers.1`.
fn append(
    ring: &mut BatchRing,
    known: &mut Known,
    what: u8,
    numbers: (usize, usize),
    frame: &[u8],
) -> bool {
    let asked = match numbers.0 {
        255 => i64::MAX,
        254 => -1,
        asked => asked as i64,
    };
    let aborted = [AbortedTransaction {
        producer_id: numbers.1 as i64 % 4,
        first_offset: numbers.1 as i64 / 4,
    }];
    let skipped = usize::from(what >> 3).min(frame.len());
    let before = (ring.nbytes(), ring.batches(), ring.end_offset());
    let appended = ring.append(Read {
        asked_offset: asked,
        buffer: Buffer::new(frame.to_vec()),
        start: skipped,
        end: frame.len(),
        aborted: if numbers.1 == 0 { &[] } else { &aborted },
        checksums: Checksums::Trusted,
    });
    let after = (ring.nbytes(), ring.batches(), ring.end_offset());
    let Ok(appended) = appended else {
        assert_eq!(after, before);
        return false;
    };
    assert!(appended.next_offset >= asked);
    assert_eq!(after.0, before.0 + appended.bytes);
    let read = BatchHeaders::new(frame, skipped, frame.len(), Checksums::Trusted);
    for header in read.map_while(Result::ok) {
        if let Some(bytes) = frame.get(header.start..header.end) {
            let offsets = (header.batch.base_offset, header.batch.last_offset);
            known.insert(bytes.to_vec(), offsets);
        }
    }
    appended.bytes > 0
}

fn given(delivery: &Delivery, known: &Known) {
    let bytes: Vec<u8> = delivery.pieces().flatten().copied().collect();
    assert_eq!(bytes.len(), delivery.nbytes());
    let headers: Result<Vec<_>, _> =
        BatchHeaders::new(&bytes, 0, bytes.len(), Checksums::Trusted).collect();
    let Ok(headers) = headers else {
        unreachable!("they were read before, and in this order")
    };
    assert_eq!(headers.len(), delivery.batches);
    assert_eq!(headers.iter().map(|h| h.size()).sum::<usize>(), bytes.len());
    let held = delivery
        .acquired
        .first()
        .zip(delivery.acquired.last())
        .map(|(first, last)| (first.range.first, last.range.last));
    for header in headers {
        let offsets = (header.batch.base_offset, header.batch.last_offset);
        let Some(bytes) = bytes.get(header.start..header.end) else {
            unreachable!("it lies inside the bytes")
        };
        assert_eq!(known.get(bytes), Some(&offsets), "it was read");
        let Some((first, last)) = held else {
            unreachable!("a batch for nothing")
        };
        assert!(first <= offsets.1 && offsets.0 <= last, "{offsets:?}");
    }
}

fn questions(ring: &BatchRing) {
    let (Some(first), Some(end)) = (ring.first_offset(), ring.end_offset()) else {
        assert_eq!(
            (ring.nbytes(), ring.batches(), ring.held_bytes()),
            (0, 0, 0)
        );
        return;
    };
    assert!(first <= end && ring.nbytes() <= ring.held_bytes());
    assert!(ring.holds(first));
    assert!(ring.bytes_from(first, usize::MAX) <= ring.nbytes());
    assert!(ring.bytes_from(first, 1) <= 1);
}
