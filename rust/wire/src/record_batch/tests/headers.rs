//! The walk over headers: what it tells, where it ends, what it refuses.

use proptest::prelude::*;
use share_state_core::share_partition::{ControlType, FetchedBatch};

use super::*;

fn walk(bytes: &[u8]) -> Result<Vec<BatchHeader>, WireError> {
    BatchHeaders::new(bytes, 0, bytes.len(), Checksums::Checked).collect()
}

/// A batch of two records at `base`.
fn two(base: i64) -> Vec<u8> {
    let records = [record(5, b"k", None), record(9, b"k", Some(b"v"))];
    encode_batch(base, 7, Compression::None, &records).unwrap()
}

/// A batch at offset 100 whose one record has this key, as a marker of a producer with id 77.
fn marker(key: &[u8], edit: impl FnOnce(&mut RecordBatchHeader)) -> Vec<u8> {
    let body = [&[0, 0, 0, (key.len() * 2) as u8], key, &[1, 0]].concat();
    let section = [&[(body.len() * 2) as u8], body.as_slice()].concat();
    let header = |header: &mut RecordBatchHeader| {
        header.attributes = 0x30;
        header.producer_id = 77;
        edit(header);
    };
    framed(header, &section)
}

fn control(bytes: &[u8]) -> Result<Option<ControlType>, WireErrorKind> {
    let read = walk(bytes).map_err(|error| error.kind)?;
    Ok(read[0].batch.control)
}

#[test]
fn each_whole_batch_is_told_with_its_place() {
    let (first, second) = (two(40), two(50));
    let buffer = [b"frame".as_slice(), &first, &second, b"after"].concat();
    let end = buffer.len() - b"after".len();
    let read: Vec<_> = BatchHeaders::new(&buffer, 5, end, Checksums::Checked)
        .map(Result::unwrap)
        .collect();
    let header = |base, start, end| BatchHeader {
        batch: FetchedBatch::plain(base, base + 1),
        start,
        end,
        partition_leader_epoch: 7,
        max_timestamp: 9,
    };
    let middle = 5 + first.len();
    assert_eq!(read, [header(40, 5, middle), header(50, middle, end)]);
    assert_eq!(read[0].size(), first.len());
}

#[test]
fn what_follows_the_last_whole_batch_is_dropped_wherever_it_was_cut() {
    let bytes = [two(40), two(42), two(44)].concat();
    let size = bytes.len() / 3;
    for cut in 0..=bytes.len() {
        let read = walk(&bytes[..cut]).unwrap();
        assert_eq!(read.len(), cut / size, "cut at {cut}");
    }
}

#[test]
fn an_end_after_the_buffer_and_a_start_after_the_end_hold_nothing_more() {
    let bytes = two(40);
    let read = |start, end| BatchHeaders::new(&bytes, start, end, Checksums::Trusted).count();
    assert_eq!(
        (
            read(0, usize::MAX),
            read(9, 3),
            read(usize::MAX, usize::MAX)
        ),
        (1, 0, 0)
    );
}

#[test]
fn compressed_batches_are_told_without_decompression() {
    let section = b"not gzip at all";
    let bytes = framed(|header| header.attributes = 1, section);
    assert_eq!(walk(&bytes).unwrap()[0].end, HEADER_SIZE + section.len());
}

#[test]
fn an_empty_batch_that_compaction_has_left_keeps_its_offsets() {
    let bytes = framed(
        |header| {
            header.records_count = 0;
            header.last_offset_delta = 9;
        },
        &[],
    );
    let batch = walk(&bytes).unwrap()[0].batch;
    assert_eq!((batch.base_offset, batch.last_offset), (100, 109));
}

#[test]
fn a_control_batch_aborts_by_its_key_and_whatever_else_commits() {
    let plain = |_: &mut RecordBatchHeader| {};
    assert_eq!(control(&two(0)), Ok(None));
    assert_eq!(
        control(&marker(&[0, 0, 0, 0], plain)),
        Ok(Some(ControlType::Abort))
    );
    for key in [[0, 0, 0, 1], [0, 0, 0, 2], [0, 5, 0, 1], [0, 0, 0xff, 0xff]] {
        assert_eq!(
            control(&marker(&key, plain)),
            Ok(Some(ControlType::Commit)),
            "{key:?}"
        );
    }
    let longer = [0, 0, 0, 0, 1, 2, 3];
    assert_eq!(
        control(&marker(&longer, plain)),
        Ok(Some(ControlType::Abort))
    );
    let emptied = |header: &mut RecordBatchHeader| header.records_count = 0;
    assert_eq!(
        control(&marker(&[0, 0, 0, 0], emptied)),
        Ok(Some(ControlType::Commit))
    );
    let read = walk(&marker(&[0, 0, 0, 0], plain)).unwrap()[0].batch;
    assert_eq!((read.producer_id, read.is_transactional), (77, true));
}

#[test]
fn a_control_batch_that_cannot_be_read_is_refused() {
    let plain = |_: &mut RecordBatchHeader| {};
    let refused = Err(WireErrorKind::ControlRecord);
    for key in [&[][..], &[0, 0, 0], &[0xff, 0xff, 0, 0]] {
        assert_eq!(control(&marker(key, plain)), refused, "{key:?}");
    }
    let compressed = |header: &mut RecordBatchHeader| header.attributes |= 1;
    assert_eq!(control(&marker(&[0, 0, 0, 0], compressed)), refused);
    let negative = |header: &mut RecordBatchHeader| header.records_count = -1;
    assert_eq!(control(&marker(&[0, 0, 0, 0], negative)), refused);
    let nothing = framed(|header| header.attributes = 0x20, &[]);
    assert_eq!(control(&nothing), refused);
}

#[test]
fn batches_must_ascend_and_may_not_overlap() {
    for base in [39, 40, 41] {
        let bytes = [two(40), two(base)].concat();
        let kind = WireErrorKind::BatchOrder {
            base_offset: base,
            least: 42,
        };
        assert_eq!(walk(&bytes), Err(WireError::new(bytes.len() / 2, kind)));
    }
    assert_eq!(walk(&[two(40), two(42)].concat()).unwrap().len(), 2);
    let kind = WireErrorKind::BatchOrder {
        base_offset: -1,
        least: 0,
    };
    let negative = framed(|header| header.base_offset = -1, &[]);
    assert_eq!(walk(&negative), Err(WireError::new(0, kind)));
}

#[test]
fn the_last_offset_exists_and_another_one_after_it() {
    let kind = |base_offset, delta| {
        let edit = |header: &mut RecordBatchHeader| {
            header.base_offset = base_offset;
            header.last_offset_delta = delta;
        };
        walk(&framed(edit, &[]))
            .map_err(|error| error.kind)
            .map(|read| read.len())
    };
    assert_eq!(kind(5, -1), Err(WireErrorKind::RecordOffset { delta: -1 }));
    assert_eq!(kind(i64::MAX - 1, 0), Ok(1));
    assert_eq!(kind(i64::MAX - 1, 1), Err(WireErrorKind::Overflow));
    assert_eq!(kind(i64::MAX, 1), Err(WireErrorKind::Overflow));
}

#[test]
fn older_formats_and_impossible_lengths_are_refused_even_where_they_are_cut_off() {
    let whole = two(40);
    let mut old = [whole.clone(), two(42)].concat();
    let at = whole.len();
    old[at + 16] = 1;
    let refused = Err(WireError::new(at + 16, WireErrorKind::Magic { magic: 1 }));
    assert_eq!(walk(&old), refused);
    assert_eq!(walk(&old[..at + 17]), refused);
    assert_eq!(walk(&old[..at + 16]).unwrap().len(), 1);
    for length in [48, 0, -1, i32::MIN] {
        let mut bytes = two(40);
        bytes[8..12].copy_from_slice(&length.to_be_bytes());
        let kind = WireErrorKind::BatchLength { length };
        assert_eq!(walk(&bytes[..12]), Err(WireError::new(8, kind)));
    }
}

#[test]
fn checksums_are_computed_where_they_are_asked_for() {
    let mut bytes = [two(40), two(42)].concat();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let at = bytes.len() / 2;
    let refused = walk(&bytes).unwrap_err();
    assert_eq!(refused.position, at + 17);
    assert!(matches!(refused.kind, WireErrorKind::Crc { .. }));
    let trusted = BatchHeaders::new(&bytes, 0, bytes.len(), Checksums::Trusted);
    assert_eq!(trusted.filter_map(Result::ok).count(), 2);
}

#[test]
fn nothing_is_told_after_an_error() {
    let bytes = [two(40), two(40), two(42)].concat();
    let mut headers = BatchHeaders::new(&bytes, 0, bytes.len(), Checksums::Trusted);
    assert!(headers.next().unwrap().is_ok());
    assert!(headers.next().unwrap().is_err());
    assert_eq!(headers.next(), None);
}

proptest! {
    #[test]
    fn any_bytes_are_walked_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300), start in 0usize..320) {
        let mut end = start;
        for header in BatchHeaders::new(&bytes, start, 300, Checksums::Trusted).map_while(Result::ok) {
            prop_assert!(header.start == end && header.end <= bytes.len() && header.size() >= HEADER_SIZE);
            end = header.end;
        }
    }
}
