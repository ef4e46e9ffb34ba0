//! Tests of the state records: what they share.

mod capacity;
mod damage;
mod decoder;
mod layout;
mod tags;

use share_state_core::ids::TopicId;
use share_state_core::records::{ShareSnapshot, ShareUpdate, TaggedField};
use share_state_core::state_batch::StateBatch;

use super::*;

/// Bytes recorded from Kafka's own classes.
const RECORDED: &str = include_str!("../../../tests/fixtures/records.txt");
const SNAPSHOT_KEY: &str = "000000024731000102030405060708090a0b0c0d0e0f00000000";
const UPDATE_KEY: &str = "000100024731000102030405060708090a0b0c0d0e0f00000000";
const EMPTY_SNAPSHOT: &str =
    "0000 00000000 00000001 00000000 ffffffffffffffff 00000000000003e8 00000000000003e8 01 00";
const SNAPSHOT: &str =
    "0000 00000003 00000001 00000005 000000000000006e 00000000000003e8 00000000000007d0
    03 000000000000006e 000000000000006e 00 0001 00 0000000000000077 0000000000000077 02 0001 00
    01 00 04 00000001";
const UPDATE: &str = "0000 00000003 00000005 000000000000006e
    02 0000000000000071 0000000000000076 02 0001 00 01 00 04 00000007";

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn key() -> SharePartitionKey {
    SharePartitionKey::new("G1", TopicId::parse("AAECAwQFBgcICQoLDA0ODw").unwrap(), 0)
}

fn batch(first_offset: i64, last_offset: i64, delivery_state: i8) -> StateBatch {
    StateBatch {
        first_offset,
        last_offset,
        delivery_state,
        delivery_count: 1,
    }
}

fn empty_snapshot() -> ShareSnapshot {
    ShareSnapshot {
        snapshot_epoch: 0,
        state_epoch: 1,
        leader_epoch: 0,
        start_offset: -1,
        delivery_complete_count: -1,
        create_timestamp: 1000,
        write_timestamp: 1000,
        state_batches: vec![],
        unknown_tagged_fields: vec![],
    }
}

fn update() -> ShareUpdate {
    ShareUpdate {
        snapshot_epoch: 3,
        leader_epoch: 5,
        start_offset: 110,
        delivery_complete_count: 7,
        state_batches: vec![batch(113, 118, 2)],
        unknown_tagged_fields: vec![],
    }
}

/// The vectors of the record formats, each as key, value and meaning.
fn golden() -> Vec<(Vec<u8>, Option<Vec<u8>>, ShareValue)> {
    let full = ShareSnapshot {
        snapshot_epoch: 3,
        leader_epoch: 5,
        start_offset: 110,
        delivery_complete_count: 1,
        write_timestamp: 2000,
        state_batches: vec![batch(110, 110, 0), batch(119, 119, 2)],
        ..empty_snapshot()
    };
    vec![
        (
            hex(SNAPSHOT_KEY),
            Some(hex(EMPTY_SNAPSHOT)),
            ShareValue::Snapshot(empty_snapshot()),
        ),
        (
            hex(SNAPSHOT_KEY),
            Some(hex(SNAPSHOT)),
            ShareValue::Snapshot(full),
        ),
        (
            hex(UPDATE_KEY),
            Some(hex(UPDATE)),
            ShareValue::Update(update()),
        ),
        (hex(SNAPSHOT_KEY), None, ShareValue::Tombstone),
    ]
}

fn kind(key: &[u8], value: Option<&[u8]>) -> WireErrorKind {
    decode(key, value).unwrap_err().kind
}

/// A value under the update key whose tagged fields are `tags`.
fn update_with_tags(tags: &str) -> Vec<u8> {
    let mut bytes = hex(UPDATE);
    bytes.truncate(bytes.len() - 7);
    bytes.extend(hex(tags));
    bytes
}
