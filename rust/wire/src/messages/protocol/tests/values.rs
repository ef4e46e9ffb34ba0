//! Values that no message can hold, and what stands for those that are not given.

use share_state_core::ids::TopicId;

use super::super::format::Format;
use super::*;

type Given = Value<&'static str, &'static [u8]>;

fn encode(
    key: i16,
    version: i16,
    direction: Direction,
    fields: Vec<Option<Given>>,
) -> Result<Vec<u8>, FieldError> {
    api(key)
        .unwrap()
        .encode(direction, version, &Value::Struct(fields))
}

fn refused(key: i16, version: i16, fields: Vec<Option<Given>>) -> (&'static str, WireErrorKind) {
    let error = encode(key, version, Direction::Request, fields).unwrap_err();
    (error.field.unwrap(), error.error.kind)
}

#[test]
fn a_value_that_does_not_fit_is_named() {
    let keys = || Some(Value::Array(vec![Value::Text("key")]));
    let find = |key_type| vec![None, Some(Value::Int(key_type)), keys()];
    assert!(encode(10, 6, Direction::Request, find(127)).is_ok());
    for value in [128, -129, i64::MAX] {
        let kind = WireErrorKind::Range { value, bits: 8 };
        assert_eq!(refused(10, 6, find(value)), ("keyType", kind));
    }
    for wrong in [Value::Bool(true), Value::Text("1"), Value::Array(vec![])] {
        let seen = refused(10, 6, vec![None, Some(wrong), keys()]);
        assert_eq!(seen, ("keyType", WireErrorKind::WrongType));
    }
    let seen = refused(
        10,
        6,
        vec![None, None, Some(Value::Array(vec![Value::Int(1)]))],
    );
    assert_eq!(seen, ("coordinatorKeys", WireErrorKind::WrongType));
    assert_eq!(
        refused(10, 6, vec![]),
        ("coordinatorKeys", WireErrorKind::Missing)
    );
    let seen = refused(10, 6, vec![None, None, Some(Value::Null)]);
    assert_eq!(seen, ("coordinatorKeys", WireErrorKind::Null));
    assert_eq!(
        refused(36, 2, vec![Some(Value::Int(1))]),
        ("authBytes", WireErrorKind::WrongType)
    );

    let whole = api(10).unwrap().encode(Direction::Request, 6, &Given::Null);
    let error = whole.unwrap_err();
    assert_eq!(
        (error.field, error.error.kind),
        (None, WireErrorKind::WrongType)
    );
}

#[test]
fn the_innermost_field_is_named() {
    let topic = vec![Some(Value::Uuid(TopicId([0; 16]))), Some(Value::Int(7))];
    let seen = refused(3, 12, vec![Some(Value::Array(vec![Value::Struct(topic)]))]);
    assert_eq!(seen, ("name", WireErrorKind::WrongType));
}

#[test]
fn a_string_has_at_most_32_767_bytes() {
    let text = "x".repeat(32_768);
    for (key, version) in [(17, 1), (92, 0)] {
        let api = api(key).unwrap();
        let message = |length| {
            let text = Some(Value::<&str, &[u8]>::Text(&text[..length]));
            Value::Struct(vec![text, Some(Value::Array(vec![]))])
        };
        assert!(
            api.encode(Direction::Request, version, &message(32_767))
                .is_ok()
        );
        let error = api.encode(Direction::Request, version, &message(32_768));
        let kind = WireErrorKind::Length {
            length: 32_768,
            max: 32_767,
        };
        assert_eq!(error.unwrap_err().error.kind, kind);
    }
}

#[test]
fn what_is_not_given_takes_what_the_table_says() {
    // ShareFetch: error code, lock time-out, one partition of which only what must be is given.
    let partition = vec![
        Some(Value::Int(3)),
        Some(Value::Int(0)),
        None,
        Some(Value::Int(0)),
        None,
        None,
        Some(Value::Bytes(&b"records"[..])),
        Some(Value::Array(vec![])),
    ];
    let topic = vec![
        Some(Value::Uuid(TopicId([7; 16]))),
        Some(Value::Array(vec![Value::Struct(partition)])),
    ];
    let answer = vec![
        None,
        Some(Value::Int(0)),
        None,
        Some(Value::Int(30_000)),
        Some(Value::Array(vec![Value::Struct(topic)])),
    ];
    let bytes = encode(78, 2, Direction::Response, answer).unwrap();
    let leader = [0xff; 8];
    let expected = [
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0x75, 0x30, 2][..],
        &[7; 16],
        &[2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0],
        &leader,
        &[0, 8],
        b"records",
        &[1, 0, 0, 1, 0],
    ];
    assert_eq!(bytes, expected.concat());
}

#[test]
fn a_struct_that_may_be_null_has_a_byte_before_it() {
    let answer = |assignment| {
        vec![
            None,
            Some(Value::Int(0)),
            None,
            None,
            Some(Value::Int(1)),
            Some(Value::Int(5_000)),
            assignment,
        ]
    };
    let before = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0x13, 0x88];
    let partitions = vec![Some(Value::Array(vec![]))];
    for (given, expected) in [
        (None, &[0xff, 0][..]),
        (Some(Value::Null), &[0xff, 0]),
        (Some(Value::Struct(partitions)), &[1, 1, 0, 0]),
    ] {
        let bytes = encode(76, 1, Direction::Response, answer(given)).unwrap();
        assert_eq!(bytes, [&before[..], expected].concat());
    }
}

#[test]
fn a_refusal_reads_as_the_field_the_place_and_the_reason() {
    let error = encode(10, 6, Direction::Request, vec![]).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("coordinatorKeys: {}", error.error)
    );
    let error = api(10).unwrap().check_version(99).unwrap_err();
    assert_eq!(error.to_string(), "byte 0: unsupported version 99");
}

#[test]
fn a_length_is_below_that_of_the_largest_int() {
    for flexible in [false, true] {
        let format = Format {
            version: 0,
            flexible,
        };
        let mut out = Vec::new();
        let largest = i32::MAX as usize - 1;
        assert_eq!(format.write_len(&mut out, Some(largest)), Ok(()));
        assert_eq!(format.read_len(&mut Reader::new(&out)), Ok(Some(largest)));
        let kind = WireErrorKind::Length {
            length: i64::from(i32::MAX),
            max: i64::from(i32::MAX) - 1,
        };
        let refused = format.write_len(&mut out, Some(largest + 1));
        assert_eq!(refused, Err(WireError::unwritable(kind)));
        let refused = format.write_size(&mut out, largest + 1);
        assert_eq!(refused, Err(WireError::unwritable(kind)));
    }
}

#[test]
fn a_message_has_room_for_what_it_takes_and_for_little_more() {
    for written in written() {
        let message = written.decode(&written.bytes).unwrap();
        assert!(message.room() >= written.bytes.len());
    }
    let texts = |text: &'static str, count| Given::Array(vec![Value::Text(text); count]);
    let bytes = |length| Given::Bytes(&[7; 1_000][..length]);
    // Topics by id in version 13 of Metadata, with no name: the tags of each need room too.
    let topic = || Value::Struct(vec![Some(Value::Uuid(TopicId([7; 16]))), Some(Value::Null)]);
    let topics = Given::Array((0..100).map(|_| topic()).collect());
    let told = [Some(Value::Bool(true)), None, Some(Value::Bool(true))];
    for (key, version, first, rest) in [
        (17, 0, Value::Text(""), &[][..]),
        (17, 0, Value::Text("GSSAPI, and a text that is longer"), &[]),
        (36, 2, bytes(0), &[]),
        (36, 0, bytes(1_000), &[]),
        (3, 0, texts("", 0), &[]),
        (3, 13, topics, &told),
    ] {
        let fields = [&[Some(first)], rest].concat();
        let message = Value::Struct(fields);
        let bytes = api(key)
            .unwrap()
            .encode(Direction::Request, version, &message);
        let (room, taken) = (message.room(), bytes.unwrap().len());
        assert!(
            room >= taken && room <= taken + 8,
            "{key}: {room} for {taken}"
        );
    }
}
