//! Tests of the answers that carry records: what they share.

mod fetch;
mod share_fetch;

use share_state_core::ids::TopicId;

use super::*;
use crate::error::{WireError, WireErrorKind};

/// The topics of the recorded answers.
const TOPICS: [TopicId; 2] = [topic(1), topic(2)];

const RECORDED: &str = include_str!("../../../../tests/fixtures/data.txt");

const fn topic(last: u8) -> TopicId {
    TopicId([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last])
}

/// Version and bytes of the recorded answers to this API.
fn recorded(api_key: &str) -> Vec<(i16, Vec<u8>)> {
    let lines = RECORDED.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .filter(|words| words[0] == api_key)
        .map(|words| (words[1].parse().unwrap(), unhex(words[3])))
        .collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}
