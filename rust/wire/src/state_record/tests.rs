use proptest::prelude::*;
use share_state_core::ids::TopicId;
use share_state_core::records::{ShareSnapshot, ShareUpdate, TaggedField};
use share_state_core::state_batch::StateBatch;

use super::*;

/// Bytes recorded from Kafka's own classes.
const RECORDED: &str = include_str!("../../tests/fixtures/records.txt");
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

#[test]
fn golden_records_read_and_write_byte_for_byte() {
    for (key_bytes, value_bytes, value) in golden() {
        let record = ShareRecord { key: key(), value };
        assert_eq!(encode_key(&record), Ok(key_bytes.clone()));
        assert_eq!(encode_value(&record.value), Ok(value_bytes.clone()));
        let decoded = decode(&key_bytes, value_bytes.as_deref());
        assert_eq!(decoded, Ok(Decoded::Record(record)));
    }
}

#[test]
fn recorded_records_come_back_byte_for_byte() {
    let mut values = [0, 0];
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let (key, value) = line.split_once(' ').unwrap();
        let (key, value) = (hex(key), (value != "-").then(|| hex(value)));
        let Ok(Decoded::Record(record)) = decode(&key, value.as_deref()) else {
            panic!("{line}")
        };
        assert_eq!(encode_key(&record), Ok(key));
        values[usize::from(value.is_some())] += 1;
        assert_eq!(encode_value(&record.value), Ok(value));
    }
    assert_eq!(values, [8, 51]);
}

#[test]
fn a_value_takes_exactly_the_memory_foretold() {
    for (_, _, value) in golden() {
        if let Some(bytes) = encode_value(&value).unwrap() {
            assert_eq!(bytes.capacity(), bytes.len());
        }
    }
}

#[test]
fn a_key_or_value_cut_anywhere_is_refused() {
    for (key, value, _) in golden() {
        for end in 0..key.len() {
            assert!(
                decode(&key[..end], value.as_deref()).is_err(),
                "key of {end} bytes"
            );
        }
        for end in 0..value.as_ref().map_or(0, Vec::len) {
            assert!(
                decode(&key, value.as_deref().map(|v| &v[..end])).is_err(),
                "value of {end}"
            );
        }
    }
}

#[test]
fn a_flipped_bit_is_an_error_or_another_record_that_writes_as_it_was_read() {
    let mut flips = 0;
    for (key, value, _) in golden() {
        let joined = [key.clone(), value.clone().unwrap_or_default()].concat();
        for bit in 0..joined.len() * 8 {
            let mut bytes = joined.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let (k, v) = bytes.split_at(key.len());
            if let Ok(Decoded::Record(record)) = decode(k, value.as_ref().map(|_| v)) {
                assert_eq!(encode_key(&record).unwrap(), k);
                if let Some(written) = encode_value(&record.value).unwrap() {
                    let again = decode(k, Some(&written));
                    assert_eq!(again, Ok(Decoded::Record(record)));
                }
            }
            flips += 1;
        }
    }
    assert_eq!(flips, 8 * (4 * 26 + 40 + 86 + 46));
}

#[test]
fn bytes_behind_the_end_are_refused() {
    for (mut key, value, _) in golden() {
        if let Some(mut value) = value {
            let count = value.len();
            value.push(0);
            let error = decode(&key, Some(&value)).unwrap_err();
            assert_eq!(
                error,
                WireError::new(count, WireErrorKind::TrailingBytes { count: 1 })
            );
        }
        key.push(0);
        assert_eq!(kind(&key, None), WireErrorKind::TrailingBytes { count: 1 });
    }
}

#[test]
fn an_unknown_type_is_told_apart_from_damage() {
    let mut key = hex(SNAPSHOT_KEY);
    key[1] = 0xff;
    assert_eq!(
        decode(&key, Some(&[1, 2, 3])),
        Ok(Decoded::UnknownType(0xff))
    );
    assert_eq!(decode(&[0, 2], None), Ok(Decoded::UnknownType(2)));
    assert_eq!(
        kind(&[0], None),
        WireErrorKind::Truncated {
            needed: 2,
            remaining: 1
        }
    );
}

#[test]
fn an_unknown_value_version_has_an_error_of_its_own() {
    for (key, value, _) in golden() {
        let Some(mut value) = value else { continue };
        value[1] = 1;
        let error = decode(&key, Some(&value)).unwrap_err();
        assert_eq!(error.kind, WireErrorKind::UnsupportedVersion { version: 1 });
        assert_eq!(
            error.kafka_code(),
            share_state_core::kafka_code::KafkaCode::UnsupportedVersion
        );
    }
}

#[test]
fn a_null_value_deletes_under_the_snapshot_key_only() {
    assert_eq!(kind(&hex(UPDATE_KEY), None), WireErrorKind::NullUpdate);
}

#[test]
fn a_key_needs_a_group() {
    let empty = ShareRecord {
        key: SharePartitionKey::new("", TopicId::ZERO, 0),
        value: ShareValue::Tombstone,
    };
    let length = WireErrorKind::Length {
        length: 0,
        max: 32_767,
    };
    assert_eq!(encode_key(&empty).unwrap_err().kind, length);
    assert_eq!(kind(&[0; 24], None), length);
    let mut null = hex(SNAPSHOT_KEY);
    null[2..4].fill(0xff);
    assert_eq!(kind(&null, None), WireErrorKind::Null);

    let long = |n| ShareRecord {
        key: SharePartitionKey::new(&"g".repeat(n), TopicId::ZERO, 0),
        ..empty.clone()
    };
    let key = encode_key(&long(32_767)).unwrap();
    assert_eq!(decode(&key, None), Ok(Decoded::Record(long(32_767))));
    let length = WireErrorKind::Length {
        length: 32_768,
        max: 32_767,
    };
    assert_eq!(encode_key(&long(32_768)).unwrap_err().kind, length);
}

#[test]
fn unknown_tags_are_kept_and_the_known_one_has_its_size() {
    let key = hex(UPDATE_KEY);
    let bytes = update_with_tags("03 00 04 00000007 02 00 05 02 abcd");
    let expected = ShareUpdate {
        unknown_tagged_fields: vec![
            TaggedField {
                tag: 2,
                data: vec![],
            },
            TaggedField {
                tag: 5,
                data: vec![0xab, 0xcd],
            },
        ],
        ..update()
    };
    let value = ShareValue::Update(expected);
    assert_eq!(encode_value(&value), Ok(Some(bytes.clone())));
    let Decoded::Record(record) = decode(&key, Some(&bytes)).unwrap() else {
        panic!("a record")
    };
    assert_eq!(record.value, value);

    for (tags, expected) in [
        (
            "01 00 03 000007",
            WireErrorKind::TagSize { tag: 0, size: 3 },
        ),
        (
            "01 00 05 0000000007",
            WireErrorKind::TagSize { tag: 0, size: 5 },
        ),
        ("02 05 00 05 00", WireErrorKind::TagOrder { tag: 5 }),
        (
            "02 05 00 00 04 00000007",
            WireErrorKind::TagOrder { tag: 0 },
        ),
        (
            "01 05 09 00",
            WireErrorKind::Truncated {
                needed: 9,
                remaining: 1,
            },
        ),
        (
            "ffffffff07 00 04",
            WireErrorKind::Count {
                count: i32::MAX as u64,
                possible: 1,
            },
        ),
    ] {
        assert_eq!(
            kind(&key, Some(&update_with_tags(tags))),
            expected,
            "{tags}"
        );
    }
}

#[test]
fn tags_of_a_state_batch_are_skipped_and_odd_forms_become_canonical() {
    let key = hex(UPDATE_KEY);
    let tagged = "0000 00000003 00000005 000000000000006e
        02 0000000000000071 0000000000000076 02 0001 01 09 01 ff 01 00 04 00000007";
    let long_varints = "0000 00000003 00000005 000000000000006e
        828000 0000000000000071 0000000000000076 02 0001 8000 818000 8000 8480808000 00000007";
    for odd in [tagged, long_varints] {
        let Decoded::Record(record) = decode(&key, Some(&hex(odd))).unwrap() else {
            panic!("a record")
        };
        assert_eq!(encode_value(&record.value), Ok(Some(hex(UPDATE))));
    }
}

#[test]
fn tags_that_no_reader_takes_are_not_written() {
    for tags in [&[0][..], &[3, 3], &[4, 3], &[u32::MAX]] {
        let unknown = tags
            .iter()
            .map(|tag| TaggedField {
                tag: *tag,
                data: vec![],
            })
            .collect();
        let value = ShareValue::Update(ShareUpdate {
            unknown_tagged_fields: unknown,
            ..update()
        });
        let last = WireErrorKind::TagOrder {
            tag: *tags.last().unwrap(),
        };
        assert_eq!(encode_value(&value).unwrap_err().kind, last);
    }
}

#[test]
fn a_count_bomb_is_refused() {
    // 54,265,856 state batches announced, one byte behind them.
    let bomb = hex("0000 00000003 00000005 000000000000006e 8190f01902");
    let bomb = kind(&hex(UPDATE_KEY), Some(&bomb));
    assert_eq!(
        bomb,
        WireErrorKind::Count {
            count: 54_265_856,
            possible: 0
        }
    );
}

fn any_batches() -> impl Strategy<Value = Vec<StateBatch>> {
    let any_batch =
        any::<(i64, i64, i8, i16)>().prop_map(|(first_offset, last_offset, state, count)| {
            StateBatch {
                first_offset,
                last_offset,
                delivery_state: state,
                delivery_count: count,
            }
        });
    prop::collection::vec(any_batch, 0..300)
}

fn any_tags() -> impl Strategy<Value = Vec<TaggedField>> {
    let any_data = prop::collection::vec(any::<u8>(), 0..200);
    let map = prop::collection::btree_map(1..=i32::MAX as u32, any_data, 0..4);
    map.prop_map(|map| {
        map.into_iter()
            .map(|(tag, data)| TaggedField { tag, data })
            .collect()
    })
}

proptest! {
    #[test]
    fn every_record_comes_back(
        group in "\\PC{1,40}", topic: [u8; 16], partition: i32, ints: [i32; 4], longs: [i64; 3],
        state_batches in any_batches(), unknown_tagged_fields in any_tags(), what in 0..3,
    ) {
        let value = match what {
            0 => ShareValue::Snapshot(ShareSnapshot {
                snapshot_epoch: ints[0],
                state_epoch: ints[1],
                leader_epoch: ints[2],
                start_offset: longs[0],
                delivery_complete_count: ints[3],
                create_timestamp: longs[1],
                write_timestamp: longs[2],
                state_batches,
                unknown_tagged_fields,
            }),
            1 => ShareValue::Update(ShareUpdate {
                snapshot_epoch: ints[0],
                leader_epoch: ints[2],
                start_offset: longs[0],
                delivery_complete_count: ints[3],
                state_batches,
                unknown_tagged_fields,
            }),
            _ => ShareValue::Tombstone,
        };
        let record = ShareRecord { key: SharePartitionKey::new(&group, TopicId(topic), partition), value };
        let key = encode_key(&record).unwrap();
        let value = encode_value(&record.value).unwrap();
        prop_assert_eq!(decode(&key, value.as_deref()), Ok(Decoded::Record(record)));
    }
}
