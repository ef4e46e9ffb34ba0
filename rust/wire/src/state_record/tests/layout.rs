//! Keys and values byte for byte.

use proptest::prelude::*;

use super::*;

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
