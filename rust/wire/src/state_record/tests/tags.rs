//! Tagged fields: the known one, unknown ones, and odd forms.

use super::*;

#[test]
fn unknown_tags_are_kept_and_the_known_one_has_its_size() {
    let key = hex(UPDATE_KEY);
    let bytes = update_with_tags("03 00 04 00000007 02 00 05 02 abcd");
    let expected = ShareUpdate {
        unknown_tagged_fields: vec![
            TaggedField {
                tag: 2,
                data: vec![],
            },
            TaggedField {
                tag: 5,
                data: vec![0xab, 0xcd],
            },
        ],
        ..update()
    };
    let value = ShareValue::Update(expected);
    assert_eq!(encode_value(&value), Ok(Some(bytes.clone())));
    let Decoded::Record(record) = decode(&key, Some(&bytes)).unwrap() else {
        panic!("a record")
    };
    assert_eq!(record.value, value);

    for (tags, expected) in [
        (
            "01 00 03 000007",
            WireErrorKind::TagSize { tag: 0, size: 3 },
        ),
        (
            "01 00 05 0000000007",
            WireErrorKind::TagSize { tag: 0, size: 5 },
        ),
        ("02 05 00 05 00", WireErrorKind::TagOrder { tag: 5 }),
        (
            "02 05 00 00 04 00000007",
            WireErrorKind::TagOrder { tag: 0 },
        ),
        (
            "01 05 09 00",
            WireErrorKind::Truncated {
                needed: 9,
                remaining: 1,
            },
        ),
        (
            "ffffffff07 00 04",
            WireErrorKind::Count {
                count: i32::MAX as u64,
                possible: 1,
            },
        ),
    ] {
        assert_eq!(
            kind(&key, Some(&update_with_tags(tags))),
            expected,
            "{tags}"
        );
    }
}

#[test]
fn tags_of_a_state_batch_are_skipped_and_odd_forms_become_canonical() {
    let key = hex(UPDATE_KEY);
    let tagged = "0000 00000003 00000005 000000000000006e
        02 0000000000000071 0000000000000076 02 0001 01 09 01 ff 01 00 04 00000007";
    let long_varints = "0000 00000003 00000005 000000000000006e
        828000 0000000000000071 0000000000000076 02 0001 8000 818000 8000 8480808000 00000007";
    for odd in [tagged, long_varints] {
        let Decoded::Record(record) = decode(&key, Some(&hex(odd))).unwrap() else {
            panic!("a record")
        };
        assert_eq!(encode_value(&record.value), Ok(Some(hex(UPDATE))));
    }
}

#[test]
fn state_batches_with_and_without_tags_stand_in_any_order() {
    let plain = "0000000000000071 0000000000000076 02 0001 00";
    let tagged = "0000000000000081 0000000000000086 04 0002 01 09 01 ff";
    for order in [[plain, tagged, plain], [tagged, plain, tagged]] {
        let value = format!(
            "0000 00000003 00000005 000000000000006e 04 {} 01 00 04 00000007",
            order.concat()
        );
        let Ok(ShareValue::Update(read)) = decode_update(Some(&hex(&value))) else {
            panic!("an update")
        };
        let firsts = read.state_batches.iter().map(|batch| batch.first_offset);
        let expected = order.map(|text| if text == plain { 0x71 } else { 0x81 });
        assert!(firsts.eq(expected));
        assert_eq!(read.delivery_complete_count, 7);
    }
}

#[test]
fn values_are_written_into_memory_of_exactly_their_size() {
    for (_, bytes, value) in golden() {
        let written = encode_value(&value).unwrap();
        assert_eq!(written, bytes);
        assert_eq!(
            written.as_ref().map(Vec::capacity),
            bytes.map(|bytes| bytes.len())
        );
    }
    let tag = |tag, length| TaggedField {
        tag,
        data: vec![7; length],
    };
    let last = i32::MAX as u32;
    let unknown = [
        tag(1, 0),
        tag(2, 1),
        tag(127, 127),
        tag(128, 128),
        tag(16_384, 40_000),
        tag(last, 3),
    ];
    for count in 0..=unknown.len() {
        let value = ShareValue::Update(ShareUpdate {
            unknown_tagged_fields: unknown[..count].to_vec(),
            ..update()
        });
        let bytes = encode_value(&value).unwrap().unwrap();
        assert_eq!(bytes.capacity(), bytes.len());
        assert_eq!(decode_update(Some(&bytes)), Ok(value));
    }
}

#[test]
fn tags_that_no_reader_takes_are_not_written() {
    for tags in [&[0][..], &[3, 3], &[4, 3], &[u32::MAX]] {
        let unknown = tags
            .iter()
            .map(|tag| TaggedField {
                tag: *tag,
                data: vec![],
            })
            .collect();
        let value = ShareValue::Update(ShareUpdate {
            unknown_tagged_fields: unknown,
            ..update()
        });
        let last = WireErrorKind::TagOrder {
            tag: *tags.last().unwrap(),
        };
        assert_eq!(encode_value(&value).unwrap_err().kind, last);
    }
}
