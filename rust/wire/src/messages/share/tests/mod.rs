//! The types beside their slow twin, the tables: the same bytes, the same values, the same errors.

mod damage;
mod samples;
mod twin;

use proptest::prelude::*;

use super::*;
use crate::messages::protocol::{Borrowed, Direction, api};
use samples::{answers, fetches, requests};
use twin::Twin;

/// The message of these bytes as its type reads it, in the shape of its table; otherwise the fault.
fn typed<'a, M: Field<'a> + Twin>(
    bytes: &'a [u8],
    version: i16,
    elements: usize,
) -> Result<String, WireError> {
    let message: M = decode(bytes, version, elements)?;
    Ok(format!("{:?}", message.value(version)))
}

/// The same by the table.
fn tabled<M: Twin>(bytes: &[u8], version: i16, elements: usize) -> Result<String, WireError> {
    let api = api(M::KEY).unwrap();
    let message = api.decode_within(M::DIRECTION, version, bytes, elements, true);
    let message: Borrowed<'_> = message.map_err(|error| error.error)?;
    Ok(format!("{message:?}"))
}

/// Compares the two readers on some bytes; returns true if they read a message.
fn agree<'a, M: Field<'a> + Twin>(bytes: &'a [u8], version: i16, elements: usize) -> bool {
    let read = typed::<M>(bytes, version, elements);
    assert_eq!(
        read,
        tabled::<M>(bytes, version, elements),
        "version {version}"
    );
    read.is_ok()
}

/// Writes a message both ways, and reads it back.
fn round<'a, M: Field<'a> + Twin>(message: &M, version: i16) -> Vec<u8> {
    let bytes = encode(message, version, 0).unwrap();
    let table = api(M::KEY).unwrap();
    let value = message.value(version);
    assert_eq!(
        table.encode(M::DIRECTION, version, &value).unwrap(),
        bytes,
        "version {version}"
    );
    bytes
}

proptest! {
    #[test]
    fn a_fetch_is_written_and_read_as_by_its_table(message in fetches(), version in 1i16..=2) {
        prop_assert!(agree::<ShareFetchRequest<'_>>(&round(&message, version), version, usize::MAX));
    }

    #[test]
    fn acknowledgements_are_written_and_read_as_by_their_table(message in requests(), version in 1i16..=2) {
        prop_assert!(agree::<ShareAcknowledgeRequest<'_>>(&round(&message, version), version, usize::MAX));
    }

    #[test]
    fn an_answer_is_written_and_read_as_by_its_table(message in answers(), version in 1i16..=2) {
        prop_assert!(agree::<ShareAcknowledgeAnswer<'_>>(&round(&message, version), version, usize::MAX));
    }
}

#[test]
fn the_bytes_of_kafkas_classes_are_read_and_written() {
    let recorded = include_str!("../../../../tests/fixtures/messages.txt");
    let mut seen = 0;
    for line in recorded.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let [key @ ("78" | "79"), version, kind, hex] = words[..] else {
            continue;
        };
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        let version = version.parse().unwrap();
        let written = match (key, kind) {
            ("78", "request") => {
                let read = ShareFetchRequest::decode(&bytes, version, usize::MAX);
                read.and_then(|message| message.encode(version))
            }
            ("79", "request") => {
                let read = ShareAcknowledgeRequest::decode(&bytes, version, usize::MAX);
                read.and_then(|message| message.encode(version))
            }
            ("79", "response") => {
                let read = ShareAcknowledgeAnswer::decode(&bytes, version, usize::MAX);
                read.and_then(|message| super::encode(&message, version, 0))
            }
            _ => continue,
        };
        assert_eq!(written.unwrap(), bytes, "{line}");
        seen += 1;
    }
    assert_eq!(seen, 6);
}

#[test]
fn a_frame_is_its_length_the_header_and_the_message() {
    let answer = samples::refused(122);
    for version in 1..=2 {
        let body = encode(&answer, version, 0).unwrap();
        let frame = answer.frame(version, -7).unwrap();
        let length = (body.len() as i32 + 5).to_be_bytes();
        let head = (-7_i32).to_be_bytes();
        assert_eq!(frame, [&length[..], &head, &[0], &body].concat());
    }
}

#[test]
fn other_versions_are_refused() {
    for version in [-1, 0, 3] {
        let kind = WireErrorKind::UnsupportedVersion { version };
        let read = ShareFetchRequest::decode(&[0; 64], version, usize::MAX);
        assert_eq!(read, Err(WireError::new(0, kind)));
        let written = samples::refused(0).frame(version, 0);
        assert_eq!(written, Err(WireError::unwritable(kind)));
    }
}

#[test]
fn a_text_that_no_reader_takes_is_refused() {
    let long = "x".repeat(32_768);
    let answer = ShareAcknowledgeAnswer {
        error_message: Some(long.as_str().into()),
        ..samples::refused(0)
    };
    let kind = WireErrorKind::Length {
        length: 32_768,
        max: 32_767,
    };
    assert_eq!(answer.frame(1, 0), Err(WireError::unwritable(kind)));
}
