//! Tests of the tables, the reader and the writer: golden bytes of an independent codec, and damage.

mod damage;
mod tables;

use super::*;

/// Bytes written by kio.
const WRITTEN: &str = include_str!("../../../../tests/fixtures/cluster.txt");

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

fn written() -> Vec<Written> {
    let lines = WRITTEN.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let [key, version, kind, hex] = words[..] else {
                panic!("{line}")
            };
            let byte =
                |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
            Written {
                api: api(key.parse().unwrap()).unwrap(),
                version: version.parse().unwrap(),
                direction: match kind {
                    "request" => Direction::Request,
                    _ => Direction::Response,
                },
                bytes: hex.as_bytes().chunks(2).map(byte).collect(),
            }
        })
        .collect()
}
