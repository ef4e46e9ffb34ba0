//! Tests of the messages: what they share.

mod damage;
mod layout;

use share_state_core::ids::TopicId;
use share_state_core::state_batch::StateBatch;

use super::*;

/// Bytes recorded from Kafka's own classes.
const RECORDED: &str = include_str!("../../../tests/fixtures/rpc.txt");

fn hex(text: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
    text.as_bytes().chunks(2).map(byte).collect()
}

/// The recordings as API key, version, whether it is a request, and bytes.
fn recorded() -> Vec<(i16, i16, bool, Vec<u8>)> {
    let lines = RECORDED.lines().filter(|line| !line.starts_with('#'));
    let all: Vec<_> = lines
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let [key, version, kind, bytes] = words[..] else {
                panic!("{line}")
            };
            (
                key.parse().unwrap(),
                version.parse().unwrap(),
                kind == "request",
                hex(bytes),
            )
        })
        .collect();
    assert_eq!(all.len(), 54);
    all
}

/// Decodes and encodes again.
fn again(key: i16, version: i16, request: bool, bytes: &[u8]) -> Result<Vec<u8>, WireError> {
    if request {
        AnyRequest::decode(key, version, bytes)?.encode(version)
    } else {
        AnyResponse::decode(key, version, bytes)?.encode(version)
    }
}

fn write_partition() -> WritePartition {
    let batch = StateBatch {
        first_offset: 0,
        last_offset: 9,
        delivery_state: 2,
        delivery_count: 1,
    };
    WritePartition {
        partition: 3,
        state_epoch: 1,
        leader_epoch: 2,
        start_offset: -1,
        delivery_complete_count: 10,
        state_batches: vec![batch],
    }
}

fn write_request(partitions: Vec<WritePartition>) -> WriteRequest {
    let topic_id = TopicId([7; 16]);
    WriteRequest {
        group_id: "G1".into(),
        topics: vec![TopicPartitions {
            topic_id,
            partitions,
        }],
    }
}
