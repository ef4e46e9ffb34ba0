//! Records that are cut, damaged, of another version, or that claim more than there is.

use super::*;

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
fn bytes_after_the_end_are_refused() {
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
fn a_count_bomb_is_refused() {
    // 54,265,856 state batches announced, one byte after them.
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
