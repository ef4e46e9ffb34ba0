//! Bytes that no honest peer sends.

use super::*;

#[test]
fn a_message_cut_anywhere_or_prolonged_is_refused() {
    let mut cuts = 0;
    for written in written() {
        for end in 0..written.bytes.len() {
            let error = written.decode(&written.bytes[..end]).unwrap_err();
            assert!(error.error.position <= end);
            cuts += 1;
        }
        let long = [&written.bytes[..], &[0]].concat();
        let error = written.decode(&long).unwrap_err();
        assert_eq!(error.error.kind, WireErrorKind::TrailingBytes { count: 1 });
        assert_eq!(
            (error.field, error.error.position),
            (None, written.bytes.len())
        );
    }
    assert!(cuts > 15_000, "{cuts}");
}

#[test]
fn a_flipped_bit_is_an_error_or_another_message() {
    let (mut valid, mut refused) = (0, 0);
    for written in written() {
        for bit in 0..written.bytes.len() * 8 {
            let mut flipped = written.bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match written.decode(&flipped) {
                Ok(message) => {
                    let again = written.encode(&message).unwrap();
                    assert_eq!(written.decode(&again), Ok(message));
                    valid += 1;
                }
                Err(error) => {
                    assert!(error.error.position <= written.bytes.len());
                    refused += 1;
                }
            }
        }
    }
    assert!(valid > 50_000 && refused > 20_000, "{valid} {refused}");
}

#[test]
fn counts_beyond_the_input_are_refused() {
    let refusal = |key: i16, version: i16, direction, bytes: &[u8]| {
        let error = api(key).unwrap().decode(direction, version, bytes);
        let error = error.unwrap_err();
        (error.field, error.error.position, error.error.kind)
    };
    let compact = [0xff, 0xff, 0xff, 0xff, 0x07];
    let legacy = [0x7f, 0xff, 0xff, 0xff];
    // A topic by name takes 17 bytes and its tags in version 13, two bytes in version 1.
    let topics = |count, possible| {
        let kind = WireErrorKind::Count { count, possible };
        (Some("topics"), 0, kind)
    };
    let bytes = [&compact[..], &[0; 40]].concat();
    let seen = refusal(3, 13, Direction::Request, &bytes);
    assert_eq!(seen, topics(i32::MAX as u64 - 1, 2));
    let bytes = [&legacy[..], &[0; 40]].concat();
    let seen = refusal(3, 1, Direction::Request, &bytes);
    assert_eq!(seen, topics(i32::MAX as u64, 20));

    // Bytes are taken, not counted.
    let needed = i32::MAX as usize - 1;
    let truncated = |needed| WireErrorKind::Truncated {
        needed,
        remaining: 0,
    };
    let seen = refusal(36, 2, Direction::Request, &compact);
    assert_eq!(seen, (Some("authBytes"), 5, truncated(needed)));
    let seen = refusal(36, 1, Direction::Request, &legacy);
    assert_eq!(seen, (Some("authBytes"), 4, truncated(needed + 1)));

    let negative = refusal(17, 1, Direction::Response, &[0, 0, 0xff, 0xff, 0xff, 0xfe]);
    let kind = WireErrorKind::Length {
        length: -2,
        max: i64::from(i32::MAX) - 1,
    };
    assert_eq!(negative, (Some("mechanisms"), 2, kind));
}

#[test]
fn elements_count_in_arrays_of_any_depth() {
    // Two groups: one with two topics of one partition each, one with none.
    let group = [&[2, b'g'][..], &[3], &[1, 2, 0, 0, 0, 0, 0].repeat(2), &[0]].concat();
    let body = [&[3][..], &group, &[2, b'h', 1, 0], &[0]].concat();
    let offsets = api(90).unwrap();
    let read = |elements| {
        let read = offsets.decode_within(Direction::Request, 0, &body, elements, false);
        read.map(drop)
            .map_err(|error| (error.field, error.error.kind))
    };
    assert_eq!(read(6), Ok(()));
    let possible = 0;
    let count = 1;
    let kind = WireErrorKind::Count { count, possible };
    assert_eq!(read(5), Err((Some("partitions"), kind)));
    let (count, possible) = (2, 1);
    let kind = WireErrorKind::Count { count, possible };
    assert_eq!(read(1), Err((Some("groups"), kind)));
}

#[test]
fn a_struct_bounds_the_count_of_an_array_by_what_it_takes_at_least() {
    use super::super::schema::{array, int64, structure};
    static MAYBE: Fields = &[array(
        "items",
        &[structure("place", &[int64("offset")]).nullable()],
    )];
    static ALWAYS: Fields = &[array("items", &[structure("place", &[int64("offset")])])];
    let read = |request, item: &[u8], present: usize, claimed: u8| {
        let table = Api {
            key: 0,
            name: "Example",
            versions: 0..=0,
            flexible_since: 0,
            request,
            response: &[],
        };
        let bytes = [&[claimed + 1], &item.repeat(present)[..], &[0]].concat();
        let read = table.decode(Direction::Request, 0, &bytes);
        read.map(drop).map_err(|error| error.error.kind)
    };
    let refused = |count, possible| Err(WireErrorKind::Count { count, possible });
    // Null and the tags of the item; the number, its tags and those of the item.
    let (null, zero) = ([0xff, 0], [0; 10]);
    assert_eq!(read(MAYBE, &null, 10, 10), Ok(()));
    assert_eq!(read(MAYBE, &null, 10, 11), refused(11, 10));
    assert_eq!(read(ALWAYS, &zero, 10, 10), Ok(()));
    assert_eq!(read(ALWAYS, &zero, 10, 11), refused(11, 10));
}

#[test]
fn null_is_refused_where_the_version_does_not_allow_it() {
    let metadata = api(3).unwrap();
    let asked = |version, bytes: &[u8]| {
        let asked = metadata.decode(Direction::Request, version, bytes);
        asked.map(drop).map_err(|error| error.error.kind)
    };
    let null = [0xff; 4];
    assert_eq!(asked(0, &null), Err(WireErrorKind::Null));
    assert_eq!(asked(1, &null), Ok(()));
    let mechanism = api(17).unwrap();
    let asked = mechanism.decode(Direction::Request, 1, &[0xff, 0xff]);
    let error = asked.unwrap_err();
    let expected = (Some("mechanism"), 0, WireErrorKind::Null);
    assert_eq!(
        (error.field, error.error.position, error.error.kind),
        expected
    );
    // An element may never be null.
    let asked = mechanism.decode(Direction::Response, 1, &[0, 0, 0, 0, 0, 1, 0xff, 0xff]);
    assert_eq!(asked.unwrap_err().error.kind, WireErrorKind::Null);
}

#[test]
fn only_the_known_versions_are_taken() {
    let mut refused = 0;
    for api in apis::APIS {
        for version in [
            i16::MIN,
            -1,
            *api.versions.start() - 1,
            *api.versions.end() + 1,
            i16::MAX,
        ] {
            for direction in [Direction::Request, Direction::Response] {
                let kind = WireErrorKind::UnsupportedVersion { version };
                assert_eq!(api.check_version(version).unwrap_err().error.kind, kind);
                let decoded = api.decode(direction, version, &[]);
                assert_eq!(decoded.unwrap_err().error.kind, kind);
                let encoded = api.encode(direction, version, &Borrowed::Struct(vec![]));
                assert_eq!(encoded.unwrap_err().error.kind, kind);
                refused += 1;
            }
        }
    }
    for written in written() {
        assert_eq!(written.api.check_version(written.version), Ok(()));
    }
    assert_eq!(refused, 32 * 5 * 2);
}

#[test]
fn a_tagged_field_fills_its_section_and_an_unknown_one_is_passed_over() {
    let versions = api(18).unwrap();
    let decode = |tags: &[u8]| {
        // No error, no keys, no throttle time.
        let body = [&[0, 0, 1, 0, 0, 0, 0][..], tags].concat();
        let read = versions.decode(Direction::Response, 4, &body);
        read.map(|message| {
            versions
                .encode(Direction::Response, 4, &message)
                .unwrap()
                .len()
                - 7
        })
        .map_err(|error| (error.field, error.error.kind))
    };
    let epoch = [1, 8, 0, 0, 0, 0, 0, 0, 0, 7];
    assert_eq!(decode(&[&[1], &epoch[..]].concat()), Ok(11));
    assert_eq!(
        decode(&[&[2], &epoch[..], &[9, 2, 0xff, 0xff]].concat()),
        Ok(11)
    );
    let short = decode(&[1, 1, 7, 0, 0, 0, 0, 0, 0, 0]).unwrap_err();
    assert_eq!(short.0, Some("finalizedFeaturesEpoch"));
    let long = decode(&[1, 1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap_err();
    let left_over = WireErrorKind::TrailingBytes { count: 1 };
    assert_eq!(long, (Some("finalizedFeaturesEpoch"), left_over));
    let twice = decode(&[&[2], &epoch[..], &epoch[..]].concat()).unwrap_err();
    assert_eq!(twice.1, WireErrorKind::TagOrder { tag: 1 });
}

#[test]
fn a_tag_of_a_later_version_is_unknown() {
    // Fetch of nothing, with tag 1: since version 15 the state of the replica, whose id stood first until then.
    let tail = [&[1, 1, 1, 1, 1, 13][..], &[0; 13]].concat();
    let has_state = |version, before: &[u8]| {
        let bytes = [before, &tail[..]].concat();
        let read = api(1).unwrap().decode(Direction::Request, version, &bytes);
        match read.unwrap() {
            Value::Struct(fields) => fields.last().unwrap().is_some(),
            other => panic!("{other:?}"),
        }
    };
    assert!(!has_state(14, &[0; 25]));
    assert!(has_state(15, &[0; 21]));
}

#[test]
fn a_byte_below_zero_says_that_a_struct_is_null() {
    let assignment = |end: &[u8]| {
        // A heartbeat's answer up to the assignment.
        let bytes = [&[0; 16][..], end].concat();
        let read = api(76).unwrap().decode(Direction::Response, 1, &bytes);
        match read.unwrap() {
            Value::Struct(fields) => fields.last().unwrap() != &Some(Value::Null),
            other => panic!("{other:?}"),
        }
    };
    for marker in [0, 1, 0x7f] {
        assert!(assignment(&[marker, 1, 0, 0]), "{marker}");
    }
    for marker in [0xff, 0x80] {
        assert!(!assignment(&[marker, 0]), "{marker}");
    }
}
