//! Values that no message can hold, and what stands for those that are not given.

use share_state_core::ids::TopicId;

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
