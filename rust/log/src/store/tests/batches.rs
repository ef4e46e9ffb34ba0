//! Batches that no store writes: they are refused, whole as they are.

use share_state_wire::record_batch::{Compression, NewRecord, encode_marked_batch};

use super::damage::refused;
use super::*;
use crate::corrupt::CorruptKind;

/// A store whose one segment is `bytes`.
fn with_segment(bytes: &[u8]) -> SimDisk {
    let disk = killed();
    disk.put(&segment(0, 0), bytes);
    disk
}

fn batch(base_offset: i64, leader_epoch: i32, key: Option<&[u8]>, value: Option<&[u8]>) -> Vec<u8> {
    let record = NewRecord {
        timestamp: 1,
        key,
        value,
    };
    encode_marked_batch(base_offset, leader_epoch, 1, Compression::None, &[record]).unwrap()
}

#[test]
fn records_that_cannot_be_read_are_refused_and_unknown_types_passed_over() {
    let unknown = batch(0, 0, Some(&[0, 255, 1, 2, 3]), Some(b"anything"));
    let store = open(&with_segment(&unknown), &config()).unwrap();
    assert_eq!(store.recovery().unknown_types, 1);
    assert_eq!(store.states().unwrap(), []);
    // The next record comes after it.
    Command::Initialize(0).run(&store, 0).unwrap();
    drop(store);

    let image = with_segment(&batch(0, 0, None, Some(b"v")));
    assert_eq!(
        refused(&image, &config()).kind,
        CorruptKind::NullKey { offset: 0 }
    );
    let image = with_segment(&batch(0, 0, Some(&[0, 0, 9]), Some(b"v")));
    assert!(matches!(
        refused(&image, &config()).kind,
        CorruptKind::Record { offset: 0, .. }
    ));
    // A value version from the future.
    let mut key_bytes = vec![0, 0, 0, 1, b'g'];
    key_bytes.extend([7; 16]);
    key_bytes.extend([0; 4]);
    let image = with_segment(&batch(0, 0, Some(&key_bytes), Some(&[0, 1, 0, 0])));
    let CorruptKind::Record { error, .. } = refused(&image, &config()).kind else {
        panic!()
    };
    assert_eq!(
        error.kafka_code(),
        share_state_core::kafka_code::KafkaCode::UnsupportedVersion
    );
}

#[test]
fn what_lies_outside_the_checksum_is_checked_too() {
    let key_bytes = [0, 255];
    let good = batch(0, 0, Some(&key_bytes), None);
    let image = with_segment(&[good.clone(), batch(1, 5, Some(&key_bytes), None)].concat());
    assert_eq!(
        refused(&image, &config()).kind,
        CorruptKind::LeaderEpoch { found: 5 }
    );
    let image = with_segment(&[good.clone(), batch(3, 0, Some(&key_bytes), None)].concat());
    assert_eq!(
        refused(&image, &config()).kind,
        CorruptKind::OffsetGap {
            expected: 1,
            found: 3
        }
    );
    let image = with_segment(&[good.clone(), good].concat());
    assert_eq!(
        refused(&image, &config()).kind,
        CorruptKind::OffsetBack {
            expected: 1,
            found: 0
        }
    );
}

/// With a right checksum: a store writes a record for each offset, and a broker's compaction, which leaves offsets out, has not been
/// here.
#[test]
fn a_batch_has_a_record_for_each_of_its_offsets() {
    const LENGTH: usize = 8;
    const CHECKED_FROM: usize = 21;
    const LAST_OFFSET_DELTA: usize = 23;
    const RECORDS: usize = 57;
    const HEADER: usize = 61;
    let good = batch(0, 0, Some(&[0, 255]), None);
    for (records, last_offset_delta) in [(1, 1), (1, 7), (0, 0), (0, -1)] {
        let mut wrong = batch(1, 0, Some(&[0, 255]), None);
        if records == 0 {
            wrong.truncate(HEADER);
            wrong[LENGTH..LENGTH + 4].copy_from_slice(&49_i32.to_be_bytes());
        }
        for (at, number) in [(LAST_OFFSET_DELTA, last_offset_delta), (RECORDS, records)] {
            wrong[at..at + 4].copy_from_slice(&i32::to_be_bytes(number));
        }
        let crc = crc32c::crc32c(&wrong[CHECKED_FROM..]);
        wrong[17..CHECKED_FROM].copy_from_slice(&crc.to_be_bytes());
        let corrupt = refused(&with_segment(&[good.clone(), wrong].concat()), &config());
        assert_eq!(corrupt.position, good.len() as u64);
        assert_eq!(
            corrupt.kind,
            CorruptKind::RecordCount {
                records,
                last_offset_delta
            }
        );
    }
}

/// The last batch, whole and with a right checksum, but a record of it reaches beyond the batch: no crash writes that.
#[test]
fn a_batch_with_a_right_checksum_is_no_torn_tail_whatever_is_in_it() {
    use share_state_wire::WireErrorKind;
    const CHECKED_FROM: usize = 21;
    const FIRST_RECORD: usize = 61;
    let good = batch(0, 0, Some(&[0, 255]), Some(b"v"));
    let mut wrong = batch(1, 0, Some(&[0, 255]), Some(b"v"));
    wrong[FIRST_RECORD] += 2; // one byte more, in zig-zag
    let crc = crc32c::crc32c(&wrong[CHECKED_FROM..]);
    wrong[17..CHECKED_FROM].copy_from_slice(&crc.to_be_bytes());
    let corrupt = refused(&with_segment(&[good.clone(), wrong].concat()), &config());
    assert_eq!(corrupt.position, good.len() as u64);
    let CorruptKind::Batch(error) = corrupt.kind else {
        panic!("{corrupt}")
    };
    assert!(
        matches!(error.kind, WireErrorKind::Truncated { .. }),
        "{error}"
    );
}

#[test]
fn a_log_at_the_end_of_the_offsets_is_refused() {
    let disk = killed();
    let starts = format!("0\n1\n__share_group_state 0 {}\n", i64::MAX);
    disk.put(
        &Path::new(ROOT).join(crate::layout::CHECKPOINT_FILE),
        starts.as_bytes(),
    );
    disk.put(
        &segment(0, i64::MAX),
        &batch(i64::MAX, 0, Some(&[0, 255]), None),
    );
    assert_eq!(refused(&disk, &config()).kind, CorruptKind::OffsetEnd);
}
