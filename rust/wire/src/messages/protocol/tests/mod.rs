//! Tests of the tables, the reader and the writer: golden bytes of Kafka's own classes, and damage.

mod damage;
mod tables;
mod values;

use super::*;

/// Bytes written by Kafka's own classes, of every message that has a table and of RPC 83 to 87.
const WRITTEN: &str = include_str!("../../../../tests/fixtures/messages.txt");

/// A message, and what it is.
struct Written {
    api: &'static Api,
    version: i16,
    direction: Direction,
    bytes: Vec<u8>,
}

impl Written {
    fn decode<'a>(&self, bytes: &'a [u8]) -> Result<Borrowed<'a>, FieldError> {
        self.api.decode(self.direction, self.version, bytes)
    }

    fn encode(&self, message: &Borrowed<'_>) -> Result<Vec<u8>, FieldError> {
        self.api.encode(self.direction, self.version, message)
    }
}

/// Messages, each kind in each version once.
fn written() -> Vec<Written> {
    let byte = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
    let of = |line: &str| {
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap_or_default();
        Some(Written {
            api: api(word().parse().unwrap())?,
            version: word().parse().unwrap(),
            direction: match word() {
                "request" => Direction::Request,
                _ => Direction::Response,
            },
            bytes: word().as_bytes().chunks(2).map(byte).collect(),
        })
    };
    let lines = WRITTEN.lines().filter(|line| !line.starts_with('#'));
    let all: Vec<Written> = lines.filter_map(of).collect();
    assert_eq!(all.len(), 326);
    all
}
