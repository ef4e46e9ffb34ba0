use proptest::prelude::*;

use super::*;
use crate::error::{WireError, WireErrorKind};

fn record<'a>(timestamp: i64, key: &'a [u8], value: Option<&'a [u8]>) -> NewRecord<'a> {
    NewRecord {
        timestamp,
        key: Some(key),
        value,
    }
}

/// A batch with this header and records section, and a checksum that fits.
fn framed(edit: impl FnOnce(&mut RecordBatchHeader), section: &[u8]) -> Vec<u8> {
    let bytes = encode_batch(100, 7, Compression::None, &[record(5, b"k", None)]).unwrap();
    let mut header = RecordBatchHeader::read(&bytes).unwrap();
    header.batch_length = 49 + section.len() as i32;
    edit(&mut header);
    let mut out = [&header.bytes(), section].concat();
    header.crc = crc32c::crc32c(&out[21..]);
    out[17..21].copy_from_slice(&header.crc.to_be_bytes());
    out
}

fn decode(bytes: &[u8]) -> Result<DecodedBatch<'_>, WireError> {
    decode_batch(bytes, &Limits::default())
}

fn kind(bytes: &[u8]) -> WireErrorKind {
    decode(bytes).unwrap_err().kind
}

#[test]
fn a_batch_is_laid_out_as_kafka_does() {
    let bytes = encode_batch(1, 2, Compression::None, &[record(1000, b"k", Some(b"vw"))]).unwrap();
    let mut expected = vec![0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 59, 0, 0, 0, 2, 2];
    expected.extend(crc32c::crc32c(&bytes[21..]).to_be_bytes());
    expected.extend([0; 6]);
    expected.extend([0, 0, 0, 0, 0, 0, 0x03, 0xe8, 0, 0, 0, 0, 0, 0, 0x03, 0xe8]);
    expected.extend([0xff; 10]);
    expected.extend([0; 4]);
    expected.extend([0, 0, 0, 1, 18, 0, 0, 0, 2, b'k', 4, b'v', b'w', 0]);
    assert_eq!(bytes, expected);
}

#[test]
fn every_codec_gives_back_what_it_took() {
    let value = b"state ".repeat(20_000);
    let records: Vec<_> = (0..50)
        .map(|i| record(1000 - i, b"key", Some(&value)))
        .collect();
    for compression in Compression::ALL {
        let bytes = encode_batch(40, 3, compression, &records).unwrap();
        assert_eq!(peek_size(&bytes), Ok(Some(bytes.len())));
        let batch = decode(&bytes).unwrap();
        assert_eq!(batch.header.compression(), Ok(compression));
        assert_eq!(
            (
                batch.header.partition_leader_epoch,
                batch.header.max_timestamp
            ),
            (3, 1000)
        );
        assert_eq!(batch.records().len(), 50);
        for (i, r) in batch.records().enumerate() {
            assert_eq!((r.offset, r.timestamp), (40 + i as i64, 1000 - i as i64));
            assert_eq!((r.key, r.value), (Some(&b"key"[..]), Some(&value[..])));
        }
        let compressed = compression != Compression::None;
        assert_eq!(bytes.len() < 1_000_000, compressed, "{compression:?}");
    }
}

#[test]
fn decompression_stops_at_the_limit_exactly() {
    let value = vec![0; 100_000];
    for compression in [
        Compression::Gzip,
        Compression::Snappy,
        Compression::Lz4,
        Compression::Zstd,
    ] {
        let bytes = encode_batch(0, 0, compression, &[record(0, b"k", Some(&value))]).unwrap();
        let section = encode_batch(0, 0, Compression::None, &[record(0, b"k", Some(&value))]);
        let size = section.unwrap().len() - HEADER_SIZE;
        for (allowed, good) in [(size, true), (size - 1, false), (1, false), (0, false)] {
            let result = decode_batch(
                &bytes,
                &Limits {
                    max_decompressed_bytes: allowed,
                },
            );
            match result {
                Ok(batch) => assert!(good && batch.records().len() == 1, "{compression:?}"),
                Err(error) => {
                    assert!(!good, "{compression:?} {allowed}");
                    assert_eq!(
                        error.kind,
                        WireErrorKind::Limit { allowed },
                        "{compression:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_raw_snappy_block_is_read_too() {
    let plain = encode_batch(0, 0, Compression::None, &[record(0, b"k", Some(&[9; 500]))]).unwrap();
    let raw = snap::raw::Encoder::new()
        .compress_vec(&plain[HEADER_SIZE..])
        .unwrap();
    let bytes = framed(|header| header.attributes = 2, &raw);
    assert_eq!(
        decode(&bytes).unwrap().records().next().unwrap().value,
        Some(&[9; 500][..])
    );
}

#[test]
fn an_lz4_frame_with_every_option_is_read() {
    use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
    let plain = encode_batch(
        0,
        0,
        Compression::None,
        &[record(0, b"k", Some(&[9; 200_000]))],
    )
    .unwrap();
    let section = &plain[HEADER_SIZE..];
    for mode in [BlockMode::Independent, BlockMode::Linked] {
        let info = FrameInfo::new()
            .block_mode(mode)
            .block_size(BlockSize::Max256KB)
            .block_checksums(true)
            .content_checksum(true)
            .content_size(Some(section.len() as u64));
        let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
        std::io::Write::write_all(&mut encoder, section).unwrap();
        let mut frame = encoder.finish().unwrap();
        let bytes = framed(|header| header.attributes = 3, &frame);
        assert_eq!(decode(&bytes).unwrap().records().len(), 1);
        frame.push(0);
        let bytes = framed(|header| header.attributes = 3, &frame);
        assert_eq!(kind(&bytes), WireErrorKind::Compression);
    }
}

#[test]
fn a_size_claimed_by_a_compressor_reserves_nothing() {
    // A raw snappy block of 5 bytes that claims to yield 4 GiB, alone and in a Java stream.
    let bomb = [0xff, 0xff, 0xff, 0xff, 0x0f];
    let stream = [
        b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01\0\0\0\x05".as_slice(),
        &bomb,
    ]
    .concat();
    for section in [&bomb[..], &stream] {
        assert_eq!(
            kind(&framed(|header| header.attributes = 2, section)),
            WireErrorKind::Compression
        );
    }
    // A Java block that claims to be longer than the input, and one of negative length.
    for length in [[0x7f, 0xff, 0xff, 0xff], [0xff; 4]] {
        let stream = [b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01".as_slice(), &length].concat();
        assert_eq!(
            kind(&framed(|header| header.attributes = 2, &stream)),
            WireErrorKind::Compression
        );
    }
    // A zstd frame of 8 bytes that wants a window of 3.75 TiB.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0x01, 0x00];
    assert_eq!(
        kind(&framed(|header| header.attributes = 4, &frame)),
        WireErrorKind::Compression
    );
}

#[test]
fn a_batch_cut_anywhere_is_refused() {
    let whole = encode_batch(
        3,
        0,
        Compression::Zstd,
        &[record(0, b"key", Some(b"value"))],
    )
    .unwrap();
    for end in 0..whole.len() {
        let error = decode(&whole[..end]).unwrap_err();
        assert!(
            matches!(error.kind, WireErrorKind::Truncated { .. }),
            "{end}: {error}"
        );
        assert_eq!(
            peek_size(&whole[..end]),
            Ok((end >= 12).then_some(whole.len()))
        );
    }
    let longer = [&whole[..], &[0]].concat();
    let trailing = WireErrorKind::TrailingBytes { count: 1 };
    assert_eq!(
        decode(&longer).unwrap_err(),
        WireError::new(whole.len(), trailing)
    );
}

#[test]
fn a_flipped_bit_behind_the_checksum_is_always_found() {
    let whole = encode_batch(
        3,
        0,
        Compression::None,
        &[record(0, b"key", Some(b"value"))],
    )
    .unwrap();
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        // Base offset and leader epoch are the fields that the checksum leaves out.
        let outside = matches!(bit / 8, 0..8 | 12..16);
        assert_eq!(decode(&bytes).is_ok(), outside, "bit {bit}");
    }
}

#[test]
fn other_formats_and_impossible_lengths_are_refused() {
    let whole = encode_batch(3, 0, Compression::None, &[record(0, b"key", None)]).unwrap();
    for magic in [0, 1, 3, -1] {
        let mut bytes = whole.clone();
        bytes[16] = magic as u8;
        assert_eq!(kind(&bytes), WireErrorKind::Magic { magic });
        assert!(peek_size(&bytes).is_err());
    }
    for length in [0, -1, 48, i32::MIN] {
        let mut bytes = whole.clone();
        bytes[8..12].copy_from_slice(&length.to_be_bytes());
        let error = WireError::new(8, WireErrorKind::BatchLength { length });
        assert_eq!(decode(&bytes).unwrap_err(), error);
        assert_eq!(peek_size(&bytes), Err(error));
    }
    let mut bytes = whole.clone();
    bytes[8..12].copy_from_slice(&i32::MAX.to_be_bytes());
    let needed = i32::MAX as usize + 12;
    assert_eq!(
        kind(&bytes),
        WireErrorKind::Truncated {
            needed,
            remaining: whole.len()
        }
    );
    assert_eq!(peek_size(&[0; 11]), Ok(None));
    assert_eq!(kind(&[0; 61]), WireErrorKind::Magic { magic: 0 });
}

#[test]
fn records_with_a_fitting_checksum_are_still_checked() {
    // A record is: length, attributes, timestamp delta, offset delta, key length, value length, number of headers.
    type Edit = fn(&mut RecordBatchHeader);
    let one: Edit = |_| ();
    let good = [12, 0, 0, 0, 1, 1, 0];
    assert_eq!(
        decode(&framed(one, &good))
            .unwrap()
            .records()
            .next()
            .unwrap()
            .key,
        None
    );
    let cases: [(&[u8], Edit, WireErrorKind); 14] = [
        (
            &[14, 0, 0, 0, 1, 1, 0, 0],
            one,
            WireErrorKind::RecordLength { length: 7 },
        ),
        (
            &[1, 0, 0, 0, 1, 1, 0],
            one,
            WireErrorKind::RecordLength { length: -1 },
        ),
        (
            &[14, 0, 0, 0, 1, 1, 0],
            one,
            WireErrorKind::Truncated {
                needed: 7,
                remaining: 6,
            },
        ),
        (
            &[12, 0, 0, 2, 1, 1, 0],
            one,
            WireErrorKind::RecordOffset { delta: 1 },
        ),
        (
            &[12, 0, 0, 1, 1, 1, 0],
            one,
            WireErrorKind::RecordOffset { delta: -1 },
        ),
        (
            &[12, 0, 0, 0, 3, 1, 0],
            one,
            WireErrorKind::Length {
                length: -2,
                max: 0x7fff_ffff,
            },
        ),
        (
            &[12, 0, 0, 0, 6, 1, 0],
            one,
            WireErrorKind::Truncated {
                needed: 3,
                remaining: 2,
            },
        ),
        (
            &[12, 0, 0, 0, 1, 1, 1],
            one,
            WireErrorKind::Count {
                count: 1,
                possible: 0,
            },
        ),
        (
            &[12, 0, 0, 0, 1, 1, 2],
            one,
            WireErrorKind::Count {
                count: 1,
                possible: 0,
            },
        ),
        (
            &good,
            |h| h.records_count = 2,
            WireErrorKind::Count {
                count: 2,
                possible: 1,
            },
        ),
        (
            &good,
            |h| h.records_count = -1,
            WireErrorKind::Count {
                count: 1,
                possible: 1,
            },
        ),
        (
            &good,
            |h| h.records_count = 0,
            WireErrorKind::TrailingBytes { count: 7 },
        ),
        (
            &good,
            |h| h.attributes = 5,
            WireErrorKind::UnknownCompression { codec: 5 },
        ),
        (
            &[12, 0, 2, 0, 1, 1, 0],
            |h| h.base_timestamp = i64::MAX,
            WireErrorKind::Overflow,
        ),
    ];
    for (section, edit, expected) in cases {
        let bytes = framed(edit, section);
        let error = decode(&bytes).map(|_| ()).unwrap_err();
        assert_eq!(error.kind, expected, "{section:?}");
    }
    let two = [good, good].concat();
    let repeated = framed(|h| (h.records_count, h.last_offset_delta) = (2, 1), &two);
    assert_eq!(kind(&repeated), WireErrorKind::RecordOffset { delta: 0 });
}

#[test]
fn offsets_end_where_the_offset_space_does() {
    let good = [12, 0, 0, 0, 1, 1, 0];
    let last = framed(|h| h.base_offset = i64::MAX, &good);
    assert_eq!(
        decode(&last).unwrap().records().next().unwrap().offset,
        i64::MAX
    );
    let next = [12, 0, 0, 2, 1, 1, 0];
    let beyond = framed(
        |h| (h.base_offset, h.last_offset_delta) = (i64::MAX, 1),
        &next,
    );
    assert_eq!(kind(&beyond), WireErrorKind::Overflow);
    let records = [record(0, b"k", None); 2];
    let error = encode_batch(i64::MAX, 0, Compression::None, &records).unwrap_err();
    assert_eq!(error.kind, WireErrorKind::Overflow);
    assert!(encode_batch(i64::MAX, 0, Compression::None, &records[..1]).is_ok());
}

#[test]
fn a_batch_may_be_left_empty_by_a_cleaner_but_is_not_written_so() {
    let empty = framed(|h| h.records_count = 0, &[]);
    assert_eq!(decode(&empty).unwrap().records().len(), 0);
    let error = encode_batch(0, 0, Compression::None, &[]).unwrap_err();
    assert_eq!(error.kind, WireErrorKind::EmptyBatch);
    let records = [record(i64::MIN, b"k", None), record(i64::MAX, b"k", None)];
    let error = encode_batch(0, 0, Compression::None, &records).unwrap_err();
    assert_eq!(error.kind, WireErrorKind::Overflow);
}

#[test]
fn flags_are_told() {
    let good = [12, 0, 2, 0, 1, 1, 0];
    let plain = framed(|_| (), &good);
    let plain = decode(&plain).unwrap();
    assert!(!plain.is_control && !plain.header.is_transactional());
    assert_eq!(plain.records().next().unwrap().timestamp, 6);
    let marked = framed(|h| (h.attributes, h.max_timestamp) = (0x38, 77), &good);
    let marked = decode(&marked).unwrap();
    assert!(marked.is_control && marked.header.is_transactional());
    assert_eq!(marked.records().next().unwrap().timestamp, 77);
}

#[test]
fn headers_of_records_are_counted() {
    // Two headers: "a" = null, "b" = "c".
    let section = [26, 0, 0, 0, 1, 1, 4, 2, b'a', 1, 2, b'b', 2, b'c'];
    let bytes = framed(|_| (), &section);
    assert_eq!(
        decode(&bytes)
            .unwrap()
            .records()
            .next()
            .unwrap()
            .headers_count,
        2
    );
    let mut damaged = section;
    damaged[8] = 0xff;
    assert_eq!(kind(&framed(|_| (), &damaged)), WireErrorKind::Utf8);
    let null_key = [18, 0, 0, 0, 1, 1, 2, 1, 1, 0];
    let negative = WireErrorKind::Length {
        length: -1,
        max: 0x7fff_ffff,
    };
    assert_eq!(kind(&framed(|_| (), &null_key)), negative);
}

proptest! {
    #[test]
    fn every_batch_comes_back(
        base_offset in 0..1i64 << 40, leader_epoch: i32, codec in 0u8..5,
        records in prop::collection::vec(
            (0..1i64 << 50, prop::option::of(prop::collection::vec(any::<u8>(), 0..40)),
             prop::option::of(prop::collection::vec(any::<u8>(), 0..300))), 1..30),
    ) {
        let new: Vec<_> = records.iter().map(|(timestamp, key, value)| NewRecord {
            timestamp: *timestamp, key: key.as_deref(), value: value.as_deref(),
        }).collect();
        let codec = Compression::from_codec(codec).unwrap();
        let bytes = encode_batch(base_offset, leader_epoch, codec, &new).unwrap();
        if codec == Compression::None {
            prop_assert_eq!(bytes.capacity(), bytes.len());
        }
        let batch = decode(&bytes).unwrap();
        prop_assert_eq!(batch.header.partition_leader_epoch, leader_epoch);
        let back: Vec<_> = batch.records().map(|r| NewRecord {
            timestamp: r.timestamp, key: r.key, value: r.value,
        }).collect();
        prop_assert_eq!(back, new);
        let offsets: Vec<_> = batch.records().map(|r| r.offset - base_offset).collect();
        prop_assert_eq!(offsets, (0..records.len() as i64).collect::<Vec<_>>());
    }
}
