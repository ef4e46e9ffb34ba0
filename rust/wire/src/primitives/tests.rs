//! Strings, bytes and tagged fields, bounded by the input.

use super::*;

fn strings(r: &[u8]) -> Result<Option<&str>, WireErrorKind> {
    let mut r = Reader::new(r);
    read_nullable_string(&mut r).map_err(|e| e.kind)
}

fn bytes(r: &[u8]) -> Result<Vec<u8>, WireError> {
    let mut r = Reader::new(r);
    let elements = read_array(&mut r, 1, Reader::u8)?;
    r.finish().map(|()| elements)
}

fn tags(r: &[u8]) -> Result<Vec<(u32, usize)>, WireErrorKind> {
    let mut seen = Vec::new();
    read_tags(&mut Reader::new(r), |tag, data| {
        seen.push((tag, data.remaining()));
        Ok(())
    })
    .map_err(|e: WireError| e.kind)?;
    Ok(seen)
}

#[test]
fn a_compact_string_is_bounded_by_the_input_and_by_kafkas_own_limit() {
    assert_eq!(strings(&[0]), Ok(None));
    assert_eq!(strings(&[1]), Ok(Some("")));
    assert_eq!(strings(&[3, 0xc3, 0xa9]), Ok(Some("é")));
    assert_eq!(strings(&[3, 0xc3, 0x28]), Err(WireErrorKind::Utf8));
    assert_eq!(
        strings(&[4, b'a']),
        Err(WireErrorKind::Truncated {
            needed: 3,
            remaining: 1
        })
    );
    let too_long = WireErrorKind::Length {
        length: 32_768,
        max: 32_767,
    };
    assert_eq!(strings(&[0x81, 0x80, 0x02]), Err(too_long));
    assert_eq!(
        string_size(Some(&"x".repeat(32_768))).unwrap_err().kind,
        too_long
    );
    assert_eq!(
        read_string(&mut Reader::new(&[0])).unwrap_err().kind,
        WireErrorKind::Null
    );
}

#[test]
fn a_text_that_is_not_utf_8_is_read_as_java_reads_it() {
    let text = |bytes: &[u8]| read_text(&mut Reader::new(bytes), bytes.len()).map(Cow::into_owned);
    assert_eq!(text(b"a\xc3\xa9"), Ok("aé".to_owned()));
    assert_eq!(text(b"a\xff\xc3"), Ok("a\u{fffd}\u{fffd}".to_owned()));
    // The replacement is three times as long, and has to be a string too.
    let length = |count| text(&vec![0xff; count]).map(|text| text.len());
    assert_eq!(length(10_922), Ok(32_766));
    let kind = WireErrorKind::Length {
        length: 32_769,
        max: 32_767,
    };
    assert_eq!(
        length(10_923).map_err(|error| (error.position, error.kind)),
        Err((0, kind))
    );
}

#[test]
fn a_string_of_a_key_has_a_signed_length() {
    let read = |bytes| read_legacy_string(&mut Reader::new(bytes)).map_err(|e| e.kind);
    assert_eq!(read(&[0xff, 0xff]), Ok(None));
    assert_eq!(read(&[0, 1, b'a']), Ok(Some("a")));
    let negative = WireErrorKind::Length {
        length: -2,
        max: 32_767,
    };
    assert_eq!(read(&[0xff, 0xfe]), Err(negative));
}

#[test]
fn a_count_that_the_input_cannot_hold_is_refused_before_anything_is_read() {
    assert_eq!(bytes(&[3, 7, 8]), Ok(vec![7, 8]));
    let bomb = bytes(&[0xff, 0xff, 0xff, 0xff, 0x07, 1]).unwrap_err();
    let kind = WireErrorKind::Count {
        count: i32::MAX as u64 - 1,
        possible: 1,
    };
    assert_eq!(bomb, WireError::new(0, kind));
    assert_eq!(bytes(&[0]).unwrap_err().kind, WireErrorKind::Null);
    assert!(array_len_size(i32::MAX as usize).is_err() && array_len_size(126) == Ok(1));
}

#[test]
fn the_bytes_of_a_length_are_those_of_one_above_it() {
    for (length, bytes) in [(0, 1), (126, 1), (127, 2), (16_382, 2), (16_383, 3)] {
        assert_eq!(array_len_size(length), Ok(bytes));
        let text = "x".repeat(length);
        assert_eq!(string_size(Some(&text)), Ok(bytes + length));
    }
    assert_eq!(string_size(None), Ok(1));
    let most = i32::MAX as usize - 1;
    assert_eq!(array_len_size(most), Ok(5));
    let kind = WireErrorKind::Count {
        count: i32::MAX as u64,
        possible: most,
    };
    assert_eq!(array_len_size(most + 1), Err(WireError::unwritable(kind)));
}

#[test]
fn tags_ascend_and_stay_in_their_struct() {
    assert_eq!(tags(&[0]), Ok(vec![]));
    assert_eq!(tags(&[2, 0, 1, 9, 5, 0]), Ok(vec![(0, 1), (5, 0)]));
    assert_eq!(
        tags(&[2, 1, 0, 1, 0]),
        Err(WireErrorKind::TagOrder { tag: 1 })
    );
    assert_eq!(
        tags(&[2, 1, 0, 0, 0]),
        Err(WireErrorKind::TagOrder { tag: 0 })
    );
    assert_eq!(
        tags(&[1, 1, 9, 0]),
        Err(WireErrorKind::Truncated {
            needed: 9,
            remaining: 1
        })
    );
    let many = [0xff, 0xff, 0xff, 0xff, 0x07, 1, 0, 2, 0];
    assert_eq!(
        tags(&many),
        Err(WireErrorKind::Count {
            count: i32::MAX as u64,
            possible: 2
        })
    );
}

#[test]
fn a_struct_has_at_most_64_tags() {
    let empty = |count: u8| {
        let tags = (0..count).flat_map(|tag| [tag, 0]);
        [count].into_iter().chain(tags).collect::<Vec<_>>()
    };
    assert_eq!(tags(&empty(64)).map(|seen| seen.len()), Ok(64));
    let refused = WireErrorKind::Count {
        count: 65,
        possible: 64,
    };
    assert_eq!(tags(&empty(65)), Err(refused));
}
