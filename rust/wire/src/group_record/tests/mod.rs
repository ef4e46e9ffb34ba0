//! Tests of the group records: what they share.

mod damage;
mod layout;

use super::*;

/// Bytes made by Kafka's own classes.
const RECORDED: &str = include_str!("../../../tests/fixtures/group_records.txt");

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Every recorded key with its value.
fn recorded() -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    let lines = RECORDED.lines().filter(|line| !line.starts_with('#'));
    let records: Vec<_> = lines
        .map(|line| {
            let (key, value) = line.split_once(' ').unwrap();
            (hex(key), (value != "-").then(|| hex(value)))
        })
        .collect();
    assert_eq!(records.len(), 19);
    records
}

fn read(key: &[u8], value: Option<&[u8]>) -> GroupRecord {
    match decode(key, value) {
        Ok(Decoded::Record(record)) => record,
        other => panic!("{key:?} {value:?} is {other:?}"),
    }
}

fn kind(key: &str, value: &str) -> WireErrorKind {
    decode(&hex(key), Some(&hex(value))).unwrap_err().kind
}
