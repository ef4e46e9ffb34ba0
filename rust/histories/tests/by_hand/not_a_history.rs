//! Input that is no history: the line and the field are named.

use share_state_histories::Reader;

#[test]
fn a_line_that_is_none_of_a_history_is_named_with_its_field() {
    let cases = [
        ("not JSON", None),
        ("[1]", None),
        (r#"{"t":1}"#, Some("type")),
        (r#"{"type":"poll","t":1}"#, Some("type")),
        (r#"{"type":7,"t":1}"#, Some("type")),
        (r#"{"type":"drained"}"#, Some("t")),
        (r#"{"type":"drained","t":"now"}"#, Some("t")),
        (r#"{"type":"drained","t":1.5}"#, Some("t")),
        (r#"{"type":"drained","t":99999999999999999999}"#, Some("t")),
        (
            r#"{"type":"produce","t":1,"topic":"t","partition":0,"first":3,"last":2}"#,
            Some("last"),
        ),
        (
            r#"{"type":"produce","t":1,"topic":"t","partition":0,"first":-3,"last":2}"#,
            Some("first"),
        ),
        (
            r#"{"type":"produce","t":1,"topic":"t","partition":-1,"first":0,"last":2}"#,
            Some("partition"),
        ),
        (
            r#"{"type":"produce","t":1,"topic":"t","partition":4294967296,"first":0,"last":2}"#,
            Some("partition"),
        ),
        (
            r#"{"type":"produce","t":1,"partition":0,"first":0,"last":2}"#,
            Some("topic"),
        ),
        (r#"{"type":"drained","t":1e999}"#, Some("t")),
        (r#"{"type":"drained","t":"1","else":1e999}"#, Some("t")),
        (r#"{"type":"\ud800","t":1}"#, Some("type")),
        (r#"{"type":"drained","t":1,"t":2}"#, Some("t")),
        (r#"{"type":"drained","t":"1","t":2}"#, Some("t")),
        (
            r#"{"type":"ack","t":2,"sent":1,"sent":0,"group":"g","topic":"t","partition":0,"member":"a","ranges":[[0,1,1]],"outcome":"ok"}"#,
            Some("sent"),
        ),
        (r#"{"type":"gone","t":1,"group":"g"}"#, Some("member")),
        (r#"{"type":"gone","t":1,"member":"a"}"#, Some("group")),
        (
            r#"{"type":"retained","t":1,"topic":"t","partition":0}"#,
            Some("from"),
        ),
        (
            r#"{"type":"reset","t":1,"group":"g","topic":"t","partition":0,"state_epoch":0}"#,
            Some("start_offset"),
        ),
        (
            r#"{"type":"grant","t":1,"sent":2,"group":"g","topic":"t","partition":0,"member":"a","first":0,"last":0,"delivery_count":1,"lock_ms":1}"#,
            Some("sent"),
        ),
        (
            r#"{"type":"grant","t":2,"sent":1,"group":"g","topic":"t","partition":0,"member":"a","first":0,"last":0,"delivery_count":1,"lock_ms":-1}"#,
            Some("lock_ms"),
        ),
        (
            r#"{"type":"grant","t":2,"sent":1,"group":"g","topic":"t","partition":0,"member":"a","first":0,"last":0,"lock_ms":1}"#,
            Some("delivery_count"),
        ),
        (
            r#"{"type":"ack","t":2,"sent":1,"group":"g","topic":"t","partition":0,"member":"a","ranges":[[0,1,5]],"outcome":"ok"}"#,
            Some("ranges"),
        ),
        (
            r#"{"type":"ack","t":2,"sent":1,"group":"g","topic":"t","partition":0,"member":"a","ranges":[[1,0,1]],"outcome":"ok"}"#,
            Some("ranges"),
        ),
        (
            r#"{"type":"ack","t":2,"sent":1,"group":"g","topic":"t","partition":0,"member":"a","ranges":[[1,0]],"outcome":"ok"}"#,
            Some("ranges"),
        ),
        (
            r#"{"type":"ack","t":2,"sent":1,"group":"g","topic":"t","partition":0,"member":"a","ranges":[],"outcome":"maybe"}"#,
            Some("outcome"),
        ),
    ];
    for (text, field) in cases {
        let mut reader = Reader::new();
        reader.line(br#"{"type":"drained","t":1}"#).unwrap();
        reader.line(b"").unwrap();
        let error = reader.line(text.as_bytes()).unwrap_err();
        assert_eq!((error.line, error.field), (3, field), "{text}: {error}");
    }
    let mut reader = Reader::new();
    reader.line(br#"{"type":"drained","t":5}"#).unwrap();
    assert_eq!(
        reader
            .line(br#"{"type":"drained","t":4}"#)
            .unwrap_err()
            .field,
        Some("t")
    );
}

#[test]
fn a_wrong_value_is_shown_in_part_where_it_is_long() {
    let shown = |value: &str| {
        let line = format!(r#"{{"type":"drained","t":{value}}}"#);
        Reader::new().line(line.as_bytes()).unwrap_err().to_string()
    };
    assert!(shown(r#""now""#).contains(r#""now"; expected"#));
    let long = shown(&format!(r#""{}""#, "é".repeat(1_000_000)));
    let part = format!(r#""{}...; expected"#, "é".repeat(63));
    assert!(long.contains(&part), "{} bytes", long.len());
    assert!(long.len() < 300);
}

#[test]
fn bytes_that_are_no_text_are_refused_wherever_they_stand() {
    for line in [
        &b"{\"type\":\"drained\",\"t\":1,\"else\":\"\xe1\"}"[..],
        b"{\"type\":\"drained\",\"t\":1,\"group\":\"\xe1\"}",
    ] {
        let refused = Reader::new().line(line).unwrap_err();
        assert_eq!((refused.line, refused.field), (1, None));
    }
}
