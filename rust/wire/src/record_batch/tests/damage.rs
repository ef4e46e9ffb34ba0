//! Batches that are cut, damaged, or wrong in spite of a checksum that fits.

use super::*;

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
fn a_flipped_bit_after_the_checksum_is_always_found() {
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
fn a_count_of_records_that_cannot_be_is_told_where_the_header_has_it() {
    for count in [-1, 2, i32::MAX] {
        let bytes = framed(|h| h.records_count = count, &[12, 0, 0, 0, 1, 1, 0]);
        assert_eq!(bytes[57..61], count.to_be_bytes());
        let kind = WireErrorKind::Count {
            count: count.unsigned_abs().into(),
            possible: 1,
        };
        assert_eq!(decode(&bytes).unwrap_err(), WireError::new(57, kind));
    }
}
